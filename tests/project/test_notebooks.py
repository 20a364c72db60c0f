"""Every committed notebook keeps to the check list: executed in order, clean,
described, and open to Colab.
"""

import copy
import importlib.util
import re
from pathlib import Path

import pytest
from checklist import NOTEBOOK, code, read, tags, text

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted(ROOT.glob("chapters/*.ipynb"))
# cells of the whole book whose output nbval does not compare; each says why
NOT_COMPARED = 0


def test_there_are_notebooks():
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.parametrize("check", NOTEBOOK, ids=lambda check: check.__name__)
def test_notebook(check, path):
    assert check(read(path)) == []


def test_cells_that_are_not_compared_are_counted():
    assert (
        sum(
            "nbval-ignore-output" in tags(cell)
            for path in NOTEBOOKS
            for _, cell, _ in code(read(path))
        )
        == NOT_COMPARED
    )


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_guard_does_nothing_where_the_package_is(path):
    source = text(read(path)["cells"][0])
    assert importlib.util.find_spec("tfbook")
    exec(
        compile(source.replace("%pip", "raise RuntimeError  #"), path.name, "exec"), {}
    )


def test_normalised_keeps_ids_and_tags():
    from execute import normalised
    from nbformat import from_dict

    notebook = read(NOTEBOOKS[0])
    after = normalised(from_dict(copy.deepcopy(notebook)))
    assert [(cell["id"], tags(cell)) for cell in after["cells"]] == [
        (cell["id"], tags(cell)) for cell in notebook["cells"]
    ]
    assert normalised(copy.deepcopy(after)) == after


PRINTED_THRESHOLD = re.compile(
    r"\b(?:more|fewer|less|better|worse|greater|smaller|larger|longer|faster|slower) "
    r"than (?:a |an |half|twice|[\d.])|\b(?:below|above|at least|at most|within) [\d.]+"
)
THRESHOLDS = {  # printed lines that state a bound, and why a measurement does not do
    "05-tokens-and-positions": {"T: expected at most T_max = 64": "an error message"},
    "11-on-the-gpu": {
        "at least 2.11 ms": "the memory roof is a bound",
        "least above 0": "the heading of a column",
    },
}


def printed_thresholds(path):
    """Printed lines that give a bound in words where a measurement belongs."""
    lines = [
        line
        for _, cell, _ in code(read(path))
        for output in cell["outputs"]
        if output.get("name") == "stdout"
        for line in "".join(output["text"]).splitlines()
    ]
    known = THRESHOLDS.get(path.stem, ())
    found = [line for line in lines if PRINTED_THRESHOLD.search(line)]
    return [line for line in found if not any(part in line for part in known)]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_measurements_are_printed_and_not_thresholds(path):
    assert printed_thresholds(path) == []


@pytest.mark.parametrize(
    "line",
    ["more than 10 times as fast", "loss below 0.3", "fewer than 60", "within 2 ± 0.2"],
)
def test_a_printed_threshold_is_seen(line):
    assert PRINTED_THRESHOLD.search(line)
