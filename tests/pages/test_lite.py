"""The chapters' copies for a Python in the browser: plain Markdown, no PyTorch, and
every cell that is left runs without it.
"""

import ast
import base64
import hashlib
import html
import json
import os
import re
import subprocess
import sys
import zipfile

import lite
import nbformat
import pytest
from browser import BOOK, READ, ROOT
from lite_markdown import Book
from lite_torch import cells_without_torch, needs_torch
from lite_wheels import NEEDS, wheels
from outputs import text_differences, tolerance

NAMES = lite.chapters()
MYST = re.compile(
    r"^:::|^`{3,}\{|\{[\w:-]+\}`|^\([\w-]+\)=|\$\$\s*\([\w-]+\)|[\])]\{[.#]",
    re.MULTILINE,
)
RUN = """\
import contextlib, io, json, sys
sys.modules["torch"] = None  # as if it were not installed
import matplotlib
matplotlib.use("agg")
names, printed = {"__name__": "__main__"}, {}
for cell in json.load(sys.stdin):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(cell["source"], cell["id"], "exec"), names)
    printed[cell["id"]] = out.getvalue()
print(json.dumps(printed))
"""


def read(name):
    return nbformat.read(ROOT / "chapters" / f"{name}.ipynb", as_version=4)


@pytest.fixture(scope="module")
def book():
    return Book(ROOT, NAMES)


@pytest.fixture(scope="module")
def copies(book):
    return {name: lite.copy_of(read(name), book) for name in NAMES}


