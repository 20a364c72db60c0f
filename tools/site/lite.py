"""Put the chapters that run without PyTorch into the built book once more, as notebooks
for a Python in the browser: lite.py BOOK

JupyterLite serves them under BOOK/lite/. The copies are made here, at each build, and
stand nowhere else.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import yaml
from lite_markdown import Book
from lite_torch import cells_without_torch
from lite_wheels import wheels

ROOT = Path(__file__).resolve().parents[2]
STAGE = ROOT / "_build" / "lite"
RUNTIME = "https://cdn.jsdelivr.net/pyodide/v0.27.7/full/pyodide.js"
INSTALL = ["tfbook", "matplotlib", "anywidget", "jupyterquiz", "pygments"]
# others expect a server
EXTENSIONS = [
    "@jupyterlite/pyodide-kernel-extension",
    "@jupyter-widgets/jupyterlab-manager",
    "anywidget",
]
KERNEL = {"display_name": "Python (Pyodide)", "language": "python", "name": "python"}
FIRST = f"""\
# This Python runs in your browser. Choose Run → Run All Cells; the first
# run fetches about 20 MB. What you change stays in this browser.
import piplite

await piplite.install({json.dumps(INSTALL)})"""
MISSING = (
    "*Left out: {cells} PyTorch, which is not here. The page of the book shows what "
    "comes out, and Colab runs it.*"
)


def chapters():
    """Names of the chapters that have a copy, such as
    03-scaled-dot-product-attention.
    """
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    return tuple(
        Path(page).name
        for page in config["sphinx"]["config"]["html_context"]["runs_in_browser"]
    )


def copy_of(notebook, book, first=FIRST, kernel=KERNEL):
    """The notebook with another first cell, no outputs, no PyTorch and plain Markdown;
    cells keep their ids.
    """
    code = [cell for cell in notebook.cells[1:] if cell.cell_type == "code"]
    left = dict(zip((cell.id for cell in code), cells_without_torch(code)))
    cells, missing = [nbformat.v4.new_code_cell(first, id=notebook.cells[0].id)], 0
    for cell in notebook.cells[1:]:
        if cell.cell_type == "markdown":
            cells.append(
                nbformat.v4.new_markdown_cell(book.markdown(cell.source), id=cell.id)
            )
        elif left[cell.id] is not None:
            hidden = {"remove-input", "remove-cell", "hide-input"} & set(
                cell.metadata.get("tags", [])
            )
            metadata = {"jupyter": {"source_hidden": True}} if hidden else {}
            cells.append(
                nbformat.v4.new_code_cell(left[cell.id], id=cell.id, metadata=metadata)
            )
        elif missing:  # one line for all that stand together
            missing += 1
            cells[-1].source = MISSING.format(cells=f"{missing} cells that need")
            continue
        else:
            missing = 1
            cells.append(
                nbformat.v4.new_markdown_cell(
                    MISSING.format(cells="a cell that needs"), id=cell.id
                )
            )
            continue
        missing = 0
    return nbformat.v4.new_notebook(
        cells=cells,
        metadata={"kernelspec": kernel, "language_info": {"name": "python"}},
    )


def stage(folder):
    """Write what JupyterLite is built from: copies, wheels, settings."""
    shutil.rmtree(folder, ignore_errors=True)
    book = Book(ROOT, chapters())
    target = folder / "files" / "chapters"
    target.mkdir(parents=True)
    for name in book.staged:
        nbformat.write(
            copy_of(
                nbformat.read(ROOT / "chapters" / f"{name}.ipynb", as_version=4), book
            ),
            target / f"{name}.ipynb",
        )
    wheels(folder / "pypi")
    installed = Path(sys.prefix, "share", "jupyter", "labextensions")
    build = {
        "apps": ["notebooks"],
        "no_sourcemaps": True,
        "no_unused_shared_packages": True,
        "ignore_sys_prefix": ["federated_extensions"],
        "federated_extensions": [str(installed / name) for name in EXTENSIONS],
    }
    kernel = {"pyodideUrl": RUNTIME, "disablePyPIFallback": True}
    page = {
        "litePluginSettings": {"@jupyterlite/pyodide-kernel-extension:kernel": kernel}
    }
    # all cells are in the page, so that its browser finds words in them
    whole = {"windowingMode": "defer"}
    for name, content in {
        "overrides.json": {"@jupyterlab/notebook-extension:tracker": whole},
        "jupyter_lite_config.json": {"LiteBuildConfig": build},
        "jupyter-lite.json": {
            "jupyter-lite-schema-version": 0,
            "jupyter-config-data": page,
        },
    }.items():
        (folder / name).write_text(json.dumps(content, indent=2), encoding="utf-8")


def main(book):
    stage(STAGE)
    command = [
        sys.executable,
        "-m",
        "jupyter",
        "lite",
        "build",
        "--lite-dir",
        STAGE,
        "--output-dir",
        Path(book, "lite").resolve(),
    ]
    done = subprocess.run(
        command, cwd=STAGE, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(
            "JupyterLite could not be"
            f" built:\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
