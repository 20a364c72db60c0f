"""Multi-head attention: several attentions side by side, each on channels of
its own.
"""

import tfbook.numpy as reference
from tfbook.numpy.check_heads import for_heads
from tfbook.torch.attention import (
    attention_weights,
    scaled_dot_product_attention,
)
from tfbook.torch.checks import twin
from tfbook.torch.heads import merge_heads, split_heads


@twin(reference.multi_head_attention)
def multi_head_attention(
    X,
    W_Q,
    W_K,
    W_V,
    W_O,
    H,
    H_kv=None,
    mask=None,
    bias=None,
    context=None,
    attention=scaled_dot_product_attention,
    b_Q=None,
    b_K=None,
    b_V=None,
    b_O=None,
):
    """
    >>> import torch
    >>> I = torch.eye(2)
    >>> multi_head_attention(
    ...     X=torch.tensor([[0.0, 1.0], [0.0, 3.0]]),
    ...     W_Q=0 * I,
    ...     W_K=I,
    ...     W_V=I,
    ...     W_O=I,
    ...     H=2,
    ... )
    tensor([[0., 2.],
            [0., 2.]])
    """
    Q = split_heads(project(X, W_Q, b_Q), H)  # (..., H, T, d_k)
    K = split_heads(project(context, W_K, b_K), H_kv)  # (..., H_kv, T_k, d_k)
    V = split_heads(project(context, W_V, b_V), H_kv)  # (..., H_kv, T_k, d_v)
    mask = for_heads(mask, X, context)
    Y = attention(Q, K, V, mask=mask, bias=bias)  # (..., H, T, d_v)
    return project(merge_heads(Y), W_O, b_O)


@twin(reference.multi_head_weights)
def multi_head_weights(
    X,
    W_Q,
    W_K,
    H,
    H_kv=None,
    mask=None,
    bias=None,
    context=None,
    b_Q=None,
    b_K=None,
):
    """
    >>> import torch
    >>> multi_head_weights(
    ...     X=torch.eye(2),
    ...     W_Q=torch.eye(2),
    ...     W_K=torch.tensor([[0.0, 2.0], [0.0, 0.0]]),
    ...     H=2,
    ... )
    tensor([[[0.5000, 0.5000],
             [0.5000, 0.5000]],
    <BLANKLINE>
            [[0.5000, 0.5000],
             [0.8808, 0.1192]]])
    """
    Q = split_heads(project(X, W_Q, b_Q), H)
    K = split_heads(project(context, W_K, b_K), H_kv)
    return attention_weights(Q, K, for_heads(mask, X, context), bias)


def project(X, W, b=None):
    """X W, plus a bias where there is one."""
    return X @ W if b is None else X @ W + b
