"""The page of all live figures, as it was built: every state of every figure is drawn as Python computed it, and fits."""

import gzip
import json
import re

import pytest
from browser import inaccessible, overflow, served, unnamed_pictures
from gallery import DRAWINGS, FIGURES, PAGE, choose, compare, every_state, gallery, load, on, states

load()


def test_every_figure_is_on_the_page_and_has_a_check(browser):
    with gallery(browser) as visited:
        shown = visited.page.locator("[data-figure]").evaluate_all("(nodes) => nodes.map((node) => node.dataset.figure)")
    assert sorted(shown) == sorted(figure.__name__ for figure in FIGURES) == sorted(figure.__name__ for figure in DRAWINGS)


@pytest.mark.parametrize("figure", FIGURES)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_state_is_drawn_as_python_computed_it(theme, figure, browser):
    with gallery(browser, theme=theme) as visited:
        drawn = every_state(on(visited.page, figure), figure)
    for seen, setting in zip(drawn, states(figure), strict=True):
        assert seen["dark"] == (theme == "dark")
        compare(figure, seen, setting)


SMALL = """() => [...document.querySelectorAll(".tfb-stage svg text")].flatMap((text) => {
  const svg = text.closest("svg"), shrunk = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
  const px = parseFloat(getComputedStyle(text).fontSize) * shrunk;
  return text.getClientRects().length && px < 10 ? [`${px}: ${text.textContent}`] : [];
})"""


TOUCHING = """(figure) => { // words over other words
  const faults = [];
  for (const svg of figure.querySelectorAll(".tfb-stage svg")) {
    const level = [...svg.querySelectorAll("text:not([transform])")];
    const texts = level.filter((text) => text.textContent.trim() && text.getClientRects().length);
    const boxes = texts.map((text) => text.getBoundingClientRect());
    boxes.forEach((a, i) => boxes.slice(0, i).forEach((b, j) => {
      const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (across > 1 && down > 5) faults.push(`${texts[j].textContent} | ${texts[i].textContent}`);
    }));
  }
  return faults;
}"""


@pytest.mark.parametrize("figure", FIGURES)
@pytest.mark.parametrize(("width", "theme"), [(390, "light"), (800, "dark")])
def test_states_fit_the_page_and_have_names(figure, width, theme, browser):
    with gallery(browser, width=width, theme=theme) as visited:
        page, settings = visited.page, states(figure)
        for setting in settings[:: max(1, len(settings) // 12)]:
            choose(on(page, figure), figure, setting)
            assert overflow(page) == []
            assert unnamed_pictures(page) == []
            assert page.evaluate(SMALL) == []
            assert on(page, figure).evaluate(TOUCHING) == []
        assert inaccessible(page) == []


def test_labels_do_not_touch_on_the_narrowest_phone(browser):
    with gallery(browser, width=320) as visited:
        for figure in FIGURES:
            settings = states(figure)
            for setting in settings[:: max(1, len(settings) // 12)]:
                choose(on(visited.page, figure), figure, setting)
                assert on(visited.page, figure).evaluate(TOUCHING) == [], f"{figure.__name__} at {setting}"


# ---- what travels ----

BOOK = PAGE.parent.parent
WITH_FIGURES = [path for path in sorted(BOOK.glob("chapters/*.html")) if "data-figure=" in path.read_text(encoding="utf-8")]
PLACE = re.compile(r'\nplace\("(\w+)", (\{.*\})\);</script>')
TEXT = re.compile(r"text/|javascript|json|svg|xml")


@pytest.mark.parametrize("path", WITH_FIGURES, ids=lambda path: path.stem)
def test_tables_of_a_built_page_take_150_kB_each(path):
    held = PLACE.findall(path.read_text(encoding="utf-8"))
    assert len(held) == path.read_text(encoding="utf-8").count(" class=\"tfb\" data-figure=")
    sizes = {name: len(json.dumps(json.loads(text)["spec"]["table"]).encode()) for name, text in held}
    assert max(sizes.values()) <= 150_000, sizes


@pytest.mark.parametrize("path", WITH_FIGURES, ids=lambda path: path.stem)
def test_a_built_page_takes_one_and_a_half_megabytes(path, browser):
    """As a static host sends it: texts compressed, and everything that the page asks for."""
    sizes = {}
    context = browser.new_context()
    page = context.new_page()
    with served(BOOK) as address:
        page.on("requestfinished", lambda request: sizes.__setitem__(request.url, weight(request.response())))
        page.goto(f"{address}/{path.relative_to(BOOK).as_posix()}", wait_until="networkidle")
        page.wait_for_timeout(300)
    context.close()
    largest = sorted(sizes.items(), key=lambda item: -item[1])[:5]
    assert len(sizes) > 10, "style sheets and scripts are counted too"
    assert sum(sizes.values()) <= 1_500_000, largest


def weight(response):
    body = response.body()
    return len(gzip.compress(body, 6)) if TEXT.search(response.headers.get("content-type", "")) else len(body)
