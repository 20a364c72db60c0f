"""A layer whose heads and inner channels are split over processes: the first matrix by
columns, the second by rows.
"""

import torch
from torch.distributed.tensor import Replicate, Shard, distribute_tensor

from tfbook.numpy.check_heads import head_counts
from tfbook.numpy.check_layer import expect_plain
from tfbook.torch.distributed.collectives import copied, summed
from tfbook.torch.feed_forward import feed_forward, gated_feed_forward
from tfbook.torch.layer import arrange
from tfbook.torch.multi_head import multi_head_attention
from tfbook.torch.normalization import layer_norm

COLUMNS, ROWS = Shard(-1), Shard(0)
# every other parameter is copied
PLAN = {
    "W_Q": COLUMNS,
    "W_K": COLUMNS,
    "W_V": COLUMNS,
    "W_O": ROWS,
    "W_1": COLUMNS,
    "b_1": COLUMNS,
    "W_2": ROWS,
    "W_gate": COLUMNS,
    "W_up": COLUMNS,
    "W_down": ROWS,
}


def split_parameters(P, mesh, H, H_kv=None):
    """Lay the parameters of a layer over the processes of a mesh: W_Q, W_K, W_V, W_1 by
    columns, W_O and W_2 by rows.

    Parameters
    ----------
    P : dict of Tensor
        As :func:`transformer_layer` takes it, the same in every process; the first
        process's values are those that count.
    mesh : DeviceMesh
        One axis of processes.
    H, H_kv : int
        Heads, and key/value heads; both are cut between heads, never within one.

    Returns
    -------
    dict of DTensor
        Each knows its whole shape; ``.to_local()`` is this process's block,
        ``.full_tensor()`` gathers the whole.

    Raises
    ------
    ValueError
        Where the processes do not divide H, H_kv or d_ff, or the layer has biases of
        the attention or RMS norms.
    """
    expect_plain(P)
    p = mesh.size()
    H, H_kv = head_counts(H, H_kv)
    channels = {
        f"channels of {name}": P[name].shape[-1]
        for name in ("W_1", "W_gate")
        if name in P
    }
    for name, n in {"H": H, "H_kv": H_kv, **channels}.items():
        if n % p:
            raise ValueError(
                f"{name}: expected a multiple of the {p} processes, so that each gets"
                f" equally many, got {n}"
            )
    return {
        name: (
            distribute_tensor(
                W.detach().clone(), mesh, [PLAN.get(name, Replicate())]
            ).requires_grad_(W.requires_grad)
        )
        for name, W in P.items()
    }


def tensor_parallel_layer(
    X, P, H, H_kv=None, norm="post", activation=None, mask=None, bias=None
):
    """Compute a transformer layer of which this process holds a block of every matrix,
    exactly, with two sums over all processes.

    Parameters
    ----------
    X : Tensor, shape (..., T, d)
        Tokens, the same in every process.
    P : dict of DTensor
        From :func:`split_parameters`.
    H, H_kv, norm, activation, mask, bias
        As in :func:`transformer_layer`: of the whole layer.

    Returns
    -------
    Tensor, shape (..., T, d)
        The same in every process. Gradients reach X and each process's blocks of P.
    """
    mesh = P["W_Q"].device_mesh
    p, rank = mesh.size(), mesh.get_local_rank()
    H, H_kv = head_counts(H, H_kv)
    W = {name: block.to_local() for name, block in P.items()}
    mine = None if bias is None else bias[rank * H // p : (rank + 1) * H // p]

    def attend(X):
        blocks = W["W_Q"], W["W_K"], W["W_V"], W["W_O"]
        Y = multi_head_attention(
            copied(X, mesh), *blocks, H // p, H_kv // p, mask, mine
        )
        return summed(Y, mesh)

    def mlp(X):
        X = copied(X, mesh)
        if "W_gate" in W:
            blocks = W["W_gate"], W["W_up"], W["W_down"]
            return summed(
                gated_feed_forward(X, *blocks, activation or "silu"), mesh
            )
        none = torch.zeros_like(W["b_2"])  # b_2 comes once, after the sum
        blocks = W["W_1"], W["b_1"], W["W_2"], none
        return (
            summed(feed_forward(X, *blocks, activation or "relu"), mesh)
            + W["b_2"]
        )

    def normalize(X, n):
        return layer_norm(X, W[f"gamma_{n}"], W[f"beta_{n}"])

    return arrange(X, attend, mlp, normalize, norm)
