"""Attention as a soft lookup: keys on a line, a query that moves over them, and a
temperature between picking and averaging.
"""

from typing import ClassVar

import numpy as np

from tfbook.numpy import attention_weights
from tfbook.widgets.base import Figure
from tfbook.widgets.controls import Slider

# no whole number is as far from one as from another
KEYS = np.array([3, 8, 15, 22, 29, 36])
VALUES = np.array([0.3, 0.85, 0.6, 0.95, 0.2, 0.55])
END = 40
EVERYWHERE = np.linspace(0, END, 2 * END + 1)  # where the curves are drawn


class SoftLookup(Figure):
    """What a lookup answers to a query: the value of the nearest key, or a mean of the
    values weighted by nearness.

    Parameters
    ----------
    query : int
        Where on the line the query stands.
    temperature : int
        Divides the scores; 0 is the hard lookup, a large one the plain mean.

    Raises
    ------
    ValueError
        Where a value is not one that its control takes.
    """

    title = "Attention as a soft lookup"
    controls = (
        Slider("query", "query", range(END + 1)),
        Slider(
            "temperature",
            "temperature",
            [0, 1, 4, 16, 64, 256, 4096],
            most=10_000,
        ),
    )
    default: ClassVar = {"query": 12, "temperature": 16}

    def compute(self, query, temperature):
        A = lookup_weights([query], temperature)[0]
        return {
            "weights": A,
            "answer": float(np.round(A @ VALUES, 3)),
            "curve": lookup_weights(EVERYWHERE, temperature) @ VALUES,
            "nearest": int(np.argmin(np.abs(query - KEYS))),
            "largest": float(np.round(A.max(), 3)),
        }

    def constants(self):
        cuts = (KEYS[1:] + KEYS[:-1]) / 2
        return {
            "keys": KEYS.tolist(),
            "values": VALUES.tolist(),
            "end": END,
            "curve_at": EVERYWHERE.tolist(),
            "cuts": cuts.tolist(),
            "mean": round(float(VALUES.mean()), 3),
        }

    def still(self):
        keys = "".join(f"<th scope=col>{key}</th>" for key in KEYS)
        values = "".join(f"<td>{value:.2f}</td>" for value in VALUES)
        rows = "".join(
            f"<tr><th scope=row>weights at temperature {t}</th>"
            + "".join(f"<td>{a:.2f}</td>" for a in value["weights"])
            + f"<td>{value['answer']:.2f}</td></tr>"
            for t in self.controls[1].values
            for value in [self.compute(self.state["query"], t)]
        )
        return (
            f"<table><caption>A query at {self.state['query']} looks up six "
            f"keys</caption><tr><th scope=row>key</th>{keys}<th scope=col>answer</th>"
            f"</tr><tr><th scope=row>value</th>{values}<td></td></tr>{rows}</table>"
        )


def lookup_weights(queries, temperature):
    r"""Weigh every key by its nearness over the temperature, or give all weight to the
    nearest where that is 0.

    :math:`-(q-k)^2/2 = qk - k^2/2 - q^2/2`, and what is alike for all keys cancels: a
    dot product and a bias for each key.
    """
    Q, K = np.asarray(queries, float)[:, None], KEYS[:, None]
    if temperature == 0:
        return np.eye(len(KEYS))[np.abs(Q - KEYS).argmin(axis=-1)]
    bias = -(KEYS[None] ** 2) / (2 * temperature)
    return attention_weights(Q, K, bias=bias, scale=1 / temperature)
