"""Heads: the channels of every token cut into runs, and put together again."""

import tfbook.numpy as reference
from tfbook.torch.checks import twin


@twin(reference.split_heads)
def split_heads(X, H):
    """
    >>> import torch
    >>> split_heads(torch.tensor([[1.0, 2, 3, 4], [5, 6, 7, 8]]), 2)
    tensor([[[1., 2.],
             [5., 6.]],
    <BLANKLINE>
            [[3., 4.],
             [7., 8.]]])
    """
    X = X.reshape(*X.shape[:-1], H, X.shape[-1] // H)  # (..., T, H, d_k)
    return X.transpose(-2, -3)


@twin(reference.merge_heads)
def merge_heads(X):
    """
    >>> import torch
    >>> merge_heads(torch.tensor([[[1.0, 2], [5, 6]], [[3, 4], [7, 8]]]))
    tensor([[1., 2., 3., 4.],
            [5., 6., 7., 8.]])
    """
    H, T, d_v = X.shape[-3:]
    X = X.transpose(-2, -3)  # (..., T, H, d_v)
    return X.reshape(*X.shape[:-3], T, H * d_v)


@twin(reference.repeat_heads)
def repeat_heads(X, n):
    """
    >>> import torch
    >>> repeat_heads(torch.tensor([[[1.0]], [[2.0]]]), 2).ravel()
    tensor([1., 1., 2., 2.])
    """
    return X.repeat_interleave(n, dim=-3)
