"""The figures of single ideas: what they compute, against plain NumPy, and in a real
browser every state as Python computed it.
"""

import re
from math import erf, exp, sqrt
from typing import ClassVar

import numpy as np
import pytest
from browser import visit
from gallery import drawing, gallery, on, read

from tfbook import cost
from tfbook.notebook import palette
from tfbook.widgets import (
    FeedForwardExplorer,
    MaskExplorer,
    PositionExplorer,
    SoftLookup,
)
from tfbook.widgets.controls import Choice, Slider
from tfbook.widgets.lookup import KEYS, VALUES


def numbers(nodes, name):
    return [float(node[name]) for node in nodes]


# ---- masks ----


@pytest.mark.parametrize("setting", MaskExplorer.settings())
def test_masks_by_hand(setting):
    value = MaskExplorer().compute(**setting)
    rng = np.random.default_rng(5)
    Q, K = 1.1 * rng.standard_normal((2, 7, 8))  # the last is padding
    words = {
        "none": [0, 1, 2, 3, 4, 5],
        "end": [0, 1, 2, 3, 6, 6],
        "start": [6, 6, 0, 1, 2, 3],
    }[setting["padding"]]
    first = setting["cached"]
    for q, (row, total) in enumerate(zip(value["weights"], value["sums"], strict=True)):
        may = [
            words[k] != 6 and (k <= first + q or not setting["causal"])
            for k in range(6)
        ]
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


MASKS = """(figure, { look }) => ({
  cells: look("[data-weight]", "data-q", "data-k", "data-weight", "fill", "x", "y"),
  inside: look(".tfb-mask-inside"), sums: look(".tfb-mask-sum"),
  queries: look("[data-query]"), keys: look("[data-key]"),
  parts: look(".tfb-mask-part", "width"),
})"""


@drawing(MaskExplorer, MASKS)
def masks_are_drawn(seen, setting, value):
    A = np.full_like(value["weights"], np.nan)
    for cell in seen["cells"]:
        A[int(cell["data-q"]), int(cell["data-k"])] = float(cell["data-weight"])
        assert float(cell["x"]) == pytest.approx(62 + int(cell["data-k"]) * 62)
        assert float(cell["y"]) == pytest.approx(
            44 + (setting["cached"] + int(cell["data-q"])) * 44
        )
        assert (
            cell["fill"]
            == palette.ramp(seen["dark"])[int(float(cell["data-weight"]) * 64 + 0.5)]
        )
    # what is masked is not there
    np.testing.assert_allclose(A, value["weights"], atol=0.00051)
    assert numbers(seen["inside"], "text") == pytest.approx(
        value["weights"][~np.isnan(value["weights"])], abs=0.0056
    )
    assert numbers(seen["sums"], "text") == pytest.approx(value["sums"], abs=0.0056)
    assert numbers(seen["parts"], "width") == pytest.approx(
        76 * value["sums"], abs=0.05
    )
    less = [0 < total < 0.9995 for total in value["sums"]]
    assert ["less" in node["class"] for node in seen["sums"]] == less
    assert [node["text"] for node in seen["keys"]] == value["tokens"]
    assert [node["text"] for node in seen["queries"]] == value["tokens"][
        setting["cached"] :
    ]
    assert seen["headline"] == value["finding"]
    assert value["finding"] in seen["voice"]


# ---- soft lookup ----


@pytest.mark.parametrize("setting", SoftLookup.settings()[::5])
def test_lookup_by_hand(setting):
    value = SoftLookup().compute(**setting)
    query, temperature = setting["query"], setting["temperature"]
    distance = (query - KEYS) ** 2 / 2
    expected = (
        np.eye(6)[distance.argmin()]
        if temperature == 0
        else np.exp((distance.min() - distance) / temperature)
    )
    expected = expected / expected.sum()
    np.testing.assert_allclose(value["weights"], expected, atol=1e-12)
    assert value["answer"] == pytest.approx(expected @ VALUES, abs=0.00051)
    # the answer is a point of the curve
    assert value["curve"][2 * query] == pytest.approx(expected @ VALUES)


