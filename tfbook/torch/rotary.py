"""Rotary positions: queries and keys turn with their position, so that scores depend on
distance alone.
"""

import torch

import tfbook.numpy as reference
from tfbook.numpy.checks import expect_pairs
from tfbook.torch.attention import scaled_dot_product_attention
from tfbook.torch.checks import twin


@twin(reference.rotary)
def rotary(X, positions=None, base=10000.0):
    """
    >>> rotary(
    ...     torch.tensor([[1.0, 0.0], [1.0, 0.0]]),
    ...     positions=torch.tensor([0.0, torch.pi / 2]),
    ... ).round(decimals=3).abs()
    tensor([[1., 0.],
            [0., 1.]])
    """
    expect_pairs(X)
    T, d_k = X.shape[-2:]
    # mps has no float64
    where = "cpu" if X.device.type == "mps" else X.device
    positions = torch.arange(T) if positions is None else positions
    pairs = torch.arange(0, d_k, 2, dtype=torch.float64, device=where)
    frequency = base ** -(pairs / max(d_k, 1))
    angle = positions.to(where)[..., None] * frequency  # (..., T, d_k / 2)
    cos, sin = torch.cos(angle).to(X), torch.sin(angle).to(X)
    x, y = X[..., 0::2], X[..., 1::2]
    turned = torch.stack([x * cos - y * sin, x * sin + y * cos], dim=-1)
    return turned.reshape(*turned.shape[:-2], d_k)


@twin(reference.rotary_attention)
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
    """
    >>> K, V = (
    ...     torch.tensor([[9.0, 0.0], [9.0, 0.0]]),
    ...     torch.tensor([[1.0], [2.0]]),
    ... )
    >>> rotary_attention(Q=K[1:], K=K, V=V)  # the near key wins
    tensor([[2.]])
    """
    T, T_k = Q.shape[-2], K.shape[-2]
    positions = first + torch.arange(T_k)
    Q, K = rotary(Q, positions[T_k - T :], base), rotary(K, positions, base)
    return attention(Q, K, V, mask=mask, bias=bias, scale=scale)
