"""Count what a process sends: from the collectives that PyTorch calls, and from the
sockets that carry them.
"""

import os
import socket
import stat
import struct
from contextlib import suppress

import torch
from torch.distributed.tensor import DTensor
from torch.utils._python_dispatch import TorchDispatchMode

from tfbook.cost.communication import all_gather, all_reduce, reduce_scatter


class CountCommunication(TorchDispatchMode):
    """Within it, the bytes that this process sends are counted, each collective as a
    ring carries it out.

    Parameters
    ----------
    p : int
        Processes that take part in each.

    Attributes
    ----------
    calls : list of tuple
        What was called, and the bytes that it sends.
    """

    def __init__(self, p):
        super().__init__()
        self.p, self.calls = p, []

    @property
    def bytes(self):
        """All bytes sent so far."""
        return sum(n for _, n in self.calls)

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if DTensor in types:
            return NotImplemented  # its collectives come by as calls on plain tensors
        result = func(*args, **(kwargs or {}))
        if "c10d" in func.namespace:
            name, p = func.overloadpacket.__name__.strip("_"), self.p
            tensors = [
                x
                for x in torch.utils._pytree.tree_leaves(args)
                if isinstance(x, torch.Tensor)
            ]
            if name in ("allreduce", "all_reduce"):
                self.calls.append(
                    ("all-reduce", _bytes(tensors[0], all_reduce, p))
                )
            elif name == "all_gather_into_tensor":  # of a piece
                self.calls.append(("all-gather", (p - 1) * tensors[0].nbytes))
            elif name == "allgather_base":  # into the whole
                self.calls.append(
                    ("all-gather", _bytes(tensors[0], all_gather, p))
                )
            elif name in ("reduce_scatter_tensor", "reduce_scatter_base"):
                self.calls.append(
                    (
                        "reduce-scatter",
                        _bytes(
                            max(tensors, key=torch.numel), reduce_scatter, p
                        ),
                    )
                )
            elif name == "send":
                self.calls.append(("send", tensors[0].nbytes))
            elif name not in (
                "recv",
                "wait_tensor",
                "wrap_tensor_autograd",
                "barrier",
            ):
                raise NotImplementedError(
                    f"{func}: its bytes are not counted"
                )
        return result


def _bytes(X, collective, p):
    return X.element_size() * collective(X.numel(), p)


def socket_bytes():
    """Count the bytes that this process has sent through TCP so far, as the system
    counts them.

    Returns
    -------
    int or None
        Over all connections that are open, headers of the messages included; None where
        the system does not tell.
    """
    total = None
    for number in _sockets():
        with (
            suppress(OSError),
            socket.socket(fileno=os.dup(number)) as connection,
        ):
            told = connection.getsockopt(
                socket.IPPROTO_TCP, socket.TCP_INFO, 256
            )
            if len(told) >= 216:
                # tcpi_bytes_sent, tcpi_bytes_retrans
                bytes_sent, retransmitted = struct.unpack_from(
                    "QQ", told, 200
                )
                # tcpi_notsent_bytes
                (waiting,) = struct.unpack_from("I", told, 144)
                total = (total or 0) + bytes_sent - retransmitted + waiting
    return total


def _sockets():
    """The numbers of those open files that are sockets."""
    files = "/proc/self/fd"
    for name in os.listdir(files) if os.path.isdir(files) else []:
        # the file of the listing itself is closed by now
        with suppress(OSError):
            if stat.S_ISSOCK(os.stat(f"{files}/{name}").st_mode):
                yield int(name)
