"""The attention explorer and the figure of √d_k in a real browser; what all figures
share: keyboard, a kernel.
"""

import json

import numpy as np
import pytest
from browser import visit
from gallery import compare, drawing, read

from tfbook.notebook import palette
from tfbook.widgets import AttentionExplorer, ScaleExplorer
from tfbook.widgets.attention import tokens


def shade(weights, ramp, decimals=3):
    """The colour of each weight as the page rounds it; None where masked."""
    return [
        (
            None
            if np.isnan(w)
            else ramp[int(np.floor(round(w, decimals) * (len(ramp) - 1) + 0.5))]
        )
        for w in np.ravel(weights)
    ]


def rgb(colour):
    return [0, 0, 0, 0] if colour is None else [*bytes.fromhex(colour[1:]), 255]


ATTENTION = """(figure, { all, texts, numbers }) => {
  const T = texts("[data-query]").length;
  return {
    fills: all("[data-q]").map((cell) => cell.getAttribute("fill")),
    queries: texts("[data-query]"), keys: texts("[data-key]"),
    words: texts(".tfb-arcs .tfb-query, .tfb-arcs .tfb-key"),
    query: Number(figure.querySelector("[data-query].tfb-on").dataset.query),
    arcs: numbers("[data-arc]", "data-arc", "data-weight"),
    chosen: texts(".tfb-arcs .tfb-query"), work: texts(".tfb-heads button"),
    costs: texts(".tfb-costs td:last-child").map((n) => Number(n.replace(/\\D/g, ""))),
    heads: all("canvas").map((canvas) => {
      const context = canvas.getContext("2d", { willReadFrequently: true });
      const { data } = context.getImageData(0, 0, T, T);
      return Array.from({ length: T * T }, (_, i) => [...data.slice(4 * i, 4 * i + 4)]);
    }),
  };
}"""


@drawing(AttentionExplorer, ATTENTION)
def attention_is_drawn(seen, setting, value):
    T, H, H_kv, ramp = (
        setting["T"],
        setting["H"],
        value["H_kv"],
        palette.ramp(seen["dark"]),
    )
    assert seen["fills"] == shade(value["weights"][0], ramp, decimals=2)
    assert [head[: T * T] for head in seen["heads"]] == [
        [rgb(c) for c in shade(A, ramp, decimals=2)] for A in value["weights"]
    ]
    assert seen["queries"] == seen["keys"] == seen["words"] == tokens(T)
    row = value["weights"][0][seen["query"]]
    assert seen["chosen"] == [tokens(T)[seen["query"]]]
    assert seen["arcs"] == [
        [key, round(w, 2)]
        for key, w in enumerate(row)
        if not np.isnan(w) and round(w, 2)
    ]
    assert seen["work"] == [
        f"head {h + 1}" + (f"key head {h * H_kv // H + 1}" if H_kv < H else "")
        for h in range(H)
    ]
    head, numbers = seen["headline"].split(": ")
    assert head == f"Head 1 of {H}" + (
        f", with key head 1 of {H_kv}" if H_kv < H else ""
    )
    words = numbers.split()
    # rounded twice
    assert [float(words[4]), float(words[6])] == pytest.approx(
        [value["spread"][0], value["visible"]], abs=0.056
    )
    assert seen["costs"] == [
        *value["flops"],
        sum(value["flops"]),
        *value["stored"],
        value["d_k"],
    ]
    assert f"T {T}, d {setting['d']}, {H} heads" in seen["voice"]


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """The figure's own HTML in an empty page: what a static host or nbconvert shows."""
    path = tmp_path_factory.mktemp("figure") / "index.html"
    head = "<!doctype html><html lang=en><meta charset=utf-8><title>A figure</title>"
    path.write_text(f"{head}<body>{AttentionExplorer().page()}", encoding="utf-8")
    return path.as_uri()


def test_keyboard_reads_a_cell_aloud(browser, alone):
    with visit(browser, alone) as visited:
        page, value = (
            visited.page,
            AttentionExplorer().compute(**AttentionExplorer.default),
        )
        page.locator(".tfb-matrix[tabindex]").focus()
        for key in ("ArrowUp", "ArrowUp", "ArrowRight", "PageDown"):
            page.keyboard.press(key)
        said = page.locator(".tfb-voice").inner_text()
        assert said.startswith("head 2 of 2: mat → sat: ")
        assert float(said.split(": ")[2]) == pytest.approx(
            value["weights"][1, 7, 2], abs=0.0051
        )
        assert (
            page.locator(".tfb-heads button").nth(1).get_attribute("aria-pressed")
            == "true"
        )
        for _ in range(20):
            page.keyboard.press("ArrowRight")  # stops at the last key
        assert "mat → tired" in page.locator(".tfb-reading").inner_text()


