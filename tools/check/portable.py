"""Run the notebooks and the fast tests as other processors would: portable.py [NAME …].

A library picks its kernels by the processor that it finds, and a sum in another order
ends in another last bit. These variables make NumPy's and PyTorch's libraries pick the
kernels of an older processor, so that a result that depends on the last bit shows here.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = {
    "native": {},
    "haswell": {
        "OPENBLAS_CORETYPE": "Haswell",  # NumPy's matrix products
        "ATEN_CPU_CAPABILITY": "avx2",  # PyTorch's own kernels
        "MKL_ENABLE_INSTRUCTIONS": "AVX2",  # its matrix products on Intel
        "ONEDNN_MAX_CPU_ISA": "AVX2",  # and its convolutions
    },
    "sandybridge": {
        "OPENBLAS_CORETYPE": "Sandybridge",
        "ATEN_CPU_CAPABILITY": "default",
        "MKL_ENABLE_INSTRUCTIONS": "SSE4_2",
        "ONEDNN_MAX_CPU_ISA": "SSE41",
    },
}
FAST = ["-m", "not page", "--nbval", "--nbval-current-env"]


def run(name):
    """Run the tests under a setting; True where all passed."""
    started = time.perf_counter()
    print(f"== {name}: {SETTINGS[name] or 'as this processor chooses'}", flush=True)
    tests = [sys.executable, "-m", "pytest", "-n", "auto", "--dist", "loadscope", *FAST]
    with tempfile.TemporaryDirectory() as folder:  # nothing is left in the system's own
        environment = os.environ | SETTINGS[name] | {"TMPDIR": folder}
        done = subprocess.run(tests, cwd=ROOT, env=environment, check=False)
    print(
        f"== {name}: exit status {done.returncode},"
        f" {time.perf_counter() - started:.0f} s"
    )
    return done.returncode == 0


def main(*names):
    unknown = set(names) - set(SETTINGS)
    if unknown:
        sys.exit(
            f"expected names among {', '.join(SETTINGS)}, got {', '.join(unknown)}"
        )
    if not all([run(name) for name in names or SETTINGS]):
        sys.exit(1)


if __name__ == "__main__":
    main(*sys.argv[1:])
