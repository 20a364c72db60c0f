"""A language model: a causal stack of layers between a table of tokens and the same
table.
"""

import torch

import tfbook.numpy as reference
from tfbook.numpy.check_heads import head_counts
from tfbook.numpy.check_model import expect_pad, head_matrix, model_layers
from tfbook.numpy.position_schemes import position_scheme
from tfbook.torch.attention import scaled_dot_product_attention
from tfbook.torch.cache import all_or_nothing, cached_attention
from tfbook.torch.checks import floats, integers, twin
from tfbook.torch.embedding import embed
from tfbook.torch.layer import transformer_layer
from tfbook.torch.masks import causal_mask
from tfbook.torch.normalization import normalized
from tfbook.torch.position_schemes import POSITION_SCHEMES


@twin(reference.language_model)
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
    """
    >>> from tfbook.torch import TransformerLayer, key_value_caches
    >>> P = {"E": torch.eye(4)} | {
    ...     f"layers.0.{name}": p
    ...     for name, p in TransformerLayer(d=4, H=2).state_dict().items()
    ... }
    >>> tokens, cache = torch.tensor([3, 1, 2]), key_value_caches()
    >>> whole = language_model(tokens, P, H=2, positions="alibi")
    >>> parts = [
    ...     language_model(token, P, H=2, positions="alibi", cache=cache)
    ...     for token in tokens.split(1)
    ... ]
    >>> torch.allclose(whole, torch.cat(parts), atol=1e-6)
    True
    """
    layers = model_layers(P, positions, untied=True)
    H, H_kv = head_counts(H, H_kv)
    X, mask, bias = read_tokens(
        tokens, P["E"], P.get("P"), H, positions, pad, cache
    )
    W_out = head_matrix(P, P["E"])
    attention = position_scheme(positions, POSITION_SCHEMES).around(attention)
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


def read_tokens(
    tokens, E, table, H, positions="learned", pad=None, cache=None
):
    """The vectors of the tokens, and the mask and the bias that every layer of the
    model has.
    """
    E, tokens = floats("E", E), integers("tokens", tokens, E)
    scheme = position_scheme(positions, POSITION_SCHEMES)
    T, T_read = tokens.shape[-1], 0 if cache is None else len(cache[0])
    T_k = T_read + T

    at = torch.arange(T_read, T_k, device=E.device)
    mask = causal_mask(T, T_k).to(E.device)
    if pad is not None:
        pad = integers("pad", pad, E)
        # a cache may get padding alone first
        expect_pad(pad, tokens.shape, most=T if cache is None else torch.inf)
        at = at - pad[..., None]  # (..., T), negative in the padding
        keys = torch.arange(T_k, device=E.device)
        mask = mask & (keys >= pad[..., None, None])  # (..., T, T_k)

    X = embed(tokens, E)
    if scheme.vectors:
        X = X + scheme.vectors(at.clamp(min=0), E.shape[-1], table).to(X)
    bias = scheme.bias(H, T, T_k).to(E) if scheme.bias else None
    return X, mask, bias
