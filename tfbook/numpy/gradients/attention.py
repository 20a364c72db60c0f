"""Gradients by hand of attention; the convention is that of
:mod:`tfbook.numpy.gradients.functions`.
"""

import numpy as np

from tfbook.numpy.attention import (
    attention_weights,
    scaled_dot_product_attention,
    weighted_mean,
    zero_nonfinite,
)
from tfbook.numpy.check_heads import for_heads
from tfbook.numpy.checks import floats, scale_factor, shapes
from tfbook.numpy.gradients.functions import gradient_of, linear_vjp, sum_to
from tfbook.numpy.heads import merge_heads, repeat_heads, split_heads
from tfbook.numpy.multi_head import multi_head_attention, project


@shapes(**scaled_dot_product_attention.contract)
@np.errstate(invalid="ignore")  # a value that the mask hides may be infinite
def scaled_dot_product_attention_vjp(
    dY, Q, K, V, mask=None, bias=None, scale=None
):
    r"""Gradients of :func:`scaled_dot_product_attention`, back along its three steps:
    mix, softmax, scores.

    Parameters
    ----------
    dY : array_like, shape (..., T, d_v)
        Gradient of the loss with respect to the answer.
    Q, K, V, mask, bias, scale
        As in :func:`scaled_dot_product_attention`.

    Returns
    -------
    dQ, dK, dV : ndarray
        Shapes of ``Q``, ``K`` and ``V``; zero for a query that may attend to nothing,
        and for a key that none may attend to.

    Raises
    ------
    ValueError
        Where the shapes do not fit together, or the mask is not boolean.

    Notes
    -----
    With A the weights: :math:`dV = A^\top dY`, :math:`dA = dY\,V^\top`, :math:`dS
    = A ⊙ (dA - \mathrm{rowsum}(A ⊙ dA))`, :math:`dQ = dS\,K / \sqrt{d_k}`, :math:`dK =
    dS^\top Q / \sqrt{d_k}`.

    Examples
    --------
    >>> dQ, dK, dV = scaled_dot_product_attention_vjp(
    ...     dY=[[1.0]], Q=[[0.0]], K=[[1.0], [-1.0]], V=[[2.0], [4.0]]
    ... )
    >>> (
    ...     dQ,
    ...     dK.ravel(),
    ...     dV.ravel(),
    ... )  # looking more at the first key brings Y = 3 down
    (array([[-1.]]), array([0., 0.]), array([0.5, 0.5]))
    """
    A = attention_weights(Q, K, mask, bias, scale)
    Y = weighted_mean(A, V, mask)
    dY = gradient_of(dY, Y.shape, Y.dtype)
    dV = np.swapaxes(A, -1, -2) @ dY
    dA = dY @ np.swapaxes(V, -1, -2)
    if mask is not None:
        # 0 · nan is nan: the weight alone would not hide a masked value
        dA = np.where(mask, dA, dA.dtype.type(0))
    dS = A * (dA - (A * dA).sum(axis=-1, keepdims=True))
    dS *= scale_factor(scale, Q.shape[-1])
    dQ, dK = dS @ zero_nonfinite(K), np.swapaxes(dS, -1, -2) @ Q
    return sum_to(dQ, Q.shape), sum_to(dK, K.shape), sum_to(dV, V.shape)


@shapes(**{**multi_head_attention.contract, "context": "... T_k d"})
def multi_head_attention_vjp(
    dY,
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
    b_Q=None,
    b_K=None,
    b_V=None,
    b_O=None,
):
    r"""Gradients of :func:`multi_head_attention`.

    Parameters
    ----------
    dY : array_like, shape (..., T, d)
        Gradient of the loss with respect to the answer.
    X, W_Q, W_K, W_V, W_O, H, H_kv, mask, bias, context, b_Q, b_K, b_V, b_O
        As in :func:`multi_head_attention`.

    Returns
    -------
    dX, dW_Q, dW_K, dW_V, dW_O : ndarray
        Shapes of the arguments. Where there is a context, its gradient dcontext comes
        as a sixth; after these, the gradient of each of b_Q, b_K, b_V and b_O that is
        given.

    Raises
    ------
    ValueError
        As in :func:`multi_head_attention`.

    Notes
    -----
    A token of X has its share in the loss by its query, its key and its value:
    the three gradients add up. So do those of the query heads that share one key/value
    head.

    Examples
    --------
    >>> I = np.eye(2)
    >>> dX, *dW = multi_head_attention_vjp(
    ...     dY=np.ones((3, 2)),
    ...     X=np.ones((3, 2)),
    ...     W_Q=I,
    ...     W_K=I,
    ...     W_V=I,
    ...     W_O=I,
    ...     H=2,
    ... )
    >>> dX, dW[3]
    (array([[1., 1.],
           [1., 1.],
           [1., 1.]]), array([[3., 3.],
           [3., 3.]]))
    """
    alone = context is None
    context = X if alone else context
    mask = for_heads(mask, X, context)

    n = H // H_kv

    Q = split_heads(project(X, W_Q, b_Q), H)
    K, V = (
        repeat_heads(split_heads(project(context, W, b), H_kv), n)
        for W, b in ((W_K, b_K), (W_V, b_V))
    )
    Y = merge_heads(scaled_dot_product_attention(Q, K, V, mask, bias))

    dA, dW_O = linear_vjp(dY, Y, W_O)
    dQ, dK, dV = scaled_dot_product_attention_vjp(
        split_heads(dA, H), Q, K, V, mask, bias
    )
    dQ = merge_heads(dQ)
    dK, dV = (merge_heads(repeat_heads_vjp(dX, n)) for dX in (dK, dV))
    dX, dW_Q = linear_vjp(dQ, X, W_Q)
    dcontext_K, dW_K = linear_vjp(dK, context, W_K)
    dcontext_V, dW_V = linear_vjp(dV, context, W_V)
    dcontext = dcontext_K + dcontext_V
    db = [
        sum_to(floats("dY", dZ), b.shape).astype(dW_O.dtype, copy=False)
        for dZ, b in ((dQ, b_Q), (dK, b_K), (dV, b_V), (dY, b_O))
        if b is not None
    ]
    if alone:
        return dX + dcontext, dW_Q, dW_K, dW_V, dW_O, *db
    return dX, dW_Q, dW_K, dW_V, dW_O, dcontext, *db


def repeat_heads_vjp(dY, n):
    """Gradient of :func:`repeat_heads`: the sum over the n query heads that share a
    key/value head.

    Parameters
    ----------
    dY : array_like, shape (..., H_kv·n, T, d_k)
    n : int

    Returns
    -------
    dX : ndarray, shape (..., H_kv, T, d_k)

    Examples
    --------
    >>> repeat_heads_vjp([[[1.0]], [[2.0]], [[30.0]], [[40.0]]], 2).ravel()
    array([ 3., 70.])
    """
    dY = floats("dY", dY)
    *leading, H, T, d_k = dY.shape
    return dY.reshape(*leading, H // n, n, T, d_k).sum(axis=-3)
