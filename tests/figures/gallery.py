"""The live figures on the built page that shows all of them: put into a state by their
controls, and what is drawn read back.
"""

import importlib
import json
import random
from contextlib import contextmanager
from functools import cache
from itertools import combinations
from pathlib import Path

from browser import BOOK, visit

from tfbook import widgets
from tfbook.widgets.base import Figure

PAGE = BOOK / "chapters/figures.html"
FIGURES = [
    figure
    for figure in vars(widgets).values()
    if isinstance(figure, type) and issubclass(figure, Figure)
]
# of each figure, by its class: what reads the page, and what holds that against Python
DRAWINGS = {}
# of a figure with more settings than a browser can go through: a function that gives
# those that are tried
STATES = {}

# of each control, the index of a value among those that it offers; true where one moved
SET = """(figure, indices) => {
  let moved = false;
  for (const [name, index] of Object.entries(indices)) {
    const input = figure.querySelector(`.tfb-controls [name=${name}]`);
    const keys = { checkbox: "checked", "select-one": "selectedIndex" };
    const key = keys[input.type] ?? "value";
    if (Number(input[key]) === index) continue;
    input[key] = index;
    const type = key === "value" ? "input" : "change";
    input.dispatchEvent(new Event(type, { bubbles: true }));
    moved = true;
  }
  return moved;
}"""
READ = """(figure) => {
  const all = (selector) => [...figure.querySelectorAll(selector)];
  const texts = (selector) => all(selector).map((node) => node.textContent);
  const data = (selector, name) => all(selector).map((node) => node.dataset[name]);
  const attributes = (node, names) => names.map((name) => node.getAttribute(name));
  const numbers = (selector, ...names) =>
    all(selector).map((node) => attributes(node, names).map(Number));
  const look = (selector, ...names) => all(selector).map((node) => ({
    text: node.textContent,
    class: node.getAttribute("class"),
    ...Object.fromEntries(names.map((name) => [name, node.getAttribute(name)])),
  }));
  const widths = (selector) => all(selector).map((bar) => parseFloat(bar.style.width));
  const coordinates = (path) =>
    (path.getAttribute("d").match(/-?[\\d.]+/g) ?? []).map(Number);
  const points = (path) =>
    (path.getAttribute("d").match(/[\\d.]+ [\\d.]+/g) ?? [])
      .map((pair) => pair.split(" ").map(Number));
  const boxes = (selector) => all(selector).map((text) => text.getBBox())
    .map(({ x, y, width, height }) => [x, y, width, height]);
  const tools =
    { all, texts, data, numbers, look, widths, coordinates, points, boxes };
  return {
    ...(OWN)(figure, tools),
    headline: texts(".tfb-headline").join(),
    voice: texts(".tfb-voice").join(),
    dark: figure.hasAttribute("data-dark"),
    width: figure.querySelector(".tfb-stage").clientWidth,
  };
}"""


def drawing(figure, reads):
    """Note how to check a figure: ``own`` is JavaScript that reads the drawing, the
    function below it compares that with Python.
    """

    def note(compare):
        DRAWINGS[figure] = READ.replace("OWN", reads), compare
        return compare

    return note


def load():
    """Bring together how each figure is checked: every file of tests about figures says
    it of its own.
    """
    for path in sorted(Path(__file__).parent.glob("test_figures*.py")):
        importlib.import_module(path.stem)


# of such a figure: whether one control takes all others to a setting with it
LEAPS = {}


def states(figure):
    """The settings of a figure that a browser goes through: all, or a few in which
    every two values of two controls meet.
    """
    return STATES.get(figure, figure.settings)()


def pairwise(controls, seed=0):
    """Settings in which each value of a control meets each value of every other, as few
    as chance finds.
    """
    rng = random.Random(seed)
    values = {control.name: list(control.values) for control in controls}
    met = lambda setting: set(combinations(setting.items(), 2))
    missing = {
        ((a, x), (b, y))
        for a, b in combinations(values, 2)
        for x in values[a]
        for y in values[b]
    }
    while missing:
        some = [
            {name: rng.choice(of) for name, of in values.items()}
            | dict(rng.choice(sorted(missing, key=str)))
            for _ in range(30)
        ]
        best = max(some, key=lambda setting: len(missing & met(setting)))
        missing -= met(best)
        yield best


def indices(figure, setting):
    """Where a setting stands among the values that each control offers."""
    return {c.name: list(c.values).index(setting[c.name]) for c in figure.controls}


@contextmanager
def gallery(browser, **options):
    """The page of all figures, opened; at the end it must have been quiet."""
    assert PAGE.exists(), "there is no book in _build/html: run make book"
    with visit(browser, PAGE.as_uri(), **options) as visited:
        visited.page.wait_for_timeout(50)
        yield visited
        assert visited.faults == []


def on(page, figure):
    """The first figure of a class on a page."""
    return page.locator(f"[data-figure={figure.__name__}]").first


def choose(locator, figure, setting):
    """Move the controls to a setting of the page."""
    locator.evaluate(SET, indices(figure, setting))


def read(locator, figure):
    """What is drawn there now."""
    return locator.evaluate(DRAWINGS[figure][0])


def every_state(locator, figure):
    """What is drawn at each of ``states(figure)``."""
    each = f"""(figure, all) => {{
      const set = {SET}, read = {DRAWINGS[figure][0]};
      const at = (one) => {{ set(figure, one); return read(figure); }};
      return JSON.stringify(all.map(at));
    }}"""
    # as text it travels faster
    return json.loads(
        locator.evaluate(each, [indices(figure, setting) for setting in states(figure)])
    )


@cache
def python(figure):
    return figure()


def compare(figure, seen, setting):
    """Hold what was read back against what Python computes at that setting."""
    DRAWINGS[figure][1](seen, setting, python(figure).compute(**setting))


def overlapping(boxes):
    """Pairs of boxes (left, top, width, height) of which one lies on the other by more
    than 4 units of height.
    """
    return [
        (a, b)
        for a, b in combinations(boxes, 2)
        if a[0] < b[0] + b[2] and b[0] < a[0] + a[2]
        if a[1] + 4 < b[1] + b[3] and b[1] + 4 < a[1] + a[3]
    ]
