"""Scaled dot-product attention: scores, weights, and the weighted mean of the values."""

import torch

from tfbook.numpy.checks import expect, expect_broadcast, expect_mask, scale_factor
from tfbook.torch.checks import alike, autocast, floats, without_autocast
from tfbook.torch.functions import softmax


def attention_scores(Q, K, bias=None, scale=None):
    r"""Compare every query with every key: :math:`Q K^\top / \sqrt{d_k}`, plus a bias where there is one.

    Parameters
    ----------
    Q : Tensor, shape (..., T, d_k)
        Queries.
    K : Tensor, shape (..., T_k, d_k)
        Keys.
    bias : Tensor, broadcasts to (..., T, T_k), optional
        Added to the scores, such as ALiBi's distances.
    scale : float, optional
        Factor of the dot products; :math:`1/\sqrt{d_k}` unless told.

    Returns
    -------
    Tensor, shape (..., T, T_k)

    Raises
    ------
    ValueError
        Where the shapes do not fit together, or the dtypes differ.

    Notes
    -----
    Source: the argument of the softmax in Attention(Q, K, V).

    Examples
    --------
    >>> attention_scores(torch.tensor([[2.0, 0, 0, 0]]), torch.tensor([[1.0, 5, 5, 5], [3, 0, 0, 0]]))
    tensor([[1., 3.]])
    """
    Q, K = alike(Q=Q, K=K)
    expect("Q", Q.shape, "(..., T, d_k)")
    d_k = Q.shape[-1]
    expect("K", K.shape, "(..., T_k, d_k)", d_k=d_k)
    expect_broadcast("K", K.shape[:-2], Q.shape[:-2], "the leading axes of Q")
    scale = scale_factor(scale, d_k)
    S = dot_products(Q * scale, K)  # scaling Q costs T·d_k products, scaling S would cost T·T_k
    if bias is None:
        return S
    bias = floats("bias", bias)
    expect_broadcast("bias", bias.shape, S.shape, "(..., T, T_k)", kept=2)
    return S + bias.to(S)


def dot_products(Q, K):
    """Q Kᵀ; a key that is not finite gives nan, and a mask that hides it hides it from the gradients too."""
    S = Q @ finite(K).transpose(-1, -2)
    S += barrier(K)  # added, not filled in: where it is attended, gradients are nan too
    return S


def barrier(K):
    """What a key adds to every score: 0, or nan where it is not finite, shape (..., 1, T_k)."""
    return torch.where(K.isfinite().all(dim=-1), 0.0, torch.nan).to(K)[..., None, :]


def finite(X):
    """X, with 0 for what is not a finite number: 0 · nan is nan, so a weight of zero alone would not hide it."""
    return X.masked_fill(~X.isfinite(), 0)


def attention_weights(Q, K, mask=None, bias=None, scale=None):
    r"""Turn each query's scores into a distribution over the keys: softmax of the scores, row by row.

    Parameters
    ----------
    Q : Tensor, shape (..., T, d_k)
        Queries.
    K : Tensor, shape (..., T_k, d_k)
        Keys.
    mask : Tensor of bool, broadcasts to (..., T, T_k), optional
        True where the query may attend to the key.
    bias, scale
        As in :func:`attention_scores`.

    Returns
    -------
    Tensor, shape (..., T, T_k)
        Rows sum to one; the row of a query that may attend to nothing is zero, and so is its gradient.

    Raises
    ------
    ValueError
        Where the shapes do not fit together, the dtypes differ, or the mask is not boolean.

    Notes
    -----
    A masked score becomes −∞, whose exponential is 0, *before* the softmax: what is left still sums to one.

    Source: :math:`\operatorname{softmax}(QK^\top/\sqrt{d_k})`, the attention matrix.

    Examples
    --------
    >>> from tfbook.torch import causal_mask
    >>> attention_weights(torch.zeros(2, 1), torch.ones(2, 1), mask=causal_mask(2))
    tensor([[1.0000, 0.0000],
            [0.5000, 0.5000]])
    """
    Q, K = autocast(*alike(Q=Q, K=K))
    S = scores_in_range(Q, K, bias, scale)
    if mask is not None:
        mask = torch.as_tensor(mask, device=S.device)
        expect_mask(mask.dtype, mask.shape, S.shape)
        S = torch.where(mask, S, -torch.inf)
    return softmax(S).to(Q.dtype)


