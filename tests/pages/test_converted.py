"""The figures away from the book: in a page that nbconvert made, opened from the disk,
and where no script may run.
"""

from pathlib import Path

import pytest
from browser import visit
from gallery import FIGURES, PAGE, choose, compare, load, on, read, states
from nbconvert import HTMLExporter

load()
NOTEBOOK = Path(__file__).resolve().parents[2] / "chapters/figures.ipynb"
ELSEWHERE = (
    "mathjax_url",
    "require_js_url",
    "jquery_url",
    "mermaid_js_url",
    "widget_renderer_url",
)


@pytest.fixture(scope="module")
def converted(tmp_path_factory):
    """The notebook of all figures as a page of its own; what nbconvert's frame would
    fetch from other hosts is left out.
    """
    path = tmp_path_factory.mktemp("converted") / "figures.html"
    path.write_text(
        HTMLExporter(**dict.fromkeys(ELSEWHERE, "")).from_filename(NOTEBOOK)[0],
        encoding="utf-8",
    )
    return path.as_uri()


def test_figures_live_after_nbconvert(converted, browser):
    with visit(browser, converted) as visited:
        for figure in FIGURES:
            locator, setting = (
                on(visited.page, figure),
                states(figure)[len(states(figure)) // 2],
            )
            choose(locator, figure, setting)
            compare(figure, read(locator, figure), setting)
        assert visited.faults == []


@pytest.mark.parametrize("kind", ["built", "converted"])
def test_without_scripts_a_sentence_a_picture_and_a_table_stand(
    kind, converted, browser
):
    context = browser.new_context(
        java_script_enabled=False, viewport={"width": 390, "height": 900}
    )
    page = context.new_page()
    page.goto(PAGE.as_uri() if kind == "built" else converted)
    for figure in FIGURES:
        still = on(page, figure).locator(".tfb-still")
        assert still.locator("p").first.is_visible()
        assert (
            still.locator("p").first.inner_text()
            == f"{figure.title}: it moves where scripts may run. In a notebook, run"
            " this cell."
        )
        assert still.locator("img[alt]").is_visible(), figure
        assert still.locator("table").first.is_visible(), figure
        assert (
            sum(cell.strip() != "" for cell in still.locator("td").all_inner_texts())
            >= 6
        ), figure
        assert still.locator("caption").count()
    context.close()
