"""Normalisation: each token brought to one scale, by itself."""

import math

import numpy as np

from tfbook.numpy.checks import shapes


@shapes(X="... d", gamma="d", beta="d", returns="... d")
def layer_norm(X, gamma, beta, eps=1e-5):
    r"""Bring each token to mean 0 and variance 1, then scale and shift: :math:`\frac{x
    - E[x]}{\sqrt{Var[x] + ε}} γ + β`.

    Parameters
    ----------
    X
        Tokens.
    gamma
        Scale of each channel.
    beta
        Shift of each channel.
    eps : float
        Keeps a constant token from a division by zero.

    Returns
    -------
    ndarray

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
    >>> layer_norm(
    ...     [[1.0, 3.0], [10.0, 30.0]], gamma=[1.0, 1.0], beta=[0.0, 0.0]
    ... ).round(3)
    array([[-1.,  1.],
           [-1.,  1.]])
    """
    centred, eps, _ = rescaled(X, eps, shift=True)
    centred -= centred.mean(axis=-1, keepdims=True)
    variance = (centred**2).mean(axis=-1, keepdims=True)
    normal = centred / np.sqrt(variance + eps)
    return normal.astype(X.dtype, copy=False) * gamma + beta


@shapes(X="... d", gamma="d", returns="... d")
def rms_norm(X, gamma, eps=1e-6):
    r"""Bring each token to a root mean square of 1, then scale:
    :math:`\frac{x}{\sqrt{E[x^2] + ε}} γ`.

    Parameters
    ----------
    X
        Tokens.
    gamma
        Scale of each channel.
    eps : float
        Keeps a token of zeros from a division by zero.

    Returns
    -------
    ndarray

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
    x, eps, _ = rescaled(X, eps)
    normal = x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps)
    return normal.astype(X.dtype, copy=False) * gamma


def normalized(X, gamma, beta=None, eps=None):
    """:func:`layer_norm`, or :func:`rms_norm` where there is no shift; ε is by default
    that of each.
    """
    options = {} if eps is None else {"eps": eps}
    if beta is None:
        return rms_norm(X, gamma, **options)
    return layer_norm(X, gamma, beta, **options)


@np.errstate(over="ignore")
def rescaled(X, eps, shift=False):
    """Divide each token by a power of two s near its largest number, and ε by s²: a
    norm is the same, and no square overflows.

    Where no square can, nothing is divided, and s = 1. A power of two rounds nothing,
    so that the norm is the same either way.

    Parameters
    ----------
    X : ndarray, shape (..., d)
    eps : float
    shift : bool
        Subtract each token's first channel before: of a constant token, this leaves
        exactly 0.

    Returns
    -------
    x : ndarray, shape (..., d)
        In float32 or wider.
    eps, s : float, or ndarray of shape (..., 1)

    Examples
    --------
    >>> rescaled(np.array([3e30, 1e30], np.float32), eps=1e-5)[0]
    array([1.1832913 , 0.39443046], dtype=float32)
    """
    x = X.astype(np.promote_types(X.dtype, np.float32), copy=False)
    # so are its square, and a long sum of such squares
    safe = float(np.finfo(x.dtype).max) ** 0.25
    fits = (
        eps * safe**2 > 1
        and x.max(initial=0) < safe
        and x.min(initial=0) > -safe
    )
    unit = 1.0 if fits else 2.0  # halves, whose differences do not overflow
    x = x if fits else x / unit
    x = x - x[..., :1] if shift else x
    if fits:
        return x, eps, unit
    root = math.sqrt(eps) / unit
    s = np.exp2(
        np.floor(np.log2(np.abs(x).max(axis=-1, keepdims=True, initial=root)))
    )
    return x / s, (root / s) ** 2, unit * s
