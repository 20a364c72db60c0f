"""Gradients by depth: the measure against other ways to the same number, the stored
file against the measure, every state drawn.
"""

import numpy as np
import pytest
import torch
from gallery import drawing

import tfbook.numpy as tn
from tfbook.experiments import depth
from tfbook.experiments.depth import __main__ as measure_depth
from tfbook.experiments.depth.forms import (
    FORMS,
    gradients,
    layer_of_form,
    layers_of_form,
    measure,
    states,
)
from tfbook.numpy import layer_norm_vjp
from tfbook.widgets import DepthExplorer
from tfbook.widgets.depth import FORMS as NAMES
from tfbook.widgets.depth import GAP, LOWEST, SHOWN, apart, number, within

SIZES = {"L": 5, "d": 8, "H": 2}


def case(form, T=3, small=False):
    """Layers, tokens, a gradient and a direction."""
    rng = np.random.default_rng(1)
    layers = layers_of_form(form, **SIZES, rng=rng, small=small)
    return layers, *torch.tensor(rng.standard_normal((3, T, SIZES["d"])))


@pytest.mark.parametrize("form", FORMS)
def test_gradients_are_slopes(form):
    layers, X, G, V = case(form)

    def up(X):
        return (states(X, layers, 2, form)[-1] * G).sum().item()

    arrived = gradients(states(X, layers, 2, form), G)
    assert len(arrived) == 6
    assert (arrived[0] * V).sum().item() == pytest.approx(
        (up(X + 1e-6 * V) - up(X - 1e-6 * V)) / 2e-6, rel=1e-5
    )


@pytest.mark.parametrize("form", FORMS[2:])
def test_a_stack_with_norms_is_the_package_s(form):
    layers, X, G, _ = case(form)
    plain = [{name: p.numpy() for name, p in P.items()} for P in layers]
    dX = tn.transformer_vjp(G.numpy(), X.numpy(), plain, 2, norm=form)[0]
    np.testing.assert_allclose(
        gradients(states(X, layers, 2, form), G)[0], dX, atol=1e-10
    )


def test_the_direct_path():
    assert measure("none", **SIZES, T=3)["direct"].tolist() == [0, 0, 0, 0, 0, 1]
    for form in ("residual", "pre", "both"):
        np.testing.assert_allclose(measure(form, **SIZES, T=3)["direct"], 1)
    rng = np.random.default_rng(0)  # post-norm: through the norms alone, two a layer
    layers = layers_of_form("post", **SIZES, rng=rng)
    X, G = rng.standard_normal((2, 3, 8))
    sums, one, zero = [], np.ones(8), np.zeros(8)
    for P in ({name: p.numpy() for name, p in P.items()} for P in layers):
        sums.append(
            X + tn.multi_head_attention(X, P["W_Q"], P["W_K"], P["W_V"], P["W_O"], 2)
        )
        Z = tn.layer_norm(sums[-1], one, zero)
        sums.append(Z + tn.feed_forward(Z, P["W_1"], P["b_1"], P["W_2"], P["b_2"]))
        X = tn.layer_norm(sums[-1], one, zero)
    g = G / np.linalg.norm(G)
    for S in reversed(sums):
        g = layer_norm_vjp(g, S, one, zero)[0]
    assert measure("post", **SIZES, T=3)["direct"][0] == pytest.approx(
        np.linalg.norm(g)
    )


def test_scale_and_spread_of_tokens():
    measured, (rng, T) = (
        measure("none", L=1, d=8, H=2, T=3, seed=4),
        (np.random.default_rng(4), 3),
    )
    layers_of_form("none", L=1, d=8, H=2, rng=rng)
    X = rng.standard_normal((2, T, 8))[0]
    assert measured["scale"][0] == pytest.approx(np.sqrt((X**2).mean()))
    assert measured["spread"][0] == pytest.approx(
        np.linalg.norm(X - X.mean(axis=0)) / np.linalg.norm(X)
    )


def test_small_branches_start_smaller():
    large, small = (
        layers_of_form("pre", **SIZES, rng=0, small=small) for small in (False, True)
    )
    for P, S in zip(large, small):
        for name, p in P.items():
            torch.testing.assert_close(
                S[name], p / 10**0.5 if name in ("W_O", "W_2") else p
            )


def test_a_form_that_is_none_is_refused():
    layers, X, *_ = case("post")
    with pytest.raises(
        ValueError,
        match="form: expected one of none, residual, post, pre, both, got 'sandwich'",
    ):
        layer_of_form(X, layers[0], 2, "sandwich")


