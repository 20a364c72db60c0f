"""The batch split over processes: each learns from its own part, and the gradients are
averaged.
"""

import torch.distributed as dist


def shard(X, mesh, axis=0):
    """Cut X along an axis into as many equal pieces as there are processes, and return
    that of this process.

    Parameters
    ----------
    X : Tensor
        The same in every process.
    mesh : DeviceMesh
        One axis of p processes.
    axis : int
        0 for a batch, -2 for the tokens of a sequence.

    Returns
    -------
    Tensor
        A view; pieces are in the order of the processes.

    Raises
    ------
    ValueError
        Where p does not divide the axis.
    """
    p, n = mesh.size(), X.shape[axis]
    if n % p:
        raise ValueError(
            f"X: expected an axis {axis} that the {p} processes divide "
            f"evenly, got {n} in {tuple(X.shape)}; pad it to {n + -n % p}, "
            "and hide what was added with a mask"
        )
    return X.chunk(p, dim=axis)[mesh.get_local_rank()]


def average_gradients(parameters, mesh):
    """Replace the gradient of every parameter by its mean over the processes.

    Parameters
    ----------
    parameters : iterable of Tensor
        In the same order everywhere, each with its gradient.
    mesh : DeviceMesh
        One axis of processes.

    Raises
    ------
    ValueError
        Where a parameter has no gradient: its process would wait for the others for
        ever.
    """
    for i, parameter in enumerate(parameters):
        if parameter.grad is None:
            raise ValueError(
                "parameters: expected a gradient of each, got none of "
                f"number {i}; call backward()"
            )
        dist.all_reduce(parameter.grad, group=mesh.get_group())  # the sum
        parameter.grad /= mesh.size()
