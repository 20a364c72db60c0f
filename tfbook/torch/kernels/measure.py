"""How long a call takes on a device, and how much of the device's memory."""

import statistics
import time

import torch


def milliseconds(f, where, repeats=7, clock=time.perf_counter):
    """Median time of a call. A GPU works on its own: events in its queue tell when it
    began and when it was done.

    Parameters
    ----------
    f : callable
        Takes nothing.
    where : torch.device
        Where it works.
    repeats : int
        Calls, after a first one that does not count.
    clock : callable
        Seconds, where there are no events; default: a wall clock.

    Returns
    -------
    float

    Examples
    --------
    >>> milliseconds(lambda: torch.ones(3).sum(), torch.device("cpu")) > 0
    True
    """
    f()
    times = []
    for _ in range(repeats):
        if where.type == "cuda":
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            f()
            end.record()
            torch.cuda.synchronize()
            times.append(start.elapsed_time(end))
        else:
            start = clock()
            f()
            if where.type == "mps":
                torch.mps.synchronize()
            times.append(1000 * (clock() - start))
    return statistics.median(times)


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
