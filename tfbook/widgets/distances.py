"""The distance explorer: a digit asked for from ever further back, and how often six
networks of one size find it.
"""

from itertools import count
from typing import ClassVar

import numpy as np

from tfbook import cost
from tfbook.experiments import distances
from tfbook.widgets.base import Figure
from tfbook.widgets.controls import Slider

LAYERS = 1  # of the transformer
LABELS = {  # where a line's name is: steps of the axis, share
    "transformer": [1.15, 0.93],
    "rotary transformer": [2.4, 0.93],
    "mean pooling": [2.9, 0.67],
    "LSTM": [1.5, 0.8],
    "dilated convolution": [0.4, 0.46],
    "RNN": [1.0, 0.3],
}
ROLES = {
    "transformer": "positive",
    "rotary transformer": "key",
    "mean pooling": "query",
    "LSTM": "value",
    "dilated convolution": "muted",
    "RNN": "negative",
}


class DistanceExplorer(Figure):
    """A row with two cards and a question, and how often each network answers it, by
    distance and seed.

    Parameters
    ----------
    D : int
        How far back a card may be; the networks were trained separately for each
        distance.

    Raises
    ------
    ValueError
        Where no network was trained at that distance.
    """

    title = "Asked from far away"
    controls = (
        Slider("D", "distance D", distances.DISTANCES, between=False),
    )
    default: ClassVar = {"D": 8}

    def compute(self, D):
        tokens, asked, digit = example(D)
        cards = np.flatnonzero(tokens[:-1, 1] != distances.NOTHING)
        at = distances.DISTANCES.index(D)
        return {
            "letters": (
                [distances.SYMBOLS[letter] for letter in tokens[:, 0]]
                if D <= 32
                else []
            ),
            "cards": [
                [
                    int(position),
                    distances.written(tokens[position : position + 1]),
                ]
                for position in (asked, cards[cards != asked][0])
            ],
            "question": distances.written(tokens[-1:]),
            "answer": int(digit),
            "right": {
                name: [seed[at] for seed in entry["accuracy"]]
                for name, entry in networks().items()
            },
            "path": paths(D),
        }

    def constants(self):
        # (networks, seeds, distances)
        accuracy = np.array(
            [entry["accuracy"] for entry in networks().values()]
        )
        mean = accuracy.mean(axis=1)
        guess = 1 / distances.LETTERS
        return {
            "networks": ROLES,
            "distances": list(distances.DISTANCES),
            "dots": accuracy.tolist(),
            "means": mean.round(4).tolist(),
            "labels": list(LABELS.values()),
            "levels": {
                "a guess": guess,
                "both digits known, not which": (1 + guess) / 2,
            },
            "seeds": len(distances.record()["seeds"]),
            "steps": distances.record()["steps"],
        }

    def still(self):
        head = "".join(f"<th scope=col>{D}</th>" for D in distances.DISTANCES)
        rows = "".join(
            f"<tr><th scope=row>{name}</th>"
            + "".join(
                f"<td>{percent(a)}</td>"
                for a in np.mean(entry["accuracy"], axis=0)
            )
            + "</tr>"
            for name, entry in networks().items()
        )
        return (
            "<table><caption>Right answers by distance, mean of the seeds</caption>"
            f"<tr><td></td>{head}</tr>{rows}</table>"
        )


def networks():
    """What is recorded of each network."""
    return distances.record()["networks"]


def percent(share):
    """A share in whole per cent."""
    return f"{100 * share:.0f} %"


def paths(D):
    """Layers or steps that a card's token passes on its way to the answer D positions
    later.
    """
    T = D + 1
    attention = LAYERS * cost.layer(T, 32, H=2).path_length
    return {
        "transformer": attention,
        "rotary transformer": attention,
        "mean pooling": 1,
        "LSTM": cost.rnn(T, 42).path_length,
        "dilated convolution": distances.LAYERS,
        "RNN": cost.rnn(T, 95).path_length,
    }


def example(D):
    """The first row in which the two cards are well apart, so that both can be read:
    tokens, the position of the card that is asked for, its digit.
    """
    for seed in count():
        tokens, asked, digit = distances.sequences(
            np.random.default_rng(seed), 1, D
        )
        cards = np.flatnonzero(tokens[0, :-1, 1] != distances.NOTHING)
        if np.ptp(cards) > 0.2 * D:
            return tokens[0], int(asked[0]), digit[0]
