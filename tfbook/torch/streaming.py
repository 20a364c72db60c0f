"""Attention without the attention matrix, forward and backward: one block of scores at a time."""

from functools import partial

import torch

from tfbook.numpy.checks import expect, expect_broadcast, expect_mask, flag, scale_factor, whole
from tfbook.torch.attention import barrier, finite, weighted_mean
from tfbook.torch.checks import alike, autocast, broadcast, without_autocast


def streaming_attention(Q, K, V, mask=None, causal=False, scale=None, block=256):
    r"""Compute scaled dot-product attention exactly, in extra memory O(T·d) rather than O(T²), gradients too.

    A softmax needs its whole row only for two numbers, the largest score m and the sum Z of the exponentials. Both can be
    kept while the keys stream by: where a block raises m, what was summed so far shrinks by :math:`e^{m_{old} - m}`.
    The backward pass makes each block of weights again from the scores and :math:`m + \log Z`, instead of keeping it.

    Parameters
    ----------
    Q : Tensor, shape (..., T, d_k)
        Queries.
    K : Tensor, shape (..., T_k, d_k)
        Keys.
    V : Tensor, shape (..., T_k, d_v)
        Values.
    mask : Tensor of bool, broadcasts to (..., T, T_k), optional
        True where the query may attend to the key.
    causal : bool
        Apply :func:`causal_mask` as well, without ever storing it whole.
    scale : float, optional
        Factor of the dot products; :math:`1/\sqrt{d_k}` unless told.
    block : int
        Queries and keys taken at a time. Any gives the same answer.

    Returns
    -------
    Tensor, shape (..., T, d_v)

    Raises
    ------
    ValueError
        Where the shapes do not fit together, the dtypes differ, the mask or causal is not boolean, or the block is less than 1.

    Notes
    -----
    Source: Milakov and Gimelshein, arXiv 1805.02867 (online softmax); Rabe and Staats, arXiv 2112.05682; Dao et al.,
    arXiv 2205.14135 (flash attention).

    Examples
    --------
    >>> from tfbook.torch import scaled_dot_product_attention
    >>> Q, K, V = torch.eye(3), torch.eye(3), torch.arange(6.0).reshape(3, 2)
    >>> torch.allclose(streaming_attention(Q, K, V, block=2), scaled_dot_product_attention(Q, K, V))
    True
    """
    Q, K, V = autocast(*alike(Q=Q, K=K, V=V))
    causal, block = flag("causal", causal), whole("block", block, least=1)
    expect("Q", Q.shape, "(..., T, d_k)")
    T, d_k = Q.shape[-2:]
    expect("K", K.shape, "(..., T_k, d_k)", d_k=d_k)
    T_k = K.shape[-2]
    expect("V", V.shape, "(..., T_k, d_v)", T_k=T_k)
    expect_broadcast("K", K.shape[:-2], Q.shape[:-2], "the leading axes of Q")
    leading = broadcast(Q.shape[:-2], K.shape[:-2])
    if mask is not None:
        mask = torch.as_tensor(mask, device=Q.device)
        expect_mask(mask.dtype, mask.shape, (*leading, T, T_k))
        leading = broadcast(leading, mask.shape[:-2])
        mask = mask.expand(*leading, T, T_k)
    expect_broadcast("V", V.shape[:-2], leading, "the leading axes of Q and K")
    leading = broadcast(leading, V.shape[:-2])
    Q, K, V = (X.expand(*leading, *X.shape[-2:]) for X in (Q, K, V))
    scale = scale_factor(scale, d_k)
    return _Streaming.apply(Q, K, V, mask, causal, scale, block)


class _Streaming(torch.autograd.Function):
    @staticmethod
    def forward(ctx, Q, K, V, mask, causal, scale, block):
        Y, log_Z = stream(Q, K, V, mask, causal, scale, block)
        ctx.save_for_backward(Q, K, V, mask, Y, log_Z)
        ctx.options = causal, scale, block
        return Y

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, dY):
        return *stream_back(dY, *ctx.saved_tensors, *ctx.options), None, None, None, None


