"""Elementwise functions, softmax and the loss."""

import math

import torch

import tfbook.numpy as reference
from tfbook.numpy.checks import expect_targets
from tfbook.torch.checks import twin, where_known


@twin(reference.softmax)
def softmax(S, axis=-1):
    """
    >>> softmax(torch.tensor([1000.0, 1000.0, -torch.inf]))
    tensor([0.5000, 0.5000, 0.0000])
    """
    if S.shape[axis] == 0:
        return S
    top = S.detach().amax(dim=axis, keepdim=True)
    top = top.masked_fill(top.isneginf(), 0)  # -inf - -inf is not a number
    E = torch.exp(S - top)
    Z = E.sum(
        dim=axis,
        keepdim=True,
        dtype=torch.promote_types(S.dtype, torch.float32),
    )
    # nothing to choose from: 0 / 1
    return (E / Z.masked_fill(Z == 0, 1)).to(S.dtype)


@twin(reference.relu)
def relu(x):
    """
    >>> relu(torch.tensor([-1.0, 0.0, 2.0]))
    tensor([0., 0., 2.])
    """
    return torch.relu(x)


@twin(reference.gelu)
def gelu(x, approximate=False):
    """
    >>> gelu(torch.tensor([-1.0, 0.0, 1.0]))
    tensor([-0.1587,  0.0000,  0.8413])
    """
    x, z, dtype = bounded(x)
    if approximate:
        u = math.sqrt(2 / math.pi) * (z + 0.044715 * z**3)
        return (x * (0.5 * (1 + torch.tanh(u)))).to(dtype)
    return (x * (0.5 * torch.erfc(z * -math.sqrt(0.5)))).to(dtype)


@twin(reference.silu)
def silu(x):
    """
    >>> silu(torch.tensor([-1.0, 0.0, 1.0]))
    tensor([-0.2689,  0.0000,  0.7311])
    """
    x, z, dtype = bounded(x)
    return (x * torch.sigmoid(z)).to(dtype)


def bounded(x):
    """x in float32 or wider, from −1000 on, x up to 1000 too, and its own dtype.

    Further out, Φ and the logistic function are 0 or 1: neither −∞ · 0 nor, in the
    gradient, ∞ · 0 is a number.

    Examples
    --------
    >>> bounded(torch.tensor([-torch.inf, torch.inf]).half())
    (tensor([-1000.,    inf]), tensor([-1000.,  1000.]), torch.float16)
    """
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    wide = wide.masked_fill(wide < -1000, -1000)
    return wide, wide.masked_fill(wide > 1000, 1000), x.dtype


@twin(reference.cross_entropy)
def cross_entropy(logits, targets):
    """
    >>> cross_entropy(torch.zeros(1, 4), torch.tensor([2])).exp()
    tensor(4.)
    """
    where_known(expect_targets, targets, logits)
    shifted = logits - logits.detach().amax(dim=-1, keepdim=True)
    right = shifted.gather(-1, targets[..., None])[..., 0]
    wide = torch.promote_types(logits.dtype, torch.float32)
    log_Z = torch.log(torch.exp(shifted).sum(dim=-1, dtype=wide))
    return (log_Z - right).mean().to(logits.dtype)
