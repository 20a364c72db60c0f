"""Decoding: one token after another, each chosen from what a language model expects to
come next.
"""

import torch

import tfbook.numpy as reference
from tfbook.numpy.checks import whole
from tfbook.torch.cache import key_value_caches
from tfbook.torch.checks import floats, twin
from tfbook.torch.sampling import sample, token_distribution


@twin(reference.generate)
@torch.no_grad()
def generate(
    model,
    tokens,
    n,
    lengths=None,
    temperature=0.0,
    top_k=None,
    top_p=None,
    rng=None,
    cached=True,
):
    """
    >>> def successor(tokens, pad, cache):  # of 5 tokens
    ...     return torch.eye(5)[(tokens + 1) % 5]
    >>> generate(
    ...     successor,
    ...     torch.tensor([[1, 2], [4, 0]]),
    ...     n=4,
    ...     lengths=torch.tensor([2, 1]),
    ... )
    tensor([[3, 4, 0, 1],
            [0, 1, 2, 3]])
    """
    tokens, pad = left_pad(tokens, lengths)
    T, cache, fresh = (
        tokens.shape[-1],
        key_value_caches() if cached else None,
        tokens,
    )
    for _ in range(n):
        logits = floats(
            "model(tokens)",
            model(fresh if cached else tokens, pad=pad, cache=cache),
        )[..., -1, :]
        p = token_distribution(logits, temperature, top_k, top_p)
        fresh = (p.argmax(dim=-1) if temperature == 0 else sample(p, rng))[
            ..., None
        ]
        tokens = torch.cat([tokens, fresh], dim=-1)
    return tokens[..., T:]


@twin(reference.left_pad)
def left_pad(tokens, lengths=None):
    """
    >>> left_pad(
    ...     torch.tensor([[5, 6, 7], [8, 9, 9]]), lengths=torch.tensor([3, 1])
    ... )
    (tensor([[5, 6, 7],
            [0, 0, 8]]), tensor([0, 2]))
    """
    T = whole("T", tokens.shape[-1], least=1)
    if lengths is None:
        return tokens, None
    lengths = lengths.to(tokens.device)
    if lengths.shape != tokens.shape[:-1] or (
        lengths.numel() and not 1 <= lengths.min() <= lengths.max() <= T
    ):
        raise ValueError(
            f"lengths: expected whole numbers from 1 to T = {T}, shape"
            f" {tuple(tokens.shape[:-1])}, got {lengths.tolist()}"
        )
    pad = T - lengths
    # of each token in its sequence, negative where padding comes
    position = torch.arange(T, device=tokens.device) - pad[..., None]
    return tokens.gather(-1, position % T).masked_fill(position < 0, 0), pad
