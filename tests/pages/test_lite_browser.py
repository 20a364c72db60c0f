"""A chapter run by Python in the browser, Pyodide served from files of this machine;
and the NumPy half in Pyodide under Node.

Both are skipped where the runtime cannot be had, and say why.
"""

import json
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from urllib.parse import urlsplit

import lite
import nbformat
import pytest
from browser import is_local, served
from gallery import load, python
from lite_wheels import tfbook_wheel
from test_jupyterlab import between, drawn, on
from test_lite import moved

from tfbook.widgets import FeedForwardExplorer

load()
ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "_build" / "html"
CHAPTER = "06-the-feed-forward-network"
TYPES = {
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".wasm": "application/wasm",
    ".json": "application/json",
}
STDOUT, ERROR = "application/vnd.jupyter.stdout", "application/vnd.jupyter.error"
READ = """() => [...document.querySelectorAll(".jp-Cell")].map((cell) => ({
  prompt: cell.querySelector(".jp-InputPrompt")?.textContent ?? "",
  outputs: [...cell.querySelectorAll(".jp-OutputArea-output")]
    .map((node) => [node.dataset.mimeType, node.textContent]),
  pictures: [...cell.querySelectorAll(".jp-OutputArea-output img")]
    .map((image) => image.naturalWidth),
}))"""


@pytest.fixture(scope="module")
def runtime():
    """A folder with Pyodide."""
    folder = ROOT / "_build" / "pyodide"
    done = subprocess.run(
        [sys.executable, ROOT / "tools/site/runtime.py", folder],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        pytest.skip(f"no Pyodide to test with: {done.stderr.strip()}")
    return folder


@pytest.fixture(scope="module")
def asked():
    """Hosts that were asked, beside this machine."""
    return set()


@pytest.fixture(scope="module")
def page(runtime, asked, browser):
    """The chapter's copy, opened through the button of its page, after all its cells
    have run.
    """

    def answer(route):
        address = route.request.url
        if is_local(address):
            return route.continue_()
        asked.add(urlsplit(address).hostname)
        file = runtime / Path(urlsplit(address).path).name
        if (
            not address.startswith(lite.RUNTIME.rpartition("/")[0])
            or not file.is_file()
        ):
            return route.abort()
        headers = {
            "content-type": TYPES.get(file.suffix, "application/octet-stream"),
            "access-control-allow-origin": "*",
        }
        return route.fulfill(body=file.read_bytes(), headers=headers)

    with served(BOOK) as address:
        context = browser.new_context(viewport={"width": 1300, "height": 900})
        context.route("**/*", answer)
        # the first time Python starts, on a busy machine
        context.set_default_timeout(240_000)
        book = context.new_page()
        book.goto(f"{address}/chapters/{CHAPTER}.html")
        with context.expect_page() as opened:
            book.get_by_role("link", name="Run in your browser").click()
        copy = opened.value
        copy.get_by_text("Python (Pyodide)").wait_for()
        copy.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]").wait_for()
        # they come in turn
        copy.wait_for_function(
            "(n) => document.querySelectorAll('.jp-Cell').length === n",
            arg=len(staged().cells),
        )
        copy.get_by_role("menuitem", name="Run", exact=True).click()
        copy.get_by_role("menuitem", name="Run All Cells", exact=True).click()
        waiting = (
            "[...document.querySelectorAll('.jp-InputPrompt')].some((node) => "
            "node.textContent.includes('*'))"
        )
        copy.wait_for_function(waiting)
        copy.wait_for_function(f"!{waiting}")
        yield copy
        context.close()


def staged():
    return nbformat.read(
        BOOK / "lite" / "files" / "chapters" / f"{CHAPTER}.ipynb", as_version=4
    )


