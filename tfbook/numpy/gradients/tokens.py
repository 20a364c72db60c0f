"""Gradients by hand of what works token by token: embedding, norms, feed-forward
networks.

The convention is that of :mod:`tfbook.numpy.gradients.functions`.
"""

import numpy as np

from tfbook.numpy.checks import floats, integers, shapes
from tfbook.numpy.embedding import embed
from tfbook.numpy.feed_forward import (
    ACTIVATIONS,
    activation_named,
    feed_forward,
    gated_feed_forward,
)
from tfbook.numpy.functions import gelu, relu, silu
from tfbook.numpy.gradients.functions import (
    gelu_vjp,
    gradient_of,
    linear_vjp,
    relu_vjp,
    silu_vjp,
    sum_to,
)
from tfbook.numpy.normalization import layer_norm, rescaled, rms_norm

ACTIVATION_VJPS = {relu: relu_vjp, gelu: gelu_vjp, silu: silu_vjp}


def embed_vjp(dX, tokens, E, P=None):
    """Gradients of :func:`embed`: each row of the table gets the sum over the places
    where its token stands.

    Parameters
    ----------
    dX : array_like, shape (..., T, d)
        Gradient of the loss with respect to the vectors.
    tokens, E, P
        As in :func:`embed`.

    Returns
    -------
    dE : ndarray, shape (vocab, d)
        Where there is a ``P``, a pair with its gradient, shape (T, d).

    Examples
    --------
    >>> embed_vjp(
    ...     dX=[[1.0], [2.0], [4.0]],
    ...     tokens=[2, 0, 2],
    ...     E=[[0.0], [0.0], [0.0]],
    ... )
    array([[2.],
           [0.],
           [5.]])
    """
    X = embed(tokens, E, P)
    dX = gradient_of(dX, X.shape, X.dtype, "dX")
    dE = np.zeros(np.shape(E), X.dtype)
    # dE[tokens] += dX would count a token that comes twice only once
    np.add.at(dE, integers("tokens", tokens), dX)
    return dE if P is None else (dE, sum_to(dX, np.shape(P)))


@shapes(**layer_norm.contract)
def layer_norm_vjp(dY, X, gamma, beta, eps=1e-5):
    r"""Gradients of :func:`layer_norm`.

    Parameters
    ----------
    dY : array_like, shape (..., d)
        Gradient of the loss with respect to the answer.
    X, gamma, beta, eps
        As in :func:`layer_norm`.

    Returns
    -------
    dX, dgamma, dbeta : ndarray
        Shapes of ``X``, ``gamma`` and ``beta``.

    Notes
    -----
    With z the normalised token, σ its root of variance + ε, and :math:`dz = dy ⊙
    γ`: :math:`dx = (dz - E[dz] - z\,E[dz ⊙ z]) / σ`. To shift or to stretch a token
    changes nothing, so dx has no part along either.

    Examples
    --------
    >>> dX, dgamma, dbeta = layer_norm_vjp(
    ...     dY=[1.0, 0.0],
    ...     X=[3.0, 1.0],
    ...     gamma=[1.0, 1.0],
    ...     beta=[0.0, 0.0],
    ...     eps=0.0,
    ... )
    >>> dX, dgamma, dbeta
    (array([0., 0.]), array([1., 0.]), array([1., 0.]))
    """
    dY = gradient_of(dY, X.shape, np.result_type(X, gamma, beta))
    centred, eps, s = rescaled(X, eps, shift=True)
    centred -= centred.mean(axis=-1, keepdims=True)
    sigma = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + eps)
    Z, dZ = centred / sigma, dY * gamma
    dX = (
        (
            dZ
            - dZ.mean(axis=-1, keepdims=True)
            - Z * (dZ * Z).mean(axis=-1, keepdims=True)
        )
        / sigma
        / s
    )
    return (
        dX.astype(dY.dtype),
        sum_to(dY * Z, gamma.shape).astype(dY.dtype),
        sum_to(dY, beta.shape),
    )


