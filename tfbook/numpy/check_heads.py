"""What multi-head attention expects of its shapes, said once for both halves."""

from tfbook.numpy.checks import whole
from tfbook.shapes import broadcast


def per_head(name, n, H, count="H"):
    """Return n / H, the channels of each head, or raise where H does not divide n.

    Examples
    --------
    >>> per_head("W_Q", 24, 4)
    6
    >>> per_head("W_Q", 24, 5)
    Traceback (most recent call last):
    ValueError: W_Q: expected channels for H = 5 heads of one size, got 24, which 5
    does not divide
    """
    H = whole(count, H, least=1)
    if n % H:
        raise ValueError(
            f"{name}: expected channels for {count} = {H} heads of one size, got {n},"
            f" which {H} does not divide"
        )
    return n // H


def head_counts(H, H_kv=None):
    """Return H and H_kv as whole numbers, by default H_kv = H, or raise where H_kv
    does not divide H.
    """
    H = whole("H", H, least=1)
    H_kv = H if H_kv is None else whole("H_kv", H_kv, least=1)
    if H % H_kv:
        raise ValueError(
            f"H_kv: expected a divisor of H = {H}, so that each key/value head serves"
            f" equally many, got {H_kv}"
        )
    return H, H_kv


def expect_none_of_new_tokens(mask=None, bias=None, **others):
    """Raise if an attention with a cache is told more than Q, K and V: what is about
    the new tokens alone is not about all keys.
    """
    told = [
        name
        for name, x in {"mask": mask, "bias": bias}.items()
        if x is not None
    ] + list(others)
    if told:
        raise ValueError(
            f"{told[0]}: expected none for the new tokens alone; pass cached_attention"
            " a mask or bias over all T_k keys, or, for a scale or a turn, an "
            "attention of your own"
        )


def for_heads(mask, X, context):
    """A mask with an axis of size 1 for the heads, or None: all heads have the same."""
    if mask is None or mask.ndim < 3:
        return mask
    leading = broadcast(X.shape[:-2], context.shape[:-2])
    target = (*leading, X.shape[-2], context.shape[-2])
    if mask.ndim > len(target):
        raise ValueError(
            f"mask: expected (..., T, T_k) = {target}, the same for all heads, "
            f"got {tuple(mask.shape)}"
        )
    return mask[..., None, :, :]
