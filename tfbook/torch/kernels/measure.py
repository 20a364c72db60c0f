"""How long a call takes on a device, and how much of the device's memory."""

import time

import torch
from torch.utils.benchmark import Measurement, Timer, timer


def milliseconds(f, where, repeats=7, clock=time.perf_counter):
    """Median time of a call. A GPU works on its own: PyTorch's ``timer`` waits until it
    is done before it reads the clock.

    Parameters
    ----------
    f : callable
        Takes nothing.
    where : torch.device
        Where it works.
    repeats : int
        Measurements, each of 10 ms or one call, after a call that warms up.
    clock : callable
        Seconds, of a CPU; default: a wall clock.

    Returns
    -------
    float

    Examples
    --------
    >>> milliseconds(lambda: torch.ones(3).sum(), torch.device("cpu")) > 0
    True
    """
    clock, threads = (
        clock if where.type == "cpu" else timer,
        torch.get_num_threads(),
    )
    call = Timer("f()", globals={"f": f}, timer=clock, num_threads=threads)
    runs = [call.blocked_autorange(min_run_time=0.01) for _ in range(repeats)]
    return 1000 * Measurement.merge(runs)[0].median


def peak_bytes(f, where):
    """Bytes that a call adds at most to the memory of a CUDA GPU; None elsewhere, where
    PyTorch does not count.

    Parameters
    ----------
    f : callable
        Takes nothing.
    where : torch.device

    Returns
    -------
    int or None

    Examples
    --------
    >>> peak_bytes(lambda: torch.ones(3), torch.device("cpu")) is None
    True
    """
    if where.type != "cuda":
        return None
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    f()
    torch.cuda.synchronize()
    return torch.cuda.max_memory_allocated() - before
