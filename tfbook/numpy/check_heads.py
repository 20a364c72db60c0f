"""What multi-head attention expects of its shapes, said once for both halves."""

import numpy as np

from tfbook.numpy.checks import expect, expect_broadcast, expect_mask, whole


def per_head(name, n, H, count="H"):
    """Return n / H, the channels of each head, or raise where H does not divide n.

    Examples
    --------
    >>> per_head("W_Q", 24, 4)
    6
    >>> per_head("W_Q", 24, 5)
    Traceback (most recent call last):
    ValueError: W_Q: expected channels for H = 5 heads of one size, got 24, which 5 does not divide
    """
    H = whole(count, H, least=1)
    if n % H:
        raise ValueError(f"{name}: expected channels for {count} = {H} heads of one size, got {n}, which {H} does not divide")
    return n // H


def head_counts(H, H_kv=None):
    """Return H and H_kv as whole numbers, H_kv = H unless told, or raise where H_kv does not divide H."""
    H = whole("H", H, least=1)
    H_kv = H if H_kv is None else whole("H_kv", H_kv, least=1)
    if H % H_kv:
        raise ValueError(f"H_kv: expected a divisor of H = {H}, so that each key/value head serves equally many, got {H_kv}")
    return H, H_kv


def expect_none_of_new_tokens(mask=None, bias=None, **others):
    """Raise if an attention with a cache is told more than Q, K and V: what is about the new tokens alone is not about all keys."""
    told = [name for name, x in {"mask": mask, "bias": bias}.items() if x is not None] + list(others)
    if told:
        raise ValueError(
            f"{told[0]}: expected none for the new tokens alone; pass cached_attention a mask or bias over all T_k keys, or, "
            "for a scale or a turn, an attention of your own"
        )


def expect_queries_and_keys(X, context, W_Q, W_K, H, H_kv):
    """Raise unless the shapes of the sequences and of the projections to queries and keys fit together."""
    expect("X", X, "(..., T, d)")
    d = X[-1]
    expect("context", context, "(..., T_k, d)", d=d)
    expect_broadcast("context", context[:-2], X[:-2], "the leading axes of X")
    expect("W_Q", W_Q, "(d, H*d_k)", d=d)
    d_k = per_head("W_Q", W_Q[-1], H)
    expect("W_K", W_K, "(d, H_kv*d_k)", d=d, H_kv=H_kv, d_k=d_k)


def expect_values_and_output(X, W_V, W_O, H, H_kv):
    """Raise unless the shapes of the projection to values and of the one back to d channels fit together."""
    d = X[-1]
    expect("W_V", W_V, "(d, H_kv*d_v)", d=d)
    d_v = per_head("W_V", W_V[-1], H_kv, "H_kv")
    expect("W_O", W_O, "(H*d_v, d)", H=H, d_v=d_v, d=d)


def expect_mask_and_bias(X, context, mask, bias, H):
    """Raise unless a mask fits (..., T, T_k), with no axis for heads, and a bias is (H, T, T_k)."""
    T, T_k = X[-2], context[-2]
    if mask is not None:
        target = (*np.broadcast_shapes(tuple(X[:-2]), tuple(context[:-2])), T, T_k)
        expect_mask(mask.dtype, mask.shape, target)
        if len(mask.shape) > len(target):
            raise ValueError(f"mask: expected (..., T, T_k) = {target}, the same for all heads, got {tuple(mask.shape)}")
    if bias is not None:
        expect("bias", bias.shape, "(H, T, T_k)", H=H, T=T, T_k=T_k)
