"""Processes that work together: join those that torchrun has started, and say plainly
when one of them is gone.
"""

import os
import re
import sys
from contextlib import contextmanager
from datetime import timedelta

import torch
import torch.distributed as dist
from torch.distributed.tensor import init_device_mesh

from tfbook.torch.device import device

GLOO = "|".join(
    [  # how its errors begin
        r"\[\S+\.cc:\d+\] ",
        r"Connection closed by peer \[",
        r"Timed out waiting \d+ms for (recv|send)",
        "Application timeout caused pair closure",
    ]
)
START = (
    "start the processes with\ntorchrun --nproc-per-node 2 -m MODULE, or "
    "tfbook.torch.distributed.parallel.launch(MODULE, 2)"
)


@contextmanager
def processes(seconds=60):
    """Join the other processes; give the mesh of all, and leave it at the end.

    Parameters
    ----------
    seconds : float
        How long to wait for another process before it is given up.

    Yields
    ------
    DeviceMesh
        One axis. Its ``size()`` is p, the number of processes, and ``get_local_rank()``
        the place of this one, from 0. On GPUs, if there is one for each process, they
        speak through NCCL, else through gloo.

    Raises
    ------
    RuntimeError
        Where this process was not started by torchrun.
    SystemExit
        Where another process is gone or does not answer; the message says so, and which
        this one is.
    """
    if "RANK" not in os.environ:
        raise RuntimeError(
            "RANK: expected in the environment, where torchrun puts it, got "
            f"none; {START}"
        )
    kind = where()
    backend = "nccl" if kind == "cuda" else "gloo"
    try:
        dist.init_process_group(backend, timeout=timedelta(seconds=seconds))
        yield init_device_mesh(kind, (dist.get_world_size(),))
        dist.barrier()  # nobody leaves while another still listens
    except RuntimeError as error:
        failure = peer_failure(error)
        if failure is None:
            raise
        print(
            f"rank {os.environ['RANK']}: another process is gone ({failure})",
            file=sys.stderr,
        )
        sys.exit(1)
    finally:  # whatever happened, connections are closed
        if dist.is_initialized():
            dist.destroy_process_group()


def where():
    """The kind of device of each process: a GPU of its own, if there are enough, else
    the CPU.
    """
    local_world_size = int(os.environ.get("LOCAL_WORLD_SIZE", 1))
    if (
        device().type == "cuda"
        and torch.cuda.device_count() >= local_world_size
    ):
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", 0)))
        return "cuda"
    return "cpu"


def peer_failure(error):
    """What an error says of another process that broke off or stayed silent, or None
    where it says something else.
    """
    of_processes = isinstance(error, dist.DistError)
    if not of_processes and not (
        type(error) is RuntimeError and re.match(GLOO, str(error))
    ):
        return None  # a timeout of something else
    found = re.search(
        r"connection (closed|reset)( by( remote)? peer)?|broken pipe|timed? ?out",
        str(error),
        re.IGNORECASE,
    )
    return (
        found.group().lower()
        if found
        else "no answer"
        if of_processes
        else None
    )
