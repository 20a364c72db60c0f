"""Three ways in which processes share a tensor, with their gradients: copied to all,
summed over all, gathered from all.

Each is a change of how a DTensor lies over the processes of a mesh. PyTorch knows what
the change asks for going forwards and going backwards: where one direction copies, the
other sums.
"""

from torch.distributed.tensor import DTensor, Partial, Replicate, Shard


def copied(X, mesh):
    """Use the same X in every process; going back, the gradients of all processes are
    summed.

    Parameters
    ----------
    X : Tensor
        The same everywhere.
    mesh : DeviceMesh
        One axis of processes, as ``torch.distributed.init_device_mesh`` makes it.

    Returns
    -------
    Tensor
        X.
    """
    same = DTensor.from_local(X, mesh, [Replicate()], run_check=False)
    return same.to_local(grad_placements=[Partial()])


def summed(Y, mesh):
    """Sum what every process has made; going back, each gets the gradient of the sum.

    Parameters
    ----------
    Y : Tensor
        One term, of one shape everywhere.
    mesh : DeviceMesh

    Returns
    -------
    Tensor
        The sum, in every process.
    """
    terms = DTensor.from_local(Y, mesh, [Partial()], run_check=False)
    return terms.redistribute(placements=[Replicate()]).to_local()


def gathered(X, mesh, axis):
    """Put the pieces of all processes together; going back, each gets the sum of all
    gradients of its piece.

    Parameters
    ----------
    X : Tensor
        A piece, of one shape everywhere.
    mesh : DeviceMesh
    axis : int
        The negative axis along which the pieces follow one another.

    Returns
    -------
    Tensor
        The whole, in every process.
    """
    shards = DTensor.from_local(
        X, mesh, [Shard(X.ndim + axis)], run_check=False
    )
    return shards.redistribute(placements=[Replicate()]).to_local(
        grad_placements=[Partial()]
    )
