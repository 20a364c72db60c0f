"""Every committed notebook keeps to the check list: executed in order, clean, described, and open to Colab."""

import copy
import importlib.util
from pathlib import Path

import pytest
from checklist import NOTEBOOK, code, read, tags, text

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted(ROOT.glob("chapters/*.ipynb"))
NOT_COMPARED = 0  # cells of the whole book whose output nbval does not compare; each says why


def test_there_are_notebooks():
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.parametrize("check", NOTEBOOK, ids=lambda check: check.__name__)
def test_notebook(check, path):
    assert check(read(path)) == []


def test_cells_that_are_not_compared_are_counted():
    assert sum("nbval-ignore-output" in tags(cell) for path in NOTEBOOKS for _, cell, _ in code(read(path))) == NOT_COMPARED


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_guard_does_nothing_where_the_package_is(path):
    source = text(read(path)["cells"][0])
    assert importlib.util.find_spec("tfbook")
    exec(compile(source.replace("%pip", "raise RuntimeError  #"), path.name, "exec"), {})


def test_normalised_keeps_ids_and_tags():
    from execute import normalised
    from nbformat import from_dict

    notebook = read(NOTEBOOKS[0])
    after = normalised(from_dict(copy.deepcopy(notebook)))
    assert [(cell["id"], tags(cell)) for cell in after["cells"]] == [(cell["id"], tags(cell)) for cell in notebook["cells"]]
    assert normalised(copy.deepcopy(after)) == after
