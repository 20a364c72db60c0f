"""What every notebook of the book keeps to. Each rule takes a notebook and returns what
is wrong, and what to do.
"""

import ast
import json
import re

from address import repositories, slug

import tfbook.numpy

MACHINE = re.compile(r"(?<![\w.])/(?:work|root|home|tmp|Users|private|var|opt)/[\w.-]+")
VIEW = "application/vnd.jupyter.widget-view+json"
PUBLIC = {name for name in dir(tfbook.numpy) if callable(getattr(tfbook.numpy, name))}
CODE_WIDTH, PRINTED_WIDTH = 74, 75  # characters that stand side by side on the page


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def text(cell):
    return "".join(cell["source"])


def code(notebook):
    """Number and content of every code cell that holds something, with its source as
    one text.
    """
    return [
        (i, cell, text(cell))
        for i, cell in enumerate(notebook["cells"])
        if cell["cell_type"] == "code" and text(cell).strip()
    ]


def tags(cell):
    return cell["metadata"].get("tags", [])


def not_executed_in_order(notebook):
    counts = [cell["execution_count"] for _, cell, _ in code(notebook)]
    return (
        []
        if counts == list(range(1, len(counts) + 1))
        else [f"execution counts {counts}: run make execute"]
    )


def dirty_outputs(notebook):
    """Errors, what was written to stderr, and views of widgets whose state is
    not kept.
    """
    faults = []
    for i, cell, _ in code(notebook):
        for output in cell["outputs"]:
            if output["output_type"] == "error" and "raises-exception" not in tags(
                cell
            ):
                faults.append(
                    f"cell {i} ends in {output['ename']}: mend it and run make execute"
                )
            if output.get("name") == "stderr":
                faults.append(
                    f"cell {i} writes to stderr, mend what it warns of:"
                    f" {''.join(output['text'])[:80]}"
                )
            if VIEW in output.get("data", {}):
                faults.append(f"cell {i} keeps a widget's view: run make execute")
    return faults + (
        ["the state of widgets is kept: run make execute"]
        if "widgets" in notebook["metadata"]
        else []
    )


def paths_of_a_machine(notebook):
    kept = [{k: v for k, v in cell.items() if k != "id"} for cell in notebook["cells"]]
    return [
        f"{path} is a path of one machine: print no paths"
        for path in MACHINE.findall(json.dumps(kept, ensure_ascii=False))
    ]


def pictures_without_words(notebook):
    faults = []
    for i, cell in enumerate(notebook["cells"]):
        drawn = any(
            kind.startswith("image/")
            for output in cell.get("outputs", [])
            for kind in output.get("data", {})
        )
        alt = cell["metadata"].get("mystnb", {}).get("image", {}).get("alt", "")
        if drawn and len(alt.split()) < 4:
            faults.append(
                f"cell {i}: say in metadata.mystnb.image.alt what its picture shows"
            )
        if cell["cell_type"] == "markdown" and re.search(r"!\[\s*\]\(", text(cell)):
            faults.append(
                f"cell {i}: an image without alt text: write what it shows between the"
                " brackets"
            )
    return faults


def public_names_defined_again(notebook):
    """A second copy of what the package has, unless the cell says that it derives it or
    sets it as an exercise.
    """
    faults = []
    for i, cell, source in code(notebook):
        if {"derivation", "exercise"} & set(tags(cell)):
            continue
        tree = ast.parse(re.sub(r"^(\s*)%.*", r"\1pass", source, flags=re.MULTILINE))
        defined = {
            node.name
            for node in tree.body
            if isinstance(node, ast.FunctionDef | ast.ClassDef)
        }
        assigned = [
            target
            for node in tree.body
            if isinstance(node, ast.Assign)
            for target in node.targets
        ]
        defined |= {target.id for target in assigned if isinstance(target, ast.Name)}
        faults += [
            f"cell {i} defines {name}, which the package has: import it, or tag the"
            " cell derivation"
            for name in sorted(defined & PUBLIC)
        ]
    return faults


def guard_faults(notebook):
    """The first cell installs the package where it is missing, from the book's own
    address, and does nothing else.
    """
    cell, source = notebook["cells"][0], text(notebook["cells"][0])
    copy = "copy the first cell of chapters/template.ipynb"
    faults = []
    if cell["cell_type"] != "code" or "remove-cell" not in tags(cell):
        faults.append(f"the first cell is not code tagged remove-cell: {copy}")
    if f"@ git+https://github.com/{slug()}" not in source or set(
        repositories(source)
    ) != {slug()}:
        faults.append(
            f"the first cell does not install from https://github.com/{slug()}: {copy},"
            " or run make address"
        )
    if "%pip install" not in source or not re.search(
        r"^if .*find_spec\(\"tfbook\"\) is None", source, re.MULTILINE
    ):
        faults.append(
            f"the first cell does not look for tfbook before it installs it: {copy}"
        )
    return faults


def unexplained(notebook):
    """Cells that nbval does not compare and that do not say why."""
    return [
        f"cell {i} is not compared; say why in a comment: # not compared: …"
        for i, cell, source in code(notebook)
        if "nbval-ignore-output" in tags(cell)
        and not re.search(r"# not compared: \w+", source)
    ]


def lines_too_wide(notebook):
    """Code that the reader sees, and what is printed, beyond the width of the page."""
    faults = []
    for i, cell, source in code(notebook):
        if not {"remove-input", "remove-cell"} & set(tags(cell)):
            faults += [
                f"cell {i}, {len(line)} characters of code, break at {CODE_WIDTH}:"
                f" {line.strip()[:50]}"
                for line in source.splitlines()
                if len(line) > CODE_WIDTH
            ]
        printed = "".join(
            "".join(output["text"])
            for output in cell["outputs"]
            if output.get("name") == "stdout"
        )
        faults += [
            f"cell {i}, {len(line)} characters printed, break at {PRINTED_WIDTH}:"
            f" {line.strip()[:50]}"
            for line in printed.splitlines()
            if len(line) > PRINTED_WIDTH
        ]
    return faults


NOTEBOOK = [
    not_executed_in_order,
    dirty_outputs,
    paths_of_a_machine,
    pictures_without_words,
    public_names_defined_again,
    guard_faults,
    unexplained,
    lines_too_wide,
]
