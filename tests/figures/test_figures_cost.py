"""Shared heads and streaming attention: their numbers are those of tfbook.cost and
tfbook.numpy, and every state is drawn with them.
"""

import numpy as np
import pytest
from gallery import drawing, gallery, on

from tfbook import cost
from tfbook.numpy import (
    attention_scores,
    scaled_dot_product_attention,
    softmax,
    streaming_attention,
)
from tfbook.widgets import SharedHeads, StreamingExplorer
from tfbook.widgets.published import short
from tfbook.widgets.streaming import row

SEEN = """(figure, { all, texts, numbers, widths, coordinates, boxes }) => ({
  texts: texts("svg text"), cells: texts("td"),
  label: figure.querySelector("svg[role=img]").getAttribute("aria-label"), MORE })"""


def plain(text):
    """Digits without the thin spaces between thousands."""
    return text.replace("\u202f", "")


# ---- shared heads ----


@pytest.mark.parametrize("setting", SharedHeads.settings()[::11])
def test_shared_heads_count_as_cost_does(setting):
    value, (H, H_kv, T, L) = SharedHeads().compute(**setting), setting.values()
    H_kv, d = min(H, H_kv), 128 * H
    assert list(value["reads"]) == [head * H_kv // H for head in range(H)]
    assert value["cache"] == [short(2 * L * 2 * T * 128 * n) + "B" for n in (H_kv, H)]
    counted = [
        cost.layer(1, d, H, H_kv=n).total_params
        - cost.layer(1, d, H).params["ffn"]
        - 4 * d
        for n in (H_kv, H)
    ]
    assert value["params"] == [short(L * n).strip() for n in counted]
    assert value["shares"] == pytest.approx(
        [100 * H_kv / H, 100 * counted[0] / counted[1]], abs=0.006
    )


def test_shared_heads_refuse_what_does_not_divide():
    assert SharedHeads(H=12, H_kv=3).compute(H=12, H_kv=3, T=16, L=1)["H_kv"] == 3
    with pytest.raises(ValueError, match="divisor of H"):
        SharedHeads(H=12, H_kv=5)


SHARED = """
  lines: numbers(".tfb-shared-line", "x1", "x2"),
  dots: ["query", "key", "value"].map((kind) =>
    numbers(`.tfb-shared-${kind}`, "cx", "r")),
  bars: widths(".tfb-shared-whole span"), stored: texts(".tfb-shared-bar"),"""


@drawing(SharedHeads, SEEN.replace("MORE", SHARED))
def shared_heads_are_drawn(seen, setting, value):
    H, H_kv = setting["H"], value["H_kv"]
    centres = [340 * (j + 0.5) / H_kv for j in range(H_kv)]
    assert np.array(seen["lines"]) == pytest.approx(
        np.array(
            [
                (340 * (i + 0.5) / H, centres[int(j)])
                for i, j in enumerate(value["reads"])
            ]
        ),
        abs=0.01,
    )
    queries, keys, values = map(np.array, seen["dots"])
    assert queries[:, 0] == pytest.approx(np.array(seen["lines"])[:, 0])
    assert (keys[:, 0] + values[:, 0]) / 2 == pytest.approx(centres)
    for dots in (queries, np.sort(np.concatenate([keys, values]), axis=0)):
        assert (np.diff(dots[:, 0]) >= 2 * dots[0, 1] - 0.01).all(), (
            "dots lie over one another"
        )
    assert seen["bars"] == pytest.approx(value["shares"], abs=0.01)
    for text, (part, whole) in zip(
        seen["stored"], (value["cache"], value["params"]), strict=True
    ):
        assert text.endswith(
            f"{part}, not {whole}"
            if H_kv < H
            else f"{part}, a key/value head for each query head"
        )
    assert f"{setting['T']} tokens, {setting['L']} layers" in plain(seen["stored"][0])
    assert seen["texts"][0] == f"{H} query heads"
    assert (f"1/{H // H_kv}" if H_kv < H else "whole") in seen["headline"]
    assert (
        seen["label"]
        == f"{H} query heads, {H_kv} key/value heads, {H // H_kv} in a row on each"
    )
    assert (
        f"cache {value['cache'][0]}, without sharing {value['cache'][1]}"
        in seen["voice"]
    )


def test_keyboard_moves_over_the_query_heads(browser):
    with gallery(browser) as visited:
        page, figure = visited.page, on(visited.page, SharedHeads)
        figure.locator(".tfb-shared-drawing").focus()
        for _ in range(5):
            page.keyboard.press("ArrowRight")
        assert (
            figure.locator(".tfb-voice").inner_text()
            == "query heads 5 to 8 read key/value head 2"
        )
        assert figure.locator(".tfb-shared-line.tfb-on").count() == 4
        figure.locator("[data-head='1']").hover()
        assert (
            figure.locator(".tfb-reading").inner_text()
            == "query heads 1 to 4 read key/value head 1"
        )


# ---- streaming ----


@pytest.mark.parametrize("block", [1, 2, 4, 5, 8, 16])
@pytest.mark.parametrize("step", [1, 2, 3, 16])
def test_streaming_explorer_keeps_what_streaming_attention_does(block, step):
    value, (q, K, V) = StreamingExplorer().compute(block, step), row()
    seen = min(block * step, 16)
    s = attention_scores(q, K)[0]
    assert (value["seen"], value["blocks"]) == (seen, int(np.ceil(16 / block)))
    assert value["mean"] == pytest.approx(
        streaming_attention(q, K[:seen], V[:seen], block=block)[0, 0], abs=0.00051
    )
    assert value["maxima"] == pytest.approx(
        [s[:end].max() for end in range(block, seen, block)] + [s[:seen].max()],
        abs=0.00051,
    )
    assert value["sum"] == pytest.approx(
        np.exp(s[:seen] - s[:seen].max()).sum(), abs=0.00051
    )
    np.testing.assert_allclose(
        value["terms"][:seen] / value["terms"][:seen].sum(), softmax(s[:seen])
    )
    np.testing.assert_allclose(
        value["terms"][: value["start"]],
        value["before"][: value["start"]] * value["shrink"],
        atol=0.001,
    )
    assert np.isnan(value["terms"][seen:]).all()
    assert value["plain"]["mean"] == pytest.approx(
        scaled_dot_product_attention(q, K, V)[0, 0], abs=0.00051
    )
    if seen == 16:
        assert (value["sum"], value["mean"]) == (
            value["plain"]["sum"],
            value["plain"]["mean"],
        )


def test_every_block_size_of_the_page_sees_the_maximum_rise():
    assert all(
        len(set(StreamingExplorer().compute(block, 16)["maxima"])) > 1
        for block in (2, 4, 8)
    )


STREAMING = """
  titles: texts(".tfb-stream-title"),
  scores: numbers(".tfb-stream-score", "data-score", "y", "height"),
  terms: ["term", "before"].map((kind) =>
    numbers(`.tfb-stream-${kind}`, "height").flat()),
  now: all(".tfb-stream-score.tfb-stream-now").length,
  stairs: coordinates(figure.querySelector(".tfb-stream-max")),
  values: numbers(".tfb-stream-value", "cx", "r"),
  marks: [...numbers(".tfb-stream-mean", "data-at"),
    ...numbers(".tfb-stream-target", "x1")].flat(),
  squares: all(".tfb-stream-squares").map((row) => row.children.length),"""


@drawing(StreamingExplorer, SEEN.replace("MORE", STREAMING))
def streaming_is_drawn(seen, setting, value):
    end, start, rose = (
        value["seen"],
        value["start"],
        value["start"] > 0 and value["shrink"] < 1,
    )
    scores, x = np.array(seen["scores"]), lambda v: 10 + 32 * v
    assert list(scores[:, 0]) == value["scores"][:end]
    assert scores[:, 2] == pytest.approx(
        np.maximum(19 * np.abs(scores[:, 0]), 0.5), abs=0.01
    )
    assert scores[:, 1] == pytest.approx(
        68 - np.maximum(19 * scores[:, 0], 0), abs=0.01
    )
    assert seen["now"] == end - start
    assert seen["stairs"][1::2] == pytest.approx([68 - 19 * m for m in value["maxima"]])
    rises = [21.25 * setting["block"] * i for i in range(1, len(value["maxima"]))]
    assert seen["stairs"][2::2] == pytest.approx([*rises, 21.25 * (end - start)])
    assert seen["terms"][0] == pytest.approx(66 * value["terms"][:end], abs=0.05)
    assert seen["terms"][1] == pytest.approx(
        66 * value["before"][:start] if rose else [], abs=0.05
    )
    assert np.array(seen["values"]) == pytest.approx(
        np.array(
            [
                (x(v), 2 + 7 * term**0.5)
                for v, term in zip(value["values"], value["terms"][:end])
            ]
        ),
        abs=0.12,
    )
    assert seen["marks"] == pytest.approx(
        [x(value["mean"]), x(value["plain"]["mean"])], abs=0.011
    )
    assert (
        (seen["marks"][0] == seen["marks"][1])
        == ("equal" in seen["texts"])
        == (end == 16)
    )
    assert seen["squares"] == value["kept"] == [16, setting["block"] + 2]
    numbers = (
        f"m = {value['maxima'][-1]:.2f}",
        f"Z = {value['sum']:.2f}",
        f"read: {value['mean']:.2f}",
    )
    for title, number in zip(seen["titles"], numbers):
        assert number in title
    assert (f"×\u00a0{value['shrink']:.2f}" in seen["titles"][1]) == rose
    assert f"{value['mean']:.2f}" in seen["headline"]
    assert (
        f"block {min(setting['step'], value['blocks'])} of {value['blocks']},"
        f" {setting['block']} keys in each" in seen["voice"]
    )