def test_every_cell_runs_and_prints_what_the_book_has(page):
    cells = {
        cell.id: cell
        for cell in nbformat.read(
            ROOT / "chapters" / f"{CHAPTER}.ipynb", as_version=4
        ).cells
    }
    stored = {i: cell.get("outputs", []) for i, cell in cells.items()}
    compared = pictures = 0
    for cell, seen in zip(staged().cells, page.evaluate(READ), strict=True):
        assert [text for kind, text in seen["outputs"] if kind == ERROR] == []
        # folded code shows no number
        assert re.fullmatch(r"(\[\d+\]:)?", seen["prompt"].strip()), (
            f"{cell.id} did not run"
        )
        want = "".join(
            output["text"]
            for output in stored[cell.id]
            if output["output_type"] == "stream"
        )
        drawn = any("image/png" in output.get("data", {}) for output in stored[cell.id])
        if cell.cell_type == "code" and want.strip():
            now = "".join(text for kind, text in seen["outputs"] if kind == STDOUT)
            assert moved(want, now, cells[cell.id]) == ""
            compared += 1
        if cell.cell_type == "code" and drawn:
            assert seen["pictures"]
            assert all(width > 100 for width in seen["pictures"])
            pictures += 1
    assert compared >= 15
    assert pictures >= 5


def test_figure_asks_the_python_in_the_browser(page):
    # a value that no table holds
    figure, (control, value) = FeedForwardExplorer, between(FeedForwardExplorer)
    locator = on(page, figure)
    locator.scroll_into_view_if_needed()
    drawn(locator, figure, python(figure).state)
    locator.get_by_label(f"{control.label}, any value").fill(str(value))
    drawn(locator, figure, {**python(figure).state, control.name: value})


def test_formulas_and_the_line_in_place_of_torch_are_shown(page):
    assert page.locator(".jp-MarkdownCell mjx-container").count() > 20
    assert page.get_by_text("Left out: a cell that needs PyTorch").count() >= 2
    assert page.locator("mjx-merror").count() == 0


def test_only_the_host_that_the_button_names_is_asked(page, asked):
    assert asked == {urlsplit(lite.RUNTIME).hostname}


# ---- the NumPy half alone, in Node ----

NODE = """
import { loadPyodide } from "./pyodide.mjs";
import { readFileSync } from "node:fs";
const python = await loadPyodide({ indexURL: import.meta.dirname });
await python.loadPackage("numpy", { messageCallback() {} });
python.unpackArchive(new Uint8Array(readFileSync(process.argv[2])), "wheel");
console.log(python.runPython(readFileSync(process.argv[3], "utf-8")));
"""
DOCTESTS = """
import doctest, importlib, json, pkgutil, sys
import tfbook.cost, tfbook.numpy


class Checker(doctest.OutputChecker):
    # an integer has 32 bits here by default, so NumPy says where it has 64
    def check_output(self, want, got, flags):
        return super().check_output(want, got.replace(", dtype=int64", ""), flags)


doctest.OutputChecker, result = Checker, {}
for package in (tfbook.numpy, tfbook.cost):
    for found in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
        tried = doctest.testmod(importlib.import_module(found.name), optionflags=flags)
        result[found.name] = [tried.attempted, tried.failed]
torch = "torch" in sys.modules
json.dumps({"modules": result, "platform": sys.platform, "torch": torch})
"""


@pytest.mark.skipif(not shutil.which("node"), reason="there is no node here")
def test_numpy_half_passes_its_examples_in_pyodide(runtime, tmp_path):
    wheel = tfbook_wheel(tmp_path)
    assert zipfile.is_zipfile(wheel)
    script, examples = runtime / "smoke.mjs", tmp_path / "examples.py"
    script.write_text(NODE, encoding="utf-8")
    examples.write_text(DOCTESTS, encoding="utf-8")
    done = subprocess.run(
        ["node", script, wheel, examples],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["platform"] == "emscripten"
    assert not found["torch"]
    assert {
        name for name, (_, failed) in found["modules"].items() if failed
    } == set(), done.stdout[-3000:]
    assert sum(tried for tried, _ in found["modules"].values()) > 100
