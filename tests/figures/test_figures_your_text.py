"""The reader's own text: what the page computes and draws is what Python computes, for
any text that is typed, pasted or written on.
"""

import numpy as np
import pytest
from gallery import DRAWINGS, choose, drawing, gallery, on

from tfbook import numpy as tf
from tfbook.experiments import language
from tfbook.text import decode, encode
from tfbook.widgets import YourText
from tfbook.widgets.quantized import rounded
from tfbook.widgets.your_text import START, VISIBLE, context, reading

READ = """(figure, { texts, numbers }) => ({
  next: texts(".tfb-your-next tr"),
  bars: [...figure.querySelectorAll(".tfb-your-next .tfb-bar")]
    .map((bar) => parseFloat(bar.style.width)),
  title: texts(".tfb-your-next caption")[0],
  lens: [...figure.querySelectorAll(".tfb-your-lens tr")]
    .map((row) => [...row.querySelectorAll("td")].map((cell) => cell.textContent)),
  characters: texts(".tfb-your-bars span").join(""),
  weights: numbers(".tfb-your-bars span", "data-weight").flat(),
  facts: texts(".tfb-reading")[0],
  pressed: texts("[aria-pressed=true]"),
})"""
PIXELS = """(all) => all.map((canvas) => {
  const { width, height } = canvas;
  return [...canvas.getContext("2d").getImageData(0, 0, width, height).data];
})"""
VOCABULARY = language.record()["vocabulary"]
HEAD = (1, 0)  # of layer 2 the first


def percent(p):
    if p == 0:
        return "–"
    return "< 1 %" if p < 0.005 else f"{100 * p:.0f} %"


def seen_as(token):
    return VISIBLE.get(VOCABULARY[token], VOCABULARY[token])


@drawing(YourText, READ)
def a_text_is_drawn(seen, setting, value, text=START):
    p, final = value["next"], value["lens"][-1]
    order = np.argsort(-final, kind="stable")
    assert seen["next"] == [seen_as(i) + percent(p[i]) for i in order[:8]]
    np.testing.assert_allclose(seen["bars"], 100 * p[order[:8]], atol=0.01)
    assert seen["title"] == f"Next character, one of {(p > 0).sum()}"
    for row, q in zip(seen["lens"], value["lens"], strict=True):
        likeliest = np.argsort(-q, kind="stable")[:3]
        assert row == [f"{seen_as(i)} {percent(q[i])}" for i in likeliest]
    known = [VOCABULARY.index(c) for c in text if c in VOCABULARY]
    assert seen["characters"] == "".join(map(seen_as, context(known)))
    np.testing.assert_allclose(seen["weights"], value["weights"][HEAD], atol=1e-5)
    assert seen["pressed"] == ["2.1"]
    best = f"comes {seen_as(order[0])}, {percent(p[order[0]])}"
    assert seen["headline"].endswith(best)
    assert seen["headline"] in seen["voice"]
    if len(known) > 1:
        assert f"characters, at {value['bits']:.2f} bits each." in seen["facts"]


@pytest.fixture(scope="module")
def page(browser):
    with gallery(browser) as visited:
        yield visited.page


@pytest.fixture
def figure(page):
    """The figure, as it begins."""
    place = on(page, YourText)
    place.get_by_role("button", name="reset").click()
    area(place).fill(START)
    place.locator(".tfb-your-heads button").nth(4).click()
    return place


def area(figure):
    return figure.get_by_label("your text")


def looked_at(figure):
    return figure.evaluate(DRAWINGS[YourText][0])


TEXTS = [
    "a",
    "\n",
    " ",
    "object.__init__(self",
    "x" * 64,
    "x = y; " * 10,
    "Une année 😀 👩‍👩‍👧 the caché\t",
    "“”…" * 30,
    "The dictionary ‘is’ a mapping.\n\n" * 320,  # 10 kB
]


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_any_text_is_read_as_python_reads_it(text, figure):
    area(figure).fill(text)
    seen = looked_at(figure)
    a_text_is_drawn(seen, YourText.default, reading(text), text)
    left_out = seen["facts"].partition("has never seen them: ")[2].split()
    unknown = dict.fromkeys(c for c in text if c not in VOCABULARY)
    assert left_out == ["⇥" if c == "\t" else c for c in unknown]


def test_of_many_unknown_characters_a_few_are_named(figure):
    area(figure).fill("print" + "".join(map(chr, range(0x3041, 0x3091))))
    facts = looked_at(figure)["facts"]
    assert facts.endswith(" ".join(map(chr, range(0x3041, 0x304D))) + " …")


def test_typing_and_deleting_in_the_middle_is_read_anew(figure):
    area(figure).click()
    for key in ("Home", *"Why ", "End", "Backspace", *"trem", "ArrowLeft", "s"):
        area(figure).press(key)
        text = area(figure).input_value()
        a_text_is_drawn(looked_at(figure), YourText.default, reading(text), text)
    assert text == "Why The result of the extresm"


