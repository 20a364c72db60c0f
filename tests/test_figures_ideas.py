"""The figures of single ideas: what they compute, against plain NumPy, and in a real browser every state as Python computed it."""

import re

import numpy as np
import pytest
from browser import launched, overflow, unnamed_pictures, visit, why_not

from tfbook import palette
from tfbook.widgets import MaskExplorer, SoftLookup
from tfbook.widgets.lookup import KEYS, VALUES

SET = """(figure, setting) => {
  for (const [name, place] of Object.entries(setting)) {
    const input = figure.querySelector(`.tfb-controls [name=${name}]`);
    if (input.type === "checkbox") { if (input.checked !== Boolean(place)) input.click(); continue; }
    if (input.tagName === "SELECT") input.selectedIndex = place; else input.value = place;
    for (const event of ["input", "change"]) input.dispatchEvent(new Event(event, { bubbles: true }));
  }
}"""
LOOK = """(selector, ...names) => [...figure.querySelectorAll(selector)].map((node) =>
  Object.fromEntries([["text", node.textContent], ...["class", ...names].map((name) => [name, node.getAttribute(name)])]))"""


@pytest.fixture(scope="module")
def browser():
    if why_not():
        pytest.skip(why_not())
    with launched() as browser:
        yield browser


def address(figure, folder):
    """The figure's own HTML in an empty page."""
    path = folder / "index.html"
    path.write_text(f"<!doctype html><html lang=en><meta charset=utf-8><title>A figure</title><body><main>{figure.page()}</main>",
                    encoding="utf-8")
    return path.as_uri()


def drawn(browser, figure, folder, read, width=1200, paper=palette.LIGHT["paper"]):
    """What the page shows at every setting, beside the setting and what Python computes there."""
    places = [{c.name: c.values.index(setting[c.name]) for c in figure.controls} for setting in figure.settings()]
    with visit(browser, address(figure, folder), width=width) as visited:
        page = visited.page
        page.evaluate(f"document.body.style.background = '{paper}'")
        page.wait_for_timeout(50)
        seen = page.locator(".tfb").evaluate(f"""(figure, settings) => {{
          const set = {SET}, look = {LOOK}, read = {read}, words = (name) => figure.querySelector(`.tfb-${{name}}`).textContent;
          return settings.map((setting) => {{
            set(figure, setting);
            return {{ ...read(), headline: words("headline"), voice: words("voice") }};
          }});
        }}""", places)
        assert visited.faults == []
    assert len(seen) == len(places)
    return [(state, setting, figure.compute(**setting)) for state, setting in zip(seen, figure.settings(), strict=True)]


def numbers(nodes, name):
    return [float(node[name]) for node in nodes]


