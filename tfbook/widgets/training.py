"""The training explorer: one language model on its way from noise to words, step by
step.
"""

from typing import ClassVar

import numpy as np

from tfbook.experiments import language
from tfbook.widgets.base import Figure
from tfbook.widgets.controls import Slider

# bits a character at the foot and at the top of the chart
LOW, HIGH = (1.0, 7.0)
VISIBLE = {"\n": "↵", " ": "␣", "\t": "⇥"}


def steps():
    """Those at which the script kept the model."""
    return [shown["step"] for shown in language.record()["shown"]]


class TrainingExplorer(Figure):
    """What a language model writes after so many steps of training, what it expects to
    come next, and its loss against simple guesses.

    Parameters
    ----------
    step : int
        Steps of training; the model was kept at each that the slider offers.

    Raises
    ------
    ValueError
        Where the model was not kept at this step.
    """

    title = "How long until it writes English?"
    controls = (Slider("step", "steps of training", steps(), between=False),)
    default: ClassVar = {"step": 0}

    def compute(self, step):
        shown = language.record()["shown"][steps().index(step)]
        return {
            "place": np.array([across(step), up(shown["held_out"])]),
            "loss": f"{shown['held_out']:.2f}",
            "better": better_than(shown["held_out"]),
            "sample": shown["sample"].replace("\n", "↵"),
            "next": [
                [VISIBLE.get(character, character), f"{100 * p:.0f} %"]
                for character, p in shown["next"]
            ],
            "bars": np.array([p for _, p in shown["next"]]),
        }

    def constants(self):
        record = language.record()
        return {
            "held_out": [
                [across(shown["step"]), up(shown["held_out"])]
                for shown in record["shown"]
            ],
            "train": [
                [across(shown["step"]), up(shown["train"])]
                for shown in record["shown"]
            ],
            "baselines": [
                [name, f"{bits:.2f}", up(bits)]
                for name, bits in record["baselines"].items()
            ],
            "across": [
                [f"{step:,}", across(step)] for step in (0, 10, 100, 1000)
            ],
            "up": [[bits, up(bits)] for bits in range(1, 8)],
            "prompt": record["prompt"],
            "size": (
                f"{record['parameters']:,} parameters, {record['L']} layers of"
                f" {record['H']} heads, d = {record['d']}"
            ),
        }

    def still(self):
        rows = ""
        for shown in language.record()["shown"]:
            if shown["step"] in (0, 100, 600, steps()[-1]):
                written = "".join(
                    VISIBLE.get(c, c) if c != " " else c
                    for c in shown["sample"][:48]
                )
                escaped = written.replace("&", "&amp;").replace("<", "&lt;")
                rows += (
                    f"<tr><th scope=row>{shown['step']}</th>"
                    f"<td>{shown['held_out']:.2f}</td><td>{escaped}</td></tr>"
                )
        head = (
            "<tr><th scope=col>steps</th><th scope=col>bits a character</th>"
            "<th scope=col>what it writes</th></tr>"
        )
        return (
            "<table><caption>A language model on its way, after "
            f"“{language.record()['prompt']}”</caption>{head}{rows}</table>"
        )


def across(step):
    """Where a step stands on the chart: logarithmic, 0 at the left edge."""
    return round(float(np.log1p(step) / np.log1p(steps()[-1])), 4)


def up(bits):
    """Where a loss stands on the chart, 0 at its foot, 1 at its top."""
    return round((bits - LOW) / (HIGH - LOW), 4)


BEYOND = {
    "uniform": "better than a blind guess",
    "unigram": "better than knowing how frequent each character is",
    "bigram": "better than knowing the character before",
    "trigram": "better than knowing two characters before",
}


def better_than(bits):
    """The best of the simple guesses that a loss is below, in words."""
    beaten = [
        BEYOND[name]
        for name, guess in language.record()["baselines"].items()
        if bits < guess
    ]
    return beaten[-1] if beaten else "no better than a blind guess"
