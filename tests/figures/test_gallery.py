"""The page of all live figures, as it was built: every state of every figure is drawn
as Python computed it, and fits.
"""

import json
import re

import pytest
from browser import BOOK, CHAPTERS, PAGES, inaccessible, overflow, unnamed_pictures
from gallery import (
    DRAWINGS,
    FIGURES,
    choose,
    compare,
    every_state,
    gallery,
    load,
    on,
    read,
    states,
)

load()


@pytest.fixture(scope="module")
def page(request, browser):
    """The page at a width and in a theme, opened once for all figures."""
    width, theme = request.param
    with gallery(browser, width=width, theme=theme) as visited:
        yield visited.page


def opened(*looks):
    return pytest.mark.parametrize(
        "page",
        looks,
        ids=lambda look: f"{look[0]}-{look[1]}",
        indirect=True,
        scope="module",
    )


@opened((1200, "light"))
def test_every_figure_is_on_the_page_and_has_a_check(page):
    shown = page.locator("[data-figure]").evaluate_all(
        "(nodes) => nodes.map((node) => node.dataset.figure)"
    )
    assert (
        sorted(shown)
        == sorted(figure.__name__ for figure in FIGURES)
        == sorted(figure.__name__ for figure in DRAWINGS)
    )


@pytest.mark.parametrize("figure", FIGURES)
@opened((1200, "light"))
def test_every_state_is_drawn_as_python_computed_it(page, figure):
    drawn = every_state(on(page, figure), figure)
    for seen, setting in zip(drawn, states(figure), strict=True):
        assert not seen["dark"]
        compare(figure, seen, setting)


def some_states(figure):
    return states(figure)[:: max(1, len(states(figure)) // 12)]


@pytest.mark.parametrize("figure", FIGURES)
@opened((1200, "dark"))
def test_dark_states_are_drawn_as_python_computed_them(page, figure):
    for setting in some_states(figure):
        choose(on(page, figure), figure, setting)
        seen = read(on(page, figure), figure)
        assert seen["dark"]
        compare(figure, seen, setting)


SMALL = """(figure) => {
  const texts = [...figure.querySelectorAll(".tfb-stage svg text")];
  return texts.filter((text) => text.getClientRects().length).flatMap((text) => {
    const svg = text.closest("svg");
    const shrunk = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
    const px = parseFloat(getComputedStyle(text).fontSize) * shrunk;
    return px < 10 ? [`${px}: ${text.textContent}`] : [];
  });
}"""


TOUCHING = """(figure) => { // words over other words
  const faults = [];
  for (const svg of figure.querySelectorAll(".tfb-stage svg")) {
    const texts = [...svg.querySelectorAll("text:not([transform])")]
      .filter((text) => text.textContent.trim() && text.getClientRects().length);
    const boxes = texts.map((text) => text.getBoundingClientRect());
    boxes.forEach((a, i) => boxes.slice(0, i).forEach((b, j) => {
      const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      const words = [texts[j], texts[i]].map((text) => text.textContent);
      if (across > 1 && down > 5) faults.push(words.join(" | "));
    }));
  }
  return faults;
}"""


@pytest.mark.parametrize("figure", FIGURES)
@opened((390, "light"), (800, "dark"))
def test_states_fit_the_page_and_have_names(page, figure):
    locator = on(page, figure)
    for setting in some_states(figure):
        choose(locator, figure, setting)
        assert overflow(page) == []
        assert unnamed_pictures(page) == []
        assert locator.evaluate(SMALL) == []
        assert locator.evaluate(TOUCHING) == []
    # tests/pages/test_pages.py looks at the page around it
    assert inaccessible(page, f"[data-figure={figure.__name__}]") == []


@pytest.mark.parametrize("figure", FIGURES)
@opened((320, "light"))
def test_labels_do_not_touch_on_the_narrowest_phone(page, figure):
    for setting in some_states(figure):
        choose(on(page, figure), figure, setting)
        assert on(page, figure).evaluate(TOUCHING) == [], setting


# ---- what travels: test_speed.py weighs the page as a whole ----

PLACE = re.compile(r'\nplace\(figure, "(\w+)", (\{.*\})\);</script>')


@pytest.mark.parametrize("name", PAGES)
def test_tables_of_a_built_page_take_150_kB_each(name):
    text = (BOOK / name).read_text(encoding="utf-8")
    held = PLACE.findall(text)
    assert len(held) == text.count(' class="tfb" data-figure=') >= (name in CHAPTERS)
    assert all(
        len(json.dumps(json.loads(table)["spec"]["table"]).encode()) <= 150_000
        for _, table in held
    )
