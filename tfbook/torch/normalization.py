"""Normalisation: each token brought to one scale, by itself."""

import math

import torch

import tfbook.numpy as reference
from tfbook.torch.checks import twin


@twin(reference.layer_norm)
def layer_norm(X, gamma, beta, eps=1e-5):
    """
    >>> layer_norm(
    ...     torch.tensor([[1.0, 3.0], [10.0, 30.0]]),
    ...     gamma=torch.ones(2),
    ...     beta=torch.zeros(2),
    ... ).round(decimals=3)
    tensor([[-1.,  1.],
            [-1.,  1.]])
    """
    x, eps = rescaled(X, eps, shift=True)
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = (centred**2).mean(dim=-1, keepdim=True)
    normal = centred / torch.sqrt(variance + eps)
    return normal.to(X.dtype) * gamma + beta


@twin(reference.rms_norm)
def rms_norm(X, gamma, eps=1e-6):
    """
    >>> rms_norm(torch.tensor([[1.0, 7.0]]), gamma=torch.ones(2))
    tensor([[0.2000, 1.4000]])
    """
    x, eps = rescaled(X, eps)
    normal = x / torch.sqrt((x**2).mean(dim=-1, keepdim=True) + eps)
    return normal.to(X.dtype) * gamma


def normalized(X, gamma, beta=None, eps=None):
    """:func:`layer_norm`, or :func:`rms_norm` where there is no shift; ε is by default
    that of each.
    """
    options = {} if eps is None else {"eps": eps}
    if beta is None:
        return rms_norm(X, gamma, **options)
    return layer_norm(X, gamma, beta, **options)


def rescaled(X, eps, shift=False):
    """Divide each token by a power of two s near its largest number, and ε by s²: a
    norm is the same, and no square overflows.

    Parameters
    ----------
    X : Tensor, shape (..., d)
    eps : float
    shift : bool
        Subtract the middle of each token's channels before: of a constant token, this
        leaves exactly 0.

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
    high, low = (
        x.detach().amax(dim=-1, keepdim=True),
        x.detach().amin(dim=-1, keepdim=True),
    )
    x, largest = (
        (x - (high / 2 + low / 2), high / 2 - low / 2)
        if shift
        else (x, torch.maximum(high, -low))
    )
    s = torch.exp2(torch.floor(torch.log2(largest.clamp(min=math.sqrt(eps)))))
    return x / s, (math.sqrt(eps) / s) ** 2
