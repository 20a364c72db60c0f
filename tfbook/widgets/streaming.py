"""Streaming attention: one query reads its keys block by block, and keeps two numbers
and a mean.
"""

from typing import ClassVar

import numpy as np

from tfbook.numpy import attention_scores, attention_weights
from tfbook.widgets.base import Figure
from tfbook.widgets.controls import Slider

T = 16  # keys


class StreamingExplorer(Figure):
    """The running maximum, sum and weighted mean of one query over 16 keys.

    Parameters
    ----------
    block : int
        Keys read at a time.
    step : int
        Blocks read so far; more than there are change nothing.

    Raises
    ------
    ValueError
        Where a value is not one that its control takes.
    """

    title = "Streaming attention"
    controls = (
        Slider("block", "keys in a block", [2, 4, 8], most=T),
        Slider("step", "blocks read", range(1, 9), most=T),
    )
    default: ClassVar = {"block": 4, "step": 2}

    def compute(self, block, step):
        q, K, V = row()
        s = attention_scores(q, K)[0]  # (T,)
        # largest score, sum of exp(score - m), mean of the values, as far as read
        m, Z, y, maxima = -np.inf, 0.0, 0.0, []
        for start in range(0, min(block * step, T), block):
            keys = slice(start, min(start + block, T))
            old, m = m, max(m, s[keys].max())
            # 0 in the first block, where old is -inf
            shrink = np.exp(old - m)
            e = np.exp(s[keys] - m)
            y = (y * Z * shrink + e @ V[keys, 0]) / (Z * shrink + e.sum())
            Z = Z * shrink + e.sum()
            maxima.append(m)
        seen, position = keys.stop, np.arange(T)
        weights = attention_weights(q, K)
        return {
            "scores": [round(float(x), 3) for x in s],
            "values": V[:, 0],
            "start": keys.start,
            "seen": seen,
            "blocks": -(-T // block),
            "maxima": [round(float(x), 3) for x in maxima],
            "shrink": round(float(shrink), 3),
            "sum": round(float(Z), 3),
            "mean": round(float(y), 3),
            # exp(score - m)
            "terms": np.where(position < seen, np.exp(s - m), np.nan),
            # before m rose
            "before": np.where(
                position < keys.start, np.exp(np.minimum(s - old, 0)), np.nan
            ),
            "plain": {
                "sum": round(float(np.exp(s - s.max()).sum()), 3),
                "mean": round(float((weights @ V)[0, 0]), 3),
            },
            # numbers: all scores; those of a block, m and Z
            "kept": [T, min(block, T) + 2],
        }

    def still(self):
        block = self.state["block"]
        rows = "".join(
            f"<tr><th scope=row>{value['start'] + 1} to {value['seen']}</th>"
            f"<td>{value['maxima'][-1]:.2f}</td><td>{value['shrink']:.2f}</td>"
            f"<td>{value['sum']:.2f}</td><td>{value['mean']:.2f}</td></tr>"
            for step in range(1, -(-T // block) + 1)
            for value in [self.compute(block, step)]
        )
        value = self.compute(T, 1)
        plain = value["plain"]
        rows += (
            f"<tr><th scope=row>all at once</th><td>{value['maxima'][-1]:.2f}</td>"
            f"<td></td><td>{plain['sum']:.2f}</td><td>{plain['mean']:.2f}</td></tr>"
        )
        names = (
            "keys",
            "largest score m",
            "what was summed shrinks by",
            "sum Z",
            "mean so far",
        )
        head = "".join(f"<th scope=col>{name}</th>" for name in names)
        return (
            f"<table><caption>One query over {T} keys, {block} at a time</caption>"
            f"<tr>{head}</tr>{rows}</table>"
        )


def row():
    """Return a query (1, 8), keys (16, 8) and values (16, 1) from 0 to 10, in which the
    largest score rises again and again.
    """
    rng = np.random.default_rng(151)
    q, K, V = (
        rng.standard_normal(8),
        rng.standard_normal((T, 8)),
        rng.uniform(0, 10, T),
    )
    return q[None], K, V[:, None]
