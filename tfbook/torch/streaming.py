"""Attention without the attention matrix, forward and backward: one block of scores at
a time.
"""

from functools import partial

import torch

import tfbook.numpy as reference
from tfbook.numpy.checks import scale_factor
from tfbook.torch.attention import (
    nonfinite_scores,
    weighted_mean,
    zero_nonfinite,
)
from tfbook.torch.checks import autocast, broadcast, twin, without_autocast


@twin(reference.streaming_attention)
def streaming_attention(
    Q, K, V, mask=None, causal=False, scale=None, block=256
):
    """
    >>> from tfbook.torch import scaled_dot_product_attention
    >>> Q, K, V = torch.eye(3), torch.eye(3), torch.arange(6.0).reshape(3, 2)
    >>> torch.allclose(
    ...     streaming_attention(Q, K, V, block=2),
    ...     scaled_dot_product_attention(Q, K, V),
    ... )
    True
    """
    Q, K, V = autocast(Q, K, V)
    T, T_k = Q.shape[-2], K.shape[-2]
    leading = broadcast(Q.shape[:-2], K.shape[:-2], V.shape[:-2])
    if mask is not None:
        leading = broadcast(leading, mask.shape[:-2])
        mask = mask.expand(*leading, T, T_k)
    Q, K, V = (X.expand(*leading, *X.shape[-2:]) for X in (Q, K, V))
    scale = scale_factor(scale, Q.shape[-1])
    return _Streaming.apply(Q, K, V, mask, causal, scale, block)[0]


class _Streaming(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(Q, K, V, mask, causal, scale, block):
        return stream(Q, K, V, mask, causal, scale, block)

    @staticmethod
    def setup_context(ctx, inputs, output):
        Q, K, V, mask, *ctx.options = inputs
        ctx.save_for_backward(Q, K, V, mask, *output)
        ctx.mark_non_differentiable(output[1])

    @staticmethod
    def backward(ctx, dY, _):
        return (
            *stream_back(dY, *ctx.saved_tensors, *ctx.options),
            None,
            None,
            None,
            None,
        )


@without_autocast
def stream(Q, K, V, mask, causal, scale, block):
    """The means Y of the values, and of every query m + log Z; +inf where it attends to
    nothing.
    """
    wide = _wide(Q)
    Y = Q.new_empty(*Q.shape[:-1], V.shape[-1])
    log_Z = Q.new_empty(*Q.shape[:-1], 1, dtype=wide)
    K = K.to(wide)
    scores = partial(
        _scores,
        Q.to(wide) * scale,
        zero_nonfinite(K),
        nonfinite_scores(K),
        mask,
        causal,
    )
    for rows, blocks in _tiles(Q, K, causal, block):
        # largest score so far
        m = torch.full_like(log_Z[..., rows, :], -torch.inf)
        # sums of exp(score - m), and · value
        Z, y = (
            torch.zeros_like(m),
            torch.zeros_like(Y[..., rows, :], dtype=wide),
        )
        for keys in blocks:
            S, allowed = scores(rows, keys)
            m_new = torch.maximum(m, S.amax(dim=-1, keepdim=True))
            shift = m_new.masked_fill(m_new.isneginf(), 0)
            # in place: a tile is the largest tensor here
            E, shrink = S.sub_(shift).exp_(), torch.exp(m - shift)
            Z = Z * shrink + E.sum(dim=-1, keepdim=True)
            y = y * shrink + weighted_mean(
                E, V[..., keys, :].to(wide), allowed
            )
            m = m_new
        Y[..., rows, :] = y / Z.masked_fill(Z == 0, 1)
        log_Z[..., rows, :] = torch.where(Z == 0, torch.inf, m + Z.log())
    return Y, log_Z


@without_autocast
def stream_back(dY, Q, K, V, mask, Y, log_Z, causal, scale, block):
    """The gradients in Q, K and V, where Y and log_Z are those of all keys, of which K
    may be a part.
    """
    wide = _wide(Q)
    clean, beyond = zero_nonfinite(K.to(wide)), nonfinite_scores(K.to(wide))
    scores = partial(_scores, Q.to(wide) * scale, clean, beyond, mask, causal)
    dQ, dK, dV = (torch.zeros_like(X, dtype=wide) for X in (Q, K, V))
    # what the softmax's gradient takes off every weight's
    mean = (dY.to(wide) * Y).sum(dim=-1, keepdim=True)
    for rows, blocks in _tiles(Q, K, causal, block):
        q, dy = Q[..., rows, :].to(wide), dY[..., rows, :].to(wide)
        for keys in blocks:
            k, v = clean[..., keys, :], V[..., keys, :].to(wide)
            S, allowed = scores(rows, keys)
            A = S.sub_(log_Z[..., rows, :]).exp_()
            dS = A * (dy @ v.transpose(-1, -2) - mean[..., rows, :])
            # 0 · nan is nan
            dS = dS if allowed is None else torch.where(allowed, dS, 0)
            dQ[..., rows, :] += scale * dS @ k
            dK[..., keys, :] += scale * dS.transpose(-1, -2) @ q
            dV[..., keys, :] += A.transpose(-1, -2) @ dy
    return dQ.to(Q.dtype), dK.to(K.dtype), dV.to(V.dtype)


def _wide(Q):
    """The dtype that sums are kept in: half precision would lose the small terms of a
    long one.
    """
    return torch.promote_types(Q.dtype, torch.float32)


def _tiles(Q, K, causal, block):
    """Blocks of queries, each with the blocks of keys that some query of it may attend
    to.
    """
    T, T_k = Q.shape[-2], K.shape[-2]
    for start in range(0, T, block):
        rows = slice(start, min(start + block, T))
        last = rows.stop + T_k - T if causal else T_k
        yield (
            rows,
            [slice(k, min(k + block, last)) for k in range(0, last, block)],
        )


def _scores(Q, K, beyond, mask, causal, rows, keys):
    """One tile of masked scores, and where it may attend (None: everywhere)."""
    S = Q[..., rows, :] @ K[..., keys, :].transpose(-1, -2)
    S = S + beyond[..., keys]
    allowed = None if mask is None else mask[..., rows, keys]
    # how far the first query stands behind the first key
    ahead = rows.start + K.shape[-2] - Q.shape[-2] - keys.start
    if causal and ahead < S.shape[-1] - 1:
        band = torch.ones(
            S.shape[-2:], dtype=torch.bool, device=S.device
        ).tril(ahead)
        allowed = band if allowed is None else allowed & band
    return (
        S if allowed is None else torch.where(allowed, S, -torch.inf)
    ), allowed
