"""The figure of one layer: on the built page, every operation, every number, and the
sum that it shows for each, against plain NumPy.
"""

import re
from math import exp, sqrt
from pathlib import Path

import numpy as np
import pytest
from browser import inaccessible, overflow, visit
from gallery import drawing

from tfbook.notebook.examples import LAYER, TOKENS, X
from tfbook.widgets import LayerSteps

PAGE = Path(__file__).resolve().parents[2] / "_build/html/chapters/figures.html"
NAMES = {
    "post": ["Q", "K", "V", "S", "α", "A", "X + A", "Z", "U", "R", "F", "Z + F", "Y"],
    "pre": ["N", "Q", "K", "V", "S", "α", "A", "Z", "M", "U", "R", "F", "Y"],
}
READ = """(figure) => {
  const all = (selector) => [...figure.querySelectorAll(selector)];
  const cells = (selector) =>
    all(selector).map(({ dataset: { part, row, column }, textContent }) =>
      [part, Number(row), Number(column), textContent]);
  const part = (name) => cells(`[data-part=${name}]`).map((cell) => cell.slice(1));
  const texts = (selector) => all(selector).map((node) => node.textContent);
  const read = () => ({
    sum: texts(".tfb-steps-sum")[0],
    lit: cells("[data-part].tfb-on"),
    voice: texts(".tfb-voice")[0],
  });
  return {
    left: part("left"),
    above: part("above"),
    result: part("result"),
    headline: texts(".tfb-headline")[0],
    names: texts(".tfb-steps-name"),
    chosen: texts(".tfb-steps-map [aria-pressed=true]"),
    chips: texts(".tfb-steps-map button"),
    cells: all("[data-part=result]").map((cell) => {
      cell.dispatchEvent(new PointerEvent("pointerover", { bubbles: true }));
      return read();
    }),
  };
}"""
SET = """(figure, [step, norm]) => {
  const slider = figure.querySelector("[name=step]");
  const choice = figure.querySelector("[name=norm]");
  choice.selectedIndex = norm;
  choice.dispatchEvent(new Event("change", { bubbles: true }));
  slider.value = step - 1;
  slider.dispatchEvent(new Event("input", { bubbles: true }));
}"""
DRAWN = """(figure, { texts }) => ({
  name: texts(".tfb-steps-map [aria-pressed=true]").join(),
  parts: ["left", "above", "result"].map((part) => texts(`[data-part=${part}]`)),
})"""
SMALL_OR_CUT = """(cells) => cells.filter((cell) =>
  cell.scrollWidth > cell.clientWidth + 1
  || parseFloat(getComputedStyle(cell).fontSize) < 11).length"""


def layer_norm(X, i):
    mean, variance = X.mean(axis=-1, keepdims=True), X.var(axis=-1, keepdims=True)
    return (X - mean) / np.sqrt(variance + 1e-5) * LAYER[f"gamma_{i}"] + LAYER[
        f"beta_{i}"
    ]


def plain(norm):
    """Every matrix of the layer, with what stands left of it and above it, in NumPy
    alone.
    """
    P = LAYER
    W_1, W_2 = np.vstack([P["W_1"], P["b_1"]]), np.vstack([P["W_2"], P["b_2"]])
    norms = [np.stack([P[f"gamma_{i}"], P[f"beta_{i}"]]) for i in (1, 2)]
    N = layer_norm(X, 1) if norm == "pre" else X
    Q, K, V = N @ P["W_Q"], N @ P["W_K"], N @ P["W_V"]
    S = Q @ K.T / np.sqrt(4)
    alpha = np.exp(S) / np.exp(S).sum(axis=-1, keepdims=True)
    A = alpha @ V
    Z = X + A if norm == "pre" else layer_norm(X + A, 1)
    M = layer_norm(Z, 2) if norm == "pre" else Z
    U = M @ P["W_1"] + P["b_1"]
    R = U * (U > 0)
    F = R @ P["W_2"] + P["b_2"]
    attention = {
        "Q": (N, P["W_Q"], Q),
        "K": (N, P["W_K"], K),
        "V": (N, P["W_V"], V),
        "S": (Q, K.T, S),
        "α": (S, None, alpha),
        "A": (alpha, V, A),
    }
    network = {"U": (M, W_1, U), "R": (None, U, R), "F": (R, W_2, F)}
    if norm == "pre":
        return {
            "N": (X, norms[0], N),
            **attention,
            "Z": (X, A, Z),
            "M": (Z, norms[1], M),
            **network,
            "Y": (Z, F, Z + F),
        }
    return {
        **attention,
        "X + A": (X, A, X + A),
        "Z": (X + A, norms[0], Z),
        **network,
        "Z + F": (Z, F, Z + F),
        "Y": (Z + F, norms[1], layer_norm(Z + F, 2)),
    }