@without_autocast
def stream(Q, K, V, mask, causal, scale, block):
    """The means Y of the values, and of every query m + log Z; +inf where it attends to nothing."""
    wide = _wide(Q)
    Y = Q.new_empty(*Q.shape[:-1], V.shape[-1])
    log_Z = Q.new_empty(*Q.shape[:-1], 1, dtype=wide)
    scores = partial(_scores, Q.to(wide) * scale, *_beyond(K.to(wide)), mask, causal)
    for rows, blocks in _tiles(Q, K, causal, block):
        m = torch.full_like(log_Z[..., rows, :], -torch.inf)                       # largest score so far
        Z, y = torch.zeros_like(m), torch.zeros_like(Y[..., rows, :], dtype=wide)  # sums of exp(score - m), and · value
        for keys in blocks:
            S, allowed = scores(rows, keys)
            m_new = torch.maximum(m, S.amax(dim=-1, keepdim=True))
            shift = m_new.masked_fill(m_new.isneginf(), 0)
            E, shrink = S.sub_(shift).exp_(), torch.exp(m - shift)  # in place: a tile is the largest tensor here
            Z = Z * shrink + E.sum(dim=-1, keepdim=True)
            y = y * shrink + weighted_mean(E, V[..., keys, :].to(wide), allowed)
            m = m_new
        Y[..., rows, :] = y / Z.masked_fill(Z == 0, 1)
        log_Z[..., rows, :] = torch.where(Z == 0, torch.inf, m + Z.log())
    return Y, log_Z


@without_autocast
def stream_back(dY, Q, K, V, mask, Y, log_Z, causal, scale, block):
    """The gradients in Q, K and V, where Y and log_Z are those of all keys, of which K may be a part."""
    wide = _wide(Q)
    clean, beyond = _beyond(K.to(wide))
    scores = partial(_scores, Q.to(wide) * scale, clean, beyond, mask, causal)
    dQ, dK, dV = (torch.zeros_like(X, dtype=wide) for X in (Q, K, V))
    mean = (dY.to(wide) * Y).sum(dim=-1, keepdim=True)  # what the softmax's gradient takes off every weight's
    for rows, blocks in _tiles(Q, K, causal, block):
        q, dy = Q[..., rows, :].to(wide), dY[..., rows, :].to(wide)
        for keys in blocks:
            k, v = clean[..., keys, :], V[..., keys, :].to(wide)
            S, allowed = scores(rows, keys)
            A = S.sub_(log_Z[..., rows, :]).exp_()
            dS = A * (dy @ v.transpose(-1, -2) - mean[..., rows, :])
            dS = dS if allowed is None else torch.where(allowed, dS, 0)  # 0 · nan is nan
            dQ[..., rows, :] += scale * dS @ k
            dK[..., keys, :] += scale * dS.transpose(-1, -2) @ q
            dV[..., keys, :] += A.transpose(-1, -2) @ dy
    return dQ.to(Q.dtype), dK.to(K.dtype), dV.to(V.dtype)


def _wide(Q):
    """The dtype that sums are kept in: half precision would lose the small terms of a long one."""
    return torch.promote_types(Q.dtype, torch.float32)


def _tiles(Q, K, causal, block):
    """Blocks of queries, each with the blocks of keys that some query of it may attend to."""
    T, T_k = Q.shape[-2], K.shape[-2]
    for start in range(0, T, block):
        rows = slice(start, min(start + block, T))
        last = rows.stop + T_k - T if causal else T_k
        yield rows, [slice(k, min(k + block, last)) for k in range(0, last, block)]


def _beyond(K):
    """Keys with 0 for what is not finite, and what these add to the scores (None where all are finite)."""
    beyond = barrier(K)  # (..., 1, T_k)
    return (finite(K), beyond) if beyond.any() else (K, None)  # a nan is not zero


def _scores(Q, K, beyond, mask, causal, rows, keys):
    """One tile of masked scores, and where it may attend (None: everywhere)."""
    S = Q[..., rows, :] @ K[..., keys, :].transpose(-1, -2)
    if beyond is not None:
        S += beyond[..., keys]
    allowed = None if mask is None else mask[..., rows, keys]
    ahead = rows.start + K.shape[-2] - Q.shape[-2] - keys.start  # how far the first query stands behind the first key
    if causal and ahead < S.shape[-1] - 1:
        band = torch.ones(S.shape[-2:], dtype=torch.bool, device=S.device).tril(ahead)
        allowed = band if allowed is None else allowed & band
    return (S if allowed is None else torch.where(allowed, S, -torch.inf)), allowed
