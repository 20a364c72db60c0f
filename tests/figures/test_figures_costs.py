"""The cost explorer: its numbers are those of tfbook.cost, in every column and state,
and the page draws them.
"""

import json
import re
from functools import cache
from itertools import combinations, product

import numpy as np
import pytest
from figure_html import unpack
from gallery import (
    LEAPS,
    STATES,
    compare,
    drawing,
    gallery,
    on,
    overlapping,
    pairwise,
    read,
)
from test_figures_cost import SEEN, plain

from tfbook import cost
from tfbook.widgets import CostExplorer
from tfbook.widgets.published import MODELS, short


def costs(**setting):
    """What the cost explorer shows; the sizes are a model's, where not told."""
    figure = CostExplorer(**setting)
    return figure.compute(**figure.state)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("T", [16, 2048, 2**20])
def test_cost_explorer_counts_as_cost_does(model, T):
    value, sizes = costs(model=model, T=T), MODELS[model]
    d, L, H, vocab = sizes["d"], sizes["L"], sizes["d"] // sizes["d_k"], sizes["vocab"]
    counted = cost.model(T, d, H, L, vocab)
    parts = L * 8 * T * d * d, L * 4 * T * T * d, L * 16 * T * d * d, 2 * T * d * vocab
    assert [value[name] for name in ("projections", "mix", "ffn", "logits")] == [
        short(n) for n in parts
    ]
    assert value["whole"]["total"] == short(counted.total_flops)
    assert value["whole"]["shares"] == [round(100 * n / sum(parts), 1) for n in parts]
    assert value["shares"] == [round(100 * n / sum(parts[:3]), 1) for n in parts[:3]]
    memory = [
        short(2 * counted.memory[part]) + "B"
        for part in ("scores", "streaming", "cache")
    ]
    assert [value[name] for name in ("scores", "streaming", "cache")] == memory
    assert [value["attention"], *value["others"]] == [
        short(n) for n in (8 * d * d + 4 * T * d, 4 * d * d, 6 * d * d)
    ]
    assert (value["steps"], value["path"]) == ([1, T, 1], [1, T, T // 2])


def test_published_sizes_are_those_of_the_papers():
    assert {
        name: (s["d"], s["d"] // s["d_k"], s["d"] * s["ff_ratio"], s["L"])
        for name, s in MODELS.items()
    } == {
        "Transformer-base": (512, 8, 2048, 6),
        "Transformer-big": (1024, 16, 4096, 6),
        "BERT-base": (768, 12, 3072, 12),
        "GPT-2-small": (768, 12, 3072, 12),
        "GPT-3": (12288, 96, 49152, 96),
    }
    assert {s["H_kv"] for s in MODELS.values()} == {"H"}


def test_at_the_length_of_gpt_3_the_quadratic_part_is_under_3_per_cent():
    assert costs(model="GPT-3", T=2048)["whole"]["shares"] == [32.3, 2.7, 64.6, 0.3]


def cost_states():
    """A model's sizes at every T, and sizes of one's own in which any two
    values meet.
    """
    controls = CostExplorer.controls
    models = [
        {**setting, **MODELS[setting["model"]]}
        for setting in CostExplorer.settings(["model", "T"])
        if setting["model"] in MODELS
    ]
    return [
        {c.name: s[c.name] for c in controls}
        for s in models + [{"model": "own", **s} for s in pairwise(controls[1:])]
    ]


STATES[CostExplorer] = cache(cost_states)
LEAPS[CostExplorer] = lambda setting: setting["model"] in MODELS


def test_any_two_values_meet():
    tried, controls = cost_states(), CostExplorer.controls
    for a, b in combinations(controls[1:], 2):
        assert {(s[a.name], s[b.name]) for s in tried} == set(
            product(a.values, b.values)
        )
    assert {(s["model"], s["T"]) for s in tried} == set(
        product(controls[0].values, controls[1].values)
    )


@pytest.mark.parametrize("setting", cost_states()[::5], ids=str)
def test_every_part_is_counted_at_sizes_of_ones_own(setting):
    model, T, d, d_k, H_kv, ratio, L, vocab = setting.values()
    H = d // d_k
    kv = {"H": H, "H/2": H // 2, "1": 1}[H_kv]
    value, counted = costs(**setting), cost.model(T, d, H, L, vocab, ratio * d, kv)
    flops = counted.flops
    parts = [
        flops["projections"] + flops["output"],
        flops["scores"] + flops["mix"],
        flops["ffn"],
    ]
    assert [value[name] for name in ("projections", "mix", "ffn", "logits")] == [
        short(n) for n in (*parts, flops["logits"])
    ]
    assert value["shares"] == [round(100 * n / sum(parts), 1) for n in parts]
    assert (value["heads"], value["d_ff"], (value["whole"] is None)) == (
        [H, kv],
        ratio * d,
        model == "own",
    )
    assert value["cache"] == short(2 * L * T * 2 * kv * d_k) + "B"
    for meets, part in zip(
        value["crossings"],
        (["projections", "output"], ["projections", "output", "ffn"]),
    ):
        at = cost.layer(meets, d, H, ratio * d, kv).flops
        assert at["scores"] + at["mix"] == sum(at[name] for name in part)
    for meets, words in zip(value["crossings"], value["words"]):
        times = re.fullmatch(r"([\d.]*)d( \+ dₖ)?", words)
        assert meets == float(times[1] or 1) * d + (d_k if times[2] else 0)


def test_a_column_has_its_value_at_every_setting_that_it_depends_on():
    figure = CostExplorer()
    for name, column in figure.spec["table"].items():
        settings = figure.settings(column["controls"])
        for setting, index in zip(
            settings, unpack(column["at"]["array"])[0], strict=True
        ):
            assert column["values"][int(index)] == json.loads(
                json.dumps(getattr(figure, name)(**setting))
            )


@pytest.mark.parametrize("model", MODELS)
def test_lines_meet_where_the_crossings_are_marked(model):
    value, d, lengths = (
        costs(model=model),
        MODELS[model]["d"],
        [2**i for i in range(4, 21)],
    )
    assert (value["crossings"], value["words"]) == ([2 * d, 6 * d], ["2d", "6d"])
    for meets, up in zip(
        value["crossings"], (value["heights"][0], value["heights"][2])
    ):
        assert np.interp(
            np.log2(meets), np.log2(lengths), np.linspace(0, 100, 17)
        ) == pytest.approx(up, abs=0.006)


def test_cost_explorer_takes_sizes_of_its_own_and_refuses_what_cannot_be():
    assert CostExplorer(model="BERT-base", T=1000).state == {
        "model": "BERT-base",
        "T": 1000,
        **MODELS["BERT-base"],
    }
    assert CostExplorer(model="BERT-base", d=1000, d_k=100).state["model"] == "own"
    assert costs(d=1000, d_k=100)["heads"] == [10, 10]
    with pytest.raises(ValueError, match="multiple of d_k"):
        CostExplorer(d=1000)
    with pytest.raises(ValueError, match="even number of heads"):
        CostExplorer(d=384, d_k=128, H_kv="H/2")
    with pytest.raises(ValueError, match="model: expected"):
        CostExplorer(model="GPT-9")


def test_counts_are_short():
    assert [short(n) for n in (0, 999, 999_600, 1e9, 1234e9, 5e20)] == [
        "0 ",
        "999 ",
        "1 M",
        "1 G",
        "1.23 T",
        "500 E",
    ]


COSTS = """
  lines: ["both", "ffn", "projections"].flatMap((name) =>
    numbers(`.tfb-cost-${name}`, "y1", "y2")),
  rising: coordinates(figure.querySelector(".tfb-cost-attention")),
  marks: numbers(".tfb-cost-crossing", "cx", "cy", "data-length"),
  dots: numbers(".tfb-cost-dot", "cx", "cy"),
  names: boxes("svg text"), bars: widths(".tfb-bar"),
  title: texts(".tfb-cost-title").join(), whole: texts(".tfb-cost-whole").join(),
  model: figure.querySelector("[name=model]").value,"""


@drawing(CostExplorer, SEEN.replace("MORE", COSTS))
def costs_are_drawn(seen, setting, value):
    T, (projections, ffn, both) = setting["T"], value["heights"]
    x, y = (lambda percent: 34 + 2.92 * percent), (lambda percent: 314 - 2.92 * percent)
    assert seen["model"] == setting["model"]
    assert np.array(seen["lines"]) == pytest.approx(
        np.array([[y(up)] * 2 for up in (both, ffn, projections)])
    )
    assert seen["rising"] == pytest.approx([x(0), y(0), x(100), y(100)])
    assert np.array(seen["marks"]) == pytest.approx(
        np.array(
            [
                (x(up), y(up), length)
                for up, length in zip((projections, both), value["crossings"])
            ]
        )
    )
    assert np.array(seen["dots"]) == pytest.approx(
        np.array(
            [(x(value["across"]), y(up)) for up in (projections, ffn, value["across"])]
        )
    )
    assert overlapping(seen["names"]) == [], setting
    texts = [plain(text) for text in seen["texts"]]
    assert {
        f"T = {T}",
        *(f"T = {words}" for words in value["words"]),
        *(f"= {n}" for n in value["crossings"]),
    } <= set(texts)
    powers = [
        "10" + str(n).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
        for _, n in value["ticks"]
    ]
    assert powers == [text for text in texts if re.fullmatch("10[⁰¹²³⁴⁵⁶⁷⁸⁹]+", text)]
    flops = [value[name] for name in ("projections", "mix", "ffn")]
    rows = [
        text
        for share, n in zip(value["shares"], flops)
        for text in ("", f"{share:.1f} %", n)
    ] + ["", "", value["logits"]]
    rows += [
        "∝ T²",
        value["scores"],
        "∝ T",
        value["streaming"],
        "∝ T",
        value["cache"],
        "",
        value["attention"],
        *value["others"],
    ]
    assert [plain(cell) for cell in seen["cells"]] == [
        *rows,
        *map(str, value["steps"] + value["path"]),
    ]
    assert seen["bars"] == pytest.approx(value["shares"])
    assert f"{value['shares'][1]:.1f} %" in seen["headline"]
    H, kv = value["heads"]
    assert f"{H} head{'s' * (H > 1)} of {setting['d_k']}" in plain(seen["title"])
    assert plain(seen["title"]).endswith(f"d_ff = {value['d_ff']}")
    assert ("share" in seen["title"]) == (setting["H_kv"] != "H")
    assert (f"{kv} key/value heads" in seen["title"]) == (
        setting["H_kv"] == "H/2" and kv > 1
    )
    names = ("projections", "scores and mix", "FFN", "logits")
    said = ", ".join(
        f"{name} {share:.1f} %" for name, share in zip(names, value["shares"])
    )
    assert (
        seen["voice"]
        == f"{setting['model']}, T {T}, {H} heads: {said} of a layer’s FLOPs"
    )
    if whole := value["whole"]:
        assert f": {whole['total']}FLOPs. " in seen["whole"]
        assert (
            ", ".join(
                f"{name} {share:.1f} %" for name, share in zip(names, whole["shares"])
            )
            in seen["whole"]
        )
    assert all(f"{n}" in seen["label"] for n in value["crossings"])


def test_a_slider_away_from_a_model_makes_the_sizes_ones_own(browser):
    with gallery(browser) as visited:
        locator = on(visited.page, CostExplorer)
        model, d = locator.locator("[name=model]"), locator.locator("[name=d]")
        model.select_option("BERT-base")
        sizes = [
            locator.locator(f"[name={name}]").get_attribute("aria-valuetext")
            for name in ("d", "d_k", "ff_ratio", "L", "vocab")
        ]
        assert sizes == ["768", "64", "4", "12", "30522"]
        locator.locator("[name=T]").fill("3")
        assert model.input_value() == "BERT-base", "T is no size of a model"
        d.fill("0")
        assert (model.input_value(), d.get_attribute("aria-valuetext")) == (
            "own",
            "256",
        )
        model.select_option("BERT-base")
        assert d.get_attribute("aria-valuetext") == "768"
        locator.get_by_role("button", name="reset").click()
        compare(CostExplorer, read(locator, CostExplorer), CostExplorer().state)