def code(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def printed(cell):
    """What a stored cell wrote, as text."""
    return "".join(
        output["text"] for output in cell.outputs if output["output_type"] == "stream"
    )


# ---- the copies ----


@pytest.mark.parametrize("name", NAMES)
def test_copy_is_plain_markdown_without_torch(name, copies):
    copy = copies[name]
    nbformat.validate(copy)
    assert copy.metadata.kernelspec.name == "python", (
        "with another the reader would be asked for a kernel"
    )
    assert [
        MYST.findall(cell.source)
        for cell in copy.cells
        if cell.cell_type == "markdown" and MYST.search(cell.source)
    ] == []
    assert "await piplite.install(" in code(copy)[0].source
    for cell in code(copy)[1:]:
        assert cell.outputs == []
        nodes = ast.walk(ast.parse(cell.source))
        loaded = [
            alias.name
            for node in nodes
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in node.names
        ]
        assert "torch" not in loaded
        assert not re.search(
            r"^\s*(import|from) (torch|tfbook\.torch)\b|%pip", cell.source, re.MULTILINE
        )
    original = [cell.id for cell in read(name).cells]
    kept = [cell.id for cell in copy.cells]
    assert kept == [each for each in original if each in kept], (
        "the cells stand in the chapter's order"
    )


def test_chapters_of_which_a_third_runs_have_a_copy():
    def share(name):
        left = cells_without_torch(code(read(name))[1:])
        return 1 - left.count(None) / len(left)

    every = [
        path.stem for path in sorted((ROOT / "chapters").glob("[0-9][0-9]-*.ipynb"))
    ]
    # no browser starts those
    processes = [
        name
        for name in every
        if "torchrun" in "".join(cell.source for cell in read(name).cells)
    ]
    assert list(NAMES) == [
        name for name in every if share(name) > 1 / 3 and name not in processes
    ]


@pytest.mark.parametrize("name", NAMES)
def test_every_cell_that_is_left_runs_without_torch_and_prints_the_same(name, copies):
    cells = [{"id": cell.id, "source": cell.source} for cell in code(copies[name])[1:]]
    done = subprocess.run(
        [sys.executable, "-c", RUN],
        input=json.dumps(cells),
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        cwd=ROOT / "chapters",
    )
    assert done.returncode == 0, done.stderr[-2000:]
    now = json.loads(done.stdout.splitlines()[-1])
    cells = {cell.id: cell for cell in code(read(name))}
    stored = {i: printed(cell) for i, cell in cells.items()}
    assert {
        i: fault for i in now if (fault := moved(stored[i], now[i], cells[i]))
    } == {}
    assert sum(bool(stored[i].strip()) for i in now) >= 5, (
        "there is something to compare"
    )


def moved(stored, now, cell):
    """What is different in a cell's text, within what its tag allows; what runs here
    may print more.
    """
    within = tolerance(cell.metadata.get("tags", []))
    if within == "exact":
        return "" if stored.strip() in now else f"expected {stored}, got {now}"
    return "; ".join(text_differences(stored.strip(), now.strip(), within))


# ---- numbers, citations and links are those of the page ----


def page(name):
    return (BOOK / "chapters" / f"{name}.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_equations_and_citations_are_those_of_the_page(name, book):
    numbers = re.findall(
        r'id="equation-([\w-]+)"[^>]*>\s*<span class="eqno">\((\d+)\)', page(name)
    )
    assert numbers
    assert {label: int(number) for label, number in numbers} == {
        label: book.equations[label] for label, _ in numbers
    }
    words = " ".join(html.unescape(re.sub(r"<[^>]+>", "", page(name))).split())
    cited = re.findall(r"\{cite:t\}`([^`]+)`", book.pages[name])
    assert cited
    for key in cited:
        assert book.markdown(f"{{cite:t}}`{key}`") in words


def test_markdown_of_each_kind(book):
    n, name = book.equations["eq-attention"], "03-scaled-dot-product-attention"
    for myst, plain in {
        "$$\nx\n$$ (eq-attention)": f"$$\nx\n\\tag{{{n}}}\n$$",
        "by {eq}`eq-attention`": f"by ({n})",
        "{cite}`rabe2021,dao2022`": "[Rabe and Staats, 2021, Dao et al., 2022]",
        ":::{warning}\nTrue.\n\nMind.\n:::\n": (
            "> **Warning.**\n>\n> True.\n>\n> Mind.\n"
        ),
        ":::{admonition} Note this\n:class: "
        "tip\nText\n:::": "> **Note this.**\n>\n> Text",
        f"[]({name})": f"[Scaled dot-product attention]({name}.ipynb)",
        f"[masks]({name}.ipynb#masks)": f"[masks]({name}.ipynb)",
        "[the ledger](claims)": "*the ledger*",
        "[paper](https://example.org/a)": "[paper](https://example.org/a)",
        "{term}`softmax <Softmax>`": "softmax",
        "(a-place)=\n## Head": "## Head",
    }.items():
        assert book.markdown(myst) == plain


# ---- which cells need PyTorch ----


def left_of(*sources, tags=()):
    return cells_without_torch(
        [
            nbformat.v4.new_code_cell(source, metadata={"tags": list(tags)})
            for source in sources
        ]
    )


def test_torch_is_followed_from_cell_to_cell():
    assert left_of(
        "import torch\nimport math\ntorch.set_num_threads(1)",
        "x = torch.ones(2)",
        "y = x + 1",
        "x = 2",
        "x + 1",
    ) == ["import math", None, None, "x = 2", "x + 1"]
    assert left_of(
        "from tfbook.torch import relu\nz = 1",
        "def f(x):\n    return relu(x)",
        "f(1)",
        "z",
    ) == ["z = 1", None, None, "z"]
    assert left_of(
        "from torch import tensor",
        "[tensor for tensor in (1, 2)]",
        "for tensor in (1, 2):\n    print(tensor)",
    ) == [
        None,
        "[tensor for tensor in (1, 2)]",
        "for tensor in (1, 2):\n    print(tensor)",
    ]
    assert left_of("def f():\n    import torch", "f()") == [None, None]
    assert left_of("x = 1", tags=["torch"]) == [None]
    assert needs_torch("tfbook.experiments.recall"), "it imports PyTorch at its head"
    assert not needs_torch("tfbook.experiments.heads")


# ---- wheels ----


def test_wheels_are_whole_and_pure(tmp_path):
    made = wheels(tmp_path)
    assert len(made) == 1 + len(NEEDS)
    for path in made:
        with zipfile.ZipFile(path) as wheel:
            names = wheel.namelist()
            info = next(name for name in names if name.endswith("RECORD"))
            record = [
                line.rsplit(",", 2) for line in wheel.read(info).decode().splitlines()
            ]
            assert {name for name, *_ in record} == set(names)
            assert not [
                name for name in names if name.endswith((".so", ".pyd", ".pyc"))
            ]
            for name, digest, _ in record[:-1]:
                found = (
                    base64.urlsafe_b64encode(hashlib.sha256(wheel.read(name)).digest())
                    .rstrip(b"=")
                    .decode()
                )
                assert digest == f"sha256={found}", name
    names = zipfile.ZipFile(made[0]).namelist()
    assert {
        "tfbook/numpy/attention.py",
        "tfbook/widgets/base.js",
        "tfbook/experiments/heads/heads.npz",
    } <= set(names)


# ---- the book's own pages ----


def test_page_of_each_copy_links_to_it_and_loads_nothing_of_it():
    for path in (BOOK / page for page in READ):
        text = path.read_text(encoding="utf-8")
        links = re.findall(
            r"lite/notebooks/index\.html\?path=chapters/([\w-]+)\.ipynb", text
        )
        assert links == ([path.stem] if path.stem in NAMES else []), path.name
        assert text.count("lite/") == len(links), "a link and nothing more"
        assert not links or re.search(
            r'class="tfb-run"[^>]*title="[^"]*cdn\.jsdelivr\.net', text
        ), "its reader is told who is asked"


def test_search_does_not_know_the_copies():
    index = (BOOK / "searchindex.js").read_text(encoding="utf-8")
    assert "piplite" not in index
    assert "lite/" not in index


@pytest.mark.parametrize("name", NAMES)
def test_copy_and_all_that_it_installs_are_in_the_book(name):
    assert (BOOK / "lite" / "files" / "chapters" / f"{name}.ipynb").is_file()
    index = json.loads(
        (BOOK / "lite" / "pypi" / "all.json").read_text(encoding="utf-8")
    )
    assert {"tfbook", *(need.replace("_", "-") for need in NEEDS)} <= {
        key.replace("_", "-").lower() for key in index
    }
    settings = json.loads(
        (BOOK / "lite" / "jupyter-lite.json").read_text(encoding="utf-8")
    )
    kernel = settings["jupyter-config-data"]["litePluginSettings"][
        "@jupyterlite/pyodide-kernel-extension:kernel"
    ]
    assert kernel["pyodideUrl"] == lite.RUNTIME
    assert kernel["disablePyPIFallback"]
