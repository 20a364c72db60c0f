"""The live figures in a real JupyterLab with a kernel: a cell is run, a slider moved,
and values typed that no page holds.
"""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import nbformat
import pytest
from browser import visit
from gallery import FIGURES, choose, compare, load, python, read, states

from tfbook.widgets import AttentionExplorer

load()
ROOT = Path(__file__).resolve().parents[2]
OTHERS = [figure.__name__ for figure in FIGURES if figure is not AttentionExplorer]
CELLS = [
    "from tfbook.widgets import *\nexplorer = AttentionExplorer()\nexplorer",
    f"for figure in ({', '.join(OTHERS)}):\n    display(figure())",
    "import json\nprint(json.dumps(explorer.state))",
]


def free_port():
    with socket.socket() as any_port:
        any_port.bind(("127.0.0.1", 0))
        return any_port.getsockname()[1]


def soon(check, not_yet, seconds=30):
    """What a check gives once it no longer raises one of the errors that mean "not
    yet"; any other error is raised at once.
    """
    end = time.monotonic() + seconds
    while True:
        try:
            return check()
        except not_yet:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """The address of a JupyterLab of this environment that knows no setting of its
    user, with one notebook.
    """
    folder, port = tmp_path_factory.mktemp("lab"), free_port()
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(source) for source in CELLS]
    )
    notebook.metadata.kernelspec = {
        "name": "python3",
        "display_name": "Python 3",
        "language": "python",
    }
    nbformat.write(notebook, folder / "figures.ipynb")
    settings = {
        f"JUPYTER_{kind}_DIR": str(folder / f".{kind}")
        for kind in ("CONFIG", "DATA", "RUNTIME")
    }
    settings |= {
        "IPYTHONDIR": str(folder / ".ipython"),
        "PYTHONPATH": str(ROOT),
        "JUPYTER_PREFER_ENV_PATH": "1",
    }
    options = [
        "--no-browser",
        "--allow-root",
        "--ip=127.0.0.1",
        f"--port={port}",
        "--ServerApp.port_retries=0",
        "--IdentityProvider.token=",
        f"--ServerApp.root_dir={folder}",
        "--LabApp.extension_manager=readonly",
    ]
    with (
        Path(folder, "log").open("w") as log,
        subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *options],
            cwd=folder,
            env={**os.environ, **settings},
            stdout=log,
            stderr=subprocess.STDOUT,
        ) as server,
    ):
        try:
            address = f"http://127.0.0.1:{port}"

            def answers():
                assert server.poll() is None, Path(folder, "log").read_text(
                    encoding="utf-8"
                )[-2000:]
                urllib.request.urlopen(f"{address}/api", timeout=5).close()

            soon(answers, OSError, seconds=120)
            yield address
        finally:
            server.terminate()


@pytest.fixture(scope="module")
def page(lab, browser):
    """The notebook, opened; no cell has run."""
    with visit(browser, f"{lab}/lab/tree/figures.ipynb?reset", width=1400) as visited:
        visited.page.set_default_timeout(120_000)
        # a cell that is run before is passed over
        visited.page.get_by_text("| Idle").wait_for()
        yield visited.page
        assert [
            fault
            for fault in visited.faults
            if fault.startswith(("script", "another host"))
        ] == []


def run(page, number):
    page.locator(".jp-CodeCell .cm-content").nth(number).click()
    page.keyboard.press("Shift+Enter")


def on(page, figure):
    """A figure in the notebook, once its kernel has answered: from then on values may
    be typed.
    """
    locator = page.locator(
        ".tfb", has=page.locator(f'[aria-label="Settings: {figure.title}"]')
    )
    locator.wait_for()
    return locator


def drawn(locator, figure, setting):
    """Wait for the kernel's answer to be drawn: until then the numbers differ, and how
    many there are.
    """
    soon(
        lambda: compare(figure, read(locator, figure), setting),
        (AssertionError, IndexError, ValueError),
    )


def test_only_what_may_still_come_is_waited_for():
    tries = []

    def comes_third():
        tries.append(len(tries))
        assert len(tries) == 3

    soon(comes_third, AssertionError)
    with pytest.raises(AssertionError):
        soon(comes_third, AssertionError, seconds=0.3)
    with pytest.raises(KeyError):
        soon(lambda: {}["no such name"], (AssertionError, IndexError, ValueError))


def between(figure):
    """A value off the page's grid that one of the figure's sliders takes with all
    others at their default; None where there is none.
    """
    for control in figure.controls:
        if not getattr(control, "between", False):
            continue
        for value in range(min(control.values), control.most):
            if value not in control.values:
                try:
                    figure(**{control.name: value})
                except ValueError:
                    continue
                return control, value
    return None


def test_a_reader_moves_a_slider_and_types_what_no_page_holds(page):
    run(page, 0)
    explorer, setting = on(page, AttentionExplorer), AttentionExplorer.default
    drawn(explorer, AttentionExplorer, setting)
    explorer.locator("input[type=range][name=H]").fill("2")
    drawn(explorer, AttentionExplorer, setting | {"H": 4})
    for label, value in (("d dimensions", 48), ("H heads", 3), ("T tokens", 5)):
        explorer.get_by_label(f"{label}, any value").fill(str(value))
        page.wait_for_timeout(500)  # it counts 400 ms after the last key
    drawn(explorer, AttentionExplorer, setting | {"T": 5, "d": 48, "H": 3})
    run(page, 2)
    printed = page.locator(".jp-CodeCell").nth(2).locator(".jp-OutputArea-output pre")
    assert json.loads(printed.inner_text()) == setting | {"T": 5, "d": 48, "H": 3}, (
        "Python has what the reader chose"
    )
    explorer.get_by_label("H heads, any value").fill("7")
    error = explorer.locator(".tfb-error")
    error.wait_for()
    assert "multiple of H" in error.inner_text()


def test_every_figure_is_drawn_and_takes_a_value_between(page):
    run(page, 1)
    for figure in FIGURES:
        if figure is AttentionExplorer:
            continue
        locator = on(page, figure)
        locator.scroll_into_view_if_needed()
        setting = states(figure)[len(states(figure)) // 2]
        choose(locator, figure, setting)
        drawn(locator, figure, setting)
        if found := between(figure):
            control, value = found
            locator.get_by_role("button", name="reset").click()
            locator.get_by_label(f"{control.label}, any value").fill(str(value))
            drawn(locator, figure, {**python(figure).state, control.name: value})