@pytest.mark.parametrize("small", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_stored_numbers_are_those_of_the_script(form, small):
    held, anew = depth.load(form, 6, small), measure_depth.stored(form, 6, small)
    for name, powers in zip(depth.MEASURES, anew, strict=True):
        # rounding alone, from the third layer on
        least = -14 if name in ("own", "spread") and form == "none" else -np.inf
        np.testing.assert_allclose(
            np.maximum(held[name], least), np.maximum(powers, least), atol=1e-3
        )


def test_what_the_figure_tells():
    deep = {form: depth.load(form, 96) for form in FORMS}
    median = {
        form: {name: powers[1] for name, powers in stored.items()}
        for form, stored in deep.items()
    }
    assert median["none"]["gradient"][0] < -10
    assert median["residual"]["gradient"][0] > 10
    assert abs(median["post"]["gradient"][0]) < 2
    assert median["post"]["direct"][0] < -15
    assert median["post"]["spread"][-1] < -10
    assert (deep["pre"]["gradient"][:, 0] > 0).all()
    assert (deep["pre"]["gradient"][:, 0] < 1.5).all()
    assert median["pre"]["spread"][-1] > -1
    assert all(
        abs(depth.load(form, 96, small=True)["gradient"][1, 0]) < 0.2
        for form in ("residual", "post", "pre")
    )


def test_labels_stand_apart_and_lines_end_at_the_edge():
    for heights in (
        [0.5] * 5,
        [-2, -1, 0, 3, 9],
        [1, 0.99, 0.2, 0.98, 0.97],
        [np.nan, 0.3, 0.1, -np.inf, 1],
    ):
        placed = apart(heights)
        assert np.diff(np.sort(placed)).min() > GAP - 1e-9
        assert placed.min() >= LOWEST - 1e-9
        assert placed.max() <= 1
        known = np.nan_to_num(np.array(heights, float), nan=-9, neginf=-9)
        assert all(
            placed[i] < placed[j]
            for i in range(5)
            for j in range(5)
            if known[i] < known[j]
        )
    np.testing.assert_array_equal(
        within(np.array([0.5, 1.2, 1.5, np.nan])), [0.5, 1, np.nan, np.nan]
    )
    assert [number(p) for p in (-2.6, -2.4, 2.999, -np.inf, np.nan)] == [
        "10⁻³",
        "0.0040",
        "1000",
        "0",
        "0",
    ]


READ = """(figure, { all, texts, data, numbers, points }) => ({
  lines: Object.fromEntries(
    all(".tfb-depth-line").map((path) => [path.dataset.form, points(path)])),
  on: data(".tfb-depth-line.tfb-on", "form"), band: points(all(".tfb-depth-band")[0]),
  names: all(".tfb-depth-name").map((text) => [
    text.textContent, Number(text.getAttribute("y"))]),
  numbers: texts(".tfb-depth-number"), ones: all(".tfb-depth-one").length,
  norms: numbers(".tfb-depth-norm", "x", "y"), stream: all(".tfb-depth-stream").length,
  median: texts(".tfb-headline b")[0], reading: texts(".tfb-reading")[0],
})"""


@drawing(DepthExplorer, READ)
def gradients_are_drawn(seen, setting, value):
    names, (form, shown, L) = (
        list(NAMES),
        (setting[key] for key in ("form", "shown", "L")),
    )
    back = SHOWN[shown][3] == 0  # labels on the left, where a gradient arrives
    left, right = (84, 314) if back else (36, 266)
    across = left + (right - left) * np.linspace(0, 1, value["lines"].shape[1])
    for name, heights in zip(names, value["lines"], strict=True):
        there = ~np.isnan(heights)
        expected = np.stack([across, 10 + 250 * (1 - heights)], axis=-1)[there]
        np.testing.assert_allclose(
            np.reshape(seen["lines"][name], (-1, 2)), expected, atol=0.14
        )
    assert seen["on"] == [form]
    low, high = value["band"]
    np.testing.assert_allclose(
        [up for _, up in seen["band"]],
        10 + 250 * (1 - np.concatenate([high, low[::-1]])),
        atol=0.14,
    )
    order = sorted(range(5), key=lambda i: names[i] == form)
    assert [name for name, _ in seen["names"]] == [names[i] for i in order]
    np.testing.assert_allclose(
        [up for _, up in seen["names"]],
        11 + 250 * (1 - value["labels"][order]),
        atol=0.14,
    )
    assert seen["numbers"] == [value["numbers"][i] for i in order]
    assert seen["median"] == value["numbers"][names.index(form)]
    assert seen["stream"] == (form != "plain")
    assert (
        len(seen["norms"])
        == {"plain": 0, "residual": 0, "post-norm": 1, "pre-norm": 1, "both": 2}[form]
    )
    # on the stream itself
    assert (form == "post-norm") == any(up < 40 for _, up in seen["norms"])
    assert seen["ones"] == 1
    assert (
        f"{seen['median']}, from {value['range'][0]} to {value['range'][1]} (7"
        " untrained stacks each, d = 64" in seen["reading"]
    )
    assert seen["voice"].startswith(f"{form}, {L} layers: ")
