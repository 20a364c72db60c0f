"""Shared heads: which key/value head each query head reads, and what the cache and the
matrices then hold.
"""

from typing import ClassVar

import numpy as np

from tfbook import cost
from tfbook.numpy import repeat_heads
from tfbook.widgets.base import Figure
from tfbook.widgets.controls import Slider
from tfbook.widgets.published import BYTES, short

WIDTH = 128  # of a head


class SharedHeads(Figure):
    """Grouped-query attention: H query heads read H_kv key/value heads.

    Parameters
    ----------
    H : int
        Query heads, each 128 wide.
    H_kv : int
        Key/value heads; more than H are taken as H.
    T : int
        Tokens in the cache.
    L : int
        Layers.

    Raises
    ------
    ValueError
        Where a value is not one that its control takes, or H_kv does not divide H.
    """

    title = "Shared key/value heads"
    controls = (
        Slider("H", "H query heads", [4, 8, 16], most=64),
        Slider("H_kv", "Hₖᵥ key/value heads", [1, 2, 4, 8, 16], most=64),
        Slider("T", "T tokens", [2048, 8192, 32768, 131072], most=2**20),
        Slider("L", "L layers", [12, 32, 96], most=128),
    )
    default: ClassVar = {"H": 8, "H_kv": 2, "T": 8192, "L": 32}

    def check(self, state):
        super().check(state)
        if state["H"] % min(state["H"], state["H_kv"]):
            raise ValueError(
                f"H_kv must be a divisor of H: got H = {state['H']}, H_kv ="
                f" {state['H_kv']}"
            )
        return state

    def compute(self, H, H_kv, T, L):
        H_kv = min(H, H_kv)
        # (H_kv, 1, 1), each holding its own number
        heads = np.arange(H_kv, dtype=float)[:, None, None]
        grouped, full = (
            cost.layer(T, H * WIDTH, H, H_kv=n) for n in (H_kv, H)
        )
        cache = [BYTES * L * row.memory["cache"] for row in (grouped, full)]
        params = [
            L * (row.params["projections"] + row.params["output"])
            for row in (grouped, full)
        ]
        return {
            "H_kv": H_kv,
            # (H,) in a row: 0 0 1 1, not 0 1 0 1
            "reads": repeat_heads(heads, H // H_kv).ravel(),
            "shares": [
                round(100 * part / whole, 2)
                for part, whole in (cache, params)
            ],
            "cache": [short(n) + "B" for n in cache],
            "params": [short(n).strip() for n in params],
        }

    def still(self):
        H, T, L = (self.state[name] for name in ("H", "T", "L"))
        rows = "".join(
            f"<tr><th scope=row>{H_kv}</th><td>{H // H_kv}</td>"
            f"<td>{value['cache'][0]}</td><td>{value['params'][0]}</td></tr>"
            for H_kv in range(1, H + 1)
            if H % H_kv == 0
            for value in [self.compute(H, H_kv, T, L)]
        )
        head = "".join(
            f"<th scope=col>{name}</th>"
            for name in (
                "key/value heads",
                "query heads on each",
                "cache",
                "parameters",
            )
        )
        return (
            f"<table><caption>{H} query heads, T = {T}, {L} layers, half "
            f"precision</caption><tr>{head}</tr>{rows}</table>"
        )
