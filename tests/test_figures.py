"""The live figures in a real browser: every state is drawn as Python computed it, and off the page's grid a kernel answers."""

import json
from pathlib import Path

import numpy as np
import pytest
from browser import launched, visit, why_not

from tfbook import palette
from tfbook.widgets import AttentionExplorer, ScaleExplorer
from tfbook.widgets.attention import tokens

CHAPTER = Path(__file__).resolve().parent.parent / "_build/html/chapters/03-scaled-dot-product-attention.html"
pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not() or "there is one")

SET = """(figure, setting) => {
  for (const [name, value] of Object.entries(setting)) {
    const input = figure.querySelector(`[name=${name}]`);
    if (typeof value === "boolean") { if (input.checked !== value) input.click(); continue; }
    input.value = value;
    input.dispatchEvent(new Event(input.tagName === "SELECT" ? "change" : "input", { bubbles: true }));
  }
}"""
READ = """(figure) => {
  const text = (selector) => [...figure.querySelectorAll(selector)].map((node) => node.textContent);
  const T = Number(figure.querySelectorAll("[data-query]").length);
  return {
    fills: [...figure.querySelectorAll("[data-q]")].map((cell) => cell.getAttribute("fill")),
    queries: text("[data-query]"), keys: text("[data-key]"), words: text(".tfb-arcs .tfb-query, .tfb-arcs .tfb-key"),
    query: Number(figure.querySelector("[data-query].tfb-on").dataset.query),
    arcs: [...figure.querySelectorAll("[data-arc]")].map((arc) => [Number(arc.dataset.arc), Number(arc.dataset.weight)]),
    chosen: text(".tfb-arcs .tfb-query"), work: text(".tfb-heads button"),
    headline: figure.querySelector(".tfb-headline").textContent,
    costs: text(".tfb-costs td:last-child").map((n) => Number(n.replace(/\\D/g, ""))),
    heads: [...figure.querySelectorAll("canvas")].map((canvas) => {
      const data = canvas.getContext("2d", { willReadFrequently: true }).getImageData(0, 0, T, T).data;
      return Array.from({ length: T * T }, (_, i) => [...data.slice(4 * i, 4 * i + 4)]);
    }),
    voice: figure.querySelector(".tfb-voice").textContent,
  };
}"""
EVERY = f"""(figure, settings) => {{
  const set = {SET}, read = {READ};
  return settings.map((setting) => {{ set(figure, setting); return read(figure); }});
}}"""


def shade(weights, ramp, decimals=3):
    """The colour of each weight as the page rounds it; None where masked."""
    return [None if np.isnan(w) else ramp[int(np.floor(round(w, decimals) * (len(ramp) - 1) + 0.5))] for w in np.ravel(weights)]


def rgb(colour):
    return [0, 0, 0, 0] if colour is None else [*bytes.fromhex(colour[1:]), 255]


def compare(seen, value, setting, ramp):
    T, H, H_kv = setting["T"], setting["H"], value["H_kv"]
    assert seen["fills"] == shade(value["weights"][0], ramp, decimals=2)
    assert [head[: T * T] for head in seen["heads"]] == [[rgb(c) for c in shade(A, ramp, decimals=2)] for A in value["weights"]]
    assert seen["queries"] == seen["keys"] == seen["words"] == tokens(T)
    row = value["weights"][0][seen["query"]]
    assert seen["chosen"] == [tokens(T)[seen["query"]]]
    assert seen["arcs"] == [[key, round(w, 2)] for key, w in enumerate(row) if not np.isnan(w) and round(w, 2)]
    assert seen["work"] == [f"head {h + 1}" + (f"key head {h * H_kv // H + 1}" if H_kv < H else "") for h in range(H)]
    head, numbers = seen["headline"].split(": ")
    assert head == f"Head 1 of {H}" + (f", with key head 1 of {H_kv}" if H_kv < H else "")
    words = numbers.split()
    assert [float(words[4]), float(words[6])] == pytest.approx([value["spread"][0], value["visible"]], abs=0.056)  # rounded twice
    assert seen["costs"] == [*value["flops"], sum(value["flops"]), *value["stored"], value["d_k"]]
    assert f"T {T}, d {setting['d']}, {H} heads" in seen["voice"]


@pytest.fixture(scope="module")
def browser():
    with launched() as browser:
        yield browser


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """The figure's own HTML in an empty page: what a static host or nbconvert shows."""
    path = tmp_path_factory.mktemp("figure") / "index.html"
    head = "<!doctype html><html lang=en><meta charset=utf-8><title>A figure</title>"
    path.write_text(f"{head}<body>{AttentionExplorer().page()}", encoding="utf-8")
    return path.as_uri()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_state_is_drawn_on_the_built_page_as_python_computed_it(theme, browser):
    settings = AttentionExplorer.settings()
    places = [{c.name: c.values.index(s[c.name]) if c.spec()["kind"] == "slider" else s[c.name] for c in AttentionExplorer.controls}
              for s in settings]
    ramp = palette.ramp(dark=theme == "dark")
    assert CHAPTER.exists(), "there is no book in _build/html: run make book"
    with visit(browser, CHAPTER.as_uri(), theme=theme) as visited:
        visited.page.wait_for_timeout(50)
        drawn = visited.page.locator("[data-figure=AttentionExplorer]").evaluate(EVERY, places)
        assert visited.faults == []
    assert len(drawn) == len(settings) == 432
    explorer = AttentionExplorer()
    for seen, setting in zip(drawn, settings):
        compare(seen, explorer.compute(**setting), setting, ramp)


