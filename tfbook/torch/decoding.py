"""Decoding: one token after another, each chosen from what a language model expects to come next."""

import torch

from tfbook.numpy.checks import expect, flag, whole
from tfbook.torch.cache import key_value_caches
from tfbook.torch.checks import floats, integers
from tfbook.torch.sampling import sample, token_distribution


@torch.no_grad()
def generate(model, tokens, n, lengths=None, temperature=0.0, top_k=None, top_p=None, rng=None, cached=True):
    """Let a language model go on with its prompts, n tokens each.

    Parameters
    ----------
    model : callable
        From tokens (..., T), ``pad`` and ``cache`` to logits (..., T, vocab), such as a :class:`LanguageModel`.
    tokens : Tensor of int, shape (..., T)
        Prompts.
    n : int
        Tokens to add to each.
    lengths : Tensor of int, shape (...), optional
        Tokens of each prompt, where some are shorter than T and padding follows; T unless told.
    temperature, top_k, top_p
        As in :func:`token_distribution`. The likeliest token is taken each time unless told.
    rng : torch.Generator, optional
        Needed where the temperature is not 0.
    cached : bool
        Keep keys and values, so that each step reads one token. The tokens are the same without, the work is T times as much.

    Returns
    -------
    Tensor of int64, shape (..., n)
        What follows each prompt.

    Raises
    ------
    ValueError
        Where a length is not from 1 to T, a setting is out of its range, or the model's table of positions ends.

    Notes
    -----
    Prompts are shifted so that all end together: what follows then stands at one place in all of them, and only distances
    from the end matter.

    Source: Quadratic Complexity; the steps of generation wait for one another, T of them, as those of an RNN do.

    Examples
    --------
    >>> def successor(tokens, pad, cache):  # of 5 tokens
    ...     return torch.eye(5)[(tokens + 1) % 5]
    >>> generate(successor, torch.tensor([[1, 2], [4, 0]]), n=4, lengths=torch.tensor([2, 1]))
    tensor([[3, 4, 0, 1],
            [0, 1, 2, 3]])
    """
    n, (tokens, pad) = whole("n", n), end_together(tokens, lengths)
    T, cache, fresh = tokens.shape[-1], key_value_caches() if flag("cached", cached) else None, tokens
    for _ in range(n):
        logits = floats("model(tokens)", model(fresh if cached else tokens, pad=pad, cache=cache))[..., -1, :]
        p = token_distribution(logits, temperature, top_k, top_p)
        fresh = (p.argmax(dim=-1) if temperature == 0 else sample(p, rng))[..., None]
        tokens = torch.cat([tokens, fresh], dim=-1)
    return tokens[..., T:]


def end_together(tokens, lengths=None):
    """Move the padding of each sequence from its end to its front.

    Parameters
    ----------
    tokens : Tensor of int, shape (..., T)
    lengths : Tensor of int, shape (...), optional
        Tokens of each sequence, from 1 to T.

    Returns
    -------
    tokens : Tensor of int64, shape (..., T)
        Padding is token 0.
    pad : Tensor of int64, shape (...), or None
        Padding in front of each sequence; None where no lengths are given.

    Raises
    ------
    ValueError
        Where tokens or lengths are not whole numbers, or a length is not from 1 to T.

    Examples
    --------
    >>> end_together(torch.tensor([[5, 6, 7], [8, 9, 9]]), lengths=torch.tensor([3, 1]))
    (tensor([[5, 6, 7],
            [0, 0, 8]]), tensor([0, 2]))
    """
    tokens = integers("tokens", tokens)
    expect("tokens", tokens.shape, "(..., T)")
    T = whole("T", tokens.shape[-1], least=1)
    if lengths is None:
        return tokens, None
    lengths = integers("lengths", lengths, tokens.device)
    if lengths.shape != tokens.shape[:-1] or (lengths.numel() and not 1 <= lengths.min() <= lengths.max() <= T):
        raise ValueError(f"lengths: expected whole numbers from 1 to T = {T}, shape {tuple(tokens.shape[:-1])}, got {lengths.tolist()}")
    pad = T - lengths
    place = torch.arange(T, device=tokens.device) - pad[..., None]  # of each token in its sequence, negative where padding comes
    return tokens.gather(-1, place % T).masked_fill(place < 0, 0), pad
