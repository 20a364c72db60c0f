"""Save checkpoints again and again in a child that is killed at many moments, and load
what is left after each: FOLDER.
"""

import os
import signal
import sys
import time
from pathlib import Path

import torch

from tfbook.torch.training import checkpoint

torch.set_num_threads(1)
# doctest reads this file without an argument
FILE = Path(*sys.argv[1:2], "run.safetensors")


def model(step):
    """A model of 4 MB, all of whose numbers are the step that it is saved with."""
    one = torch.nn.Linear(1000, 1000)
    for p in one.parameters():
        torch.nn.init.constant_(p, step)
    return one


def save(step):
    checkpoint.save_checkpoint(FILE, model(step), step=step)


def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)


def in_child(work):
    """Run it in a copy of this process; returns the copy's number."""
    if pid := os.fork():
        return pid
    try:
        work()
    finally:
        os._exit(0)


def loaded():
    """The step of the file: of its record and of every number in it."""
    found = model(-1)
    record = checkpoint.load_checkpoint(FILE, found)
    for p in found.parameters():
        assert (p == record["step"]).all(), "numbers of two checkpoints in one file"
    return record["step"]


class HalfWritten:
    """A file that takes half of what is written to it; then the process dies."""

    def __init__(self, file):
        self.file = file

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()

    def write(self, data):
        self.file.write(data[: len(data) // 2])
        self.file.flush()
        die()


def at_write():
    true_open = Path.open
    Path.open = lambda path, mode: HalfWritten(true_open(path, mode))


def at_sync():
    os.fsync = die


def at_replace():
    os.replace = die


def after_replace():
    true_replace = os.replace
    os.replace = lambda *names: (true_replace(*names), die())


def killed(spoil):
    def work():
        spoil()
        save(2)

    save(1)
    _, status = os.waitpid(in_child(work), 0)
    assert os.WIFSIGNALED(status), "the child lived"
    return loaded()


def killed_after(seconds):
    """What is left by a child that is killed so long after its first save."""
    ready, tell = os.pipe()

    def work():
        save(1)
        os.write(tell, b".")
        for step in range(2, 10**6):
            save(step)

    pid = in_child(work)
    os.close(tell)  # so that a child which dies before its save is not waited for
    os.read(ready, 1)
    os.close(ready)
    time.sleep(seconds)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return loaded()


if __name__ == "__main__":
    for spoil, wanted in (
        (at_write, 1),
        (at_sync, 1),
        (at_replace, 1),
        (after_replace, 2),
    ):
        assert killed(spoil) == wanted, spoil.__name__
    start = time.perf_counter()
    save(0)
    a_save = time.perf_counter() - start
    rng = torch.Generator().manual_seed(0)
    found = {
        killed_after(6 * a_save * torch.rand((), generator=rng).item())
        for _ in range(40)
    }
    assert len(found) > 1, found
    assert sorted(path.name for path in FILE.parent.iterdir()) in (
        ["run.safetensors"],
        ["run.safetensors", "run.safetensors.part"],
    )
    print("whole every time")
