"""Masks: True where a query may attend to a key."""

import torch

import tfbook.numpy as reference
from tfbook.numpy.checks import expect_lengths
from tfbook.torch.checks import twin, where_known


@twin(reference.causal_mask)
def causal_mask(T, T_k=None):
    """
    >>> causal_mask(2, 4).int()
    tensor([[1, 1, 1, 0],
            [1, 1, 1, 1]], dtype=torch.int32)
    """
    T_k = T if T_k is None else T_k
    return torch.ones(T, T_k, dtype=torch.bool).tril(T_k - T)


@twin(reference.padding_mask)
def padding_mask(lengths, T_k):
    """
    >>> padding_mask(torch.tensor([3, 1]), 4).int()
    tensor([[[1, 1, 1, 0]],
    <BLANKLINE>
            [[1, 0, 0, 0]]], dtype=torch.int32)
    """
    where_known(expect_lengths, lengths, T_k)
    return torch.arange(T_k, device=lengths.device) < lengths[..., None, None]
