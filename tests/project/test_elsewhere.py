"""Colab, Binder and a development container: what they are told exists, and the book
asks for nothing that would replace what is there.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import requires
from pathlib import Path

import colab
import ipywidgets
import nbformat
import pytest
import without_torch
import yaml
from IPython.core.formatters import DisplayFormatter
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tfbook.widgets import AttentionExplorer

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
    "project"
]


# ---- Colab ----


def replaced(requirements):
    """Requirements that a version of Colab's does not meet, so that pip would replace
    it.
    """
    wanted = [Requirement(text) for text in requirements]
    return [
        str(r)
        for r in wanted
        if (have := colab.VERSIONS.get(canonicalize_name(r.name)))
        and have not in r.specifier
    ]


def test_first_cell_replaces_nothing_of_colab():
    asked = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["book"]]
    assert replaced(asked) == []
    assert replaced(requires("anywidget")) == [], "nor does what it brings"
    assert replaced(["ipywidgets>=8.1"]) == ["ipywidgets>=8.1"], "the check sees"
    assert replaced(PROJECT["optional-dependencies"]["torch"]) == []
    assert "torch" not in {Requirement(text).name for text in asked}, (
        "Colab's own is used"
    )


def test_figure_is_live_on_colab():
    command = [sys.executable, "-c", f"{colab.FAKE}\n{colab.FIGURE}"]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    seen = json.loads(done.stdout)
    assert {colab.VIEW, "text/html"} <= set(seen["kinds"])
    assert "custom widget manager" in seen["asked"], "without it Colab shows no widget"
    assert seen["answer"] == 7
    assert "weights" in seen["holds"]


def test_figure_keeps_its_html_under_ipywidgets_7(monkeypatch):
    # IPython would ask it alone
    monkeypatch.setattr(
        ipywidgets.Widget, "_ipython_display_", lambda self: None, raising=False
    )
    data, _ = DisplayFormatter().format(AttentionExplorer())
    assert {colab.VIEW, "text/html"} <= set(data)


def test_colab_installs_from_a_clone_in_place_of_the_address():
    for name in colab.CHAPTERS:
        first = (
            nbformat.read(ROOT / "chapters" / f"{name}.ipynb", as_version=4)
            .cells[0]
            .source
        )
        assert len(re.findall(r"git\+https://[\w./-]+", first)) == 1


# ---- Binder ----


def test_binder_names_what_exists():
    folder = ROOT / ".binder"
    lines = [
        line
        for line in (
            (folder / "requirements.txt").read_text(encoding="utf-8").splitlines()
        )
        if not line.startswith("#")
    ]
    (constraints,) = [line.partition(" ")[2] for line in lines if line.startswith("-c")]
    assert (folder / constraints).resolve() == ROOT / "constraints.txt"
    (editable,) = [line for line in lines if line.startswith("-e")]
    assert editable == "-e .[book]"
    pinned = {
        canonicalize_name(line.partition("==")[0])
        for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    }
    assert {
        canonicalize_name(line) for line in lines if not line.startswith("-")
    } <= pinned
    assert not re.search(r"^torch", "\n".join(lines), re.MULTILINE)
    assert (folder / "runtime.txt").read_text(
        encoding="utf-8"
    ).strip() == f"python-{sys.version_info.major}.{sys.version_info.minor}"
    assert os.access(folder / "postBuild", os.X_OK)
    (script,) = re.findall(
        r"^python (\S+)$",
        (folder / "postBuild").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    assert (ROOT / script).is_file()


def test_binders_chapters_have_no_torch(tmp_path, monkeypatch):
    shutil.copytree(ROOT / "chapters", tmp_path / "chapters")
    shutil.copy2(ROOT / "_toc.yml", tmp_path)
    monkeypatch.setattr(without_torch, "ROOT", tmp_path)
    without_torch.main()
    paths = sorted((tmp_path / "chapters").glob("[0-9][0-9]-*.ipynb"))
    assert paths
    for path in paths:
        copy, before = (
            nbformat.read(folder / path.name, as_version=4)
            for folder in (path.parent, ROOT / "chapters")
        )
        assert copy.cells[0].source == before.cells[0].source
        assert copy.metadata.kernelspec.name == "python3"
        code = "\n".join(cell.source for cell in copy.cells if cell.cell_type == "code")
        assert not re.search(
            r"^\s*(import|from) (torch|tfbook\.torch)\b", code, re.MULTILINE
        )
        assert any(
            "needs PyTorch" in cell.source or "need PyTorch" in cell.source
            for cell in copy.cells
            if cell.cell_type == "markdown"
        )


# ---- a development container ----


def test_container_runs_what_exists():
    container = json.loads(
        (ROOT / ".devcontainer" / "devcontainer.json").read_text(encoding="utf-8")
    )
    assert container["image"].startswith(
        f"python:{sys.version_info.major}.{sys.version_info.minor}"
    )
    (target,) = re.findall(r"make (\S+)$", container["postCreateCommand"])
    rules = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert f"\n$(VENV)/{target.removeprefix('.venv/')}:" in rules
    assert set(map(int, container["portsAttributes"])) == set(container["forwardPorts"])
    assert "ms-toolsai.jupyter" in container["customizations"]["vscode"]["extensions"]
    assert container["customizations"]["vscode"]["settings"][
        "python.defaultInterpreterPath"
    ].endswith("/.venv/bin/python")


# ---- the buttons and links that lead there ----


@pytest.mark.parametrize(
    ("key", "host"),
    [("colab_url", "colab.research.google.com"), ("binderhub_url", "mybinder.org")],
)
def test_pages_have_a_button(key, host):
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    assert config["launch_buttons"][key] == f"https://{host}"
    page = (ROOT / "_build/html/chapters/06-the-feed-forward-network.html").read_text(
        encoding="utf-8"
    )
    assert re.search(
        rf'href="https://{re.escape(host)}/[^"]*06-the-feed-forward-network\.ipynb',
        page,
    )
    assert host in (ROOT / "README.md").read_text(encoding="utf-8")
