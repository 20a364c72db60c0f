"""A language model: a causal stack of layers between a table of tokens and the same table."""

import torch

from tfbook.numpy.check_heads import head_counts
from tfbook.numpy.check_model import expect_pad, model_layers
from tfbook.numpy.checks import expect
from tfbook.torch.attention import scaled_dot_product_attention
from tfbook.torch.cache import all_or_nothing, cached_attention
from tfbook.torch.checks import floats, integers
from tfbook.torch.embedding import embed
from tfbook.torch.layer import transformer_layer
from tfbook.torch.masks import causal_mask
from tfbook.torch.normalization import layer_norm
from tfbook.torch.positions import alibi_bias, learned_positions, waves
from tfbook.torch.rotary import rotary_attention


def language_model(
    tokens, P, H, H_kv=None, positions="learned", norm="post", activation=None, pad=None, cache=None, attention=None
):
    r"""Guess each next token from those before it.

    Parameters
    ----------
    tokens : Tensor of int, shape (..., T)
        With a cache, only those that it has not read yet.
    P : dict of Tensor
        ``E`` (vocab, d), which reads tokens and scores them too; with learned positions ``P`` (T_max, d); of each layer l
        what :func:`transformer_layer` takes, as ``layers.l.W_Q`` and so on; ``gamma_f beta_f`` (d,) where there is a last
        :func:`layer_norm`. These are the keys of the ``state_dict()`` of :class:`LanguageModel`.
    H, H_kv, norm, activation
        Of every layer, as in :func:`transformer_layer`.
    positions : {"learned", "sinusoidal", "rotary", "alibi", "none"}
        What tells the order: a table added to the tokens, a turn of queries and keys, a bias of the scores, or the mask alone.
    pad : Tensor of int, shape (...), optional
        Padding in front of each sequence, which nothing attends to and no position counts.
    cache : mapping of int to KeyValueCache, optional
        Keys and values of each layer for what was read before: :func:`key_value_caches`. This call adds its own.
    attention : callable, optional
        What each head does; by default the readable form, with its turn where positions are rotary.

    Returns
    -------
    Tensor, shape (..., T, vocab)
        Logits of the token after each.

    Raises
    ------
    ValueError
        Where the shapes do not fit together, a parameter is missing, padding is longer than its sequence, or a learned table of
        positions ends.
    IndexError
        Where a token is not in the vocabulary.

    Examples
    --------
    >>> from tfbook.torch import TransformerLayer, key_value_caches
    >>> P = {"E": torch.eye(4)} | {f"layers.0.{name}": p for name, p in TransformerLayer(d=4, H=2).state_dict().items()}
    >>> tokens, cache = torch.tensor([3, 1, 2]), key_value_caches()
    >>> whole = language_model(tokens, P, H=2, positions="alibi")
    >>> parts = [language_model(token, P, H=2, positions="alibi", cache=cache) for token in tokens.split(1)]
    >>> torch.allclose(whole, torch.cat(parts), atol=1e-6)
    True
    """
    layers, (H, H_kv) = model_layers(P, positions), head_counts(H, H_kv)
    E = floats("E", P["E"])
    tokens = integers("tokens", tokens, E.device)
    expect("tokens", tokens.shape, "(..., T)")
    T, T_read = tokens.shape[-1], 0 if cache is None else len(cache[0])
    T_k = T_read + T

    place, mask = torch.arange(T_read, T_k, device=E.device), causal_mask(T, T_k).to(E.device)
    if pad is not None:
        pad = integers("pad", pad, E.device)
        expect_pad(pad, tokens.shape, most=T if cache is None else torch.inf)  # a cache may get padding alone first
        place = place - pad[..., None]                                                      # (..., T), negative in the padding
        mask = mask & (torch.arange(T_k, device=E.device) >= pad[..., None, None])          # (..., T, T_k)
    bias = alibi_bias(H, T, T_k).to(E) if positions == "alibi" else None
    attention = attention or (rotary_attention if positions == "rotary" else scaled_dot_product_attention)

    X, place = embed(tokens, E), place.clamp(min=0)
    if positions == "learned":
        T_max = int(place.max()) + 1 if place.numel() else 0
        X = X + learned_positions(P["P"], T_max).to(X)[place]
    if positions == "sinusoidal":
        X = X + waves(place.cpu(), E.shape[-1]).to(X)
    with all_or_nothing(cache):
        for l, layer in enumerate(layers):
            seen = {"mask": mask, "bias": bias, "attention": attention}
            if cache is not None:
                seen = {"attention": cached_attention(cache[l], shared=H // H_kv, **seen)}
            X = transformer_layer(X, layer, H, H_kv, norm, activation, **seen)
        if "gamma_f" in P:
            X = layer_norm(X, P["gamma_f"], P["beta_f"])
        return X @ E.T
