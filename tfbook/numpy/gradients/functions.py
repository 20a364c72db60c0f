"""Gradients by hand of the elementwise functions, softmax, the loss, the norms and
products.

One convention for all: ``f_vjp(dY, *args, **options)`` takes the arguments of ``f``
behind dY, the gradient of the loss with respect to f's answer, and gives those with
respect to f's array arguments in their order (one array for one, a tuple for more). It
is the product of dY and f's Jacobian, which is never built. Nothing is kept from the
forward pass: what is needed of it is computed again. Masks and biases count as fixed.
"""

import math

import numpy as np

from tfbook.numpy.checks import floats, integers
from tfbook.numpy.functions import bounded, cross_entropy, erfc, softmax


def gradient_of(dY, shape, dtype, name="dY"):
    """Return dY in the dtype of what it is the gradient of, or raise where its shape
    differs.
    """
    dY = floats(name, dY)
    if dY.shape != tuple(shape):
        raise ValueError(
            f"{name}: expected the shape of the answer, {tuple(shape)}, got {dY.shape}"
        )
    return dY.astype(dtype, copy=False)


def sum_to(dX, shape):
    """Sum a gradient over the axes along which its array was broadcast: every copy has
    its share in the loss.

    Examples
    --------
    >>> sum_to(np.ones((5, 2, 3)), (2, 1))
    array([[15.],
           [15.]])
    """
    dX = dX.sum(axis=tuple(range(dX.ndim - len(shape))))
    return dX.sum(
        axis=tuple(i for i, n in enumerate(shape) if n == 1), keepdims=True
    )


def linear_vjp(dY, X, W):
    r"""Gradients of X @ W: :math:`dX = dY\,W^\top`, and :math:`dW = X^\top dY`, summed
    over all tokens, which share W.

    Parameters
    ----------
    dY : array_like, shape (..., n)
    X : array_like, shape (..., m)
    W : array_like, shape (m, n)

    Returns
    -------
    dX, dW : ndarray
        Shapes of ``X`` and ``W``.

    Examples
    --------
    >>> dX, dW = linear_vjp(
    ...     dY=[[1.0], [10.0]], X=[[2.0, 3.0], [4.0, 5.0]], W=[[6.0], [7.0]]
    ... )
    >>> dX, dW
    (array([[ 6.,  7.],
           [60., 70.]]), array([[42.],
           [53.]]))
    """
    X, W = floats("X", X), floats("W", W)
    dY = gradient_of(dY, (*X.shape[:-1], W.shape[-1]), np.result_type(X, W))
    return dY @ W.T, X.reshape(-1, X.shape[-1]).T @ dY.reshape(
        -1, dY.shape[-1]
    )


def softmax_vjp(dA, S, axis=-1):
    r"""Gradient of :func:`softmax`: :math:`dS_j = A_j\,(dA_j - \sum_k A_k\,dA_k)`.

    The sum takes off what all scores would gain alike, since a shift of all of them
    changes nothing: dS sums to zero.

    Parameters
    ----------
    dA, S : array_like, one shape
    axis : int

    Returns
    -------
    dS : ndarray
        Zero where a slice is nothing but −∞.

    Examples
    --------
    >>> softmax_vjp(dA=[1.0, 0.0], S=[0.0, 0.0])
    array([ 0.25, -0.25])
    """
    A = softmax(S, axis)
    dA = gradient_of(dA, A.shape, A.dtype, "dA")
    return A * (dA - (A * dA).sum(axis=axis, keepdims=True))


def relu_vjp(dY, x):
    """Gradient of :func:`relu`: dY where x is positive, else 0.

    Parameters
    ----------
    dY, x : array_like, one shape

    Returns
    -------
    dx : ndarray

    Examples
    --------
    >>> relu_vjp([5.0, 5.0, 5.0], [-1.0, 0.0, 2.0])
    array([0., 0., 5.])
    """
    x = floats("x", x)
    return gradient_of(dY, x.shape, x.dtype) * (x > 0)


def gelu_vjp(dY, x, approximate=False):
    r"""Gradient of :func:`gelu`: :math:`\Phi(x) + x\,\varphi(x)`, with φ the density of
    the standard normal.

    Parameters
    ----------
    dY, x : array_like, one shape
    approximate : bool
        As in :func:`gelu`.

    Returns
    -------
    dx : ndarray

    Examples
    --------
    >>> gelu_vjp([1.0, 1.0], [0.0, 20.0])
    array([0.5, 1. ])
    """
    # further out, the slope is 0 or 1
    x, dtype = bounded(floats("x", x), above=1000)
    if approximate:
        a, b = math.sqrt(2 / math.pi), 0.044715
        tanh = np.tanh(a * (x + b * x**3))
        below = 0.5 * (1 + tanh)
        density = 0.5 * (1 - tanh**2) * a * (1 + 3 * b * x**2)
    else:
        below = 0.5 * erfc(x * -math.sqrt(0.5))
        density = np.exp(-0.5 * x**2) / math.sqrt(2 * math.pi)
    return (gradient_of(dY, x.shape, x.dtype) * (below + x * density)).astype(
        dtype
    )


def silu_vjp(dY, x):
    r"""Gradient of :func:`silu`: :math:`\sigma(x)\,(1 + x\,(1 - \sigma(x)))`, with σ
    the logistic function.

    Parameters
    ----------
    dY, x : array_like, one shape

    Returns
    -------
    dx : ndarray

    Examples
    --------
    >>> silu_vjp([1.0, 1.0], [0.0, 50.0])
    array([0.5, 1. ])
    """
    # further out, the slope is 0 or 1
    x, dtype = bounded(floats("x", x), above=1000)
    # σ(x) and 1 - σ(x)
    sigma, rest = np.exp(-np.logaddexp(0, -x)), np.exp(-np.logaddexp(0, x))
    return (
        gradient_of(dY, x.shape, x.dtype) * sigma * (1 + x * rest)
    ).astype(dtype)


def cross_entropy_vjp(dL, logits, targets):
    r"""Gradient of :func:`cross_entropy`: :math:`\operatorname{softmax}(\text{logits})`
    less 1 at the target, over the targets' number.

    Parameters
    ----------
    dL : float
        Gradient with respect to the loss: 1 where it is the end.
    logits : array_like, shape (..., vocab)
    targets : array_like of int, shape (...)

    Returns
    -------
    dlogits : ndarray, shape (..., vocab)

    Examples
    --------
    >>> cross_entropy_vjp(1.0, logits=[[0.0, 0.0]], targets=[0])
    array([[-0.5,  0.5]])
    """
    dL = gradient_of(dL, (), cross_entropy(logits, targets).dtype, "dL")
    targets = integers("targets", targets)[..., None]
    dlogits = softmax(logits)
    np.put_along_axis(
        dlogits, targets, np.take_along_axis(dlogits, targets, -1) - 1, -1
    )
    return dlogits * (dL / targets.size)
