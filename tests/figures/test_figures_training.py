"""The training explorer: every step drawn as Python says, and what the page tells of
it.
"""

import numpy as np
from gallery import drawing

from tfbook.experiments import language
from tfbook.widgets import TrainingExplorer
from tfbook.widgets.training import across, better_than, steps, up

READ = """(figure, { all, texts, numbers, widths, points }) => ({
  held: points(all(".tfb-training-held")[0]),
  train: points(all(".tfb-training-train")[0]),
  dot: numbers(".tfb-training-dot", "cx", "cy")[0],
  now: numbers(".tfb-training-now", "x1", "x2")[0],
  guesses: numbers(".tfb-training-guess", "y1").flat(),
  names: texts(".tfb-training-name"), written: texts(".tfb-training-text")[0],
  prompt: texts(".tfb-training-text span")[0], rows: texts(".tfb-training-next tr"),
  loss: texts(".tfb-headline b")[0], bars: widths(".tfb-training-next .tfb-bar"),
})"""


def on_chart(points):
    """Shares of the chart as its units."""
    a, b = np.array(points).T
    return np.stack([26 + 346 * a, 262 - 250 * b], axis=-1)


@drawing(TrainingExplorer, READ)
def a_step_is_drawn(seen, setting, value):
    constants = TrainingExplorer().constants()
    for name, line in (("held", "held_out"), ("train", "train")):
        np.testing.assert_allclose(seen[name], on_chart(constants[line]), atol=0.01)
    np.testing.assert_allclose(seen["dot"], on_chart([value["place"]])[0], atol=0.2)
    assert seen["now"] == [seen["dot"][0]] * 2
    np.testing.assert_allclose(
        seen["guesses"],
        [262 - 250 * share for _, _, share in constants["baselines"]],
        atol=0.01,
    )
    assert seen["names"] == [
        f"{name} {bits}" for name, bits, _ in constants["baselines"]
    ]
    assert seen["prompt"] == language.record()["prompt"]
    assert seen["written"] == seen["prompt"] + value["sample"]
    assert seen["rows"] == [character + share for character, share in value["next"]]
    np.testing.assert_allclose(seen["bars"], 100 * value["bars"], atol=0.1)
    assert seen["loss"] == value["loss"]
    assert f"{value['loss']} bits a character, {value['better']}" in seen["headline"]
    assert seen["voice"].startswith(seen["headline"])


def test_places_on_the_chart():
    assert across(0) == 0
    assert across(steps()[-1]) == 1
    assert (np.diff([across(step) for step in steps()]) > 0).all()
    for shown in language.record()["shown"]:
        assert 0 < up(shown["held_out"]) < 1
        assert 0 < up(shown["train"]) < 1


def test_what_a_loss_is_better_than():
    said = "a blind guess", "how frequent", "the character before", "two characters"
    for (name, bits), words in zip(
        language.record()["baselines"].items(), said, strict=True
    ):
        assert words in better_than(bits - 0.01), name
    assert better_than(7) == "no better than a blind guess"