def value(text):
    """What an expression of the figure comes to."""
    code = re.sub(
        r"√(\d)",
        r"√(\1)",
        text.replace("·", "*").replace("−", "-").replace("ε", "1e-5"),
    )
    return eval(code.replace("√", "sqrt"), {"sqrt": sqrt, "exp": exp, "max": max})


def numbers(text):
    return sorted(value(n) for n in re.findall(r"−?[\d.]+", text.replace(" − ", " , ")))


def made_it(operation, left, above, i, j):
    """The cells that made entry (i, j)."""
    if operation == "sum":
        return [("left", i, j), ("above", i, j)]
    if operation == "R":
        return [("above", i, j)]
    return [("left", i, k) for k in range(left.shape[1])] + [
        ("above", k, j) for k in range(0 if above is None else len(above))
    ]


@drawing(LayerSteps, DRAWN)
def operation_is_drawn(seen, setting, _):
    name, parts = list(plain(setting["norm"]).items())[setting["step"] - 1]
    assert seen["name"] == name
    for texts, A in zip(seen["parts"], parts, strict=True):
        np.testing.assert_allclose(
            [value(text) for text in texts], [] if A is None else A.ravel(), atol=0.0051
        )


@pytest.fixture(scope="module")
def seen(browser):
    """What the built page shows at every state and for every cell."""
    assert PAGE.exists(), "there is no book in _build/html: run make book"
    with visit(browser, PAGE.as_uri()) as visited:
        figure = visited.page.locator("[data-figure=LayerSteps]")
        drawn = {}
        for norm, places in NAMES.items():
            for step in range(1, len(places) + 1):
                figure.evaluate(SET, [step, norm == "pre"])
                drawn[step, norm] = figure.evaluate(READ)
        assert visited.faults == []
    assert len(drawn) == len(LayerSteps.settings()) == 26
    return drawn


@pytest.mark.parametrize("norm", NAMES)
def test_every_number_of_every_operation(norm, seen):
    for step, (name, parts) in enumerate(plain(norm).items(), 1):
        state = seen[step, norm]
        assert state["chips"] == NAMES[norm]
        assert state["chosen"] == [name]
        assert name in state["headline"]
        assert state["names"][-1] == name + "{} × {}".format(*parts[2].shape)
        for part, A in zip(("left", "above", "result"), parts, strict=True):
            A = np.zeros((0, 0)) if A is None else A
            assert [cell[:2] for cell in state[part]] == [
                list(place) for place in np.ndindex(A.shape)
            ]
            np.testing.assert_allclose(
                [value(cell[2]) for cell in state[part]], A.ravel(), atol=0.0051
            )


@pytest.mark.parametrize("norm", NAMES)
def test_every_number_shows_how_it_was_made(norm, seen):
    for step, (name, (left, above, A)) in enumerate(plain(norm).items(), 1):
        cells = seen[step, norm]["cells"]
        assert len(cells) == A.size
        for (i, j), cell in zip(np.ndindex(A.shape), cells, strict=True):
            column = TOKENS[j] if name in ("S", "α") else j + 1
            head, expression = cell["sum"].split(" = ", 1)
            assert (
                head == f"{f'({name})' if '+' in name else name}[{TOKENS[i]}, {column}]"
            )
            assert cell["voice"] == cell["sum"]
            # the cells that light up are those that made it, and the sum is written
            # with their numbers
            lit = [tuple(place) for *place, _ in cell["lit"]]
            summed = "+" in name or (norm == "pre" and name in ("Z", "Y"))
            assert sorted(lit) == sorted(
                [
                    *made_it("sum" if summed else name, left, above, i, j),
                    ("result", i, j),
                ]
            )
            sides = re.split(r" [=≈] ", expression)
            if name in ("Q", "K", "V", "S", "A", "U", "F"):
                made_of = [
                    value(text) for part, *_, text in cell["lit"] if part != "result"
                ]
                assert numbers(re.sub(r" / √4", "", sides[0])) == sorted(made_of)
                terms = list(left[i] * above[: len(left[i]), j]) + list(
                    above[len(left[i]) :, j]
                )
                shown = [
                    value(term)
                    for term in re.sub(r"^\((.*)\) / √4$", r"\1", sides[0]).split(" + ")
                ]
                np.testing.assert_allclose(
                    shown, terms, atol=0.12 if norm == "pre" else 0.02
                )
            # every side comes to the number in the cell, and = stands only where two
            # decimals tell the whole
            for side in sides:
                assert value(side) == pytest.approx(
                    A[i, j], rel=0.03, abs=0.12 if norm == "pre" else 0.02
                )
            assert value(sides[-1]) == pytest.approx(A[i, j], abs=0.0051)
            if "≈" not in expression:
                assert [value(side) for side in sides] == pytest.approx(
                    [A[i, j]] * len(sides), abs=1e-6
                )


