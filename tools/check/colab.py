"""Run two chapters as Colab would: its usual versions are there, the first cell
installs the book beside them, and nothing is replaced.

Slow, since an environment with PyTorch is made in _build/colab: `make colab` is run by
hand. The first cell takes this clone's last commit.
"""

import json
import os
import re
import subprocess
import sys
import venv
from pathlib import Path

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / "_build" / "colab"
(TORCH,) = re.findall(
    r"^torch==(\S+)$", (ROOT / "requirements.txt").read_text(), re.MULTILINE
)
# the first on NumPy, the second on PyTorch
CHAPTERS = ["06-the-feed-forward-network", "07-residuals-and-normalisation"]
VERSIONS = {  # of a Colab machine; PyTorch's is the one that the book is tested with
    "numpy": "2.0.2",
    "matplotlib": "3.10.0",
    "scipy": "1.16.3",
    "pandas": "2.2.2",
    "scikit-learn": "1.6.1",
    "pillow": "11.3.0",
    "pygments": "2.19.2",
    "ipython": "7.34.0",
    "ipykernel": "6.17.1",
    "ipywidgets": "7.7.1",
    "widgetsnbextension": "3.6.10",
    "jupyterlab-widgets": "3.0.15",
    "traitlets": "5.7.1",
    "jupyter-client": "7.4.9",
    "notebook": "6.5.7",
    "tornado": "6.5.1",
    "psutil": "5.9.5",
    "torch": TORCH,
}
FAKE = """\
import sys, types

asked = []
names = "google", "google.colab", "google.colab.output"
google, colab, output = map(types.ModuleType, names)
output.enable_custom_widget_manager = lambda: asked.append("custom widget manager")
output._widgets = types.SimpleNamespace(_installed_url="an address of Colab's")
google.colab, colab.output = colab, output
sys.modules |= zip(names, (google, colab, output))"""
FIGURE = """\
import json
from tfbook.widgets import AttentionExplorer

heard = []
figure = AttentionExplorer()
figure.send = heard.append
bundle, _ = figure._repr_mimebundle_()
figure._answer(figure, {"ask": {**figure.state, "d": 48, "H": 3}, "number": 7}, [])
answer = {"answer": heard[0]["number"], "holds": sorted(heard[0]["value"])}
print(json.dumps({"kinds": sorted(bundle), "asked": asked} | answer))"""
VIEW = "application/vnd.jupyter.widget-view+json"


def environment(python):
    """What a Colab machine has, as far as the book meets it."""
    if not python.exists():
        venv.create(WORK / "venv", with_pip=True)
    pip(
        python,
        "install",
        "-q",
        *(f"{name}=={version}" for name, version in VERSIONS.items()),
    )
    pip(
        python, "uninstall", "-q", "-y", "tfbook", "anywidget", "psygnal", "jupyterquiz"
    )


def pip(python, *arguments):
    command = [python, "-m", "pip", "--disable-pip-version-check", *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def installed(python):
    """Every package there, with its version."""
    return {
        entry["name"].lower(): entry["version"]
        for entry in json.loads(pip(python, "list", "--format", "json"))
    }


def run(name, python):
    """A chapter in that environment's kernel, its first cell installing from this
    clone; what the figure's own cell printed.
    """
    notebook = nbformat.read(ROOT / "chapters" / f"{name}.ipynb", as_version=4)
    first = notebook.cells[0]
    first.source, moved = re.subn(
        r"git\+https://[\w./-]+", f"git+file://localhost{ROOT.as_posix()}", first.source
    )
    assert moved == 1, "the first cell installs from the book's address"
    notebook.cells = [
        nbformat.v4.new_code_cell(FAKE),
        *notebook.cells,
        nbformat.v4.new_code_cell(FIGURE),
    ]
    folder = WORK / "run"
    folder.mkdir(exist_ok=True)
    spec = WORK / "share" / "kernels" / "colab" / "kernel.json"
    spec.parent.mkdir(parents=True, exist_ok=True)
    start = [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec.write_text(
        json.dumps({"argv": start, "display_name": "Colab", "language": "python"}),
        encoding="utf-8",
    )
    NotebookClient(
        notebook,
        timeout=900,
        kernel_name="colab",
        resources={"metadata": {"path": str(folder)}},
    ).execute()
    shown = [
        output.get("data", {})
        for cell in notebook.cells
        for output in cell.get("outputs", [])
    ]
    figures = [data for data in shown if "data-figure" in data.get("text/html", "")]
    assert figures, "the chapter shows its figure"
    assert all(VIEW in data for data in figures), "and it is live"
    return json.loads(notebook.cells[-1].outputs[0]["text"])


def main():
    python = WORK / "venv" / "bin" / "python"
    environment(python)
    os.environ["JUPYTER_PATH"] = str(WORK / "share")
    os.environ.pop("PYTHONPATH", None)  # only what the first cell installs
    before = installed(python)
    seen = [run(name, python) for name in CHAPTERS]
    after = installed(python)
    changed = {
        name: (version, after.get(name))
        for name, version in before.items()
        if after.get(name) != version
    }
    added = {name: version for name, version in after.items() if name not in before}
    if changed:
        sys.exit(f"the first cell replaced what Colab has: {changed}")
    for figure in seen:
        assert {VIEW, "text/html"} <= set(figure["kinds"]), figure
        assert "custom widget manager" in figure["asked"], (
            "Colab shows no widget without it"
        )
        assert figure["answer"] == 7, figure
        assert "weights" in figure["holds"], figure
    print(
        f"{' and '.join(CHAPTERS)} ran; {len(before)} packages as they were; added"
        f" {', '.join(f'{n} {v}' for n, v in added.items())}"
    )


if __name__ == "__main__":
    main()