@pytest.mark.parametrize("figure", [MaskExplorer, SoftLookup])
@pytest.mark.parametrize(("width", "paper"), [(390, palette.LIGHT["paper"]), (800, palette.DARK["paper"])])
def test_every_state_fits_a_phone_and_has_names(figure, width, paper, browser, tmp_path):
    with visit(browser, address(figure(), tmp_path), width=width) as visited:
        page = visited.page
        page.evaluate(f"document.body.style.background = '{paper}'")
        for setting in figure.settings()[:: max(1, len(figure.settings()) // 12)]:
            places = {c.name: c.values.index(setting[c.name]) for c in figure.controls}
            page.locator(".tfb").evaluate(SET, places)
            assert overflow(page) == []
            assert unnamed_pictures(page) == []
            assert page.evaluate("""() => [...document.querySelectorAll(".tfb-stage svg text")].flatMap((text) => {
              const box = text.getBoundingClientRect(), svg = text.closest("svg").getBoundingClientRect();
              const px = parseFloat(getComputedStyle(text).fontSize) * svg.width / text.closest("svg").viewBox.baseVal.width;
              const out = box.left < svg.left - 1 || box.right > svg.right + 1 || box.top < svg.top - 2 || box.bottom > svg.bottom + 2;
              return out || px < 11 ? [`${text.textContent}: ${out ? "cut off" : px}`] : [];
            })""") == []
        assert visited.faults == []


# ---- masks ----


@pytest.mark.parametrize("setting", MaskExplorer.settings())
def test_masks_by_hand(setting):
    value = MaskExplorer().compute(**setting)
    rng = np.random.default_rng(5)
    Q, K = 1.1 * rng.standard_normal((2, 7, 8))  # the last is padding
    words = {"none": [0, 1, 2, 3, 4, 5], "end": [0, 1, 2, 3, 6, 6], "start": [6, 6, 0, 1, 2, 3]}[setting["padding"]]
    first = setting["cached"]
    for q, (row, total) in enumerate(zip(value["weights"], value["sums"], strict=True)):
        may = [words[k] != 6 and (k <= first + q or not setting["causal"]) for k in range(6)]
        e = np.exp([Q[words[first + q]] @ K[k] / np.sqrt(8) for k in words])
        among = np.where(may, e, 0) if setting["softmax"] == "before" else e
        expected = np.where(may, e / max(among.sum(), 1e-300), np.nan)
        np.testing.assert_allclose(row, expected)
        assert total == pytest.approx(np.nansum(expected))
        if setting["softmax"] == "before":
            assert total == pytest.approx(1 if any(may) else 0)
        elif not all(may):
            assert total < 1
    assert ("all zero" in value["finding"]) == bool((value["sums"] == 0).any())


def test_every_state_of_the_masks(browser, tmp_path):
    read = """() => ({ cells: look("[data-weight]", "data-q", "data-k", "data-weight", "fill"), inside: look(".tfb-mask-inside"),
      sums: look(".tfb-mask-sum"), queries: look("[data-query]"), keys: look("[data-key]"), parts: look(".tfb-mask-part", "width") })"""
    for dark, roles in ((False, palette.LIGHT), (True, palette.DARK)):
        ramp = palette.ramp(dark)
        for seen, setting, value in drawn(browser, MaskExplorer(), tmp_path, read, paper=roles["paper"]):
            A = np.full_like(value["weights"], np.nan)
            for cell in seen["cells"]:
                A[int(cell["data-q"]), int(cell["data-k"])] = float(cell["data-weight"])
                assert cell["fill"] == ramp[int(float(cell["data-weight"]) * 64 + 0.5)]
            np.testing.assert_allclose(A, value["weights"], atol=0.00051)  # what is masked is not there
            assert numbers(seen["inside"], "text") == pytest.approx(value["weights"][~np.isnan(value["weights"])], abs=0.0056)
            assert numbers(seen["sums"], "text") == pytest.approx(value["sums"], abs=0.0056)
            assert numbers(seen["parts"], "width") == pytest.approx(76 * value["sums"], abs=0.05)
            less = [0 < total < 0.9995 for total in value["sums"]]
            assert ["less" in node["class"] for node in seen["sums"]] == less
            assert [node["text"] for node in seen["keys"]] == value["tokens"]
            assert [node["text"] for node in seen["queries"]] == value["tokens"][setting["cached"]:]
            assert seen["headline"] == value["finding"]
            assert value["finding"] in seen["voice"]


# ---- soft lookup ----


@pytest.mark.parametrize("setting", SoftLookup.settings()[::5])
def test_lookup_by_hand(setting):
    value = SoftLookup().compute(**setting)
    query, temperature = setting["query"], setting["temperature"]
    distance = (query - KEYS) ** 2 / 2
    expected = np.eye(6)[distance.argmin()] if temperature == 0 else np.exp((distance.min() - distance) / temperature)
    expected = expected / expected.sum()
    np.testing.assert_allclose(value["weights"], expected, atol=1e-12)
    assert value["answer"] == pytest.approx(expected @ VALUES, abs=0.00051)
    assert value["curve"][2 * query] == pytest.approx(expected @ VALUES)  # the answer is a point of the curve


def test_lookup_goes_from_picking_to_averaging():
    figure = SoftLookup()
    assert figure.compute(12, 0)["answer"] == 0.6
    assert figure.compute(12, 1)["answer"] == pytest.approx(0.6, abs=0.01)
    assert figure.compute(12, 10_000)["answer"] == pytest.approx(VALUES.mean(), abs=0.02)


def test_every_state_of_the_lookup(browser, tmp_path):
    read = """() => ({ bars: look("[data-weight]", "data-weight", "height"), answer: look("[data-answer]", "cy"),
      curve: look("[data-curve]", "d"), query: look("line.tfb-lookup-query", "x1"), nearest: look(".tfb-lookup-nearest", "cx"),
      pulls: look(".tfb-lookup-pull", "stroke-opacity"), values: look(".tfb-lookup-value", "cx", "cy") })"""
    for seen, setting, value in drawn(browser, SoftLookup(), tmp_path, read):
        assert numbers(seen["bars"], "data-weight") == pytest.approx(value["weights"], abs=0.00051)
        assert numbers(seen["bars"], "height") == pytest.approx(64 * value["weights"], abs=0.05)
        assert numbers(seen["pulls"], "stroke-opacity") == pytest.approx(value["weights"], abs=0.0011)
        x, y = (lambda place: 16 + place / 40 * 608), (lambda height: 230 - height * 208)
        assert numbers(seen["query"], "x1") == pytest.approx([x(setting["query"])])
        assert numbers(seen["nearest"], "cx") == pytest.approx([x(KEYS[value["nearest"]])])
        assert numbers(seen["answer"], "cy") == pytest.approx([y(value["answer"])], abs=0.2)
        assert numbers(seen["values"], "cy") == pytest.approx(y(VALUES))
        curve = np.array(re.findall(r"[ML]([\d.]+) ([\d.]+)", seen["curve"][0]["d"]), float)
        np.testing.assert_allclose(curve[:, 1], y(value["curve"]), atol=0.2)
        assert curve[2 * setting["query"], 0] == pytest.approx(x(setting["query"]), abs=0.06)
        assert float(seen["headline"][-4:]) == pytest.approx(value["answer"], abs=0.0056)
        assert f"query at {setting['query']}, temperature {setting['temperature']}:" in seen["voice"]
