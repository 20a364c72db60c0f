"""Build the book without Jupyter Book: newest Sphinx, myst-nb and theme, and the
configuration that `jupyter-book config sphinx` writes.

Jupyter Book 1 keeps Sphinx below 8. This holds the other way open: a warning about the
book is an error, and the pages must hold the same.
"""

import html
import json
import os
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / "_build" / "sphinx"
# parts of Jupyter Book, and what the book does not use
LEFT_OUT = ["jupyter_book", "sphinx_jupyterbook_latex", "sphinx_comments"]
PACKAGES = {
    "sphinx_togglebutton": "sphinx-togglebutton",
    "sphinx_copybutton": "sphinx-copybutton",
    "myst_nb": "myst-nb",
    "sphinx_external_toc": "sphinx-external-toc",
    "sphinx_design": "sphinx-design",
    "sphinx_book_theme": "sphinx-book-theme",
    "sphinx_sitemap": "sphinx-sitemap",
    "sphinxcontrib.bibtex": "sphinxcontrib-bibtex",
    "sphinxext.opengraph": "sphinxext-opengraph",
    "sphinx_multitoc_numbering": "sphinx-multitoc-numbering",
}
NUMBER = re.compile(r'id="equation-([\w-]+)"[^>]*>\s*<span class="eqno">\((\d+)\)')


def run(*command, **options):
    """Run a command, and end with its last words where it fails."""
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, check=False, **options
    )
    if done.returncode:
        sys.exit(
            f"{Path(command[0]).name} failed:\n{(done.stdout + done.stderr)[-4000:]}"
        )
    return done.stdout


def copy_of_book():
    """The sources with a conf.py beside them; the configuration of the clone stays as
    it is.
    """
    shutil.rmtree(WORK / "book", ignore_errors=True)
    for name in ("chapters", "assets", "templates"):
        shutil.copytree(
            ROOT / name,
            WORK / "book" / name,
            ignore=shutil.ignore_patterns(".ipynb_checkpoints"),
        )
    for name in ("_config.yml", "_toc.yml"):
        shutil.copy2(ROOT / name, WORK / "book")
    run(
        Path(sys.executable).with_name("jupyter-book"),
        "config",
        "sphinx",
        WORK / "book",
    )
    conf = WORK / "book" / "conf.py"
    lines = (
        conf.read_text(encoding="utf-8")
        + "extensions = [name for name in dict.fromkeys(extensions) if name not in"
        f" {LEFT_OUT}]\n"
    )
    conf.write_text(lines, encoding="utf-8")
    names = {}
    exec(lines, names)
    return names["extensions"]


def environment(extensions):
    """A virtual environment with the newest of everything; sphinx.ext is part of
    Sphinx.
    """
    python = WORK / "venv" / "bin" / "python"
    if not python.exists():
        venv.create(WORK / "venv", with_pip=True)
    # the book's own extensions ask for NumPy
    local = [
        name
        for name in extensions
        if name.startswith(("tfbook.", "sphinx.ext."))
        or (ROOT / "tools/site" / f"{name}.py").is_file()
    ]
    wanted = [
        "sphinx",
        "numpy",
        *(PACKAGES[name] for name in extensions if name not in local),
    ]
    run(
        python,
        "-m",
        "pip",
        "install",
        "-q",
        "--disable-pip-version-check",
        "--upgrade",
        *wanted,
    )
    return python


def faults(name):
    """What a chapter's page lacks of its notebook: figures, equations, citations,
    quizzes and exercises.
    """
    cells = json.loads(
        (ROOT / "chapters" / f"{name}.ipynb").read_text(encoding="utf-8")
    )["cells"]
    shown = "".join(
        "".join(output.get("data", {}).get("text/html", ""))
        for cell in cells
        for output in cell.get("outputs", [])
    )
    text = "".join(
        "".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"
    )
    page = (WORK / "html" / "chapters" / f"{name}.html").read_text(encoding="utf-8")
    book = ROOT / "_build" / "html" / "chapters" / f"{name}.html"
    found = []
    for what in ('data-figure="', "tfb-verdict-claim", "tfb-solution"):
        if page.count(what) != shown.count(what) or not shown.count(what):
            found.append(
                f"{shown.count(what)} times {what} in the notebook, {page.count(what)}"
                " on the page"
            )
    labels = re.findall(r"\$\$\s*\(([\w-]+)\)", text)
    numbers = NUMBER.findall(page)
    found += [
        f"equation {label} has no number"
        for label in labels
        if label not in dict(numbers)
    ]
    if book.is_file() and numbers != NUMBER.findall(book.read_text(encoding="utf-8")):
        found.append("other numbers of equations than in the book")
    cited = set(re.findall(r"\{cite(?::\w)?\}`([\w,]+)`", text))
    linked = set(re.findall(r'bibliography\.html#id\d+" title="([^"]*)', page))
    if cited and not linked:
        found.append("no citation leads to the bibliography")
    if "{cite" in html.unescape(re.sub(r"<(script|pre)[\s\S]*?</\1>", "", page)):
        found.append("a citation is left as source")
    return found


def main():
    extensions = copy_of_book()
    python = environment(extensions)
    shutil.rmtree(WORK / "html", ignore_errors=True)
    run(
        python,
        "-m",
        "sphinx",
        "-E",
        "-W",
        "-n",
        "--keep-going",
        "-q",
        "-d",
        WORK / "doctrees",
        WORK / "book",
        WORK / "html",
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tools/site'}"},
    )
    names = [
        path.stem
        for path in sorted((WORK / "html" / "chapters").glob("[0-9][0-9]-*.html"))
    ]
    wrong = {name: found for name in names if (found := faults(name))}
    versions = run(
        python,
        "-c",
        "from importlib.metadata import version as v; print(v('sphinx'), v('myst-nb'), "
        "v('sphinx-book-theme'))",
    )
    print(
        "Sphinx {}, myst-nb {}, sphinx-book-theme {}".format(*versions.split()),
        end=": ",
    )
    if wrong or not names:
        sys.exit(
            "\n".join(
                f"{name}: {line}" for name, lines in wrong.items() for line in lines
            )
            or "no chapter was built"
        )
    print(f"{len(names)} chapters with their figures, equation numbers and citations")


if __name__ == "__main__":
    main()
