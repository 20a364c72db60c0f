"""Normalisation: each token brought to one scale, by itself."""

import math

import torch

from tfbook.numpy.checks import expect
from tfbook.torch.checks import alike


def layer_norm(X, gamma, beta, eps=1e-5):
    r"""Bring each token to mean 0 and variance 1, then scale and shift: :math:`\frac{x - E[x]}{\sqrt{Var[x] + ε}} γ + β`.

    Parameters
    ----------
    X : Tensor, shape (..., d)
        Tokens.
    gamma : Tensor, shape (d,)
        Scale of each channel.
    beta : Tensor, shape (d,)
        Shift of each channel.
    eps : float
        Keeps a constant token from a division by zero.

    Returns
    -------
    Tensor, shape (..., d)

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
    >>> layer_norm(torch.tensor([[1.0, 3.0], [10.0, 30.0]]), gamma=torch.ones(2), beta=torch.zeros(2)).round(decimals=3)
    tensor([[-1.,  1.],
            [-1.,  1.]])
    """
    X, gamma, beta = alike(X=X, gamma=gamma, beta=beta)
    expect("X", X.shape, "(..., d)")
    expect("gamma", gamma.shape, "(d,)", d=X.shape[-1])
    expect("beta", beta.shape, "(d,)", d=X.shape[-1])
    x, eps = rescaled(X, eps, shift=True)
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = (centred**2).mean(dim=-1, keepdim=True)
    normal = centred / torch.sqrt(variance + eps)
    return normal.to(X.dtype) * gamma + beta


def rms_norm(X, gamma, eps=1e-6):
    r"""Bring each token to a root mean square of 1, then scale: :math:`\frac{x}{\sqrt{E[x^2] + ε}} γ`.

    Parameters
    ----------
    X : Tensor, shape (..., d)
        Tokens.
    gamma : Tensor, shape (d,)
        Scale of each channel.
    eps : float
        Keeps a token of zeros from a division by zero.

    Returns
    -------
    Tensor, shape (..., d)

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
    >>> rms_norm(torch.tensor([[1.0, 7.0]]), gamma=torch.ones(2))
    tensor([[0.2000, 1.4000]])
    """
    X, gamma = alike(X=X, gamma=gamma)
    expect("X", X.shape, "(..., d)")
    expect("gamma", gamma.shape, "(d,)", d=X.shape[-1])
    x, eps = rescaled(X, eps)
    normal = x / torch.sqrt((x**2).mean(dim=-1, keepdim=True) + eps)
    return normal.to(X.dtype) * gamma


def rescaled(X, eps, shift=False):
    """Divide each token by a power of two s near its largest number, and ε by s²: a norm is the same, and no square overflows.

    Parameters
    ----------
    X : Tensor, shape (..., d)
    eps : float
    shift : bool
        Subtract the middle of each token's channels before: of a constant token, this leaves exactly 0.

    Returns
    -------
    x : Tensor, shape (..., d)
        In float32 or wider, numbers between −2 and 2.
    eps : Tensor, shape (..., 1)
        At most 4.

    Examples
    --------
    >>> rescaled(torch.tensor([3e30, 1e30]), eps=1e-5)[0]
    tensor([1.1833, 0.3944])
    """
    x = X.to(torch.promote_types(X.dtype, torch.float32))
    high, low = x.detach().amax(dim=-1, keepdim=True), x.detach().amin(dim=-1, keepdim=True)
    x, largest = (x - (high / 2 + low / 2), high / 2 - low / 2) if shift else (x, torch.maximum(high, -low))
    s = torch.exp2(torch.floor(torch.log2(largest.clamp(min=math.sqrt(eps)))))
    return x / s, (math.sqrt(eps) / s) ** 2
