"""The heads explorer: the stored models are what the script wrote down, training lowers
the loss, each state is drawn as computed.
"""

import numpy as np
import pytest
import torch
from gallery import drawing, gallery, on
from test_figures import shade

from tfbook.experiments import heads as models
from tfbook.experiments.heads import __main__ as train_heads
from tfbook.notebook import palette
from tfbook.widgets import HeadsExplorer, heads


@pytest.mark.parametrize(("d", "H"), [(16, 1), (64, 8)])
def test_stored_models_have_the_recorded_measures(d, H):
    (entry,) = (
        model
        for model in models.record()["models"]
        if (model["d"], model["H"]) == (d, H)
    )
    for name, P in (("untrained", models.start(d, H)), ("trained", models.load(d, H))):
        measured = models.measure(models.held_out(), P, H)
        for key in ("scores", "accuracy", "loss"):
            np.testing.assert_allclose(measured[key], entry[name][key], atol=2e-3)
    assert entry["trained"]["loss"] < entry["untrained"]["loss"] / 2


def test_one_head_a_layer_fails_where_two_succeed():
    right = {
        (m["d"], m["H"]): np.array(m["trained"]["accuracy"]) > 0.9
        for m in models.record()["models"]
    }
    assert len(right) == 16
    assert all(right[d, 1].sum() <= 3 for d in models.WIDTHS)
    assert all(right[d, H].all() for d in models.WIDTHS[1:] for H in models.HEADS[1:])
    scores = np.array(
        next(m for m in models.record()["models"] if (m["d"], m["H"]) == (64, 8))[
            "trained"
        ]["scores"]
    )
    assert scores[0, :, 0].max() > 0.8  # a previous-token head feeds
    assert scores[1, :, 4].max() > 0.8  # an induction head


def test_a_head_with_no_clear_work_says_so():
    untrained, trained = (
        HeadsExplorer().compute(d=64, H=8, layer=1, trained=trained)["work"]
        for trained in (False, True)
    )
    assert "no one place" in untrained
    assert {work.split()[0] for work in trained} >= {"previous", "three", "third"}
    spread, fixed = np.full((4, 4), 0.25), np.eye(4)
    assert heads.work(np.full(5, 0.25), spread) == "no one place"
    assert heads.work(np.full(5, 0.25), fixed) == "elsewhere"
    assert heads.work(np.array([0.1, 0.7, 0, 0, 0]), spread) == "three back 0.70"


def test_answers_follow_from_the_sequence():
    tokens = np.array([*range(8), 3, 0, 7, 2, 1, 6, 5, 4])
    right = models.answers(tokens)
    assert right[:, 8].tolist() == [7, 5, 0, 2, 4]
    assert right[:, 0].tolist() == [-1] * 5


def test_both_halves_read_alike_and_training_lowers_the_loss():
    model, rng = train_heads.Reader(16, 1), np.random.default_rng(0)
    tokens = models.sequences(rng, 3)
    logits = model(torch.tensor(tokens)).detach().numpy()
    np.testing.assert_allclose(
        logits, models.read(tokens, models.start(16, 1), 1)[1], atol=1e-4
    )
    losses = train_heads.train(16, 1, steps=60)[1]
    assert np.mean(losses[-5:]) < np.mean(losses[:5]) - 0.2


HEADS = """(figure, { all, texts, numbers }) => ({
  fills: all("[data-q]").map((cell) => cell.getAttribute("fill")),
  head: all(".tfb-work button").findIndex((button) => button.ariaPressed === "true"),
  work: texts(".tfb-work b"), cells: texts(".tfb-questions tbody td").filter(Boolean),
  loss: texts(".tfb-questions tfoot td")[0],
  arcs: numbers("[data-arc]", "data-arc", "data-weight"),
  answered: texts(".tfb-headline b")[0], reading: texts(".tfb-reading")[0],
})"""


@drawing(HeadsExplorer, HEADS)
def heads_are_drawn(seen, setting, value):
    A, row = value["weights"][seen["head"]], value["weights"][seen["head"], 12]
    assert seen["fills"] == shade(A, palette.ramp(seen["dark"]))
    assert seen["work"] == value["work"]
    numbers = [float(cell.rstrip(" %")) for cell in seen["cells"]]
    # rounded twice
    assert numbers[::2] == pytest.approx(value["scores"][seen["head"]], abs=0.0056)
    assert numbers[1::2] == pytest.approx(100 * value["accuracy"], abs=0.56)
    assert float(seen["loss"]) == pytest.approx(value["loss"], abs=0.0051)
    assert seen["arcs"] == [
        [key, round(w, 3)]
        for key, w in enumerate(row)
        if not np.isnan(w) and round(w, 3)
    ]
    assert seen["answered"] == f"{5 - sum(value['short'])} of 5"
    letters = HeadsExplorer().constants()["letters"]
    assert f"attends most to {letters[int(np.nanargmax(row))]}" in seen["reading"]


def test_keyboard_reads_a_cell_aloud(browser):
    with gallery(browser) as visited:
        figure = on(visited.page, HeadsExplorer)
        # it paints twice
        visited.page.evaluate(
            "new Promise((done) => requestAnimationFrame(() => "
            "requestAnimationFrame(done)))"
        )
        figure.locator(".tfb-matrix[tabindex]").focus()
        visited.page.keyboard.press("ArrowUp")
        assert "of 8: token" in figure.locator(".tfb-voice").inner_text()
