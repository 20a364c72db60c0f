"""Run notebooks in a fresh kernel, in order, and keep their outputs: execute.py
[NOTEBOOK …], all chapters unless told.

What changes from one run to the next is left out (widget state, times, versions), so
that a second run leaves no difference.
"""

import sys
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

ROOT = Path(__file__).resolve().parents[2]
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
VIEW = "application/vnd.jupyter.widget-view+json"


def normalised(notebook):
    """The notebook with nothing in it that depends on the machine or the moment; cell
    ids and tags stay.
    """
    notebook.metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    for cell in notebook.cells:
        for passing in ("execution", "collapsed", "scrolled", "ExecuteTime", "trusted"):
            cell.metadata.pop(passing, None)
        for output in cell.get("outputs", []):
            # its state is not kept: the HTML beside it is what a reader gets
            output.get("data", {}).pop(VIEW, None)
    return notebook


def execute(path):
    """Run one notebook and write it back, or leave it as it was and say which cell
    failed.
    """
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=600,
        kernel_name="python3",
        record_timing=False,
        store_widget_state=False,
        coalesce_streams=True,
        resources={"metadata": {"path": str(path.parent)}},
        extra_arguments=["--log-level=ERROR"],
    )
    started = time.perf_counter()
    print(f"{path.relative_to(ROOT)} …", end=" ", flush=True)
    try:
        client.execute()
    except CellExecutionError as error:
        print("failed")
        sys.exit(
            f"{error}\nThe notebook was left as it was. Mend the cell above and run"
            " make execute again."
        )
    nbformat.write(normalised(notebook), path)
    print(f"{time.perf_counter() - started:.0f} s")


def main(*names):
    paths = [Path(name).resolve() for name in names] or sorted(
        (ROOT / "chapters").glob("*.ipynb")
    )
    for path in paths:
        execute(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
