"""The roofline: its numbers are those of tfbook.cost, and the page draws every form on
the roof.
"""

import re

import numpy as np
import pytest
from gallery import STATES, drawing, overlapping, pairwise

from tfbook.cost.roofline import CHIPS
from tfbook.cost.traffic import fused_attention, plain_attention
from tfbook.widgets import RooflineExplorer
from tfbook.widgets.roofline_counts import FORMS, across, span, up

STATES[RooflineExplorer] = lambda: list(pairwise(RooflineExplorer.controls))


def shown(**setting):
    figure = RooflineExplorer(**setting)
    return figure.compute(**figure.state)


def test_plain_attention_waits_for_memory_and_fused_attention_for_arithmetic():
    plain, fused = shown(), shown(form="fused")
    assert (plain["limit"], fused["limit"]) == ("memory", "arithmetic")
    assert plain["matrices"] == 97
    parts = plain_attention(2048, 64, H=32).values()
    assert plain["moved"] == "1.11 GB"
    assert sum(part.bytes for part in parts) == 1_107_296_256
    assert plain["seconds"] == [
        span(sum(part.flops for part in parts) / 312e12),
        span(1_107_296_256 / 2039e9),
    ]
    assert (
        fused["intensity"]
        == f"{fused_attention(2048, 64, H=32, chip=CHIPS['A100'].block).intensity:.3g}"
    )


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("precision", ["float32", "float16"])
def test_one_query_waits_for_memory_on_every_chip(chip, precision):
    for T in (128, 131072):
        one, shared = (
            shown(form=form, chip=chip, precision=precision, T=T) for form in FORMS[2:]
        )
        assert one["limit"] == "memory"
        assert 5 < float(shared["intensity"]) / float(one["intensity"]) <= 8
        assert one["flops"] == shared["flops"]


def test_all_forms_stand_on_the_roof():
    for setting in RooflineExplorer.settings():
        if setting["form"] != "plain":
            continue
        value = shown(**setting)
        edge, top = value["roof"]["ridge"]
        for over, above in value["points"]:
            roof = (
                top
                if over >= edge
                else value["roof"]["start"]
                + (top - value["roof"]["start"]) * over / edge
            )
            assert above == pytest.approx(roof, abs=0.02)
            assert 0 <= over <= 100
            assert 0 <= above <= 100


def test_axes_and_times():
    assert [across(2**-4), across(2**11)] == [0, 100]
    assert [up(1e9), round(up(10**15.4))] == [0, 100]
    assert [span(t) for t in (0.9996e-3, 1, 5e-10)] == ["1 ms", "1 s", "0.5 ns"]


READ = """(figure, { look, texts, numbers, widths, coordinates, boxes }) => ({
  points: look(".tfb-roof-point", "cx", "cy", "data-form"),
  slope: coordinates(figure.querySelector(".tfb-roof-slope")),
  ceiling: coordinates(figure.querySelector(".tfb-roof-ceiling")),
  drop: numbers(".tfb-roof-drop", "x1", "y1", "x2", "y2")[0],
  edge: numbers(".tfb-roof-edge", "x1", "y1")[0],
  words: texts("svg text"), cells: texts(".tfb-roof-times td"),
  caption: texts(".tfb-roof-times caption").join(),
  longer: texts(".tfb-roof-longer th"), bars: widths(".tfb-roof-times .tfb-bar"),
  facts: texts(".tfb-reading").join(),
  label: figure.querySelector("svg").getAttribute("aria-label"),
  boxes: boxes("svg text"),
})"""


@drawing(RooflineExplorer, READ)
def the_roof_is_drawn(seen, setting, value):
    x, y = (lambda percent: 36 + 3 * percent), (lambda percent: 260 - 2.4 * percent)
    roof, chosen = value["roof"], FORMS.index(setting["form"])
    (edge, top), (now, high) = roof["ridge"], value["points"][chosen]
    assert [
        (p["data-form"], float(p["cx"]), float(p["cy"])) for p in seen["points"]
    ] == [
        (form, pytest.approx(x(over)), pytest.approx(y(above)))
        for form, (over, above) in zip(FORMS, value["points"])
    ]
    assert ["tfb-roof-chosen" in p["class"] for p in seen["points"]] == [
        form == setting["form"] for form in FORMS
    ]
    assert f"tfb-roof-{value['limit']}" in seen["points"][chosen]["class"]
    assert seen["slope"] == pytest.approx([x(0), y(roof["start"]), x(edge), y(top)])
    assert seen["ceiling"] == pytest.approx([x(edge), y(top), x(100)])
    assert seen["drop"] == pytest.approx([x(now), y(high), x(now), y(0)])
    assert seen["edge"] == pytest.approx([x(edge), y(top)])
    assert {
        f"ridge {roof['at']}",
        f"arithmetic {roof['peak']}",
        f"memory {roof['bandwidth']}",
    } <= set(seen["words"])
    assert seen["cells"] == ["", value["seconds"][0], "", value["seconds"][1]]
    assert seen["bars"] == pytest.approx(value["bars"])
    assert seen["longer"] == [value["limit"]]
    assert max(value["bars"]) == 100
    assert ("assumed" in seen["caption"]) == (setting["chip"] == "laptop")
    assert f"waits for {value['limit']}: " in seen["headline"]
    assert f" {value['used']} % of the time" in seen["headline"]
    assert re.fullmatch(
        rf"{value['flops']}, {value['moved']} moved(, {value['matrices']} % of it T × T"
        r" matrices)?: "
        rf"{re.escape(value['intensity'])} FLOPs a byte",
        seen["facts"],
    )
    assert ("matrices" in seen["facts"]) == (setting["form"] == "plain")
    assert seen["label"].endswith(
        f"{setting['form']} at {value['intensity']}, limited by {value['limit']}."
    )
    assert seen["voice"].startswith(
        f"{setting['form']} attention, T {setting['T']}, heads of {setting['d_k']},"
        f" {setting['precision']}, "
    )
    assert seen["voice"].endswith(
        f"limited by {value['limit']}, at least"
        f" {value['seconds'][int(np.argmax(value['bars']))]}"
    )
    assert overlapping(seen["boxes"]) == [], setting
    assert all(left >= 0 and left + width <= 347 for left, _, width, _ in seen["boxes"])