def test_a_number_leads_back_to_where_it_was_made(browser):
    with visit(
        browser, PAGE.as_uri() + "#figure=LayerSteps&step=13&norm=post"
    ) as visited:
        figure = visited.page.locator("[data-figure=LayerSteps]")
        for part, row, column, sum_ in [
            ("left", 2, 0, "(Z + F)[it, 1] = 1.4 + 1.2 ≈ 2.6"),
            ("above", 2, 0, "F[it, 1] = 0·1 + 1.4·1"),
            ("left", 2, 1, "R[it, 2] = max(0, 1.4)"),
            ("above", 2, 1, "U[it, 2] = 1.4·0 + (−1.4)·(−1)"),
            ("left", 2, 1, "Z[it, 2] = (−0.8 − 0.6)"),
            ("left", 2, 1, "(X + A)[it, 2] = 0 + (−0.8)"),
            ("above", 2, 1, "A[it, 2] = 0.8·(−1)"),
            ("left", 2, 0, "α[it, cat] = exp(2.08)"),
            ("left", 2, 0, "S[it, cat] = (2.08·2"),
            # X is given: nothing lies behind it
            ("above", 0, 0, "K[cat, 1] = 1·2"),
            ("left", 0, 0, "K[cat, 1] = 1·2"),
        ]:
            figure.locator(
                f"[data-part={part}][data-row='{row}'][data-column='{column}']"
            ).click()
            assert figure.locator(".tfb-steps-sum").inner_text().startswith(sum_)
        assert figure.locator(".tfb-voice").inner_text() == "X: the input"
        assert visited.faults == []


def test_keyboard_moves_over_cells_and_operations(browser):
    with visit(browser, PAGE.as_uri()) as visited:
        figure = visited.page.locator("[data-figure=LayerSteps]")
        figure.locator(".tfb-steps-board").focus()
        for keys, sum_ in [
            (["ArrowRight", "ArrowUp"], "Q[slept, 2] = "),
            (["PageDown"] * 3, "S[slept, slept] = "),
            (["ArrowRight"] * 9, "S[slept, it] = "),
            (["PageUp"] * 9 + ["ArrowDown"] * 9, "Q[it, 3] = "),
            (["PageDown"] * 20, "Y[it, 3] = "),
        ]:
            for key in keys:
                visited.page.keyboard.press(key)
            assert figure.locator(".tfb-steps-sum").inner_text().startswith(sum_)
            assert sum_ in figure.locator(".tfb-voice").inner_text()
        assert figure.locator(".tfb-steps-board").evaluate(
            "(board) => board === document.activeElement"
        )


@pytest.mark.parametrize(
    ("width", "theme"), [(390, "light"), (390, "dark"), (1200, "dark")]
)
def test_operations_fit_the_page(width, theme, browser):
    with visit(browser, PAGE.as_uri(), width, theme) as visited:
        figure = visited.page.locator("[data-figure=LayerSteps]")
        for norm, places in NAMES.items():
            for step in range(1, len(places) + 1):
                figure.evaluate(SET, [step, norm == "pre"])
                assert overflow(visited.page) == []
                wide, room = figure.locator(".tfb-steps-board").evaluate(
                    "(board) => [board.scrollWidth, board.clientWidth]"
                )
                assert norm == "pre" or wide <= room, (
                    f"{places[step - 1]}: {wide} px in {room}"
                )
                cells = figure.locator(".tfb-steps-cell, .tfb-steps-label")
                assert cells.evaluate_all(SMALL_OR_CUT) == 0
        figure.evaluate(SET, [5, 0])
        assert inaccessible(visited.page, "[data-figure=LayerSteps]") == []
        assert visited.faults == []
