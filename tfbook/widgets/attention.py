"""The attention explorer: who attends to whom as T, d and the heads change, and what
that costs.
"""

from typing import ClassVar

import numpy as np

from tfbook import cost
from tfbook.notebook import palette
from tfbook.numpy import (
    attention_weights,
    causal_mask,
    repeat_heads,
    split_heads,
)
from tfbook.widgets.base import Figure, table
from tfbook.widgets.controls import Choice, Slider, Switch

TEXT = "The cat sat down on the warm mat because it was tired and fell fast asleep"
SENTENCE = TEXT.split()


class AttentionExplorer(Figure):
    """The attention matrix of every head of an untrained layer, over a sentence.

    Parameters
    ----------
    T : int
        Tokens.
    d : int
        Model dimension; each head has d_k = d / H.
    H : int
        Heads; must divide d.
    H_kv : {"H", "H/2", "1"}
        Key heads: one for each head, one for every two, one for all.
    scale : bool
        Divide the scores by √d_k.
    causal : bool
        Let no token attend to a later one.

    Raises
    ------
    ValueError
        Where a value is not one that its control takes, H does not divide d, or there
        is half of an odd H.
    """

    title = "Attention explorer"
    decimals = 2
    controls = (
        Slider("T", "T tokens", [3, 6, 12], most=len(SENTENCE) * 2),
        Slider("d", "d dimensions", [16, 32, 64], most=256),
        Slider("H", "H heads", [1, 2, 4, 8], most=32),
        Choice("H_kv", "Hₖᵥ key heads", ["H", "H/2", "1"]),
        Switch("scale", "divide by √dₖ"),
        Switch("causal", "causal mask"),
    )
    default: ClassVar = {
        "T": 12,
        "d": 32,
        "H": 2,
        "H_kv": "H",
        "scale": True,
        "causal": False,
    }

    def check(self, state):
        if super().check(state)["d"] % state["H"]:
            raise ValueError(
                f"d must be a multiple of H: got d = {state['d']}, H = {state['H']}"
            )
        if state["H_kv"] == "H/2" and state["H"] > 1 and state["H"] % 2:
            raise ValueError(
                f"H_kv: half of H asks for an even H, got H = {state['H']}"
            )
        return state

    def compute(self, T, d, H, H_kv, scale, causal):
        d_k, H_kv = d // H, {"H": H, "H/2": max(H // 2, 1), "1": 1}[H_kv]
        rng = np.random.default_rng(7)
        # The and the are one word, with one embedding
        words = [word.lower() for word in tokens(T)]
        E = {
            word: rng.standard_normal(256)
            for word in dict.fromkeys(map(str.lower, SENTENCE))
        }
        W_Q, W_K = rng.standard_normal((2, 256, 256))[:, :d, :d] / np.sqrt(d)
        X = np.array([E[word][:d] for word in words])
        mask = causal_mask(T) if causal else np.ones((T, T), bool)
        Q, K = (
            split_heads(X @ W_Q, H),
            split_heads(X @ W_K[:, : H_kv * d_k], H_kv),
        )
        A = attention_weights(
            Q, repeat_heads(K, H // H_kv), mask, scale=None if scale else 1.0
        )
        entropy = -np.where(A > 0, A * np.log(np.where(A > 0, A, 1)), 0).sum(
            axis=-1
        )
        layer = cost.layer(T, d, H, H_kv=H_kv)
        return {
            "weights": np.where(mask, A, np.nan),  # (H, T, T)
            # (H,) keys that a query in effect attends to
            "spread": np.exp(entropy).mean(axis=-1),
            "visible": float(
                mask.sum(axis=-1).mean()
            ),  # keys that it may attend to
            "d_k": d_k,
            "H_kv": H_kv,
            # the key head of each head: heads in a row share one
            "reads": [h * H_kv // H + 1 for h in range(H)],
            "flops": [
                layer.flops[part]
                for part in ("projections", "scores", "mix", "output")
            ],
            # weights; keys and values
            "stored": [layer.memory["scores"], layer.memory["cache"]],
        }

    def constants(self):
        return {"sentence": SENTENCE}

    def still(self):
        T, H = self.state["T"], self.state["H"]
        A, ramp = self.compute(**self.state)["weights"][0], palette.ramp()
        names = tokens(T)

        def cell(a):
            if np.isnan(a):
                return "<td></td>"
            ink = palette.LIGHT["paper" if a > 0.45 else "ink"]
            style = f"background:{ramp[round(a * 64)]};color:{ink}"
            return f'<td style="{style}">{a:.2f}</td>'

        rows = "".join(
            f"<tr><th scope=row>{name}</th>{''.join(map(cell, row))}</tr>"
            for name, row in zip(names, A)
        )
        head = "".join(f"<th scope=col>{name}</th>" for name in names)
        caption = (
            f"Attention weights of head 1 of {H}: a row for each query, a column for"
            " each key"
        )
        return table(caption, f"<td></td>{head}", rows)


def tokens(T):
    """The first T words of the sentence, again from its start when it ends."""
    return [SENTENCE[i % len(SENTENCE)] for i in range(T)]
