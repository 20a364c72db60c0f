"""Multi-head attention: several attentions side by side, each on channels of its own."""

import torch

from tfbook.numpy.check_heads import expect_mask_and_bias, expect_queries_and_keys, expect_values_and_output, head_counts
from tfbook.torch.attention import attention_weights, scaled_dot_product_attention
from tfbook.torch.checks import alike, floats
from tfbook.torch.heads import merge_heads, repeat_heads, split_heads


def multi_head_attention(
    X, W_Q, W_K, W_V, W_O, H, H_kv=None, mask=None, bias=None, context=None, attention=scaled_dot_product_attention
):
    r"""Let H heads attend side by side, each in a way of its own, and mix what they bring back.

    Parameters
    ----------
    X : Tensor, shape (..., T, d)
        Tokens that ask.
    W_Q : Tensor, shape (d, H·d_k)
        Projection to the queries of all heads.
    W_K : Tensor, shape (d, H_kv·d_k)
        Projection to the keys.
    W_V : Tensor, shape (d, H_kv·d_v)
        Projection to the values.
    W_O : Tensor, shape (H·d_v, d)
        Projection of the merged heads back to d channels.
    H : int
        Heads.
    H_kv : int, optional
        Key/value heads, a divisor of H: fewer than H is grouped-query attention, 1 is multi-query; H unless told.
    mask : Tensor of bool, broadcasts to (..., T, T_k), optional
        True where the query may attend to the key; the same for all heads.
    bias : Tensor, shape (H, T, T_k), optional
        Added to the scores of each head, such as :func:`alibi_bias`.
    context : Tensor, shape (..., T_k, d), optional
        Tokens that answer, from another sequence; X itself unless told.
    attention : callable
        What each head does with its Q, K, V, mask and bias.

    Returns
    -------
    Tensor, shape (..., T, d)

    Raises
    ------
    ValueError
        Where the shapes do not fit together, H or H_kv does not divide, or the mask is not boolean.

    Notes
    -----
    Source: MultiHead(X) = :math:`[head_1 ‖ ⋯ ‖ head_H] W_O`.

    Examples
    --------
    >>> I = torch.eye(2)
    >>> multi_head_attention(X=torch.tensor([[0.0, 1.0], [0.0, 3.0]]), W_Q=0 * I, W_K=I, W_V=I, W_O=I, H=2)
    tensor([[0., 2.],
            [0., 2.]])
    """
    H, H_kv = head_counts(H, H_kv)
    X, context, W_Q, W_K, W_V, W_O = alike(X=X, context=X if context is None else context, W_Q=W_Q, W_K=W_K, W_V=W_V, W_O=W_O)
    expect_queries_and_keys(X.shape, context.shape, W_Q.shape, W_K.shape, H, H_kv)
    expect_values_and_output(X.shape, W_V.shape, W_O.shape, H, H_kv)
    mask, bias = _for_heads(X, context, mask, bias, H)

    Q = split_heads(X @ W_Q, H)           # (..., H, T, d_k)
    K = split_heads(context @ W_K, H_kv)  # (..., H_kv, T_k, d_k)
    V = split_heads(context @ W_V, H_kv)  # (..., H_kv, T_k, d_v)
    K, V = repeat_heads(K, H // H_kv), repeat_heads(V, H // H_kv)
    Y = attention(Q, K, V, mask=mask, bias=bias)  # (..., H, T, d_v)
    return merge_heads(Y) @ W_O


def multi_head_weights(X, W_Q, W_K, H, H_kv=None, mask=None, bias=None, context=None):
    r"""Show where each head of :func:`multi_head_attention` looks.

    Parameters
    ----------
    X, W_Q, W_K, H, H_kv, mask, bias, context
        As in :func:`multi_head_attention`.

    Returns
    -------
    Tensor, shape (..., H, T, T_k)
        Of each head the distribution over the keys, query by query.

    Raises
    ------
    ValueError
        As in :func:`multi_head_attention`.

    Examples
    --------
    >>> multi_head_weights(X=torch.eye(2), W_Q=torch.eye(2), W_K=torch.tensor([[0.0, 2.0], [0.0, 0.0]]), H=2)
    tensor([[[0.5000, 0.5000],
             [0.5000, 0.5000]],
    <BLANKLINE>
            [[0.5000, 0.5000],
             [0.8808, 0.1192]]])
    """
    H, H_kv = head_counts(H, H_kv)
    X, context, W_Q, W_K = alike(X=X, context=X if context is None else context, W_Q=W_Q, W_K=W_K)
    expect_queries_and_keys(X.shape, context.shape, W_Q.shape, W_K.shape, H, H_kv)
    mask, bias = _for_heads(X, context, mask, bias, H)

    Q = split_heads(X @ W_Q, H)
    K = repeat_heads(split_heads(context @ W_K, H_kv), H // H_kv)
    return attention_weights(Q, K, mask, bias)


def _for_heads(X, context, mask, bias, H):
    """The mask with an axis of size 1 for the heads, and the bias."""
    mask = None if mask is None else torch.as_tensor(mask, device=X.device)
    bias = None if bias is None else floats("bias", bias)
    expect_mask_and_bias(X.shape, context.shape, mask, bias, H)
    return (mask if mask is None or mask.ndim < 3 else mask[..., None, :, :]), bias