@pytest.mark.parametrize("text", ["", "é😀"])
def test_nothing_to_read_is_said(text, figure):
    area(figure).fill(text)
    assert figure.locator(".tfb-headline").inner_text().startswith("Type a character")
    assert figure.get_by_role("button", name="write on").is_disabled()
    assert ("Left out" in figure.locator(".tfb-reading").first.inner_text()) == bool(
        text
    )
    for key in ("ArrowLeft", "End", "PageDown"):
        figure.locator(".tfb-your-bars").press(key)
    choose(figure, YourText, YourText.default | {"temperature": 0.5})
    area(figure).fill("The")
    assert figure.locator(".tfb-your-next tr").count() == 8


@pytest.mark.parametrize("n", [63, 64, 65, 96, 97])
def test_a_long_text_is_read_from_its_end(n, figure):
    text = ("def f(x):\n    return x + 1  # one more than before\n" * 3)[:n]
    area(figure).fill(text)
    seen = looked_at(figure)
    start = {63: 0, 64: 0, 65: 32, 96: 32, 97: 64}[n]
    assert len(seen["weights"]) == n - start
    assert (
        f"It reads {'the last ' * (start > 0)}{n - start} characters" in seen["facts"]
    )
    a_text_is_drawn(seen, YourText.default, reading(text), text)


def test_keys_choose_a_character_and_a_head(figure):
    bars = figure.locator(".tfb-your-bars")
    lens, A = language.read(encode(START, VOCABULARY), rounded(language.load()))
    for key, query, head in [
        ("Home", 0, 4),
        ("ArrowRight", 1, 4),
        ("PageDown", 1, 5),
        ("End", 20, 5),
        ("ArrowLeft", 19, 5),
        ("PageUp", 19, 4),
    ]:
        bars.press(key)
        seen = looked_at(figure)
        np.testing.assert_allclose(
            seen["weights"][: query + 1],
            A[divmod(head, 4)][query, : query + 1],
            atol=1e-5,
        )
        assert not any(seen["weights"][query + 1 :])
        p = tf.softmax(lens[query])
        assert seen["next"][0] == seen_as(p.argmax()) + percent(p.max())
        if query < 20:
            assert (
                f"What came: {seen_as(encode(START, VOCABULARY)[query + 1])}"
                in seen["headline"]
            )
    bars.locator("span").nth(3).click()
    assert "“The␣”" in looked_at(figure)["headline"]


def test_it_writes_on_as_python_does(figure, page):
    choose(figure, YourText, {"temperature": 0, "top_p": 1})
    figure.get_by_role("button", name="write on").click()
    figure.get_by_role("button", name="write on").wait_for()  # it was "stop"
    text = area(figure).input_value()
    assert len(text) == len(START) + 200
    a_text_is_drawn(looked_at(figure), {}, reading(text, temperature=0), text)
    P, tokens = rounded(language.load()), list(encode(START, VOCABULARY))
    for _ in range(60):
        tokens.append(language.read(context(tokens), P)[0][-1].argmax())
    assert text.startswith(decode(tokens, VOCABULARY))


def test_the_reader_stops_it(figure, page):
    button = figure.locator(".tfb-stage button").first
    button.click()
    assert button.inner_text() == "stop"
    page.wait_for_function(
        "(area) => area.value.length > 30", arg=area(figure).element_handle()
    )
    button.click()
    text = area(figure).input_value()
    page.wait_for_timeout(100)
    assert area(figure).input_value() == text
    a_text_is_drawn(looked_at(figure), {}, reading(text), text)
    button.click()
    area(figure).press("x")
    text = area(figure).input_value()
    page.wait_for_timeout(100)
    assert area(figure).input_value() == text


def test_each_head_has_a_picture_of_its_weights(figure):
    drawn = figure.locator(".tfb-your-heads canvas").evaluate_all(PIXELS)
    A = language.read(encode(START, VOCABULARY), rounded(language.load()))[1]
    ramp = YourText().spec["ramps"][0]
    colours = np.array([[*bytes.fromhex(c[1:]), 255] for c in ramp])
    expected = (
        colours[np.floor(64 * A + 0.5).astype(int)] * np.tri(21, dtype=int)[..., None]
    )
    np.testing.assert_array_equal(
        np.array(drawn).reshape(12, 21, 21, 4), expected.reshape(12, 21, 21, 4)
    )


@pytest.mark.parametrize("temperature", [0.3, -1, True, "1", None])
def test_a_temperature_that_no_slider_has_is_refused(temperature):
    with pytest.raises(ValueError, match="temperature: expected"):
        YourText(temperature=temperature)
