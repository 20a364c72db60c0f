"""Rotary positions: queries and keys turn with their position, so that scores depend on distance alone."""

import torch

from tfbook.numpy.checks import expect, expect_broadcast, positive
from tfbook.torch.attention import scaled_dot_product_attention
from tfbook.torch.checks import floats


def rotary(X, positions=None, base=10000.0):
    r"""Turn each pair of channels (2i, 2i+1) by the angle :math:`p / \text{base}^{2i/d_k}` at position p.

    Parameters
    ----------
    X : Tensor, shape (..., T, d_k)
        Queries or keys, d_k even.
    positions : Tensor, broadcasts to (..., T), optional
        Where each token stands; 0 to T − 1 unless told.
    base : float
        The slowest pair takes almost 2π·base positions for one turn.

    Returns
    -------
    Tensor, shape (..., T, d_k)
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
    >>> rotary(torch.tensor([[1.0, 0.0], [1.0, 0.0]]), positions=torch.tensor([0.0, torch.pi / 2])).round(decimals=3).abs()
    tensor([[1., 0.],
            [0., 1.]])
    """
    X, base = floats("X", X), positive("base", base)
    expect("X", X.shape, "(..., T, d_k)")
    T, d_k = X.shape[-2:]
    if d_k % 2:
        raise ValueError(f"X: expected an even d_k, channels turn in pairs, got {tuple(X.shape)}")
    positions = torch.arange(T) if positions is None else floats("positions", torch.as_tensor(positions).cpu())
    expect("positions", positions.shape, "(..., T)", T=T)
    expect_broadcast("positions", positions.shape, X.shape[:-1], "(..., T)", kept=1)
    angle = positions[..., None] * base ** -(torch.arange(0, d_k, 2).double() / max(d_k, 1))  # (..., T, d_k / 2)
    cos, sin = torch.cos(angle).to(X), torch.sin(angle).to(X)
    x, y = X[..., 0::2], X[..., 1::2]
    turned = torch.stack([x * cos - y * sin, x * sin + y * cos], dim=-1)  # (..., T, d_k / 2, 2)
    return turned.reshape(*turned.shape[:-2], d_k)


def rotary_attention(Q, K, V, mask=None, bias=None, scale=None, base=10000.0, attention=scaled_dot_product_attention):
    """Turn queries and keys by their positions, then attend.

    The last query stands at the last key, as in :func:`causal_mask`. Meant for the ``attention`` of
    :func:`multi_head_attention`.

    Parameters
    ----------
    Q, K, V, mask, bias, scale
        As in :func:`scaled_dot_product_attention`; d_k even.
    base : float
        As in :func:`rotary`.
    attention : callable
        What comes after the turn.

    Returns
    -------
    Tensor, shape (..., T, d_v)

    Raises
    ------
    ValueError
        Where d_k is odd, or as in :func:`scaled_dot_product_attention`.

    Examples
    --------
    >>> Q, K, V = torch.tensor([[9.0, 0.0]]), torch.tensor([[9.0, 0.0], [9.0, 0.0]]), torch.tensor([[1.0], [2.0]])
    >>> rotary_attention(Q, K, V)  # the near key wins
    tensor([[2.]])
    """
    Q, K = floats("Q", Q), floats("K", K)
    expect("Q", Q.shape, "(..., T, d_k)")
    expect("K", K.shape, "(..., T_k, d_k)", d_k=Q.shape[-1])
    T, T_k = Q.shape[-2], K.shape[-2]
    Q, K = rotary(Q, torch.arange(T_k - T, T_k), base), rotary(K, base=base)
    return attention(Q, K, V, mask=mask, bias=bias, scale=scale)
