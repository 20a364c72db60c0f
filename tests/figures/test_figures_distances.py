"""The distance explorer: every distance drawn, and what it says of the networks."""

import numpy as np
from gallery import drawing

from tfbook import cost
from tfbook.experiments import distances
from tfbook.widgets import DistanceExplorer
from tfbook.widgets.distances import LABELS, ROLES, example, paths


def test_the_row_shown_is_one_of_the_task():
    for D in distances.DISTANCES:
        tokens, asked, digit = example(D)
        value = DistanceExplorer(D=D).compute(D)
        (position, card), (other, second) = value["cards"]
        assert position == asked
        assert abs(position - other) > 0.2 * D
        assert (
            card
            == value["question"][0] + str(digit)
            == value["question"][0] + str(value["answer"])
        )
        assert second[0] != card[0]
        assert distances.written(tokens).split()[position] == card


def test_paths_are_counted():
    assert paths(128) == {
        "transformer": 1,
        "rotary transformer": 1,
        "mean pooling": 1,
        "LSTM": 129,
        "dilated convolution": 8,
        "RNN": 129,
    }
    assert cost.conv(129, 20, 2).path_length == 128  # without gaps


def test_names_stand_on_the_chart():
    assert list(ROLES) == list(LABELS) == list(distances.NETWORKS)
    assert all(0 <= i <= 4 and 0 <= share <= 1 for i, share in LABELS.values())


READ = """(figure, { all, texts, data, numbers, points }) => ({
  dots: numbers(".tfb-far-dot", "cx", "cy", "r"), which: data(".tfb-far-dot", "dot"),
  lines: all(".tfb-far-line").map((path) => [path.dataset.network, points(path)]),
  names: texts(".tfb-far-label"), cards: texts(".tfb-far-name"),
  question: texts(".tfb-far-row .tfb-far-ask"), back: texts(".tfb-far-back"),
  asked: Number(figure.querySelector("[data-asked]").dataset.asked),
  other: Number(figure.querySelector("[data-other]").dataset.other),
  letters: all(".tfb-far-letter").length, small: texts(".tfb-far-small"),
  here: numbers(".tfb-far-here", "x")[0][0],
  rows: all(".tfb-far-side tr").slice(1).map((row) =>
    [...row.children].map((cell) => cell.textContent)),
})"""


@drawing(DistanceExplorer, READ)
def answers_are_drawn(seen, setting, value):
    D, record = setting["D"], distances.record()
    at, accuracy = (
        distances.DISTANCES.index(D),
        np.array([entry["accuracy"] for entry in record["networks"].values()]),
    )
    x = 52 + 300 * np.arange(5) / 4
    for where, (across, down, r) in zip(seen["which"], seen["dots"], strict=True):
        n, seed, i = map(int, where.split(","))
        np.testing.assert_allclose(
            [across, down],
            [x[i] + 2 * (n - 2.5), 12 + 200 * (1 - accuracy[n, seed, i])],
            atol=0.06,
        )
        assert (r > 3) == (i == at)
    assert len(seen["dots"]) == accuracy.size
    for (name, points), mean in zip(seen["lines"], accuracy.mean(axis=1), strict=True):
        np.testing.assert_allclose(
            points, np.stack([x, 12 + 200 * (1 - mean)], axis=-1), atol=0.08
        )
        assert name in seen["names"]
    assert abs(seen["here"] + 9 - x[at]) < 0.1
    (asked, card), (other, second) = value["cards"]
    assert [seen["asked"], seen["other"], seen["cards"], seen["question"]] == [
        asked,
        other,
        [card, second],
        [value["question"]],
    ]
    assert seen["back"] == [f"{D - asked} places back"]
    assert seen["letters"] == D - 2
    if seen["small"]:
        assert seen["small"] == [
            letter
            for position, letter in enumerate(value["letters"][:-1])
            if position not in (asked, other)
        ]
    else:
        assert D > 32 or seen["width"] / (D + 1) < 13
    expected = [
        [name, f"{100 * np.mean(value['right'][name]):.0f} %", str(value["path"][name])]
        for name in distances.NETWORKS
    ]
    for row, wanted in zip(seen["rows"], expected, strict=True):
        assert [row[0], row[2]] == [wanted[0], wanted[2]]
        assert abs(int(row[1][:-2]) - 100 * np.mean(value["right"][wanted[0]])) <= 0.51
    assert (
        seen["headline"]
        == f"… {value['question']} → {value['answer']}, {D - asked} places back"
    )
    assert seen["voice"].startswith(f"Distance {D}: transformer ")