def test_home_and_end_go_to_the_ends_of_a_row_and_to_the_corners(browser, alone):
    with visit(browser, alone) as visited:
        page = visited.page
        page.locator(".tfb-matrix[tabindex]").focus()
        page.keyboard.press("Control+Home")
        page.keyboard.press("ArrowDown")
        for key, pair in (
            ("End", "cat → tired"),
            ("Home", "cat → The"),
            ("Control+End", "tired → tired"),
            ("Home", "tired → The"),
            ("End", "tired → tired"),
            ("Control+Home", "The → The"),
        ):
            page.keyboard.press(key)
            assert page.locator(".tfb-reading").inner_text().startswith(f"{pair}: ")
        assert page.evaluate("scrollY") == 0


def test_pointer_reads_a_cell_and_picks_a_query(browser, alone):
    with visit(browser, alone) as visited:
        visited.page.locator('[data-q="3"][data-k="5"]').hover()
        assert "down → the: 0." in visited.page.locator(".tfb-reading").inner_text()
        visited.page.locator('[data-token="1"]').click()
        assert "cat → the: 0." in visited.page.locator(".tfb-reading").inner_text()
        assert visited.page.locator(".tfb-arcs .tfb-query").text_content() == "cat"


def test_without_scripts_a_table_stands(browser, alone):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(alone)
    assert "run this cell" in page.locator(".tfb-still p").inner_text()
    assert page.locator(".tfb-still td").count() == 145
    context.close()


def test_a_kernel_gives_values_off_the_grid(browser, tmp_path):
    figure, messages = AttentionExplorer(), []
    figure.send = messages.append

    def kernel(question):  # the figure's own answer, as a kernel would send it
        messages.clear()
        figure._answer(figure, question, [])
        return messages[0]

    path = tmp_path / "index.html"
    path.write_text(
        "<!doctype html><meta charset=utf-8><title>A figure</title>"
        "<body><div class=tfb></div>",
        encoding="utf-8",
    )
    with visit(browser, path.as_uri()) as visited:
        page = visited.page
        page.expose_function("kernel", kernel)
        page.add_script_tag(
            type="module",
            content=figure._esm
            + """
          const held = HELD, listeners = {};
          const tell = (event, ...message) =>
            listeners[event].forEach((f) => f(...message));
          render(figure, { el: document.querySelector(".tfb"), model: {
            get: (name) => held[name],
            set: (name, value) => { held[name] = value; tell(`change:${name}`); },
            on: (event, f) => (listeners[event] ??= []).push(f),
            send: async (message) => tell("msg:custom", await kernel(message)),
            off() {},
            save_changes() {},
          } });""".replace(
                "HELD", json.dumps({"spec": figure.spec, "state": figure.state})
            ),
        )
        box = page.get_by_label("d dimensions, any value")
        box.wait_for()
        for label, value in (("d dimensions", 48), ("H heads", 3), ("T tokens", 5)):
            page.get_by_label(f"{label}, any value").fill(str(value))
            page.get_by_label(f"{label}, any value").press("Enter")
        page.wait_for_function("document.querySelectorAll('[data-q]').length === 25")
        setting = {"T": 5, "d": 48, "H": 3, "H_kv": "H", "scale": True, "causal": False}
        compare(
            AttentionExplorer, read(page.locator(".tfb"), AttentionExplorer), setting
        )
        page.get_by_label("H heads, any value").fill("7")
        page.get_by_label("H heads, any value").press("Enter")
        page.wait_for_function(
            "document.querySelector('.tfb-error')?.textContent.includes('multiple of "
            "H')"
        )
        assert page.locator(".tfb-error").bounding_box()["height"] > 10, (
            "an error is there to be seen"
        )
        assert visited.faults == []


SCALE = """(figure, { numbers, texts }) => ({
  scores: numbers(".tfb-bar-score", "data-height", "height"),
  weights: numbers(".tfb-bar-weight", "data-height", "height"),
  text: texts("p, text").join("; "),
})"""


@drawing(ScaleExplorer, SCALE)
def scores_and_weights_are_drawn(seen, setting, value):
    for bars, expected, most in (
        (seen["scores"], value["share"], 0.42),
        (seen["weights"], value["weights"], 1),
    ):
        heights, drawn = np.array(bars).T
        assert heights == pytest.approx(expected, abs=0.00051)
        assert drawn == pytest.approx(120 * np.minimum(expected / most, 1), abs=0.16)
    for number in (
        f"{value['spread']:.1f} of 16 keys",
        f"deviation {value['deviation']:.1f}",
        f"gradient: {value['gradient']:.3f}",
    ):
        assert number in seen["text"]
