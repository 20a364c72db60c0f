"""The figures of cost: their numbers are those of tfbook.cost and tfbook.numpy, and every state is drawn with them."""

import re

import numpy as np
import pytest
from gallery import drawing, gallery, on

from tfbook import cost
from tfbook.numpy import attention_scores, scaled_dot_product_attention, softmax, streaming_attention
from tfbook.widgets import CostExplorer, SharedHeads, StreamingExplorer
from tfbook.widgets.costs import MODELS, short
from tfbook.widgets.streaming import row

SEEN = """(figure, { texts }) => ({ texts: texts("svg text"), cells: texts("td"),
  label: figure.querySelector("svg[role=img]").getAttribute("aria-label"), MORE })"""


def plain(text):
    """Digits without the thin spaces between thousands."""
    return text.replace("\u202f", "")


# ---- what a model costs ----


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("T", [16, 2048, 2**20])
def test_cost_explorer_counts_as_cost_does(model, T):
    value, (d, H, L, vocab) = CostExplorer().compute(model, T), MODELS[model]
    counted = cost.model(T, d, H, L, vocab)
    quadratic = L * 4 * T * T * d
    assert value["shares"][1] == round(100 * quadratic / counted.total_flops, 1)
    assert sum(value["shares"]) == pytest.approx(100, abs=0.2)
    assert value["flops"] == [short(n) for n in (L * 8 * T * d * d, quadratic, L * 16 * T * d * d, 2 * T * d * vocab, counted.total_flops)]
    assert value["memory"] == [short(2 * L * n) + "B" for n in (H * T * T, 2 * H * T, 2 * T * d, 2 * T * d // H)]
    assert value["layers"] == [[short(8 * d * d + 4 * T * d), "1", "1"], [short(4 * d * d), str(T), str(T)],
                               [short(6 * d * d), "1", str(T // 2)]]


def test_at_the_length_of_gpt_3_the_quadratic_part_is_under_3_per_cent():
    assert CostExplorer().compute("GPT-3", 2048)["shares"] == [32.3, 2.7, 64.6, 0.3]


@pytest.mark.parametrize("model", MODELS)
def test_lines_meet_where_the_crossings_are_marked(model):
    value, d = CostExplorer().compute(model, 64), MODELS[model][0]
    projections, mix, _, both = value["lines"]
    assert list(value["crossings"][:, 2]) == [2 * d, 6 * d]
    for (across, up, _), flat in zip(value["crossings"], (projections, both)):
        assert up == pytest.approx(flat[0])
        assert np.interp(across, np.linspace(0, 100, 17), mix) == pytest.approx(up)


def test_cost_explorer_takes_sizes_of_its_own_and_refuses_what_cannot_be():
    value = CostExplorer(model="GPT-3", T=1000, d=96, H=8).compute("GPT-3", T=1000, d=96, H=8)
    assert value["sizes"] == [96, 8, 96]
    with pytest.raises(ValueError, match="multiple of H"):
        CostExplorer(d=100)  # the model has 96 heads
    with pytest.raises(ValueError, match="at least 8"):
        CostExplorer(d=4, H=4)


def test_counts_are_short():
    assert [short(n) for n in (0, 999, 999_600, 1e9, 1234e9, 5e20)] == ["0 ", "999 ", "1 M", "1 G", "1.23 T", "500 E"]


COSTS = """
  heights: [...figure.querySelectorAll(".tfb-cost-line")].map((line) => line.getAttribute("d").match(/[\\d.]+/g).map(Number)),
  marks: [...figure.querySelectorAll(".tfb-cost-crossing")]
    .map((c) => ["cx", "cy", "data-length"].map((n) => Number(c.getAttribute(n)))),
  dots: [...figure.querySelectorAll(".tfb-cost-dot")].map((c) => ["cx", "cy"].map((n) => Number(c.getAttribute(n)))),
  hidden: ["d", "H"].every((name) => figure.querySelector(`[name=${name}]`).offsetParent === null),"""


@drawing(CostExplorer, SEEN.replace("MORE", COSTS))
def costs_are_drawn(seen, setting, value):
    T, d = setting["T"], value["sizes"][0]
    x, y = (lambda percent: 34 + 2.92 * percent), (lambda percent: 314 - 2.92 * percent)
    for drawn, i in zip(seen["heights"], (3, 2, 0, 1), strict=True):
        assert drawn[::2] == pytest.approx([x(6.25 * j) for j in range(17)], abs=0.01)
        assert drawn[1::2] == pytest.approx(y(value["lines"][i]), abs=0.01)
    assert np.array(seen["marks"]) == pytest.approx(np.array([(x(a), y(b), t) for a, b, t in value["crossings"]]), abs=0.01)
    assert np.array(seen["dots"]) == pytest.approx(np.array([(x(value["now"][0]), y(up)) for up in value["now"][1:]]), abs=0.01)
    texts = [plain(text) for text in seen["texts"]]
    assert {f"T = {T}", f"T = 2d = {2 * d}", f"T = 6d = {6 * d}"} <= set(texts)
    powers = ["10" + str(n).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")) for _, n in value["ticks"]]
    assert powers == [text for text in texts if re.fullmatch("10[⁰¹²³⁴⁵⁶⁷⁸⁹]+", text)]
    rows = [text for share, n in zip(value["shares"], value["flops"]) for text in ("", f"{share:.1f} %", n)]
    rows += ["", "", value["flops"][4]]
    rows += [text for i, n in enumerate(value["memory"]) for text in ("∝ T" if i else "∝ T²", n)]
    rows += [""] + [text for kind in zip(*value["layers"]) for text in kind]
    assert [plain(cell) for cell in seen["cells"]] == rows
    assert f"{value['shares'][1]:.1f} %" in seen["headline"]
    names = ("projections", "scores and mix", "FFN", "logits")
    said = ", ".join(f"{name} {share:.1f} %" for name, share in zip(names, value["shares"]))
    assert seen["voice"] == f"{setting['model']}, T {T}: {said} of {value['flops'][4]}FLOPs"
    assert f"{2 * d}" in seen["label"]
    assert seen["hidden"]


# ---- shared heads ----


@pytest.mark.parametrize("setting", SharedHeads.settings()[::11])
def test_shared_heads_count_as_cost_does(setting):
    value, (H, H_kv, T, L) = SharedHeads().compute(**setting), setting.values()
    H_kv, d = min(H, H_kv), 128 * H
    assert list(value["reads"]) == [head * H_kv // H for head in range(H)]
    assert value["cache"] == [short(2 * L * 2 * T * 128 * n) + "B" for n in (H_kv, H)]
    counted = [cost.layer(1, d, H, H_kv=n).total_params - cost.layer(1, d, H).params["ffn"] - 4 * d for n in (H_kv, H)]
    assert value["params"] == [short(L * n).strip() for n in counted]
    assert value["shares"] == pytest.approx([100 * H_kv / H, 100 * counted[0] / counted[1]], abs=0.006)


def test_shared_heads_refuse_what_does_not_divide():
    assert SharedHeads(H=12, H_kv=3).compute(H=12, H_kv=3, T=16, L=1)["H_kv"] == 3
    with pytest.raises(ValueError, match="divisor of H"):
        SharedHeads(H=12, H_kv=5)


SHARED = """
  lines: [...figure.querySelectorAll(".tfb-shared-line")].map((line) => ["x1", "x2"].map((n) => Number(line.getAttribute(n)))),
  dots: ["query", "key", "value"].map((kind) =>
    [...figure.querySelectorAll(`.tfb-shared-${kind}`)].map((c) => ["cx", "r"].map((n) => Number(c.getAttribute(n))))),
  bars: [...figure.querySelectorAll(".tfb-shared-whole span")].map((bar) => Number.parseFloat(bar.style.width)),
  stored: [...figure.querySelectorAll(".tfb-shared-bar")].map((bar) => bar.textContent),"""


@drawing(SharedHeads, SEEN.replace("MORE", SHARED))
def shared_heads_are_drawn(seen, setting, value):
    H, H_kv = setting["H"], value["H_kv"]
    centres = [340 * (j + 0.5) / H_kv for j in range(H_kv)]
    assert np.array(seen["lines"]) == pytest.approx(
        np.array([(340 * (i + 0.5) / H, centres[int(j)]) for i, j in enumerate(value["reads"])]), abs=0.01)
    queries, keys, values = map(np.array, seen["dots"])
    assert queries[:, 0] == pytest.approx(np.array(seen["lines"])[:, 0])
    assert (keys[:, 0] + values[:, 0]) / 2 == pytest.approx(centres)
    for dots in (queries, np.sort(np.concatenate([keys, values]), axis=0)):
        assert (np.diff(dots[:, 0]) >= 2 * dots[0, 1] - 0.01).all(), "dots lie over one another"
    assert seen["bars"] == pytest.approx(value["shares"], abs=0.01)
    for text, (part, whole) in zip(seen["stored"], (value["cache"], value["params"]), strict=True):
        assert text.endswith(f"{part}, not {whole}" if H_kv < H else f"{part}, a key/value head for each query head")
    assert f"{setting['T']} tokens, {setting['L']} layers" in plain(seen["stored"][0])
    assert seen["texts"][0] == f"{H} query heads"
    assert (f"1/{H // H_kv}" if H_kv < H else "whole") in seen["headline"]
    assert seen["label"] == f"{H} query heads, {H_kv} key/value heads, {H // H_kv} in a row on each"
    assert f"cache {value['cache'][0]}, without sharing {value['cache'][1]}" in seen["voice"]


def test_keyboard_moves_over_the_query_heads(browser):
    with gallery(browser) as visited:
        page, figure = visited.page, on(visited.page, SharedHeads)
        figure.locator(".tfb-shared-drawing").focus()
        for _ in range(5):
            page.keyboard.press("ArrowRight")
        assert figure.locator(".tfb-voice").inner_text() == "query heads 5 to 8 read key/value head 2"
        assert figure.locator(".tfb-shared-line.tfb-on").count() == 4
        figure.locator("[data-head='1']").hover()
        assert figure.locator(".tfb-reading").inner_text() == "query heads 1 to 4 read key/value head 1"


# ---- streaming ----


@pytest.mark.parametrize("block", [1, 2, 4, 5, 8, 16])
@pytest.mark.parametrize("step", [1, 2, 3, 16])
def test_streaming_explorer_keeps_what_streaming_attention_does(block, step):
    value, (q, K, V) = StreamingExplorer().compute(block, step), row()
    seen = min(block * step, 16)
    s = attention_scores(q, K)[0]
    assert (value["seen"], value["blocks"]) == (seen, int(np.ceil(16 / block)))
    assert value["mean"] == pytest.approx(streaming_attention(q, K[:seen], V[:seen], block=block)[0, 0], abs=0.00051)
    assert value["maxima"] == pytest.approx([s[:end].max() for end in range(block, seen, block)] + [s[:seen].max()], abs=0.00051)
    assert value["sum"] == pytest.approx(np.exp(s[:seen] - s[:seen].max()).sum(), abs=0.00051)
    np.testing.assert_allclose(value["terms"][:seen] / value["terms"][:seen].sum(), softmax(s[:seen]))
    np.testing.assert_allclose(value["terms"][: value["start"]], value["before"][: value["start"]] * value["shrink"], atol=0.001)
    assert np.isnan(value["terms"][seen:]).all()
    assert value["plain"]["mean"] == pytest.approx(scaled_dot_product_attention(q, K, V)[0, 0], abs=0.00051)
    if seen == 16:
        assert (value["sum"], value["mean"]) == (value["plain"]["sum"], value["plain"]["mean"])


def test_every_block_size_of_the_page_sees_the_maximum_rise():
    assert all(len(set(StreamingExplorer().compute(block, 16)["maxima"])) > 1 for block in (2, 4, 8))


STREAMING = """
  titles: [...figure.querySelectorAll(".tfb-stream-title")].map((p) => p.textContent),
  scores: [...figure.querySelectorAll(".tfb-stream-score")]
    .map((bar) => ["data-score", "y", "height"].map((n) => Number(bar.getAttribute(n)))),
  terms: ["term", "before"].map((kind) =>
    [...figure.querySelectorAll(`.tfb-stream-${kind}`)].map((bar) => Number(bar.getAttribute("height")))),
  now: figure.querySelectorAll(".tfb-stream-score.tfb-stream-now").length,
  stairs: figure.querySelector(".tfb-stream-max").getAttribute("d").match(/(?<=[MVHh ])-?[\\d.]+/g).map(Number),
  values: [...figure.querySelectorAll(".tfb-stream-value")].map((c) => ["cx", "r"].map((n) => Number(c.getAttribute(n)))),
  marks: [Number(figure.querySelector(".tfb-stream-mean").dataset.at),
    Number(figure.querySelector(".tfb-stream-target").getAttribute("x1"))],
  squares: [...figure.querySelectorAll(".tfb-stream-squares")].map((row) => row.children.length),"""


@drawing(StreamingExplorer, SEEN.replace("MORE", STREAMING))
def streaming_is_drawn(seen, setting, value):
    end, start, rose = value["seen"], value["start"], value["start"] > 0 and value["shrink"] < 1
    scores, x = np.array(seen["scores"]), lambda v: 10 + 32 * v
    assert list(scores[:, 0]) == value["scores"][:end]
    assert scores[:, 2] == pytest.approx(np.maximum(19 * np.abs(scores[:, 0]), 0.5), abs=0.01)
    assert scores[:, 1] == pytest.approx(68 - np.maximum(19 * scores[:, 0], 0), abs=0.01)
    assert seen["now"] == end - start
    assert seen["stairs"][1::2] == pytest.approx([68 - 19 * m for m in value["maxima"]])
    rises = [21.25 * setting["block"] * i for i in range(1, len(value["maxima"]))]
    assert seen["stairs"][2::2] == pytest.approx([*rises, 21.25 * (end - start)])
    assert seen["terms"][0] == pytest.approx(66 * value["terms"][:end], abs=0.05)
    assert seen["terms"][1] == pytest.approx(66 * value["before"][:start] if rose else [], abs=0.05)
    assert np.array(seen["values"]) == pytest.approx(
        np.array([(x(v), 2 + 7 * term**0.5) for v, term in zip(value["values"], value["terms"][:end])]), abs=0.12)
    assert seen["marks"] == pytest.approx([x(value["mean"]), x(value["plain"]["mean"])], abs=0.011)
    assert (seen["marks"][0] == seen["marks"][1]) == ("equal" in seen["texts"]) == (end == 16)
    assert seen["squares"] == value["kept"] == [16, setting["block"] + 2]
    numbers = (f"m = {value['maxima'][-1]:.2f}", f"Z = {value['sum']:.2f}", f"read: {value['mean']:.2f}")
    for title, number in zip(seen["titles"], numbers):
        assert number in title
    assert (f"×\u00a0{value['shrink']:.2f}" in seen["titles"][1]) == rose
    assert f"{value['mean']:.2f}" in seen["headline"]
    assert f"block {min(setting['step'], value['blocks'])} of {value['blocks']}, {setting['block']} keys in each" in seen["voice"]