@shapes(**rms_norm.contract)
def rms_norm_vjp(dY, X, gamma, eps=1e-6):
    r"""Gradients of :func:`rms_norm`: :math:`dx = (dz - z\,E[dz ⊙ z]) / σ`, as in
    :func:`layer_norm_vjp` but for the mean.

    Parameters
    ----------
    dY : array_like, shape (..., d)
        Gradient of the loss with respect to the answer.
    X, gamma, eps
        As in :func:`rms_norm`.

    Returns
    -------
    dX, dgamma : ndarray
        Shapes of ``X`` and ``gamma``.

    Examples
    --------
    >>> dX, dgamma = rms_norm_vjp(
    ...     dY=[1.0, 0.0], X=[1.0, 1.0], gamma=[1.0, 1.0], eps=0.0
    ... )
    >>> dX, dgamma
    (array([ 0.5, -0.5]), array([1., 0.]))
    """
    dY = gradient_of(dY, X.shape, np.result_type(X, gamma))
    x, eps, s = rescaled(X, eps)
    sigma = np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps)
    Z, dZ = x / sigma, dY * gamma
    dX = (dZ - Z * (dZ * Z).mean(axis=-1, keepdims=True)) / sigma / s
    return dX.astype(dY.dtype), sum_to(dY * Z, gamma.shape).astype(dY.dtype)


def normalized_vjp(dY, X, gamma, beta=None, eps=None):
    """Gradients of ``normalized``: dX and dgamma, and dbeta where there is a beta."""
    options = {} if eps is None else {"eps": eps}
    if beta is None:
        return rms_norm_vjp(dY, X, gamma, **options)
    return layer_norm_vjp(dY, X, gamma, beta, **options)


@shapes(**feed_forward.contract)
def feed_forward_vjp(dY, X, W_1, b_1, W_2, b_2, activation="relu"):
    """Gradients of :func:`feed_forward`.

    Parameters
    ----------
    dY : array_like, shape (..., d)
        Gradient of the loss with respect to the answer.
    X, W_1, b_1, W_2, b_2, activation
        As in :func:`feed_forward`; the activation is relu, gelu or silu.

    Returns
    -------
    dX, dW_1, db_1, dW_2, db_2 : ndarray
        Shapes of the arguments.

    Examples
    --------
    >>> dX, *dP = feed_forward_vjp(
    ...     dY=[1.0],
    ...     X=[3.0],
    ...     W_1=[[1.0, -1.0]],
    ...     b_1=[0.0, 0.0],
    ...     W_2=[[1.0], [1.0]],
    ...     b_2=[0.5],
    ... )
    >>> (
    ...     dX,
    ...     dP[1],
    ... )  # the slope of |x|, and which of the two inner channels is awake
    (array([1.]), array([1., 0.]))
    """
    f, f_vjp = _activation(activation)
    inner = X @ W_1 + b_1
    dhidden, dW_2 = linear_vjp(dY, f(inner), W_2)
    dinner = f_vjp(dhidden, inner)
    dX, dW_1 = linear_vjp(dinner, X, W_1)
    return (
        dX,
        dW_1,
        sum_to(dinner, b_1.shape),
        dW_2,
        sum_to(floats("dY", dY), b_2.shape).astype(dX.dtype, copy=False),
    )


@shapes(**gated_feed_forward.contract)
def gated_feed_forward_vjp(dY, X, W_gate, W_up, W_down, activation="silu"):
    """Gradients of :func:`gated_feed_forward`.

    Parameters
    ----------
    dY : array_like, shape (..., d)
        Gradient of the loss with respect to the answer.
    X, W_gate, W_up, W_down, activation
        As in :func:`gated_feed_forward`; the activation is relu, gelu or silu.

    Returns
    -------
    dX, dW_gate, dW_up, dW_down : ndarray
        Shapes of the arguments.

    Examples
    --------
    >>> dX, *dW = gated_feed_forward_vjp(
    ...     [1.0],
    ...     [3.0],
    ...     W_gate=[[1.0]],
    ...     W_up=[[1.0]],
    ...     W_down=[[1.0]],
    ...     activation="relu",
    ... )
    >>> dX  # the slope of x² at 3
    array([6.])
    """
    f, f_vjp = _activation(activation)
    gate, up = X @ W_gate, X @ W_up
    dinner, dW_down = linear_vjp(dY, f(gate) * up, W_down)
    dX_gate, dW_gate = linear_vjp(f_vjp(dinner * up, gate), X, W_gate)
    dX_up, dW_up = linear_vjp(dinner * f(gate), X, W_up)
    return dX_gate + dX_up, dW_gate, dW_up, dW_down


def _activation(activation):
    """The activation of that name, and its gradient."""
    f = activation_named(activation, ACTIVATIONS)
    if f not in ACTIVATION_VJPS:
        raise ValueError(
            f"activation: expected one of {', '.join(ACTIVATIONS)}, whose gradients are"
            f" known, got {activation!r}"
        )
    return f, ACTIVATION_VJPS[f]
