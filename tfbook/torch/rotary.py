"""Rotary positions: queries and keys turn with their position, so that scores depend on
distance alone.
"""

import math

import torch

import tfbook.numpy as reference
from tfbook.numpy.checks import expect_pairs, expect_scaling
from tfbook.torch.attention import scaled_dot_product_attention
from tfbook.torch.checks import twin


@twin(reference.rotary)
def rotary(
    X, positions=None, base=10000.0, pairs="adjacent", frequencies=None
):
    """
    >>> rotary(
    ...     torch.tensor([[1.0, 0.0], [1.0, 0.0]]),
    ...     positions=torch.tensor([0.0, torch.pi / 2]),
    ... ).round(decimals=3).abs()
    tensor([[1., 0.],
            [0., 1.]])
    """
    expect_pairs(X, pairs, base, frequencies)
    T, d_k = X.shape[-2:]
    # mps has no float64
    where = "cpu" if X.device.type == "mps" else X.device
    positions = torch.arange(T) if positions is None else positions
    if frequencies is None:
        frequencies = rotary_frequencies(d_k, base)
    # (..., T, d_k / 2)
    angle = positions.to(where)[..., None] * frequencies.to(where)
    cos, sin = torch.cos(angle).to(X), torch.sin(angle).to(X)
    if pairs == "halves":
        x, y = torch.tensor_split(X, 2, dim=-1)
    else:
        x, y = X[..., 0::2], X[..., 1::2]
    turned = x * cos - y * sin, x * sin + y * cos
    turned = torch.stack(turned, dim=-2 if pairs == "halves" else -1)
    return turned.reshape(*turned.shape[:-2], d_k)


@twin(reference.rotary_frequencies)
def rotary_frequencies(
    d_k, base=10000.0, scaling=None, factor=1.0, trained=None
):
    """
    >>> rotary_frequencies(4)
    tensor([1.0000, 0.0100], dtype=torch.float64)
    """
    trained = expect_scaling(d_k, scaling, factor, trained)
    if scaling == "ntk":
        base = base * factor ** (d_k / max(d_k - 2, 1))
    i = torch.arange(d_k // 2, dtype=torch.float64)
    frequency = base ** -(2 * i / max(d_k, 1))
    if scaling in (None, "ntk"):
        return frequency
    if scaling == "linear":
        return frequency / factor
    turns = trained * frequency / (2 * math.pi)  # of each pair in training
    if scaling == "llama3":
        kept = ((turns - 1) / (4 - 1)).clip(0, 1)
    else:
        # the pair, as a fraction, that turns n times in training
        turning = lambda n: (
            d_k * math.log(trained / (2 * math.pi * n)) / (2 * math.log(base))
        )
        first = max(math.floor(turning(32)), 0)
        last = min(math.ceil(turning(1)), d_k - 1)
        past = (i - first) / max(last - first, 0.001)
        kept = 1 - past.clip(0, 1)
    return kept * frequency + (1 - kept) * frequency / factor


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
    pairs="adjacent",
    frequencies=None,
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
    form = base, pairs, frequencies
    Q, K = rotary(Q, positions[T_k - T :], *form), rotary(K, positions, *form)
    return attention(Q, K, V, mask=mask, bias=bias, scale=scale)