def test_lookup_goes_from_picking_to_averaging():
    figure = SoftLookup()
    assert figure.compute(12, 0)["answer"] == 0.6
    assert figure.compute(12, 1)["answer"] == pytest.approx(0.6, abs=0.01)
    assert figure.compute(12, 10_000)["answer"] == pytest.approx(
        VALUES.mean(), abs=0.02
    )


LOOKUP = """(figure, { look }) => ({
  bars: look("[data-weight]", "data-weight", "height"),
  answer: look("[data-answer]", "cy"), nearest: look(".tfb-lookup-nearest", "cx"),
  query: look("line.tfb-lookup-query", "x1"), curve: look("[data-curve]", "d"),
  pulls: look(".tfb-lookup-pull", "stroke-opacity"),
  values: look(".tfb-lookup-value", "cx", "cy"),
})"""


@drawing(SoftLookup, LOOKUP)
def lookup_is_drawn(seen, setting, value):
    assert numbers(seen["bars"], "data-weight") == pytest.approx(
        value["weights"], abs=0.00051
    )
    assert numbers(seen["bars"], "height") == pytest.approx(
        64 * value["weights"], abs=0.05
    )
    assert numbers(seen["pulls"], "stroke-opacity") == pytest.approx(
        value["weights"], abs=0.0011
    )
    width = min(seen["width"], 640)
    x, y = (
        (lambda percent: 16 + percent / 40 * (width - 32)),
        (lambda height: 230 - height * 208),
    )
    assert numbers(seen["query"], "x1") == pytest.approx([x(setting["query"])])
    assert numbers(seen["nearest"], "cx") == pytest.approx([x(KEYS[value["nearest"]])])
    assert numbers(seen["answer"], "cy") == pytest.approx([y(value["answer"])], abs=0.2)
    assert numbers(seen["values"], "cy") == pytest.approx(y(VALUES))
    curve = np.array(re.findall(r"[ML]([\d.]+) ([\d.]+)", seen["curve"][0]["d"]), float)
    np.testing.assert_allclose(curve[:, 1], y(value["curve"]), atol=0.2)
    assert curve[2 * setting["query"], 0] == pytest.approx(
        x(setting["query"]), abs=0.06
    )
    assert float(seen["headline"][-4:]) == pytest.approx(value["answer"], abs=0.0056)
    assert (
        f"query at {setting['query']}, temperature {setting['temperature']}:"
        in seen["voice"]
    )


# ---- positions ----


