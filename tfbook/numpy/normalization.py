"""Normalisation: each token brought to one scale, by itself."""

import numpy as np

from tfbook.numpy.checks import expect, floats


def layer_norm(X, gamma, beta, eps=1e-5):
    r"""Bring each token to mean 0 and variance 1, then scale and shift: :math:`\frac{x - E[x]}{\sqrt{Var[x] + ε}} γ + β`.

    Parameters
    ----------
    X : array_like, shape (..., d)
        Tokens.
    gamma : array_like, shape (d,)
        Scale of each channel.
    beta : array_like, shape (d,)
        Shift of each channel.
    eps : float
        Keeps a constant token from a division by zero.

    Returns
    -------
    ndarray, shape (..., d)

    Raises
    ------
    ValueError
        Where the shapes do not fit together.

    Notes
    -----
    The variance is the mean of the squares: divided by d, not by d − 1.

    Source: Layer Normalization; Ba et al., arXiv 1607.06450.

    Examples
    --------
    >>> layer_norm([[1.0, 3.0], [10.0, 30.0]], gamma=[1.0, 1.0], beta=[0.0, 0.0]).round(3)
    array([[-1.,  1.],
           [-1.,  1.]])
    """
    X, gamma, beta = floats("X", X), floats("gamma", gamma), floats("beta", beta)
    expect("X", X.shape, "(..., d)")
    expect("gamma", gamma.shape, "(d,)", d=X.shape[-1])
    expect("beta", beta.shape, "(d,)", d=X.shape[-1])
    x = X.astype(np.promote_types(X.dtype, np.float32), copy=False)  # the squares of half precision overflow
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = (centred**2).mean(axis=-1, keepdims=True)
    normal = centred / np.sqrt(variance + eps)
    return normal.astype(X.dtype, copy=False) * gamma + beta


def rms_norm(X, gamma, eps=1e-6):
    r"""Bring each token to a root mean square of 1, then scale: :math:`\frac{x}{\sqrt{E[x^2] + ε}} γ`.

    Parameters
    ----------
    X : array_like, shape (..., d)
        Tokens.
    gamma : array_like, shape (d,)
        Scale of each channel.
    eps : float
        Keeps a token of zeros from a division by zero.

    Returns
    -------
    ndarray, shape (..., d)

    Raises
    ------
    ValueError
        Where the shapes do not fit together.

    Notes
    -----
    Layer normalisation without the mean and without the shift.

    Source: Zhang and Sennrich, arXiv 1910.07467.

    Examples
    --------
    >>> rms_norm([[1.0, 7.0]], gamma=[1.0, 1.0]).round(3)
    array([[0.2, 1.4]])
    """
    X, gamma = floats("X", X), floats("gamma", gamma)
    expect("X", X.shape, "(..., d)")
    expect("gamma", gamma.shape, "(d,)", d=X.shape[-1])
    x = X.astype(np.promote_types(X.dtype, np.float32), copy=False)  # the squares of half precision overflow
    normal = x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps)
    return normal.astype(X.dtype, copy=False) * gamma
