"""Start a module in several processes with torchrun, on this machine, and say plainly
how they ended.
"""

import os
import re
import signal
import socket
import subprocess
import sys
import tempfile


class ProcessesFailed(RuntimeError):
    """Some process did not end well.

    Attributes
    ----------
    exits : dict of int to int
        How each that failed ended, by its rank: an exit code, or minus the number of a
        signal.
    output : str
        What all of them wrote until then.
    log : str
        What they wrote to stderr.
    """

    def __init__(self, exits, output, log):
        self.exits, self.output, self.log = exits, output, log
        # torchrun ends the rest with SIGTERM
        causes = {
            rank: code
            for rank, code in exits.items()
            if code < 0 and code != -signal.SIGTERM
        }
        causes = causes or {
            rank: code for rank, code in exits.items() if code > 0
        }
        said = "; ".join(
            f"rank {rank} {_ended(code)}"
            for rank, code in sorted(causes.items())
        )
        super().__init__(
            f"{said}; the others were ended"
            if said
            else f"torchrun failed:\n{log[-2000:]}"
        )


def launch(module, p, *arguments, seconds=300):
    """Run a module in p processes on this machine, with torchrun.

    Parameters
    ----------
    module : str
        What ``python -m`` takes.
    p : int
        Processes.
    *arguments
        Of the module.
    seconds : float
        After which all are ended.

    Returns
    -------
    str
        What the processes printed.

    Raises
    ------
    ProcessesFailed
        Where a process exits with an error or is killed: torchrun ends the others and
        says which.
    TimeoutError
        Where they have not ended in time.
    """
    command = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        f"--nproc-per-node={p}",
        "--rdzv-backend=c10d",
        "--rdzv-endpoint=127.0.0.1:0",
        # not the name of the machine, which some cannot look up
        "--local-addr=127.0.0.1",
    ]
    # else each process takes all cores
    threads = str(max(1, (os.cpu_count() or 1) // p))
    environment = {
        "OMP_NUM_THREADS": threads,
        "GLOO_SOCKET_IFNAME": _loopback(),
        "PYTHONUNBUFFERED": "1",
        **os.environ,
    }
    # torchrun leaves its own
    with tempfile.TemporaryDirectory(
        prefix="tfbook_", ignore_cleanup_errors=True
    ) as logs:
        command += [f"--log-dir={logs}", "-m", module, *map(str, arguments)]
        running = subprocess.Popen(
            command,
            env=environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        try:
            output, log = running.communicate(timeout=seconds)
        except (
            BaseException
        ) as error:  # an interrupt too leaves nothing running
            log = _stopped(running)
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            raise TimeoutError(
                f"{module}: expected {p} processes to end within {seconds} s; they were"
                f" ended\n{log[-2000:]}"
            ) from None
    if running.returncode:
        raise ProcessesFailed(_exits(log), output, log)
    return output


def _stopped(running):
    """End torchrun, which ends its processes; what was written to stderr."""
    running.terminate()
    try:
        return running.communicate(timeout=30)[1]
    except subprocess.TimeoutExpired:
        running.kill()
        return running.communicate()[1]


def _loopback():
    """The name of the network that does not leave this machine."""
    return next(
        (name for _, name in socket.if_nameindex() if name.startswith("lo")),
        "lo",
    )


def _exits(log):
    """Rank and exit code of each failure in torchrun's report."""
    found = re.findall(r"rank\s*:\s*(\d+).*?\n\s*exitcode\s*:\s*(-?\d+)", log)
    return {int(rank): int(code) for rank, code in found}


def _ended(code):
    return (
        f"was killed ({signal.Signals(-code).name})"
        if code < 0
        else f"ended with exit code {code}"
    )