@pytest.mark.parametrize("setting", PositionExplorer.settings())
def test_positions_by_hand(setting):
    value = PositionExplorer().compute(**setting)
    T, d, H = setting["T"], setting["d"], setting["H"]
    p, i = np.arange(T), np.arange(d // 2)
    angle = p * (10_000.0 ** (-2 * i / d))[:, None]  # (d/2, T)
    if setting["scheme"] == "sinusoidal":
        table = np.nan_to_num(value["up"]) - np.nan_to_num(value["down"])
        np.testing.assert_allclose(table[0::2], np.sin(angle), atol=1e-12)
        np.testing.assert_allclose(table[1::2], np.cos(angle), atol=1e-12)
        assert (np.isnan(value["up"]) != np.isnan(value["down"])).all()
        assert value["waves"] == [6, round(2 * np.pi * 10_000 ** ((d - 2) / d))]
    if setting["scheme"] == "products":
        # sin a sin b + cos a cos b
        np.testing.assert_allclose(
            value["products"], np.cos(angle).mean(axis=0), atol=0.00051
        )
        assert value["differ"] == 0
    if setting["scheme"] == "rotary":
        wrapped = (value["turns"] - angle / (2 * np.pi) + 0.5) % 1 - 0.5
        np.testing.assert_allclose(wrapped, 0, atol=1e-12)
        np.testing.assert_allclose(
            value["alike"], np.cos(angle).mean(axis=0), atol=0.00051
        )
    if setting["scheme"] == "ALiBi":
        np.testing.assert_allclose(
            value["slopes"], 2.0 ** (-8 * np.arange(1, H + 1) / H), atol=1e-6
        )
        assert value["least"] == pytest.approx(-value["slopes"][0] * (T - 1), abs=0.001)


def test_positions_need_pairs():
    with pytest.raises(ValueError, match="even"):
        PositionExplorer(d=9)


READ_POSITION = """(figure, { all, look }) => ({
  cells: look(
    "[data-channel]", "data-channel", "data-position", "fill-opacity", "x", "y"),
  products: look("[data-product]", "data-product", "height", "y"),
  floor: look(".tfb-floor", "y1"), apart: look("[data-apart]", "stroke-dasharray"),
  queries: look("path.tfb-position-query", "transform"),
  keys: look("path.tfb-position-key", "transform"),
  slopes: look("[data-slope]", "data-slope", "d"), heads: look(".tfb-position-head"),
  offered: all(":scope > .tfb-controls label")
    .filter((label) => label.getClientRects().length)
    .map((label) => label.querySelector("[name]").name),
})"""


def turn(nodes):
    """How far each arrow is drawn turned, in parts of a full turn,
    counter-clockwise.
    """
    return np.array(
        [
            -float(re.search(r"rotate\(([-\d.e]+)\)", node["transform"])[1]) / 360
            for node in nodes
        ]
    )


def compare_dials(seen, turns, key, distance):
    np.testing.assert_allclose(turn(seen["keys"]), turns[:, key], atol=0.00051)
    np.testing.assert_allclose(
        turn(seen["queries"]), turns[:, key + distance], atol=0.00051
    )
    np.testing.assert_allclose(
        [float(node["stroke-dasharray"].split()[0]) for node in seen["apart"]],
        turns[:, distance],
        atol=0.00051,
    )
    between = (
        turn(seen["queries"]) - turn(seen["keys"]) - turns[:, distance] + 0.5
    ) % 1 - 0.5
    # the angle that is drawn is that of the distance alone
    np.testing.assert_allclose(between, 0, atol=0.0016)


@drawing(PositionExplorer, READ_POSITION)
def positions_are_drawn(seen, setting, value):
    scheme, T, d = setting["scheme"], setting["T"], setting["d"]
    # the rest of the last is in test_trained_positions
    matter = {"ALiBi": ["T", "H"], "trained models": []}.get(scheme, ["T", "d"])
    assert seen["offered"] == ["scheme", *matter]
    assert len(seen["cells"]) == (T * d if scheme == "sinusoidal" else 0)
    if scheme == "sinusoidal":
        table = np.zeros((d, T))
        for cell in seen["cells"]:
            sign = -1 if "negative" in cell["class"] else 1
            channel, position = int(cell["data-channel"]), int(cell["data-position"])
            table[channel, position] = sign * float(cell["fill-opacity"])
            assert float(cell["x"]) == pytest.approx(
                82 + position * (min(seen["width"], 640) - 84) / T, abs=0.006
            )
            assert float(cell["y"]) == pytest.approx(
                4 + channel * min(max(256 / d, 7), 22)
            )
        np.testing.assert_allclose(
            table,
            np.nan_to_num(value["up"]) - np.nan_to_num(value["down"]),
            atol=0.00051,
        )
        assert [
            int(n) for n in re.findall(r"\d+", seen["headline"].replace("\u202f", ""))
        ] == value["waves"]
    if scheme in {"products", "rotary"}:
        expected = np.array(value["products"] or value["alike"])
        assert numbers(seen["products"], "data-product") == list(expected)
        unit = float(seen["products"][0]["height"])  # that of 1
        assert numbers(seen["products"], "height") == pytest.approx(
            unit * abs(expected)
        )
        assert ["negative" in node["class"] for node in seen["products"]] == list(
            expected < 0
        )
        tops = [float(seen["floor"][0]["y1"]) - max(x, 0) * unit for x in expected]
        assert numbers(seen["products"], "y") == pytest.approx(tops)
    if scheme == "rotary":
        compare_dials(seen, value["turns"], 2, 3)
        assert float(seen["headline"][-4:]) == pytest.approx(
            value["alike"][3], abs=0.0056
        )
    if scheme == "ALiBi":
        assert numbers(seen["slopes"], "data-slope") == value["slopes"]
        ends = [
            float(re.search(r"L[\d.]+ ([\d.]+)", node["d"])[1])
            for node in seen["slopes"]
        ]
        np.testing.assert_allclose(
            ends,
            10 + 252 * np.array(value["slopes"]) * (T - 1) / -value["least"],
            atol=0.02,
        )
        labels = [
            float(re.search("−([\\d.]+)", node["text"])[1]) for node in seen["heads"]
        ]
        np.testing.assert_allclose(sorted(labels), sorted(value["slopes"]), rtol=0.005)


class Far(PositionExplorer):
    """Far enough for products below zero."""

    controls = (
        Choice("scheme", "scheme", ["products"]),
        Slider("T", "T", [128]),
        Slider("d", "d", [8]),
        Slider("H", "H", [8]),
    )
    default: ClassVar = {"scheme": "products", "T": 128, "d": 8, "H": 8}


def test_products_below_zero_hang_down(browser, tmp_path):
    figure, path = Far(), tmp_path / "index.html"
    value = figure.compute(**figure.state)
    path.write_text(
        "<!doctype html><html lang=en><meta charset=utf-8><title>A figure</title>"
        f"<body>{figure.page()}",
        encoding="utf-8",
    )
    with visit(browser, path.as_uri()) as visited:
        seen = read(on(visited.page, Far), PositionExplorer)
    floor = float(seen["floor"][0]["y1"])
    below = np.array(value["products"]) < 0
    assert below.any()
    assert ["negative" in node["class"] for node in seen["products"]] == list(below)
    assert {
        float(node["y"]) for node, less in zip(seen["products"], below) if less
    } == {floor}


def test_rotary_depends_on_distance_alone(browser):
    figure = PositionExplorer(scheme="rotary")
    turns = figure.compute(**figure.state)["turns"]
    with gallery(browser) as visited:
        page, position = visited.page, on(visited.page, PositionExplorer)
        position.get_by_label("scheme").select_option("rotary")
        for distance in (0, 1, 7, 16):
            position.get_by_label("query comes later by").fill(str(distance))
            heights = set()
            for key in (0, 5, 15):
                position.get_by_label("key stands at").fill(str(key))
                seen = read(position, PositionExplorer)
                compare_dials(seen, turns, key, distance)
                heights.add(position.locator(".tfb-headline b").inner_text())
                assert (
                    f"Query at {key + distance}, key at {key}"
                    in position.locator(".tfb-voice").inner_text()
                )
            assert len(heights) == 1
        position.get_by_label("key stands at").focus()
        page.keyboard.press("ArrowLeft")
        assert "key at 14" in position.locator(".tfb-headline").inner_text()


# ---- the feed-forward network ----

INPUTS = np.linspace(-4, 4, 81)
TARGET = 1.4 * np.sin(1.1 * INPUTS + 0.6) + 0.15 * INPUTS
UNITS = {
    "ReLU": lambda x: max(x, 0),
    "GELU": lambda x: x * (1 + erf(x / sqrt(2))) / 2,
    "SiLU": lambda x: x / (1 + exp(-x)),
    "gated": lambda x: x * x / (1 + exp(-x)),
}


@pytest.mark.parametrize("setting", FeedForwardExplorer.settings()[::3])
def test_units_by_hand(setting):
    value = FeedForwardExplorer().compute(**setting)
    f, n, gated = UNITS[setting["unit"]], setting["units"], setting["unit"] == "gated"
    curve = np.array([f(x) for x in INPUTS])
    np.testing.assert_allclose(
        value["curve"], np.where(abs(curve) <= 2.5, curve + 2.5, np.nan), atol=1e-9
    )
    columns = [[f(x + 4 - 8 * i / n) for x in INPUTS] for i in range(n)] + (
        [] if gated else [np.ones(81)]
    )
    columns = np.array(columns).T
    off = value["sum"] - 2.5 - TARGET
    inside = ~np.isnan(off)
    if inside.all():
        # what is left is at right angles to every unit: no sum is nearer
        np.testing.assert_allclose(columns.T @ off, 0, atol=1e-6)
        assert value["error"] == pytest.approx(np.sqrt(np.mean(off**2)), abs=0.00051)
    layer = cost.layer(512, 512, 8, d_ff=512 * setting["ratio"], gated=gated)
    assert value["flops"] == pytest.approx(
        layer.flops["ffn"] / sum(layer.flops.values()), abs=5e-5
    )
    assert value["params"] == pytest.approx(
        layer.params["ffn"] / sum(layer.params.values()), abs=5e-5
    )


def test_more_units_come_nearer():
    figure = FeedForwardExplorer()
    for unit in UNITS:
        errors = [
            figure.compute(unit, units, 4)["error"] for units in (1, 2, 3, 4, 6, 8)
        ]
        assert errors == sorted(errors, reverse=True)
    relu = figure.compute("ReLU", 4, 4)
    # the sum of the first units is the whole sum, up to where the next one begins
    for i, partial in enumerate(relu["partial"]):
        before = relu["bends"][i + 1] > INPUTS
        np.testing.assert_allclose(partial[before], relu["sum"][before], atol=1e-9)
    straight = figure.compute("ReLU", 1, 4)["sum"]
    # one unit that begins at the edge bends nothing
    np.testing.assert_allclose(np.diff(straight, 2), 0, atol=1e-9)


def along(path, size):
    """Heights of a path, in units of the panel, and nothing where the pen is up."""
    points = np.array(re.findall(r"[ML]([\d.]+) ([\d.]+)", path["d"]), float).reshape(
        -1, 2
    )
    heights = np.full(81, np.nan)
    columns = np.round((points[:, 0] - 6) / (size - 12) * 80).astype(int)
    heights[columns] = (210 - points[:, 1]) / 40
    return heights


UNIT = """(figure, { look }) => ({
  sums: look(".tfb-unit-sum", "d"), partial: look(".tfb-unit-partial", "d"),
  target: look(".tfb-unit-target", "d"),
  bends: look("[data-bend]", "data-bend", "transform"),
  shares: look("[data-share]", "data-share", "width"),
  words: look(".tfb-unit-shares .tfb-unit-name"),
  rest: look(".tfb-unit-shares .tfb-unit-note"), title: look(".tfb-unit-title"),
})"""


@drawing(FeedForwardExplorer, UNIT)
def units_are_drawn(seen, setting, value):
    width = min(seen["width"], 680)
    left = int(width * 0.36 + 0.5)
    right = width - left - 24
    for path, size, heights in [
        (seen["sums"][0], left, value["curve"]),
        (seen["sums"][1], right, value["sum"]),
        (seen["target"][0], right, TARGET + 2.5),
        *(
            (path, right, heights)
            for path, heights in zip(seen["partial"], value["partial"], strict=True)
        ),
    ]:
        np.testing.assert_allclose(along(path, size), heights, atol=0.003)
    assert numbers(seen["bends"], "data-bend") == value["bends"]
    shifts = [
        float(re.search(r"\(([\d.]+) ", node["transform"])[1]) for node in seen["bends"]
    ]
    np.testing.assert_allclose(
        shifts, 6 + (np.array(value["bends"]) + 4) / 8 * (right - 12)
    )
    shares = [value["params"], value["flops"]]
    assert numbers(seen["shares"], "data-share") == shares
    assert numbers(seen["shares"], "width") == pytest.approx(
        [(width - 1) * share for share in shares], abs=0.01
    )
    for node, rest, share in zip(seen["words"], seen["rest"], shares, strict=True):
        assert float(node["text"].split()[-2]) == pytest.approx(100 * share, abs=0.51)
        assert float(rest["text"].split()[-2]) == pytest.approx(
            100 - 100 * share, abs=0.51
        )
    assert ("three matrices" in seen["title"][0]["text"]) == (
        setting["unit"] == "gated"
    )
    assert seen["headline"].startswith(f"{setting['units']} {setting['unit']} unit")
    assert float(re.search(r"by ([\d.]+),", seen["headline"])[1]) == pytest.approx(
        value["error"], abs=0.0056
    )
    assert f"{seen['headline']}. Feed-forward" in seen["voice"]
