"""Elementwise functions, softmax and the loss."""

import math

import torch

from tfbook.numpy.checks import expect
from tfbook.torch.checks import floats, integers


def softmax(S, axis=-1):
    r"""Turn scores into a distribution: positive numbers that sum to one along an axis.

    Parameters
    ----------
    S : Tensor, any shape
        Scores. A score of −∞ gets no weight, and a slice of nothing but −∞ gets zeros, with zero gradient.
    axis : int
        The axis that sums to one.

    Returns
    -------
    Tensor, shape of ``S``

    Notes
    -----
    As :func:`tfbook.numpy.softmax`. Where some score is not −∞, this is ``torch.softmax``.

    Examples
    --------
    >>> softmax(torch.tensor([1000.0, 1000.0, -torch.inf]))
    tensor([0.5000, 0.5000, 0.0000])
    """
    S = floats("S", S)
    expect("S", S.shape, "(..., n)")
    if S.shape[axis] == 0:
        return S
    top = S.detach().amax(dim=axis, keepdim=True)
    top = top.masked_fill(top.isneginf(), 0)  # -inf - -inf is not a number
    E = torch.exp(S - top)
    Z = E.sum(dim=axis, keepdim=True, dtype=torch.promote_types(S.dtype, torch.float32))  # half precision ends at 65504
    return (E / Z.masked_fill(Z == 0, 1)).to(S.dtype)  # nothing to choose from: 0 / 1


def relu(x):
    """Keep what is positive: max(x, 0).

    Parameters
    ----------
    x : Tensor, any shape

    Returns
    -------
    Tensor, shape of ``x``

    Examples
    --------
    >>> relu(torch.tensor([-1.0, 0.0, 2.0]))
    tensor([0., 0., 2.])
    """
    return torch.relu(floats("x", x))


def gelu(x):
    r"""Weigh x by the chance that a standard normal number is below it: :math:`x\,\Phi(x)`, exact (erf).

    Parameters
    ----------
    x : Tensor, any shape

    Returns
    -------
    Tensor, shape of ``x``

    Notes
    -----
    Source: Hendrycks and Gimpel, arXiv 1606.08415.

    Examples
    --------
    >>> gelu(torch.tensor([-1.0, 0.0, 1.0]))
    tensor([-0.1587,  0.0000,  0.8413])
    """
    x, z, dtype = bounded(x)
    return (x * (0.5 * torch.erfc(z * -math.sqrt(0.5)))).to(dtype)


def silu(x):
    r"""Weigh x by its logistic function: :math:`x / (1 + e^{-x})`, also called swish.

    Parameters
    ----------
    x : Tensor, any shape

    Returns
    -------
    Tensor, shape of ``x``

    Notes
    -----
    Source: Elfwing et al., arXiv 1702.03118.

    Examples
    --------
    >>> silu(torch.tensor([-1.0, 0.0, 1.0]))
    tensor([-0.2689,  0.0000,  0.7311])
    """
    x, z, dtype = bounded(x)
    return (x * torch.sigmoid(z)).to(dtype)


def bounded(x):
    """x in float32 or wider, from −1000 on, x up to 1000 too, and its own dtype.

    Further out, Φ and the logistic function are 0 or 1: neither −∞ · 0 nor, in the gradient, ∞ · 0 is a number.

    Examples
    --------
    >>> bounded(torch.tensor([-torch.inf, torch.inf]).half())
    (tensor([-1000.,    inf]), tensor([-1000.,  1000.]), torch.float16)
    """
    x = floats("x", x)
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    wide = wide.masked_fill(wide < -1000, -1000)
    return wide, wide.masked_fill(wide > 1000, 1000), x.dtype


def cross_entropy(logits, targets):
    r"""Mean surprise at the right answers, :math:`-\log \operatorname{softmax}(\text{logits})_{\text{target}}`, in nats.

    Parameters
    ----------
    logits : Tensor, shape (..., vocab)
        Scores of every class.
    targets : Tensor of int, shape (...)
        The right class of each, from 0 to vocab − 1.

    Returns
    -------
    Tensor, shape ()
        In nats per target: log(vocab) for a guess among all.

    Raises
    ------
    ValueError
        Where ``targets`` is not whole numbers of the leading shape of ``logits``, or is empty.
    IndexError
        Where a target is not a class.

    Examples
    --------
    >>> cross_entropy(torch.zeros(1, 4), torch.tensor([2])).exp()
    tensor(4.)
    """
    logits = floats("logits", logits)
    targets = integers("targets", targets, logits.device)
    expect("logits", logits.shape, "(..., vocab)")
    vocab = logits.shape[-1]
    if targets.shape != logits.shape[:-1]:
        raise ValueError(f"targets: expected one for each row of logits, shape {tuple(logits.shape[:-1])}, got {tuple(targets.shape)}")
    if targets.numel() == 0:
        raise ValueError("targets: expected at least one, got none")
    if targets.min() < 0 or targets.max() >= vocab:
        raise IndexError(f"targets: expected classes 0 to {vocab - 1}, got {targets.min()} to {targets.max()}")
    shifted = logits - logits.detach().amax(dim=-1, keepdim=True)
    right = shifted.gather(-1, targets[..., None])[..., 0]
    Z = torch.exp(shifted).sum(dim=-1, dtype=torch.promote_types(logits.dtype, torch.float32))
    return (torch.log(Z) - right).mean().to(logits.dtype)
