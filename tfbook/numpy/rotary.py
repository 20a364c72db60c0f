"""Rotary positions: queries and keys turn with their position, so that scores depend on
distance alone.
"""

import numpy as np

from tfbook.numpy.attention import scaled_dot_product_attention
from tfbook.numpy.checks import expect_pairs, shapes


@shapes(
    X="... T d_k", positions="... T", base="positive", returns="... T d_k"
)
def rotary(X, positions=None, base=10000.0):
    r"""Turn each pair of channels (2i, 2i+1) by the angle :math:`p /
    \text{base}^{2i/d_k}` at position p.

    Parameters
    ----------
    X
        Queries or keys, d_k even.
    positions
        The position of each token; default: 0 to T − 1.
    base
        The slowest pair takes almost 2π·base positions for one turn.

    Returns
    -------
    ndarray
        Every vector as long as before.

    Raises
    ------
    ValueError
        Where d_k is odd, positions do not fit, or the base is not positive.

    Notes
    -----
    Turning by p and by q leaves a dot product that knows only p − q.

    Source: Su et al., arXiv 2104.09864.

    Examples
    --------
    >>> rotary([[1.0, 0.0], [1.0, 0.0]], positions=[0.0, np.pi / 2]).round(3)
    array([[1., 0.],
           [0., 1.]])
    """
    expect_pairs(X)
    T, d_k = X.shape[-2:]
    positions = np.arange(T) if positions is None else positions
    frequency = base ** -(np.arange(0, d_k, 2) / max(d_k, 1))
    angle = positions[..., None] * frequency  # (..., T, d_k / 2)
    cos, sin = np.cos(angle).astype(X.dtype), np.sin(angle).astype(X.dtype)
    x, y = X[..., 0::2], X[..., 1::2]
    turned = np.stack([x * cos - y * sin, x * sin + y * cos], axis=-1)
    return turned.reshape(*turned.shape[:-2], d_k)


@shapes(Q="... T d_k", K="...H_kv T_k d_k")
def rotary_attention(
    Q,
    K,
    V,
    mask=None,
    bias=None,
    scale=None,
    base=10000.0,
    attention=scaled_dot_product_attention,
    first=0,
):
    """Turn queries and keys by their positions, then attend.

    The last query stands at the last key, as in :func:`causal_mask`. Meant for the
    ``attention`` of :func:`multi_head_attention`.

    Parameters
    ----------
    Q, K, V, mask, bias, scale
        As in :func:`scaled_dot_product_attention`; d_k even.
    base : float
        As in :func:`rotary`.
    attention : callable
        What comes after the turn.
    first : int
        Position of the first key; it matters where keys meet the queries of other
        calls, as in a ring.

    Returns
    -------
    ndarray, shape (..., T, d_v)

    Raises
    ------
    ValueError
        Where d_k is odd, or as in :func:`scaled_dot_product_attention`.

    Examples
    --------
    >>> K, V = [[9.0, 0.0], [9.0, 0.0]], [[1.0], [2.0]]
    >>> rotary_attention([[9.0, 0.0]], K, V).round(3)  # the near key wins
    array([[2.]])
    """
    T, T_k = Q.shape[-2], K.shape[-2]
    positions = first + np.arange(T_k)
    Q, K = rotary(Q, positions[T_k - T :], base), rotary(K, positions, base)
    return attention(Q, K, V, mask=mask, bias=bias, scale=scale)
