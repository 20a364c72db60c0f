"""The heads explorer: small trained models whose heads do different work, and too few
of which cannot do it all.
"""

from typing import ClassVar

import numpy as np

from tfbook.experiments import heads as models
from tfbook.numpy import causal_mask
from tfbook.widgets.base import Figure, table
from tfbook.widgets.controls import Slider, Switch

ENOUGH = 0.9  # a question is answered where this share of answers is right
# a head does a question's work where this share of its weight falls on the answers
CLEAR = 0.5


class HeadsExplorer(Figure):
    """Where each head of a small model looks, before and after training, and which
    questions the model can answer.

    Parameters
    ----------
    d, H : int
        Model dimension and heads; a model was trained for each pair.
    layer : int
        1 or 2: whose heads to show.
    trained : bool
        After training, or before.

    Raises
    ------
    ValueError
        Where there is no such model.
    """

    title = "Heads explorer"
    controls = (
        Slider("d", "d dimensions", models.WIDTHS, between=False),
        Slider("H", "H heads", models.HEADS, between=False),
        Slider("layer", "layer", range(1, models.LAYERS + 1), between=False),
        Switch("trained", "trained"),
    )
    default: ClassVar = {"d": 64, "H": 8, "layer": 2, "trained": True}

    def compute(self, d, H, layer, trained):
        P = models.load(d, H) if trained else models.start(d, H)
        A = models.read(self.tokens(), P, H)[0][layer - 1]  # (H, T, T)
        measured = measures(d, H, trained)
        scores = np.array(measured["scores"][layer - 1])  # (H, questions)
        return {
            "weights": np.where(causal_mask(models.T), A, np.nan),
            # the key that each query attends to most
            "most": A.argmax(axis=-1).tolist(),
            "scores": scores,
            "work": [work(*head) for head in zip(scores, A)],
            "accuracy": np.array(measured["accuracy"]),
            "short": [accuracy < ENOUGH for accuracy in measured["accuracy"]],
            "loss": measured["loss"],
        }

    def tokens(self):
        """A sequence that no model was trained on."""
        return models.held_out(1)[0]

    def constants(self):
        return {
            "letters": [models.LETTERS[token] for token in self.tokens()],
            "questions": models.QUESTIONS,
        }

    def still(self):
        cells = {
            d: "".join(
                f"<td>{answered(d, H)} of {len(models.QUESTIONS)}</td>"
                for H in models.HEADS
            )
            for d in models.WIDTHS
        }
        rows = "".join(
            f"<tr><th scope=row>d = {d}</th>{row}</tr>"
            for d, row in cells.items()
        )
        head = "".join(
            f"<th scope=col>{H} head{'s' * (H > 1)}</th>"
            for H in models.HEADS
        )
        caption = (
            "Questions that each trained model answers, of:"
            f" {', '.join(models.QUESTIONS)}"
        )
        return table(caption, f"<td></td>{head}", rows)


def work(scores, A):
    """The question that a head works on, with its score; or that it looks at a place
    that no question wants, or at none above others.
    """
    if scores.max() >= CLEAR:
        return f"{models.QUESTIONS[scores.argmax()]} {scores.max():.2f}"
    return "elsewhere" if A.max(axis=-1).mean() >= CLEAR else "no one place"


def measures(d, H, trained):
    """What the training script wrote down of a model."""
    model = next(
        model
        for model in models.record()["models"]
        if (model["d"], model["H"]) == (d, H)
    )
    return model["trained" if trained else "untrained"]


def answered(d, H):
    """How many questions a trained model answers."""
    return sum(
        accuracy >= ENOUGH
        for accuracy in measures(d, H, trained=True)["accuracy"]
    )
