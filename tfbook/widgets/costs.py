"""The cost explorer: where the FLOPs, the memory and the waiting of a model go as its
sequence grows.
"""

from math import log2
from typing import ClassVar

from tfbook.widgets.base import Figure
from tfbook.widgets.controls import Choice, Slider
from tfbook.widgets.cost_columns import Counts
from tfbook.widgets.published import LENGTHS, MODELS, OWN, parts, still


class CostExplorer(Counts, Figure):
    """FLOPs by part against T, and what else a model of that size costs.

    Parameters
    ----------
    model : str
        Whose sizes to take, or "own"; encoder and decoder of the first two are counted
        as one stack of L layers.
    T : int
        Tokens.
    d, d_k, L, vocab : int
        Channels, channels of a head, layers, different tokens. Where one is not the
        model's, the model is "own".
    H_kv : {"H", "H/2", "1"}
        Key/value heads, of the H = d / d_k heads.
    ff_ratio : int
        d_ff / d.

    Raises
    ------
    ValueError
        Where a value is not one that its control takes, d_k does not divide d, or two
        does not divide H for H_kv = "H/2".
    """

    title = "What a Transformer costs"
    sheets = ("base", "halo")
    controls = (
        Choice("model", "model", [*MODELS, OWN]),
        Slider("T", "T tokens", LENGTHS),
        Slider(
            "d",
            "d",
            [256, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288],
            most=65536,
        ),
        Slider("d_k", "dₖ of a head", [32, 64, 128], most=256),
        Choice("H_kv", "key/value heads", ["H", "H/2", "1"]),
        Slider("ff_ratio", "d_ff ÷ d", [1, 2, 3, 4, 8]),
        Slider("L", "L layers", [1, 2, 6, 12, 24, 48, 96], most=1024),
        Slider(
            "vocab",
            "vocabulary",
            sorted({sizes["vocab"] for sizes in MODELS.values()} | {128000}),
            most=1000000,
        ),
    )
    default: ClassVar = {"model": "GPT-3", "T": 2048, **MODELS["GPT-3"]}
    columns = (
        "heads",
        "d_ff",
        "across",
        "heights",
        "crossings",
        "words",
        "ticks",
        "shares",
        "projections",
        "mix",
        "ffn",
        "logits",
        "whole",
        "scores",
        "streaming",
        "cache",
        "attention",
        "others",
        "steps",
        "path",
    )

    def __init__(self, **start):
        sizes = MODELS.get(start.get("model", self.default["model"]), {})
        if any(start.get(name, size) != size for name, size in sizes.items()):
            start["model"] = OWN
        super().__init__(**{**sizes, **start})

    def check(self, state):
        super().check(state)
        d, d_k = state["d"], state["d_k"]
        if d % d_k:
            raise ValueError(
                f"d must be a multiple of d_k: got d = {d}, d_k = {d_k}"
            )
        if state["H_kv"] == "H/2" and d // d_k % 2:
            raise ValueError(
                f"H_kv: H/2 needs an even number of heads, got H = d / d_k = {d // d_k}"
            )
        return state

    # ---- the chart: per cent of its width, and of its height, as high as makes the
    # rising line the diagonal ----

    def across(self, T):
        return round(100 * (log2(T) - 4) / 16, 2)

    def heights(self, d, d_k, H_kv, ff_ratio):
        """Projections, FFN, and both together."""
        projections, _, ffn = parts(self.layer(1, d, d_k, H_kv, ff_ratio))
        return [
            self.across(n / (4 * d))
            for n in (projections, ffn, projections + ffn)
        ]

    def crossings(self, d, d_k, H_kv, ff_ratio):
        """The T at which scores and mix, 4 T d, pass the projections, and projections
        and FFN together.
        """
        projections, _, ffn = parts(self.layer(1, d, d_k, H_kv, ff_ratio))
        return [projections // (4 * d), (projections + ffn) // (4 * d)]

    def words(self, H_kv, ff_ratio):
        """Those T in terms of d."""
        times, rest = {"H": (2, ""), "H/2": (1.5, ""), "1": (1, " + dₖ")}[
            H_kv
        ]
        return [
            ("" if n == 1 else f"{n:g}") + "d" + rest
            for n in (times, times + ff_ratio)
        ]

    def ticks(self, d):
        return [
            [up, n]
            for n in range(3, 15)
            if 2 < (up := self.across(10**n / (4 * d))) < 98
        ]

    def constants(self):
        return {"models": MODELS, "lengths": LENGTHS}

    def still(self):
        return still()
