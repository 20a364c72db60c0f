"""The ring: keys and values travel from process to process, and each process's queries
meet every block of them.
"""

import torch
import torch.distributed as dist

from tfbook.torch.heads import repeat_heads
from tfbook.torch.streaming import stream, stream_back


class Ring(torch.autograd.Function):
    """Attention of this process's queries to the keys of all p processes, each of which
    runs the same lines.
    """

    @staticmethod
    def forward(ctx, Q, K, V, mesh, mask, causal, block):
        """Let p blocks of keys and values come by, and merge what the queries get from
        each.
        """
        rank, p = mesh.get_local_rank(), mesh.size()
        options = Q.shape[-1] ** -0.5, block
        q = Q.to(torch.promote_types(Q.dtype, torch.float32))
        Y = q.new_zeros(*q.shape[:-1], V.shape[-1])
        log_Z = q.new_full((*q.shape[:-1], 1), -torch.inf)
        here = torch.cat([K, V], dim=-1)
        for step in range(p):
            # the block, of process source, travels on while it is met
            arrived = pass_on(here, mesh) if step < p - 1 else None
            source = (rank - step) % p
            if source <= rank or not causal:  # else all of them come later
                k, v = for_each_head(here.to(q.dtype), Q, K)
                allowed = columns(mask, source, q, k)
                diagonal = causal and source == rank
                y, log_z = stream(q, k, v, allowed, diagonal, *options)
                log_z = log_z.masked_fill(log_z.isposinf(), -torch.inf)
                Y, log_Z = merge(Y, log_Z, y, log_z)
            here = arrived() if arrived else here
        # nothing attended to
        log_Z = log_Z.masked_fill(log_Z.isneginf(), torch.inf)
        ctx.save_for_backward(Q, K, V, mask, Y, log_Z)
        ctx.ring = mesh, causal, options
        return Y.to(Q.dtype)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, dY):
        """Let the blocks come by again, each with its gradient, which after p steps is
        at home.
        """
        Q, K, V, mask, Y, log_Z = ctx.saved_tensors
        mesh, causal, options = ctx.ring
        rank, p = mesh.get_local_rank(), mesh.size()
        q, dy = Q.to(Y.dtype), dY.to(Y.dtype)
        here = torch.cat([K, V], dim=-1)
        dQ, d_here = (
            torch.zeros_like(q),
            torch.zeros_like(here, dtype=q.dtype),
        )
        for step in range(p):
            arrived = pass_on(here, mesh) if step < p - 1 else None
            source = (rank - step) % p
            if source <= rank or not causal:
                k, v = for_each_head(here.to(q.dtype), Q, K)
                allowed = columns(mask, source, q, k)
                diagonal = causal and source == rank
                dq, *dkv = stream_back(
                    dy, q, k, v, allowed, Y, log_Z, diagonal, *options
                )
                dQ += dq
                d_here += of_shared_heads(torch.cat(dkv, dim=-1), Q, K)
            d_here = pass_on(d_here, mesh)() if p > 1 else d_here
            here = arrived() if arrived else here
        dK, dV = d_here.split([K.shape[-1], V.shape[-1]], dim=-1)
        return dQ.to(Q.dtype), dK.to(K.dtype), dV.to(V.dtype), *[None] * 4


def pass_on(X, mesh):
    """Send X to the next process, take what the one before sends; the function that
    comes back waits for it.
    """
    group, rank, p = mesh.get_group(), mesh.get_local_rank(), mesh.size()
    after, before = (
        dist.get_global_rank(group, (rank + way) % p) for way in (1, -1)
    )
    X = X.contiguous()
    arriving = torch.empty_like(X)
    send = dist.P2POp(dist.isend, X, after, group)
    receive = dist.P2POp(dist.irecv, arriving, before, group)
    works = dist.batch_isend_irecv([send, receive])

    def arrived(outgoing=X):  # which has to live until it is sent
        for work in works:
            work.wait()
        return arriving

    return arrived


def merge(Y, log_Z, y, log_z):
    r"""Join what queries got from two sets of keys: two means, each weighted with the
    sum that it was divided by.

    Parameters
    ----------
    Y, y : Tensor, shape (..., T, d_v)
        Weighted means of values.
    log_Z, log_z : Tensor, shape (..., T, 1)
        :math:`m + \log Z` of streaming attention; −inf where a query attends to
        nothing.

    Returns
    -------
    tuple of Tensor
        The mean over both sets, and its log Z.

    Examples
    --------
    >>> y_1, y_2, Z_1, Z_2 = torch.tensor([2.0, 8.0, 1.0, 2.0]).reshape(
    ...     4, 1, 1
    ... )
    >>> Y, log_Z = merge(y_1, Z_1.log(), y_2, Z_2.log())
    >>> Y.round(decimals=3), log_Z.exp().round(decimals=3)  # (1·2 + 2·8) / 3
    (tensor([[6.]]), tensor([[3.]]))
    """
    both = torch.logaddexp(log_Z, log_z)
    shift = both.masked_fill(both.isneginf(), 0)
    return Y * torch.exp(log_Z - shift) + y * torch.exp(log_z - shift), both


def columns(mask, source, q, k):
    """The part of a mask that is about the keys of one process."""
    if mask is None:
        return None
    T = k.shape[-2]
    return mask[..., source * T : (source + 1) * T].expand(*q.shape[:-1], T)


def for_each_head(KV, Q, K):
    """Keys and values of a block, with a head for each query head."""
    KV = repeat_heads(KV, Q.shape[-3] // K.shape[-3])
    return KV[..., : K.shape[-1]], KV[..., K.shape[-1] :]


def of_shared_heads(gradient, Q, K):
    """The gradient of the heads that :func:`for_each_head` repeated."""
    n = Q.shape[-3] // K.shape[-3]
    return gradient.unflatten(-3, (-1, n)).sum(dim=-3)