@without_autocast
def scores_in_range(Q, K, bias, scale):
    """The scores, in float32 for float16: it ends at 65504, and a sum of products may be larger."""
    Q, K = (X.float() if X.dtype == torch.float16 else X for X in (Q, K))
    return attention_scores(Q, K, bias, scale)


def scaled_dot_product_attention(Q, K, V, mask=None, bias=None, scale=None):
    r"""Answer each query with a weighted mean of the values: :math:`\operatorname{softmax}(QK^\top/\sqrt{d_k})\,V`.

    Parameters
    ----------
    Q : Tensor, shape (..., T, d_k)
        Queries: what each position looks for.
    K : Tensor, shape (..., T_k, d_k)
        Keys: what each position offers to be found by.
    V : Tensor, shape (..., T_k, d_v)
        Values: what each position hands over.
    mask : Tensor of bool, broadcasts to (..., T, T_k), optional
        True where the query may attend to the key.
    bias : Tensor, broadcasts to (..., T, T_k), optional
        Added to the scores.
    scale : float, optional
        Factor of the dot products; :math:`1/\sqrt{d_k}` unless told.

    Returns
    -------
    Tensor, shape (..., T, d_v)
        Zeros for a query that may attend to nothing.

    Raises
    ------
    ValueError
        Where the shapes do not fit together, the dtypes differ, or the mask is not boolean.

    Notes
    -----
    Source: Attention(Q, K, V).

    Examples
    --------
    >>> Q = torch.tensor([[10.0, 0.0]])
    >>> K = torch.tensor([[10.0, 0.0], [0.0, 10.0]])
    >>> scaled_dot_product_attention(Q, K, V=torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([[1., 2.]])
    """
    Q, K, V = alike(Q=Q, K=K, V=V)
    A = attention_weights(Q, K, mask, bias, scale)
    return weighted_mean(A, V, mask)


def weighted_mean(A, V, mask=None):
    """Mix the values, A V; a masked value has no part in it, even where it is not a number.

    Parameters
    ----------
    A : Tensor, shape (..., T, T_k)
        Weights, zero where masked.
    V : Tensor, shape (..., T_k, d_v)
        Values.
    mask : Tensor of bool, broadcasts to (..., T, T_k), optional
        The mask that the weights were made with.

    Returns
    -------
    Tensor, shape (..., T, d_v)

    Raises
    ------
    ValueError
        Where the shapes do not fit together, the dtypes differ, or the mask is not boolean.

    Examples
    --------
    >>> weighted_mean(torch.tensor([[1.0, 0.0]]), torch.tensor([[4.0], [torch.nan]]), mask=torch.tensor([[True, False]]))
    tensor([[4.]])
    """
    A, V = alike(A=A, V=V)
    expect("A", A.shape, "(..., T, T_k)")
    expect("V", V.shape, "(..., T_k, d_v)", T_k=A.shape[-1])
    expect_broadcast("V", V.shape[:-2], A.shape[:-2], "the leading axes of Q and K")
    if mask is not None:
        mask = torch.as_tensor(mask, device=A.device)
        expect_mask(mask.dtype, mask.shape, A.shape, kept=None)  # made of it, A has its axes
    if mask is None or V.isfinite().all():
        return A @ V
    broken = ~V.isfinite()
    Y = A @ finite(V)
    seen = mask.expand_as(A).to(Y) @ broken.to(Y)
    return Y.masked_fill(seen > 0, torch.nan)
