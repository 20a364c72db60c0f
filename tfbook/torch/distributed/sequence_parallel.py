"""Attention over a sequence that is split over processes: keys and values go round a
ring, or all are gathered at once.
"""

import torch

from tfbook.numpy.checks import flag, whole
from tfbook.torch.attention import scaled_dot_product_attention
from tfbook.torch.distributed.collectives import gathered
from tfbook.torch.distributed.ring import Ring
from tfbook.torch.rotary import rotary_attention


def ring_attention(mesh, mask=None, causal=False, block=256):
    """Make an ``attention`` for :func:`transformer_layer` whose queries meet the keys
    of every process, one block at a time.

    Each process holds the tokens of its own :func:`shard` of the sequence. Their keys
    and values go round: p times each process lets its queries meet the block that it
    has, and hands the block on. What a query got from each block is merged as in
    streaming attention, so that the result is exact. Going back, the blocks go round
    again, and their gradients with them.

    Parameters
    ----------
    mesh : DeviceMesh
        One axis of p processes, in the order of their tokens.
    mask : Tensor of bool, broadcasts to (..., T / p, T), optional
        True where a query of this process may attend to a key of the whole sequence;
        the same for all heads.
    causal : bool
        No query attends to a later token of the whole sequence; blocks that are all
        later are not computed.
    block : int
        As in :func:`streaming_attention`, within a process.

    Returns
    -------
    callable
        Takes Q (..., H, T / p, d_k), K and V (..., H_kv, T / p, d_k) of this process,
        and gives (..., H, T / p, d_v). Only H_kv heads travel.

    Raises
    ------
    ValueError
        Where the mask is not boolean or not as wide as the whole sequence, or a mask,
        bias or scale of the shard alone is given.

    Notes
    -----
    With rotary positions each process turns its own queries and keys before they
    travel: ``partial(rotary_attention, first=rank * T, attention=...)`` around this
    one, with T tokens a process.

    Source: Liu, Zaharia and Abbeel, arXiv 2310.01889.
    """
    causal, block = flag("causal", causal), whole("block", block, least=1)
    fit = _whole_mask(mask, mesh)

    def attend(Q, K, V, mask=None, bias=None, scale=None):
        allowed = fit(K, mask=mask, bias=bias, scale=scale)
        return Ring.apply(Q, K, V, mesh, allowed, causal, block)

    return attend


def gathered_attention(
    mesh, mask=None, causal=False, attention=scaled_dot_product_attention
):
    """Make an ``attention`` as :func:`ring_attention` does that first gathers all keys
    and values: simpler, and T of them are held.

    Parameters
    ----------
    mesh, mask, causal
        As in :func:`ring_attention`.
    attention : callable
        What each head does with its Q, K, V and mask; not :func:`rotary_attention`,
        which goes around this one, as around a ring.

    Returns
    -------
    callable
        As in :func:`ring_attention`.

    Raises
    ------
    ValueError
        As in :func:`ring_attention`.
    """
    causal, fit = flag("causal", causal), _whole_mask(mask, mesh)
    if getattr(attention, "func", attention) is rotary_attention:
        raise ValueError(
            "attention: expected one without positions, got rotary_attention; pass "
            "this one to it: partial(rotary_attention, first=..., attention=...)"
        )

    def attend(Q, K, V, mask=None, bias=None, scale=None):
        allowed = fit(K, mask=mask, bias=bias, scale=scale)
        K, V = (gathered(X.contiguous(), mesh, axis=-2) for X in (K, V))
        if causal:
            T = Q.shape[-2]
            # tokens of the processes before
            before = mesh.get_local_rank() * T
            past = torch.ones(
                T, K.shape[-2], dtype=torch.bool, device=Q.device
            )
            past = past.tril(before)
            allowed = past if allowed is None else allowed & past
        return attention(Q, K, V, mask=allowed)

    return attend


def _whole_mask(mask, mesh):
    """What checks the arguments of an attention over shards, and gives the mask with an
    axis for the heads.
    """
    mask = None if mask is None else torch.as_tensor(mask)
    if mask is not None and mask.dtype != torch.bool:
        raise ValueError(
            "mask: expected booleans, True where the query may attend to the key, got"
            f" {mask.dtype}"
        )
    heads = mask if mask is None or mask.ndim < 3 else mask[..., None, :, :]

    def fit(K, **of_shard):
        for name, value in of_shard.items():
            if value is not None:
                raise ValueError(
                    f"{name}: expected none of the shard alone; pass the mask over the "
                    "whole sequence to ring_attention"
                )
        T = K.shape[-2] * mesh.size()
        if heads is not None and heads.shape[-1] != T:
            shards = f"{mesh.size()} shards of {K.shape[-2]}"
            raise ValueError(
                f"mask: expected a last axis of all {T} tokens, {shards}, got"
                f" {tuple(mask.shape)}"
            )
        return heads

    return fit
