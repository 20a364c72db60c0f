"""Normalisation: each token brought to one scale, by itself."""

import torch

from tfbook.numpy.checks import expect
from tfbook.torch.checks import floats


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
    X, gamma, beta = floats("X", X), floats("gamma", gamma), floats("beta", beta)
    expect("X", X.shape, "(..., d)")
    expect("gamma", gamma.shape, "(d,)", d=X.shape[-1])
    expect("beta", beta.shape, "(d,)", d=X.shape[-1])
    x = X.to(torch.promote_types(X.dtype, torch.float32))  # the squares of half precision overflow
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
    X, gamma = floats("X", X), floats("gamma", gamma)
    expect("X", X.shape, "(..., d)")
    expect("gamma", gamma.shape, "(d,)", d=X.shape[-1])
    x = X.to(torch.promote_types(X.dtype, torch.float32))  # the squares of half precision overflow
    normal = x / torch.sqrt((x**2).mean(dim=-1, keepdim=True) + eps)
    return normal.to(X.dtype) * gamma
