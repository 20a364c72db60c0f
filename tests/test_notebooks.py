"""What every committed notebook keeps to: executed in order, clean, described, and open to Colab."""

import ast
import copy
import importlib.util
import json
import re
from pathlib import Path

import pytest
from address import places, slug

import tfbook.numpy

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted(ROOT.glob("chapters/*.ipynb"))
MACHINE = re.compile(r"(?<![\w.])/(?:work|root|home|tmp|Users|private|var|opt)/[\w.-]+")
VIEW = "application/vnd.jupyter.widget-view+json"
PUBLIC = {name for name in dir(tfbook.numpy) if callable(getattr(tfbook.numpy, name))}
NOT_COMPARED = 0  # cells of the whole book whose output nbval does not compare; each says why


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def code(notebook):
    """Number and content of every code cell that holds something, with its source as one text."""
    return [(i, cell, "".join(cell["source"])) for i, cell in enumerate(notebook["cells"])
            if cell["cell_type"] == "code" and "".join(cell["source"]).strip()]


def tags(cell):
    return cell["metadata"].get("tags", [])


def not_executed_in_order(notebook):
    counts = [cell["execution_count"] for _, cell, _ in code(notebook)]
    return [] if counts == list(range(1, len(counts) + 1)) else [f"execution counts {counts}: run make execute"]


def dirty_outputs(notebook):
    """Errors, what was written to stderr, and views of widgets whose state is not kept."""
    faults = []
    for i, cell, _ in code(notebook):
        for output in cell["outputs"]:
            if output["output_type"] == "error" and "raises-exception" not in tags(cell):
                faults.append(f"cell {i} ends in {output['ename']}")
            if output.get("name") == "stderr":
                faults.append(f"cell {i} writes to stderr: {''.join(output['text'])[:80]}")
            if VIEW in output.get("data", {}):
                faults.append(f"cell {i} keeps a widget's view: run make execute")
    return faults + (["the state of widgets is kept: run make execute"] if "widgets" in notebook["metadata"] else [])


def paths_of_a_machine(notebook):
    return MACHINE.findall(json.dumps([{k: v for k, v in cell.items() if k != "id"} for cell in notebook["cells"]], ensure_ascii=False))


def pictures_without_words(notebook):
    faults = []
    for i, cell in enumerate(notebook["cells"]):
        source = "".join(cell["source"])
        drawn = any(kind.startswith("image/") for output in cell.get("outputs", []) for kind in output.get("data", {}))
        alt = cell["metadata"].get("mystnb", {}).get("image", {}).get("alt", "")
        if drawn and len(alt.split()) < 4:
            faults.append(f"cell {i}: say in metadata.mystnb.image.alt what its picture shows")
        if cell["cell_type"] == "markdown" and re.search(r"!\[\s*\]\(", source):
            faults.append(f"cell {i}: an image without alt text")
    return faults


def public_names_defined_again(notebook):
    """A second copy of what the package has, unless the cell says that it derives it or sets it as an exercise."""
    faults = []
    for i, cell, source in code(notebook):
        if {"derivation", "exercise"} & set(tags(cell)):
            continue
        tree = ast.parse(re.sub(r"^(\s*)%.*", r"\1pass", source, flags=re.MULTILINE))
        defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        assigned = [target for node in tree.body if isinstance(node, ast.Assign) for target in node.targets]
        defined |= {target.id for target in assigned if isinstance(target, ast.Name)}
        faults += [f"cell {i} defines {name}, which the package has" for name in sorted(defined & PUBLIC)]
    return faults


def guard_faults(notebook):
    """The first cell installs the package where it is missing, from the book's own address, and does nothing else."""
    cell, source = notebook["cells"][0], "".join(notebook["cells"][0]["source"])
    faults = [] if cell["cell_type"] == "code" and "remove-cell" in tags(cell) else ["the first cell is not code tagged remove-cell"]
    if f"@ git+https://github.com/{slug()}" not in source or set(places(source)) != {slug()}:
        faults.append(f"the first cell does not install from https://github.com/{slug()}: run make address")
    if "%pip install" not in source or not re.search(r"^if .*find_spec\(\"tfbook\"\) is None", source, re.MULTILINE):
        faults.append("the first cell does not look for tfbook before it installs it")
    return faults


def unexplained(notebook):
    """Cells that nbval does not compare and that do not say why."""
    return [f"cell {i} is not compared; say why in a comment: # not compared: …"
            for i, cell, source in code(notebook) if "nbval-ignore-output" in tags(cell) and not re.search(r"# not compared: \w+", source)]


CHECKS = [
    not_executed_in_order, dirty_outputs, paths_of_a_machine, pictures_without_words, public_names_defined_again, guard_faults, unexplained,
]


def test_there_are_notebooks():
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_notebook(check, path):
    assert check(read(path)) == []


def test_cells_that_are_not_compared_are_counted():
    assert sum("nbval-ignore-output" in tags(cell) for path in NOTEBOOKS for _, cell, _ in code(read(path))) == NOT_COMPARED


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_guard_does_nothing_where_the_package_is(path):
    source = "".join(read(path)["cells"][0]["source"])
    assert importlib.util.find_spec("tfbook")
    exec(compile(source.replace("%pip", "raise RuntimeError  #"), path.name, "exec"), {})


def test_normalised_keeps_ids_and_tags():
    from execute import normalised
    from nbformat import from_dict

    notebook = read(NOTEBOOKS[0])
    after = normalised(from_dict(copy.deepcopy(notebook)))
    assert [(cell["id"], tags(cell)) for cell in after["cells"]] == [(cell["id"], tags(cell)) for cell in notebook["cells"]]
    assert normalised(copy.deepcopy(after)) == after


# ---- the checks themselves can fail ----


def spoil_count(notebook):
    notebook["cells"][0]["execution_count"] = None


def spoil_stderr(notebook):
    notebook["cells"][0]["outputs"] = [{"output_type": "stream", "name": "stderr", "text": ["Warning"]}]


def spoil_error(notebook):
    notebook["cells"][0]["outputs"] = [{"output_type": "error", "ename": "ValueError", "evalue": "", "traceback": []}]


def spoil_widgets(notebook):
    notebook["metadata"]["widgets"] = {}


def spoil_path(notebook):
    notebook["cells"][0]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": ["/home/someone/book"]}]


def spoil_alt(notebook):
    cell = next(cell for _, cell, _ in code(notebook) if "mystnb" in cell["metadata"])
    del cell["metadata"]["mystnb"]


def spoil_name(notebook):
    code(notebook)[1][1]["source"] = ["def softmax(S):\n", "    return S"]


def spoil_address(notebook):
    notebook["cells"][0]["source"] = [line.replace(slug(), "someone/else") for line in notebook["cells"][0]["source"]]


def spoil_reason(notebook):
    notebook["cells"][0]["metadata"]["tags"] = ["remove-cell", "nbval-ignore-output"]


@pytest.mark.parametrize(("check", "spoil"), [
    (not_executed_in_order, spoil_count), (dirty_outputs, spoil_stderr), (dirty_outputs, spoil_error), (dirty_outputs, spoil_widgets),
    (paths_of_a_machine, spoil_path), (pictures_without_words, spoil_alt), (public_names_defined_again, spoil_name),
    (guard_faults, spoil_address), (unexplained, spoil_reason),
], ids=lambda part: part.__name__)
def test_the_checks_see(check, spoil):
    notebook = read(NOTEBOOKS[0])
    spoil(notebook)
    assert check(notebook)
