"""How much memory a run adds to the process at most, whichever library allocates it; on
Linux.
"""

import ctypes
import gc
import multiprocessing
import sys
from pathlib import Path


def peak_memory(prepare, *args):
    """Bytes that ``prepare(*args)()`` adds at most to what was there, in a process of
    its own; None where the system does not tell.
    """
    if not sys.platform.startswith("linux"):
        return None
    fork = multiprocessing.get_context("fork")
    queue = fork.SimpleQueue()
    child = fork.Process(target=_weigh, args=(queue, prepare, *args))
    child.start()
    child.join()
    return None if queue.empty() else queue.get()


def _weigh(queue, prepare, *args):
    libc = ctypes.CDLL(None)
    # M_MMAP_THRESHOLD: whatever is larger goes back to the system as soon as it is
    # freed
    libc.mallopt(-3, 1 << 16)
    run = prepare(*args)
    gc.collect()
    libc.malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before = _resident("VmRSS")
    run()
    queue.put(max(0, _resident("VmHWM") - before))


def _resident(field):
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.split(f"{field}:")[1].split()[0])
