"""Convolution over time: every position sees its neighbours, through the same
weights.
"""

import torch

import tfbook.numpy as reference
from tfbook.numpy.checks import expect_kernel
from tfbook.torch.checks import twin


@twin(reference.conv1d)
def conv1d(X, W, b=None, causal=False):
    """
    >>> X, W = torch.tensor([[1.0], [2], [3], [4]]), torch.ones(3, 1, 1)
    >>> conv1d(X, W)[:, 0]
    tensor([3., 6., 9., 7.])
    >>> conv1d(X, W, causal=True)[:, 0]
    tensor([1., 3., 6., 9.])
    """
    expect_kernel(W, causal)
    T, k = X.shape[-2], len(W)
    left = k - 1 if causal else k // 2
    # from the last axis on
    padded = torch.nn.functional.pad(X, (0, 0, left, k - 1 - left))
    Y = sum(padded[..., i : i + T, :] @ W[i] for i in range(k))
    return Y if b is None else Y + b
