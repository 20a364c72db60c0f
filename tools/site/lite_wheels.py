"""Wheels for a Python in the browser, made of what is installed here: pure Python
alone, no network.
"""

import base64
import hashlib
import zipfile
from importlib.metadata import distribution
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# the rest Pyodide has
NEEDS = [
    "anywidget",
    "comm",
    "ipywidgets",
    "jupyterlab_widgets",
    "jupyterquiz",
    "psygnal",
    "typing_extensions",
]
WHEEL = (
    "Wheel-Version: 1.0\nGenerator: tfbook\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
)


def line(name, content):
    """What a wheel records of a file."""
    digest = (
        base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    )
    return f"{name},sha256={digest},{len(content)}\n"


def write(folder, of, files):
    """A wheel of a distribution: its metadata, and the content of each file by its
    path.
    """
    stem = f"{of.metadata['Name'].replace('-', '_')}-{of.version}"
    info = f"{stem}.dist-info"
    # the second in a clone that was installed with -e
    metadata = of.read_text("METADATA") or of.read_text("PKG-INFO")
    files = {
        **files,
        f"{info}/METADATA": metadata.encode(),
        f"{info}/WHEEL": WHEEL.encode(),
    }
    record = (
        "".join(line(name, content) for name, content in files.items())
        + f"{info}/RECORD,,\n"
    )
    path = Path(folder, f"{stem}-py3-none-any.whl")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, content in {**files, f"{info}/RECORD": record.encode()}.items():
            wheel.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return path


def repacked(name, folder):
    """A package of this environment as a wheel; its compiled twins, where it has them,
    stay behind.
    """
    of = distribution(name)
    inside = [
        file
        for file in of.files
        if ".." not in file.parts and not file.parts[0].endswith(".dist-info")
    ]
    kept = [file for file in inside if file.suffix not in {".so", ".pyd", ".pyc"}]
    return write(folder, of, {file.as_posix(): file.read_binary() for file in kept})


def tfbook_wheel(folder):
    """The book's package, from this checkout."""
    paths = [
        path
        for path in sorted((ROOT / "tfbook").rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    ]
    return write(
        folder,
        distribution("tfbook"),
        {path.relative_to(ROOT).as_posix(): path.read_bytes() for path in paths},
    )


def wheels(folder):
    """All that a copy of a chapter installs, beside what Pyodide brings."""
    folder.mkdir(parents=True, exist_ok=True)
    return [tfbook_wheel(folder), *(repacked(name, folder) for name in NEEDS)]
