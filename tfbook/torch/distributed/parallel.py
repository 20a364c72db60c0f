"""Beyond one machine: a layer split over processes. Kept apart from ``tfbook.torch``,
as torch.distributed takes a second to import.
"""

from tfbook.torch.distributed.collectives import copied, gathered, summed
from tfbook.torch.distributed.communication import (
    CountCommunication,
    socket_bytes,
)
from tfbook.torch.distributed.data_parallel import average_gradients, shard
from tfbook.torch.distributed.launch import ProcessesFailed, launch
from tfbook.torch.distributed.processes import processes
from tfbook.torch.distributed.ring import merge
from tfbook.torch.distributed.sequence_parallel import (
    gathered_attention,
    ring_attention,
)
from tfbook.torch.distributed.tensor_parallel import (
    split_parameters,
    tensor_parallel_layer,
)

__all__ = [
    "CountCommunication",
    "ProcessesFailed",
    "average_gradients",
    "copied",
    "gathered",
    "gathered_attention",
    "launch",
    "merge",
    "processes",
    "ring_attention",
    "shard",
    "socket_bytes",
    "split_parameters",
    "summed",
    "tensor_parallel_layer",
]
