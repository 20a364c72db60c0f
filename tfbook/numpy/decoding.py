"""Decoding: one token after another, each chosen from what a language model expects to
come next.
"""

import numpy as np

from tfbook.numpy.cache import key_value_caches
from tfbook.numpy.checks import floats, shapes, whole
from tfbook.numpy.sampling import sample, token_distribution


@shapes(n="count", cached="flag")
def generate(
    model,
    tokens,
    n,
    lengths=None,
    temperature=0.0,
    top_k=None,
    top_p=None,
    rng=None,
    cached=True,
):
    """Let a language model go on with its prompts, n tokens each.

    Parameters
    ----------
    model : callable
        From tokens (..., T), ``pad`` and ``cache`` to logits (..., T, vocab), such as a
        ``partial`` of :func:`language_model`.
    tokens : array_like of int, shape (..., T)
        Prompts.
    n
        Tokens to add to each.
    lengths : array_like of int, shape (...), optional
        Tokens of each prompt, where some are shorter than T and padding follows;
        default: T.
    temperature, top_k, top_p
        As in :func:`token_distribution`. By default the likeliest token is taken each
        time.
    rng : numpy.random.Generator, optional
        Needed where the temperature is not 0.
    cached
        Keep keys and values, so that each step reads one token. The tokens are the same
        without, the work is T times as much.

    Returns
    -------
    ndarray of int64, shape (..., n)
        What follows each prompt.

    Raises
    ------
    ValueError
        Where a length is not from 1 to T, a setting is out of its range, or the model's
        table of positions ends.

    Notes
    -----
    Prompts are shifted so that all end together: what follows then stands at one
    place in all of them, and only distances from the end matter.

    Source: Quadratic Complexity; the steps of generation wait for one another, T of
    them, as those of an RNN do.

    Examples
    --------
    >>> def successor(tokens, pad, cache):  # of 5 tokens
    ...     return np.eye(5)[(np.asarray(tokens) + 1) % 5]
    >>> generate(successor, [[1, 2], [4, 0]], n=4, lengths=[2, 1])
    array([[3, 4, 0, 1],
           [0, 1, 2, 3]])
    """
    tokens, pad = left_pad(tokens, lengths)
    T, cache, fresh = (
        tokens.shape[-1],
        key_value_caches() if cached else None,
        tokens,
    )
    for _ in range(n):
        logits = floats(
            "model(tokens)",
            model(fresh if cached else tokens, pad=pad, cache=cache),
        )[..., -1, :]
        p = token_distribution(logits, temperature, top_k, top_p)
        fresh = (p.argmax(axis=-1) if temperature == 0 else sample(p, rng))[
            ..., None
        ]
        tokens = np.concatenate([tokens, fresh], axis=-1)
    return tokens[..., T:]


@shapes(tokens="int ... T", lengths="int *")
def left_pad(tokens, lengths=None):
    """Move the padding of each sequence from its end to its front.

    Parameters
    ----------
    tokens
    lengths
        Tokens of each sequence, from 1 to T.

    Returns
    -------
    tokens
        Padding is token 0.
    pad : ndarray of int64, shape (...), or None
        Padding in front of each sequence; None where no lengths are given.

    Raises
    ------
    ValueError
        Where tokens or lengths are not whole numbers, or a length is not from 1 to T.

    Examples
    --------
    >>> left_pad([[5, 6, 7], [8, 9, 9]], lengths=[3, 1])
    (array([[5, 6, 7],
            [0, 0, 8]]), array([0, 2]))
    """
    T = whole("T", tokens.shape[-1], least=1)
    if lengths is None:
        return tokens, None
    if lengths.shape != tokens.shape[:-1] or (
        lengths.size and not 1 <= lengths.min() <= lengths.max() <= T
    ):
        raise ValueError(
            f"lengths: expected whole numbers from 1 to T = {T}, shape"
            f" {tokens.shape[:-1]}, got {lengths.tolist()}"
        )
    pad = T - lengths
    # of each token in its sequence, negative where padding comes
    position = np.arange(T) - pad[..., None]
    return np.where(
        position < 0, 0, np.take_along_axis(tokens, position % T, axis=-1)
    ), pad
