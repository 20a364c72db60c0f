"""Sampling: from logits to chances, from chances to a token."""

import torch

import tfbook.numpy as reference
from tfbook.numpy.check_model import expect_settings
from tfbook.torch.checks import twin
from tfbook.torch.functions import softmax


@twin(reference.token_distribution)
def token_distribution(logits, temperature=1.0, top_k=None, top_p=None):
    """
    >>> logits = torch.tensor([0.1, 0.4, 0.3, 0.2]).log()
    >>> token_distribution(logits)
    tensor([0.1000, 0.4000, 0.3000, 0.2000])
    >>> token_distribution(logits, top_p=0.6)
    tensor([0.0000, 0.5714, 0.4286, 0.0000])
    >>> token_distribution(logits, temperature=0)
    tensor([0., 1., 0., 0.])
    """
    top_k = expect_settings(logits.shape[-1], temperature, top_k, top_p)
    top = logits.detach().amax(dim=-1, keepdim=True)
    if not top.isfinite().all():
        raise ValueError(
            "logits: expected a finite number as the largest of each row, got nan or "
            "infinity"
        )
    if temperature == 0:
        return torch.nn.functional.one_hot(
            logits.argmax(dim=-1), logits.shape[-1]
        ).to(logits)

    wide = torch.promote_types(logits.dtype, torch.float32)
    tiny = torch.finfo(wide).tiny  # below it, a setting would be rounded to 0
    p = softmax((logits - top).to(wide) / max(temperature, tiny))
    # likeliest first
    order = logits.argsort(dim=-1, descending=True, stable=True)
    p = p.gather(-1, order)
    if top_k is not None:
        p = p.masked_fill(
            torch.arange(p.shape[-1], device=p.device) >= top_k, 0
        )
    if top_p is not None and top_p < 1:
        likelier = p.cumsum(dim=-1) - p
        p = p.masked_fill(
            likelier >= max(top_p, tiny) * p.sum(dim=-1, keepdim=True), 0
        )
    # back in the order of the vocabulary
    p = p.gather(-1, order.argsort(dim=-1))
    return (p / p.sum(dim=-1, keepdim=True)).to(logits.dtype)


@twin(reference.sample)
def sample(p, rng):
    """
    >>> sample(
    ...     torch.tensor([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
    ...     torch.Generator().manual_seed(0),
    ... )
    tensor([1, 2])
    """
    if not isinstance(rng, torch.Generator):
        raise ValueError(
            f"rng: expected a torch.Generator to draw with, got {type(rng).__name__};"
            " or pass temperature=0"
        )
    rows = p.reshape(-1, p.shape[-1]).to(
        torch.promote_types(p.dtype, torch.float32)
    )
    sums = rows.sum(dim=-1)
    if not (rows >= 0).all() or not ((sums > 0) & sums.isfinite()).all():
        raise ValueError(
            "p: expected chances, none negative and some above 0, with a finite sum"
        )
    return torch.multinomial(rows, 1, generator=rng).reshape(p.shape[:-1])
