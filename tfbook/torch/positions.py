"""Positions: what tells a set of tokens its order. Added to the tokens, or to the
scores.
"""

import torch

import tfbook.numpy as reference
from tfbook.numpy.checks import expect_rows
from tfbook.torch.checks import float_dtype, twin


@twin(reference.sinusoidal_positions)
def sinusoidal_positions(T, d, base=10000.0, dtype=torch.float64):
    """
    >>> sinusoidal_positions(3, 4, dtype=torch.float32)
    tensor([[ 0.0000,  1.0000,  0.0000,  1.0000],
            [ 0.8415,  0.5403,  0.0100,  0.9999],
            [ 0.9093, -0.4161,  0.0200,  0.9998]])
    """
    return sinusoids(torch.arange(T), d, base).to(float_dtype(dtype))


def sinusoids(position, d, base=10000.0):
    """Compute the rows of :func:`sinusoidal_positions` for some positions, in float64.

    Parameters
    ----------
    position : Tensor of int, shape (...), on the CPU: not every GPU has float64
    d, base
        As there.

    Returns
    -------
    Tensor, shape (..., d)
    """
    channel = torch.arange(d)
    # 0 0 2 2 4 4 …: a sine and its cosine share one
    frequency = base ** -((channel - channel % 2).double() / max(d, 1))
    angle = position[..., None] * frequency
    return torch.where(channel % 2 == 0, torch.sin(angle), torch.cos(angle))


@twin(reference.learned_positions)
def learned_positions(P, T):
    """
    >>> P = torch.tensor([[0.1], [0.2], [0.3]])
    >>> learned_positions(P, 2)
    tensor([[0.1000],
            [0.2000]])
    >>> learned_positions(P, 4)
    Traceback (most recent call last):
    ValueError: T: expected at most T_max = 3, the rows of the table P, got 4
    """
    expect_rows(P, T)
    return P[:T]


@twin(reference.alibi_bias)
def alibi_bias(H, T, T_k=None, dtype=torch.float64):
    """
    >>> alibi_bias(2, 3, dtype=torch.float32)[0]
    tensor([[ 0.0000, -0.0625, -0.1250],
            [-0.0625,  0.0000, -0.0625],
            [-0.1250, -0.0625,  0.0000]])
    """
    T_k = T if T_k is None else T_k
    slope = 2.0 ** (-8 * torch.arange(1, H + 1).double() / H)
    query, key = torch.arange(T_k - T, T_k), torch.arange(T_k)
    distance = torch.abs(query[:, None] - key)
    return (slope[:, None, None] * -distance).to(float_dtype(dtype))