def test_keyboard_reads_a_cell_aloud(browser, alone):
    with visit(browser, alone) as visited:
        page, value = visited.page, AttentionExplorer().compute(**AttentionExplorer.default)
        page.locator(".tfb-matrix[tabindex]").focus()
        for key in ("ArrowUp", "ArrowUp", "ArrowRight", "PageDown"):
            page.keyboard.press(key)
        said = page.locator(".tfb-voice").inner_text()
        assert said.startswith("head 2 of 2: mat → sat: ")
        assert float(said.split(": ")[2]) == pytest.approx(value["weights"][1, 7, 2], abs=0.0051)
        assert page.locator(".tfb-heads button").nth(1).get_attribute("aria-pressed") == "true"
        for _ in range(20):
            page.keyboard.press("ArrowRight")  # stops at the last key
        assert "mat → tired" in page.locator(".tfb-reading").inner_text()


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
    figure, sent = AttentionExplorer(), []
    figure.send = sent.append

    def kernel(question):  # the figure's own answer, as a kernel would send it
        sent.clear()
        figure._answer(figure, question, [])
        return sent[0]

    path = tmp_path / "index.html"
    path.write_text("<!doctype html><meta charset=utf-8><title>A figure</title><body><div class=tfb></div>", encoding="utf-8")
    with visit(browser, path.as_uri()) as visited:
        page = visited.page
        page.expose_function("kernel", kernel)
        page.add_script_tag(type="module", content=figure._esm + """
          const held = HELD, listeners = {};
          render({ el: document.querySelector(".tfb"), model: {
            get: (name) => held[name], save_changes() {}, off() {}, on: (event, f) => (listeners[event] ??= []).push(f),
            set: (name, value) => { held[name] = value; listeners[`change:${name}`].forEach((f) => f()); },
            send: async (message) => { const answer = await kernel(message); listeners["msg:custom"].forEach((f) => f(answer)); },
          } });""".replace("HELD", json.dumps({"spec": figure.spec, "state": figure.state})))
        box = page.get_by_label("d dimensions, any value")
        box.wait_for()
        for label, value in (("d dimensions", 48), ("H heads", 3), ("T tokens", 5)):
            page.get_by_label(f"{label}, any value").fill(str(value))
            page.get_by_label(f"{label}, any value").press("Enter")
        page.wait_for_function("document.querySelectorAll('[data-q]').length === 25")
        seen = page.locator(".tfb").evaluate(READ)
        setting = {"T": 5, "d": 48, "H": 3, "H_kv": "H", "scale": True, "causal": False}
        compare(seen, figure.compute(**setting), setting, palette.ramp())
        page.get_by_label("H heads, any value").fill("7")
        page.get_by_label("H heads, any value").press("Enter")
        page.wait_for_function("document.querySelector('.tfb-error')?.textContent.includes('multiple of H')")
        assert page.locator(".tfb-error").bounding_box()["height"] > 10, "an error is there to be seen"
        assert visited.faults == []


READ_BARS = """(figure) => {
  const heights = (kind) => [...figure.querySelectorAll(`.tfb-bar-${kind}`)].map((bar) => Number(bar.dataset.height));
  const drawn = (kind) => [...figure.querySelectorAll(`.tfb-bar-${kind}`)].map((bar) => Number(bar.getAttribute("height")));
  return { scores: heights("score"), weights: heights("weight"), bars: drawn("weight"), text: figure.innerText };
}"""


def test_every_state_of_the_scale_figure(browser, tmp_path):
    figure, path = ScaleExplorer(), tmp_path / "index.html"
    path.write_text(f"<!doctype html><html lang=en><meta charset=utf-8><title>A figure</title><body>{figure.page()}", encoding="utf-8")
    places = [{"d_k": i // 2, "scale": bool(i % 2)} for i in range(12)]
    with visit(browser, path.as_uri()) as visited:
        drawn = visited.page.locator(".tfb").evaluate(EVERY.replace(READ, READ_BARS), places)
        assert visited.faults == []
    for seen, setting in zip(drawn, figure.settings(), strict=True):
        value = figure.compute(**setting)
        assert seen["scores"] == pytest.approx(value["share"], abs=0.00051)
        assert seen["weights"] == pytest.approx(value["weights"], abs=0.00051)
        assert seen["bars"] == pytest.approx(120 * value["weights"], abs=0.1)
        for number in (f"{value['spread']:.1f} of 16 keys", f"deviation {value['deviation']:.1f}", f"gradient: {value['gradient']:.3f}"):
            assert number in seen["text"]


def chosen(page):
    return [page.locator(f".tfb-slider input[name={name}]").get_attribute("aria-valuetext") for name in "TdH"]


def test_the_address_holds_the_setting(browser, alone):
    with visit(browser, f"{alone}#T=6&H=4&d=7&scale=false") as visited:  # there is no d = 7 on the page
        page = visited.page
        assert chosen(page) == ["6", "32", "4"]
        assert not page.locator("input[name=scale]").is_checked()
        page.get_by_role("button", name="copy link").click()
        assert page.evaluate("location.hash") == "#figure=AttentionExplorer&T=6&d=32&H=4&H_kv=H&scale=false&causal=false"
        page.get_by_role("button", name="link ").wait_for()  # "link copied", or "link in the address bar"
        page.get_by_role("button", name="reset").click()
        assert chosen(page) == ["12", "32", "2"]
        page.evaluate("location.hash = '#T=3&H_kv=1'")
        page.wait_for_function("document.querySelectorAll('[data-q]').length === 9")
        assert page.locator("select[name=H_kv]").input_value() == "1"
        page.evaluate("location.hash = '#figure=Another&T=6'")
        page.wait_for_timeout(50)
        assert chosen(page)[0] == "3"
        assert visited.faults == []
