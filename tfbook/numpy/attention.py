"""Scaled dot-product attention: scores, weights, and the weighted mean of the
values.
"""

import numpy as np

from tfbook.numpy.checks import expect_broadcast, scale_factor, shapes
from tfbook.numpy.functions import softmax_in_place


@shapes(
    Q="... T d_k",
    K="...H T_k d_k",
    bias="... T T_k",
    scale="number",
    returns="... T T_k",
)
def attention_scores(Q, K, bias=None, scale=None):
    r"""Compare every query with every key: :math:`Q K^\top / \sqrt{d_k}`, plus a bias
    where there is one.

    Parameters
    ----------
    Q
        Queries.
    K
        Keys.
    bias
        Added to the scores, such as ALiBi's distances.
    scale
        Factor of the dot products; default: :math:`1/\sqrt{d_k}`.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        Where the shapes do not fit together.

    Notes
    -----
    Source: the argument of the softmax in Attention(Q, K, V).

    Examples
    --------
    >>> attention_scores(
    ...     [[2.0, 0.0, 0.0, 0.0]],
    ...     [[1.0, 5.0, 5.0, 5.0], [3.0, 0.0, 0.0, 0.0]],
    ... )
    array([[1., 3.]])
    """
    S = dot_products(Q * scale_factor(scale, Q.shape[-1]), K)
    return S if bias is None else S + bias.astype(S.dtype, copy=False)


def dot_products(Q, K):
    """Q Kᵀ; a key that is not finite gives nan, and a mask that hides it hides it from
    the gradients too.
    """
    S, beyond = (
        Q @ np.swapaxes(zero_nonfinite(K), -1, -2),
        nonfinite_scores(K),
    )
    if beyond is not None:
        S += beyond
    return S


def nonfinite_scores(K):
    """What a key adds to every score: 0, or nan where it is not finite, shape (..., 1,
    T_k); None where all are finite.
    """
    ok = np.isfinite(K).all(axis=-1)
    return (
        None
        if ok.all()
        else np.where(ok, K.dtype.type(0), K.dtype.type(np.nan))[..., None, :]
    )


def zero_nonfinite(X):
    """X, with 0 for what is not a finite number: 0 · nan is nan, so a weight of zero
    alone would not hide it.
    """
    ok = np.isfinite(X)
    return X if ok.all() else np.where(ok, X, X.dtype.type(0))


@shapes(
    Q="... T d_k",
    K="...H T_k d_k",
    mask="... T T_k",
    bias="... T T_k",
    scale="number",
    returns="... T T_k",
)
def attention_weights(Q, K, mask=None, bias=None, scale=None):
    r"""Turn each query's scores into a distribution over the keys: softmax of the
    scores, row by row.

    Parameters
    ----------
    Q
        Queries.
    K
        Keys.
    mask
        True where the query may attend to the key.
    bias, scale
        As in :func:`attention_scores`.

    Returns
    -------
    ndarray
        Rows sum to one; the row of a query that may attend to nothing is zero.

    Raises
    ------
    ValueError
        Where the shapes do not fit together, or the mask is not boolean.

    Notes
    -----
    A masked score becomes −∞, whose exponential is 0, *before* the softmax: what
    is left still sums to one.

    Source: :math:`\operatorname{softmax}(QK^\top/\sqrt{d_k})`, the attention matrix.

    Examples
    --------
    >>> from tfbook.numpy import causal_mask
    >>> attention_weights([[0.0], [0.0]], [[1.0], [1.0]], mask=causal_mask(2))
    array([[1. , 0. ],
           [0.5, 0.5]])
    """
    wide = np.promote_types(Q.dtype, np.float32)  # float16 ends at 65504
    S = attention_scores(Q.astype(wide, copy=False), K, bias, scale)
    if mask is not None:
        S = np.where(mask, S, S.dtype.type(-np.inf))
    A = softmax_in_place(S)  # the scores are needed no more
    return A.astype(np.result_type(Q, K), copy=False)


@shapes(
    Q="... T d_k",
    K="...H T_k d_k",
    V="...H T_k d_v",
    mask="... T T_k",
    bias="... T T_k",
    scale="number",
    returns="... T d_v",
)
def scaled_dot_product_attention(Q, K, V, mask=None, bias=None, scale=None):
    r"""Answer each query with a weighted mean of the values:
    :math:`\operatorname{softmax}(QK^\top/\sqrt{d_k})\,V`.

    Parameters
    ----------
    Q
        Queries: what each position looks for.
    K
        Keys: what each position offers to be found by.
    V
        Values: what each position hands over.
    mask
        True where the query may attend to the key.
    bias
        Added to the scores.
    scale
        Factor of the dot products; default: :math:`1/\sqrt{d_k}`.

    Returns
    -------
    ndarray
        Zeros for a query that may attend to nothing.

    Raises
    ------
    ValueError
        Where the shapes do not fit together, or the mask is not boolean.

    Notes
    -----
    The last leading axis may be heads. K and V may then have fewer of them than Q, a
    divisor: each serves equally many query heads in a row, as :func:`repeat_heads`
    repeats them.

    Source: Attention(Q, K, V).

    Examples
    --------
    >>> Q = [[10.0, 0.0]]
    >>> K = [[10.0, 0.0], [0.0, 10.0]]
    >>> scaled_dot_product_attention(Q, K, V=[[1.0, 2.0], [3.0, 4.0]])
    array([[1., 2.]])
    """
    A = attention_weights(Q, K, mask, bias, scale)
    return weighted_mean(A, V, mask)


@shapes(A="... T T_k", V="... T_k d_v", mask="... T T_k", returns="... T d_v")
def weighted_mean(A, V, mask=None):
    """Mix the values, A V; a masked value has no part in it, even where it is not a
    number.

    Parameters
    ----------
    A
        Weights, zero where masked.
    V
        Values.
    mask
        The mask that the weights were made with.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        Where the shapes do not fit together, or the mask is not boolean.

    Examples
    --------
    >>> weighted_mean([[0.25, 0.75]], [[4.0], [8.0]])
    array([[7.]])
    >>> weighted_mean([[1.0, 0.0]], [[4.0], [np.nan]], mask=[[True, False]])
    array([[4.]])
    """
    if mask is None:
        return A @ V
    expect_broadcast("mask", mask.shape, A.shape, "(..., T, T_k)", kept=None)
    if np.isfinite(V).all():
        return A @ V
    broken = ~np.isfinite(V)
    Y = A @ zero_nonfinite(V)
    seen = np.broadcast_to(mask, A.shape).astype(Y.dtype) @ broken.astype(
        Y.dtype
    )
    return np.where(seen > 0, Y.dtype.type(np.nan), Y)
