"""The figure of one layer backwards: on the built page, every number of every operation
and the sum that it shows, against NumPy alone; the gradients against PyTorch's.
"""

from pathlib import Path

import numpy as np
import pytest
import torch
from browser import inaccessible, overflow, visit
from gallery import choose, drawing, on
from test_figures_steps import DRAWN, READ, plain, value

import tfbook.torch
from tfbook.notebook.examples import LAYER, TOKENS, X
from tfbook.widgets import GradientSteps, LayerSteps

PAGE = Path(__file__).resolve().parents[2] / "_build/html/chapters/figures.html"
VIA = ("via Q", "via K", "via V", "via S", "via A")


def norm_back(g, x):
    """Row by row, with the whole Jacobian."""
    d = x.shape[-1]
    rows = []
    for dz, row in zip(g, x):
        sigma = np.sqrt(row.var() + 1e-5)
        z = (row - row.mean()) / sigma
        rows.append((np.eye(d) - 1 / d - np.outer(z, z) / d) @ dz / sigma)
    return np.array(rows)


def softmax_back(g, alpha):
    return np.array([(np.diag(a) - np.outer(a, a)) @ da for da, a in zip(g, alpha)])


def backwards():
    """Each operation's result, with what is left of it and above it."""
    at = {name: made[2] for name, made in plain("post").items()}
    P, Y = LAYER, at["Y"]
    rolled = np.vstack([X[2], X[0], X[1]])
    spread = np.sqrt(rolled.var(axis=1, keepdims=True) + 1e-5)
    target = (rolled - rolled.mean(axis=1, keepdims=True)) / spread
    made = {"dY": (Y, target, Y - target)}
    put = lambda name, left, above, A: made.setdefault(name, (left, above, A))[2]
    dF = put("d(Z + F)", Y - target, at["Z + F"], norm_back(Y - target, at["Z + F"]))
    put("dW_2", at["R"].T, dF, at["R"].T @ dF)
    dR = put("dR", dF, P["W_2"].T, dF @ P["W_2"].T)
    dU = put("dU", dR, at["U"], np.where(at["U"] > 0, dR, 0))
    put("dW_1", at["Z"].T, dU, at["Z"].T @ dU)
    via = put("via F", dU, P["W_1"].T, dU @ P["W_1"].T)
    dZ = put("dZ", dF, via, dF + via)
    dA = put("d(X + A)", dZ, at["X + A"], norm_back(dZ, at["X + A"]))
    alpha, Q, K, V = (at[name] for name in ("α", "Q", "K", "V"))
    dV = put("dV", alpha.T, dA, alpha.T @ dA)
    dalpha = put("dα", dA, V.T, dA @ V.T)
    dS = put("dS", dalpha, alpha, softmax_back(dalpha, alpha))
    dQ = put("dQ", dS, K, dS @ K / 2)
    dK = put("dK", dS.T, Q, dS.T @ Q / 2)
    for name, g in (("Q", dQ), ("K", dK), ("V", dV)):
        put(f"dW_{name}", X.T, g, X.T @ g)
    Q, K, V = (
        put(f"via {name}", g, P[f"W_{name}"].T, g @ P[f"W_{name}"].T)
        for name, g in (("Q", dQ), ("K", dK), ("V", dV))
    )
    put("via S", Q, K, Q + K)
    put("via A", Q + K, V, Q + K + V)
    put("dX", dA, Q + K + V, dA + Q + K + V)
    return made


MADE = backwards()


@drawing(GradientSteps, DRAWN)
def operation_is_drawn(seen, setting, _):
    name, parts = list(MADE.items())[setting["step"] - 1]
    assert seen["name"] == name.replace("_", "")
    for texts, A in zip(seen["parts"], parts, strict=True):
        shown = [value(text) for text in texts]
        np.testing.assert_allclose(shown, A.ravel(), atol=0.0051)


def test_gradients_are_those_of_autograd():
    leaves = {
        name: torch.tensor(p, requires_grad=True)
        for name, p in {"X": X, **LAYER}.items()
    }
    P = {name: leaves[name] for name in LAYER}
    Y = tfbook.torch.transformer_layer(leaves["X"], P, H=1)
    (0.5 * (Y - torch.tensor(MADE["dY"][1])).square().sum()).backward()
    for name in ("X", "W_1", "W_2", "W_Q", "W_K", "W_V"):
        found = leaves[name].grad.numpy()
        np.testing.assert_allclose(MADE[f"d{name}"][2], found, atol=1e-12)


@pytest.fixture(scope="module")
def seen(browser):
    """What the built page shows at every operation and for every cell."""
    with visit(browser, PAGE.as_uri()) as visited:
        figure, drawn = on(visited.page, GradientSteps), {}
        for setting in GradientSteps.settings():
            choose(figure, GradientSteps, setting)
            drawn[setting["step"]] = figure.evaluate(READ)
        assert visited.faults == []
    assert len(drawn) == len(MADE) == 23
    return drawn


