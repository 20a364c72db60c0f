"""Scaled dot-product attention: scores, weights, and the weighted mean of the
values.
"""

import torch

import tfbook.numpy as reference
from tfbook.numpy.checks import expect_broadcast, scale_factor
from tfbook.torch.checks import autocast, twin, without_autocast
from tfbook.torch.functions import softmax


@twin(reference.attention_scores)
def attention_scores(Q, K, bias=None, scale=None):
    """
    >>> attention_scores(
    ...     torch.tensor([[2.0, 0, 0, 0]]),
    ...     torch.tensor([[1.0, 5, 5, 5], [3, 0, 0, 0]]),
    ... )
    tensor([[1., 3.]])
    """
    S = dot_products(Q * scale_factor(scale, Q.shape[-1]), K)
    return S if bias is None else S + bias.to(S)


def dot_products(Q, K):
    """Q Kᵀ; a key that is not finite gives nan, and a mask that hides it hides it from
    the gradients too.
    """
    S = Q @ zero_nonfinite(K).transpose(-1, -2)
    # added, not filled in: where it is attended, gradients are nan too
    S += nonfinite_scores(K)
    return S


def nonfinite_scores(K):
    """What a key adds to every score: 0, or nan where it is not finite, shape (..., 1,
    T_k).
    """
    return torch.where(K.isfinite().all(dim=-1), 0.0, torch.nan).to(K)[
        ..., None, :
    ]


def zero_nonfinite(X):
    """X, with 0 for what is not a finite number: 0 · nan is nan, so a weight of zero
    alone would not hide it.
    """
    return X.masked_fill(~X.isfinite(), 0)


@twin(reference.attention_weights)
def attention_weights(Q, K, mask=None, bias=None, scale=None):
    """
    >>> from tfbook.torch import causal_mask
    >>> attention_weights(
    ...     torch.zeros(2, 1), torch.ones(2, 1), mask=causal_mask(2)
    ... )
    tensor([[1.0000, 0.0000],
            [0.5000, 0.5000]])
    """
    Q, K = autocast(Q, K)
    S = scores_in_range(Q, K, bias, scale)
    if mask is not None:
        S = torch.where(mask, S, -torch.inf)
    return softmax(S).to(Q.dtype)


@without_autocast
def scores_in_range(Q, K, bias, scale):
    """The scores, in float32 for float16: it ends at 65504, and a sum of products may
    be larger.
    """
    Q, K = (X.float() if X.dtype == torch.float16 else X for X in (Q, K))
    return attention_scores(Q, K, bias, scale)


@twin(reference.scaled_dot_product_attention)
def scaled_dot_product_attention(Q, K, V, mask=None, bias=None, scale=None):
    """
    >>> Q = torch.tensor([[10.0, 0.0]])
    >>> K = torch.tensor([[10.0, 0.0], [0.0, 10.0]])
    >>> scaled_dot_product_attention(
    ...     Q, K, V=torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    ... )
    tensor([[1., 2.]])
    """
    A = attention_weights(Q, K, mask, bias, scale)
    return weighted_mean(A, V, mask)


@twin(reference.weighted_mean)
def weighted_mean(A, V, mask=None):
    """
    >>> weighted_mean(
    ...     torch.tensor([[1.0, 0.0]]),
    ...     torch.tensor([[4.0], [torch.nan]]),
    ...     mask=torch.tensor([[True, False]]),
    ... )
    tensor([[4.]])
    """
    if mask is None:
        return A @ V
    expect_broadcast("mask", mask.shape, A.shape, "(..., T, T_k)", kept=None)
    Y = A @ zero_nonfinite(V)
    seen = (mask & ~V.isfinite().all(dim=-1)[..., None, :]).any(
        dim=-1, keepdim=True
    )
    return Y.masked_fill(seen, torch.nan)
