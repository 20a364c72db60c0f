"""Masks: which keys a query may attend to, and why the mask comes before the
softmax.
"""

from typing import ClassVar

import numpy as np

from tfbook.numpy import attention_weights, causal_mask
from tfbook.widgets.base import Figure, table
from tfbook.widgets.controls import Choice, Slider, Switch

SENTENCE = ["cat", "slept", "it", "purred", "and", "dreamt"]
PADDING = 2  # places that padding takes, where there is any


class MaskExplorer(Figure):
    """Attention weights of six places of a batch, under a mask that is put together
    from its causes.

    Parameters
    ----------
    causal : bool
        Let no token attend to a later one.
    cached : int
        Tokens whose keys are kept from before: the queries are those of the others, the
        last of them at the last key.
    padding : {"none", "end", "start"}
        Where two places are filled up, because another sentence of the batch is longer.
    softmax : {"before", "after"}
        Whether the mask is put on before the softmax, or after it, which is a mistake.

    Raises
    ------
    ValueError
        Where a value is not one that its control takes.
    """

    title = "Masks"
    controls = (
        Switch("causal", "causal"),
        Slider("cached", "tokens in the cache", [0, 2, 4, 5]),
        Choice("padding", "padding at the", ["none", "end", "start"]),
        Choice("softmax", "mask is put on", ["before", "after"]),
    )
    default: ClassVar = {
        "causal": True,
        "cached": 0,
        "padding": "none",
        "softmax": "before",
    }

    def compute(self, causal, cached, padding, softmax):
        T_k, names = len(SENTENCE), tokens(padding)
        rng = np.random.default_rng(5)
        E = dict(
            zip(
                [*SENTENCE, "pad"],
                1.1 * rng.standard_normal((2, T_k + 1, 8)).swapaxes(0, 1),
            )
        )
        Q, K = np.array([E[name] for name in names]).swapaxes(0, 1)
        Q = Q[cached:]
        real = np.array([name != "pad" for name in names])  # (T_k,)
        mask = real & (
            causal_mask(len(Q), T_k)
            if causal
            else np.ones((len(Q), T_k), bool)
        )
        A = (
            attention_weights(Q, K, mask)
            if softmax == "before"
            else attention_weights(Q, K) * mask
        )
        sums = A.sum(axis=-1)
        return {
            "tokens": names,
            "weights": np.where(mask, A, np.nan),  # (T, T_k)
            "sums": sums,  # (T,)
            "finding": finding(mask, sums),
        }

    def still(self):
        value = self.compute(**self.state)
        head = "".join(
            f"<th scope=col>{name}</th>" for name in [*value["tokens"], "sum"]
        )
        rows = "".join(
            f"<tr><th scope=row>{name}</th>"
            + "".join(
                f"<td>{'' if np.isnan(a) else f'{a:.2f}'}</td>"
                for a in [*row, total]
            )
            + "</tr>"
            for name, row, total in zip(
                value["tokens"][self.state["cached"] :],
                value["weights"],
                value["sums"],
            )
        )
        caption = (
            f"{value['finding']}: a row for each query, a column for each key"
        )
        return table(caption, f"<td></td>{head}", rows)


def tokens(padding):
    """What stands at each of the places."""
    words, fill = SENTENCE[: len(SENTENCE) - PADDING], ["pad"] * PADDING
    return {"none": SENTENCE, "end": words + fill, "start": fill + words}[
        padding
    ]


def finding(mask, sums):
    """Say what the mask does to the sums of the rows."""
    some = mask.any(axis=-1)
    least, empty = sums[some].min(), int((~some).sum())
    text = f"{mask.sum()} of {mask.size} pairs may attend"
    text += (
        "; each row sums to 1"
        if least > 1 - 1e-9
        else f", but rows sum to as little as {least:.2f}"
    )
    return text + (
        f"; rows with nothing to attend to, all zero: {empty}"
        if empty
        else ""
    )