def made_it(name, left, above, i, j):
    """The cells that made entry (i, j)."""
    if name in ("dY", "dZ", "dU", "dX", "via S", "via A"):
        return [("left", i, j), ("above", i, j)]
    whole = [("left", i, k) for k in range(left.shape[1])]
    if name in ("d(Z + F)", "d(X + A)", "dS"):
        return whole + [("above", i, k) for k in range(above.shape[1])]
    return whole + [("above", k, j) for k in range(len(above))]


@pytest.mark.parametrize("step", range(1, 24))
def test_every_number_shows_how_it_was_made(step, seen):
    name, (left, above, A) = list(MADE.items())[step - 1]
    state = seen[step]
    assert state["chips"] == [chip.replace("_", "") for chip in MADE]
    assert state["names"][-1] == name.replace("_", "") + "{} × {}".format(*A.shape)
    assert len(state["cells"]) == A.size
    sides = lambda cell: cell["sum"].split(" = ", 1)[1].replace("≈", "=").split(" = ")
    labels = lambda n: TOKENS if n == 3 else range(1, n + 1)
    for (i, j), cell in zip(np.ndindex(A.shape), state["cells"], strict=True):
        row, column = labels(len(A))[i], labels(A.shape[1])[j]
        head = cell["sum"].split(" = ", 1)[0]
        assert head == f"{name.replace('_', '')}[{row}, {column}]"
        lit = [tuple(place) for *place, _ in cell["lit"]]
        expected = [*made_it(name, left, above, i, j), ("result", i, j)]
        assert sorted(lit) == sorted(expected)
        *written, end = (value(side) for side in sides(cell))
        assert end == pytest.approx(A[i, j], abs=0.0051)
        for side in written:  # its numbers have two decimals
            assert side == pytest.approx(A[i, j], rel=0.05, abs=0.06)


def test_a_number_leads_back_to_the_loss(browser):
    address = PAGE.as_uri() + "#figure=GradientSteps&step=23"
    with visit(browser, address) as visited:
        figure = on(visited.page, GradientSteps)
        for part, row, column, name in [
            ("above", 2, 0, "via A[it, 1]"),
            ("left", 2, 0, "via S[it, 1]"),
            ("left", 2, 0, "via Q[it, 1]"),
            ("left", 2, 1, "dQ[it, 2]"),
            ("left", 2, 0, "dS[it, cat]"),
            ("left", 2, 1, "dα[it, slept]"),
            ("left", 2, 3, "d(X + A)[it, 4]"),
            ("left", 2, 0, "dZ[it, 1]"),
            ("above", 2, 0, "via F[it, 1]"),
            ("left", 2, 1, "dU[it, 2]"),
            ("left", 2, 1, "dR[it, 2]"),
            ("left", 2, 3, "d(Z + F)[it, 4]"),
            ("left", 2, 0, "dY[it, 1]"),
        ]:
            cell = f"[data-part={part}][data-row='{row}'][data-column='{column}']"
            figure.locator(cell).click()
            assert figure.locator(".tfb-steps-sum").inner_text().startswith(name)
        for step, part, said in [
            (1, "above", "Y*: the target"),
            (1, "left", "Y: from the forward pass"),
            (3, "left", "Rᵀ: from the forward pass"),
            (4, "above", "W_2ᵀ: parameters"),
            (15, "left", "Xᵀ: the input"),
        ]:
            choose(figure, GradientSteps, {"step": step})
            figure.locator(f"[data-part={part}][data-row='0']").first.click()
            assert figure.locator(".tfb-voice").inner_text() == said
        # a transposed operand leads to the same number, turned
        choose(figure, GradientSteps, {"step": 14})
        figure.locator("[data-part=left][data-row='0'][data-column='2']").click()
        assert figure.locator(".tfb-steps-sum").inner_text().startswith("dS[it, cat]")
        assert visited.faults == []


@pytest.mark.parametrize(
    ("width", "theme"), [(390, "light"), (390, "dark"), (1200, "dark")]
)
def test_operations_fit_the_page(width, theme, browser):
    with visit(browser, PAGE.as_uri(), width, theme) as visited:
        figure = on(visited.page, GradientSteps)
        for setting in GradientSteps.settings():
            choose(figure, GradientSteps, setting)
            assert overflow(visited.page) == []
            assert figure.locator(".tfb-steps-map button").evaluate_all(
                "(chips) => chips.every((chip) => chip.getBoundingClientRect().right"
                " < innerWidth)"
            )
            wide, room = figure.locator(".tfb-steps-board").evaluate(
                "(board) => [board.scrollWidth, board.clientWidth]"
            )
            left, _, A = list(MADE.values())[setting["step"] - 1]
            # on a phone, the board scrolls where ten numbers or more are in a row, and
            # a little where numbers are long
            assert wide <= room + 10 or left.shape[1] + A.shape[1] >= 10
        assert inaccessible(visited.page, "[data-figure=GradientSteps]") == []
        assert visited.faults == []


def test_steps_keep_their_numbers_backwards():
    forwards = [step["title"] for step in LayerSteps().constants()["maps"]["post"]]
    backwards = [step["title"] for step in GradientSteps().constants()["maps"]["post"]]
    assert backwards == ["5 Loss", *reversed(forwards)]


def test_both_directions_share_their_drawing():
    assert GradientSteps._esm == LayerSteps._esm
