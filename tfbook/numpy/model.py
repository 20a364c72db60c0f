"""A language model: a causal stack of layers between a table of tokens and the same
table.
"""

import numpy as np

from tfbook.numpy.attention import scaled_dot_product_attention
from tfbook.numpy.cache import all_or_nothing, cached_attention
from tfbook.numpy.check_heads import head_counts
from tfbook.numpy.check_model import expect_pad, head_matrix, model_layers
from tfbook.numpy.checks import floats, shapes
from tfbook.numpy.embedding import embed
from tfbook.numpy.layer import transformer_layer
from tfbook.numpy.masks import causal_mask
from tfbook.numpy.normalization import normalized
from tfbook.numpy.position_schemes import position_scheme


@shapes(tokens="int ... T", pad="int *")
def language_model(
    tokens,
    P,
    H,
    H_kv=None,
    positions="learned",
    norm="post",
    activation=None,
    pad=None,
    cache=None,
    attention=scaled_dot_product_attention,
    eps=None,
):
    r"""Guess each next token from those before it.

    Parameters
    ----------
    tokens
        With a cache, only those that it has not read yet.
    P : dict of array_like
        ``E`` (vocab, d), which reads tokens and scores them too, unless there is a
        ``W_out`` (d, vocab) for that; with learned positions ``P`` (T_max, d); of each
        layer l what :func:`transformer_layer` takes, as ``layers.l.W_Q`` and so on;
        ``gamma_f beta_f`` (d,) where there is a last :func:`layer_norm`, ``gamma_f``
        alone where it is an :func:`rms_norm`. These are the keys of the
        ``state_dict()`` of ``tfbook.torch.LanguageModel``.
    H, H_kv, norm, activation
        Of every layer, as in :func:`transformer_layer`.
    positions : str
        One of ``POSITION_SCHEMES``: "learned", "sinusoidal", "rotary", "alibi", "none".
        What tells the order: a table added to the tokens, a turn of queries and keys, a
        bias of the scores, or the mask alone.
    pad
        Padding in front of each sequence, which nothing attends to and no position
        counts.
    cache : mapping of int to KeyValueCache, optional
        Keys and values of each layer for what was read before:
        :func:`key_value_caches`. This call adds its own.
    attention : callable
        What each head does; where positions are rotary, after the turn.
    eps : float, optional
        Of every norm, as in :func:`transformer_layer`.

    Returns
    -------
    ndarray, shape (..., T, vocab)
        Logits of the token after each.

    Raises
    ------
    ValueError
        Where the shapes do not fit together, a parameter is missing, padding is longer
        than its sequence, or a learned table of positions ends.
    IndexError
        Where a token is not in the vocabulary.

    Examples
    --------
    >>> from tfbook.numpy import init_layer, key_value_caches
    >>> P = {"E": np.eye(4)} | {
    ...     f"layers.0.{name}": p
    ...     for name, p in init_layer(d=4, H=2, rng=0).items()
    ... }
    >>> whole = language_model([3, 1, 2], P, H=2, positions="alibi")
    >>> cache = key_value_caches()
    >>> parts = [
    ...     language_model([token], P, H=2, positions="alibi", cache=cache)
    ...     for token in (3, 1, 2)
    ... ]
    >>> bool(np.allclose(whole, np.concatenate(parts)))
    True
    """
    layers = model_layers(P, positions, untied=True)
    H, H_kv = head_counts(H, H_kv)
    scheme, E = position_scheme(positions), floats("E", P["E"])
    W_out = head_matrix(P, E)
    T, T_read = tokens.shape[-1], 0 if cache is None else len(cache[0])
    T_k = T_read + T

    at, mask = np.arange(T_read, T_k), causal_mask(T, T_k)
    if pad is not None:
        # a cache may get padding alone first
        expect_pad(pad, tokens.shape, most=T if cache is None else np.inf)
        at = at - pad[..., None]  # (..., T), negative in the padding
        # (..., T, T_k)
        mask = mask & (np.arange(T_k) >= pad[..., None, None])

    X = embed(tokens, E)
    if scheme.vectors:
        added = scheme.vectors(np.maximum(at, 0), E.shape[-1], P.get("P"))
        X = X + added.astype(X.dtype)
    bias = scheme.bias(H, T, T_k) if scheme.bias else None
    attention = scheme.around(attention)
    with all_or_nothing(cache):
        for l, layer in enumerate(layers):
            seen = {"mask": mask, "bias": bias, "attention": attention}
            if cache is not None:
                seen = {"attention": cached_attention(cache[l], **seen)}
            X = transformer_layer(
                X, layer, H, H_kv, norm, activation, eps=eps, **seen
            )
        if "gamma_f" in P:
            X = normalized(X, P["gamma_f"], P.get("beta_f"), eps)
        return X @ W_out
