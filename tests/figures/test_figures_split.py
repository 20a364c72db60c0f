"""The split explorer: what it shows of each process, in every kind of state, is what a
plain count says.
"""

import pytest
from gallery import STATES, drawing, pairwise

from tfbook import cost
from tfbook.widgets import SplitExplorer

CUTS = ["batch", "batch, sharded", "heads", "sequence"]
STATES[SplitExplorer] = lambda: list(pairwise(SplitExplorer.controls))


def plain(cut, p, step):
    """Row by row what each process does with each block of keys, by playing the
    ring.
    """
    rows, keys = [["later"] * p for _ in range(p)], list(range(p))
    for now in range(min(step, p)):
        for r, s in enumerate(keys):
            rows[r][s] = "now" if now == min(step, p) - 1 else "done"
        keys = keys[-1:] + keys[:-1]
    return [
        ["never" if s > r else state for s, state in enumerate(row)]
        for r, row in enumerate(rows)
    ]


def held(cut, p, process, d):
    me, heads = min(process, p), d // 128
    if cut == "sequence":
        return f"part {me} of {p} of every sequence"
    of, name = (heads, "head") if cut == "heads" else (8, "sequence")
    mine = list(range(of))[(me - 1) * of // p : me * of // p]
    return (
        f"{name} {mine[0] + 1} of {of}"
        if len(mine) == 1
        else f"{name}s {mine[0] + 1} to {mine[-1] + 1} of {of}"
    )


READ = """(figure, { all, texts, data, numbers }) => ({
  blocks: all("[data-state]").map(
    ({ dataset: { state, row, column } }) => [state, +row, +column]),
  me: data(".tfb-split-me", "row").map(Number), at: texts(".tfb-split-at"),
  idle: texts(".tfb-split-idle").length, holds: texts(".tfb-split-title b")[0],
  parts: Object.fromEntries(data("[data-part]", "part").map((name) => [
    name, numbers(`[data-part=${name}]`, "x", "y", "width", "height")[0]])),
  others: all(".tfb-split-other").length,
  bars: all(".tfb-split-stack").map((stack) => [...stack.children].map(
    ({ dataset, style }) => [+dataset.value, parseFloat(style.width)])),
  rows: texts(".tfb-split-bars tbody th"), chosen: texts(".tfb-split-chosen th"),
  totals: texts(".tfb-split-bars tbody td:last-child"),
})"""


@drawing(SplitExplorer, READ)
def a_split_is_drawn(seen, setting, value):
    cut, p, process, step, T, d, shared = setting.values()
    me, H_kv = min(process, p), 8 if shared else d // 128
    grid = plain(cut, p, step) if cut == "sequence" else [["now"]] * p
    assert seen["blocks"] == [
        [state, r, s] for r, row in enumerate(grid, 1) for s, state in enumerate(row, 1)
    ]
    assert set(seen["me"]) == {me}
    assert seen["holds"] == held(cut, p, process, d)
    keys = [(r - min(step, p) + 1) % p + 1 for r in range(p)]
    if cut == "sequence":
        assert [int(text.split()[-1]) for text in seen["at"]] == keys
        assert seen["idle"] == sum(s > r for r, s in enumerate(keys, 1))

    # what is filled is a p-th of what is cut, and lies where the process's part lies
    x, y, width, height = zip(
        *(seen["parts"][role] for role in ("query", "positive", "value"))
    )
    whole, cut_by = (
        (84, 70, 70),
        {"batch": "wnn", "batch, sharded": "whh", "heads": "nwh", "sequence": "hnn"}[
            cut
        ],
    )
    for i, way in enumerate(cut_by):
        if way == "n" or p == 1:
            assert abs(width[i] - whole[i]) < 2 > abs(height[i] - 70)
        along, across, start = (
            (width[i], height[i], x[i] - (2, 128, 262)[i])
            if way == "w"
            else (height[i], width[i], y[i] - 22)
        )
        size = whole[i] if way == "w" else 70
        if way != "n":
            assert along == pytest.approx(size / p - 1.5, abs=0.02)
            assert across == pytest.approx(70 if way == "w" else whole[i], abs=0.02)
            assert start == pytest.approx((me - 1) * size / p, abs=0.02)
    assert seen["others"] == (p - 1) * sum(way != "n" for way in cut_by)

    # bytes and memory, counted anew
    n, N, block = (
        8 * T * d,
        cost.layer(T, d, d // 128, H_kv=H_kv).total_params,
        8 * T // p * H_kv * 256,
    )
    rows = [(p - 1) / p * x for x in (N, n)]
    sent = [
        [0, 0, 2 * rows[0]],
        [rows[0]] * 3,
        [4 * rows[1], 4 * rows[1], 0],
        [(p - 1) * block, (2 * p - 1) * block * (p > 1), 2 * rows[0]],
    ]
    bars = seen["bars"]
    assert seen["rows"] == 2 * CUTS
    assert seen["chosen"] == [cut, cut]
    most = max(sum(row) for row in sent) or 1
    for bar, row in zip(bars[:4], sent):
        assert [value for value, _ in bar] == pytest.approx(
            [2 * x / 1e6 for x in row], abs=0.06, rel=1e-4
        )
        assert [width for _, width in bar] == pytest.approx(
            [100 * x / most for x in row], abs=0.2
        )
    for bar, options in zip(
        bars[4:], ({"B": 8 // p}, {"B": 8 // p, "at_rest": p}, None, {"B": 8 / p})
    ):
        layer = cost.layer(T, d, d // 128, H_kv=H_kv)
        if options:
            learned, activations = (
                layer.total_params / options.get("at_rest", 1),
                options["B"] * layer.memory["activations"],
            )
            assert [value for value, _ in bar] == pytest.approx(
                [16 * learned / 1e9, 2 * activations / 1e9], abs=0.0051
            )
        else:
            alone = 5 * d  # two norms and b_2 are whole everywhere
            activations = 8 * (
                3 * T * d + (layer.memory["activations"] - 3 * T * d) / p
            )
            learned = (layer.total_params - alone) / p + alone
            assert [value for value, _ in bar] == pytest.approx(
                [16 * learned / 1e9, 2 * activations / 1e9], abs=0.0051
            )
    number = lambda text: float(text.replace(",", "").split()[0])
    assert [number(text) for text in seen["totals"]] == pytest.approx(
        [*value["total"], *value["held"]], abs=0.51
    )
    assert f"process {me} holds {seen['holds']}".lower() in seen["voice"].lower()


def test_all_states_are_many():
    assert len(SplitExplorer.settings()) == 4 * 4 * 8 * 8 * 8 * 4 * 2
    assert len(STATES[SplitExplorer]()) < 200


def test_a_setting_that_is_none():
    with pytest.raises(ValueError, match="p: expected"):
        SplitExplorer(p=3)
    with pytest.raises(ValueError, match="cut: expected"):
        SplitExplorer(cut="layers")
