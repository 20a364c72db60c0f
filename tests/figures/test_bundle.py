"""A figure's modules become one script: each once, in order, or an error."""

import re

import pytest
from gallery import FIGURES

from tfbook.widgets.bundle import HERE, bundle, lean

ENTRY = 'import { top } from "./top.js";\nexport default top;\n'
TOP = 'import { low } from "./low.js";\n\nexport const top = low + 1;\n'
LOW = "// A number.\nconst own = 1;\n\nexport const low = own;\n"


@pytest.fixture
def folder(tmp_path):
    """Makes a folder of modules out of their names and sources."""

    def write(**modules):
        for name, source in modules.items():
            (tmp_path / f"{name}.js").write_text(source, encoding="utf-8")
        return tmp_path

    return write


def test_a_module_stands_once_and_before_those_that_import_it(folder):
    both = 'import { low } from "./low.js";\n' + ENTRY
    text = bundle(both, folder(top=TOP, low=LOW))
    assert text.count("own = 1") == 1
    assert text.index("own = 1") < text.index("low + 1") < text.index("export default")
    assert not re.search(r"^import\b|//", text, re.MULTILINE)


def test_private_names_may_be_the_same(folder, browser):
    low = LOW.replace("low", "last")
    top = TOP.replace("low", "last").replace("./last", "./low") + "const own = 2;\n"
    page = browser.new_page()
    text = bundle(ENTRY, folder(top=top, low=low))
    page.add_script_tag(type="module", content=text + "document.title = top;")
    page.wait_for_function("document.title === '2'")
    page.close()


@pytest.mark.parametrize(
    ("modules", "words"),
    [
        ({"low": LOW}, "entry.js: there is no module top.js"),
        ({"top": TOP}, "top.js: there is no module low.js"),
        ({"top": TOP, "low": "const low = 1;\n"}, "top.js: low.js exports no low"),
        (
            {"top": TOP, "low": 'import { top } from "./top.js";\n' + LOW},
            "entry → top → low → top: imports go round in a circle",
        ),
        (
            {"top": TOP + "export const low = 2;\n", "low": LOW},
            "low: exported by low.js and top.js",
        ),
        ({"top": TOP, "low": 'import x from "y";\n' + LOW}, "low.js: a line"),
        ({"top": TOP, "low": LOW + "export { own };\n"}, "low.js: a line"),
        ({"top": TOP, "low": LOW + "const text = `a\n  b`;\n"}, "low.js: a line"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_a_bundle_cannot_hold_is_refused(modules, words, folder):
    with pytest.raises(ValueError, match=words):
        bundle(ENTRY, folder(**modules))


def test_every_module_reaches_a_figure():
    sources = [path.read_text(encoding="utf-8") for path in HERE.glob("*.js")]
    imported = set(re.findall(r'from "\./(\w+)\.js"', "".join(sources)))
    entries = {figure.__module__.rpartition(".")[2] for figure in FIGURES}
    modules = {path.stem for path in HERE.glob("*.js")}
    assert imported | entries | {"base", "place"} == modules


@pytest.mark.parametrize("figure", FIGURES)
def test_a_figure_is_a_module_that_a_browser_reads(figure, browser):
    page = browser.new_page()
    faults = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    read = "import(URL.createObjectURL(new Blob([code], { type: 'text/javascript' })))"
    kind = page.evaluate(
        f"async (code) => typeof (await {read}).default.render", figure._esm
    )
    page.close()
    assert (kind, faults) == ("function", [])


def test_a_lean_style_sheet_says_the_same():
    rule = "/* words */\na,\nb {\n  color: red;\n  margin: 0 1px;\n}\n\n"
    media = "@media print {\n  a {\n    margin: 0;\n  }\n}\n"
    assert lean(rule) == "a,\nb { color: red; margin: 0 1px; }\n"
    assert lean(rule + media) == lean(rule) + "@media print { a { margin: 0; } }\n"
