"""The cost explorer: where the FLOPs, the memory and the waiting of a model go as its sequence grows."""

from math import log2
from typing import ClassVar

import numpy as np

from tfbook import cost
from tfbook.widgets.base import Figure
from tfbook.widgets.controls import Choice, Slider

MODELS = {  # as published: d, H, L, vocab; all have d_ff = 4 d
    "Transformer-base": (512, 8, 6, 37000), "Transformer-big": (1024, 16, 6, 37000), "BERT-base": (768, 12, 12, 30522),
    "GPT-2-small": (768, 12, 12, 50257), "GPT-3": (12288, 96, 96, 50257),
}
LENGTHS = [2**i for i in range(4, 21)]
BYTES = 2  # of a number in half precision


class CostExplorer(Figure):
    """FLOPs by part against T, and what else a model of that size costs.

    Parameters
    ----------
    model : str
        Whose d, H, L and vocabulary to take; encoder and decoder of the first two are counted as one stack of L layers.
    T : int
        Tokens.
    d, H : int
        Channels and heads in place of the model's own; 0 for those of the model.

    Raises
    ------
    ValueError
        Where a value is not one that its control takes, d is less than 8, or H does not divide d.
    """

    title = "What a Transformer costs"
    controls = (
        Choice("model", "model", MODELS), Slider("T", "T tokens", LENGTHS),
        Slider("d", "d, 0 for the model's", [0], most=65536), Slider("H", "H, 0 for the model's", [0], most=1024),
    )
    default: ClassVar = {"model": "GPT-3", "T": 2048, "d": 0, "H": 0}

    def check(self, state):
        super().check(state)
        d, H = sizes(**state)[:2]
        if d < 8 or d % H:
            raise ValueError(f"d must be a multiple of H, and at least 8: got d = {d}, H = {H}")
        return state

    def compute(self, model, T, d=0, H=0):
        d, H, L, vocab = sizes(model, d=d, H=H)
        whole, one = cost.model(T, d, H, L, vocab), cost.layer(T, d, H)
        shared = cost.model(T, d, H, L, vocab, H_kv=1).memory["cache"]
        flops = [*parts(whole), whole.flops["logits"]]  # projections, scores and mix, FFN, logits
        memory = [whole.memory["scores"], whole.memory["streaming"], whole.memory["cache"], shared]
        attention = sum(parts(one)[:2])
        layers = [(attention, one), *((other.total_flops, other) for other in (cost.rnn(T, d), cost.conv(T, d, k=3)))]

        def across(t):  # per cent of the chart's width, and of its height: the rising line is the diagonal
            return 100 * (log2(t) - 4) / 16

        def up(n):
            return across(n / (4 * d))

        lines = [(proj, mix, ffn, proj + ffn) for proj, mix, ffn in ([n / t for n in parts(cost.layer(t, d, H))] for t in LENGTHS)]
        tens = [n for n in range(3, 15) if 2 < up(10**n) < 98]
        return {
            "sizes": [d, H, L],
            "lines": np.array([[up(n) for n in line] for line in lines]).T,  # per cent of the chart's height; (4, 17)
            "now": np.array([across(T), *(up(n / T) for n in parts(one)[:3])]),
            "crossings": np.array([[across(t), up(4 * t * d), t] if LENGTHS[0] <= t <= LENGTHS[-1] else [np.nan] * 3
                                   for t in (2 * d, 6 * d)]),
            "ticks": [[round(up(10**n), 2), n] for n in tens],
            "shares": [round(100 * n / whole.total_flops, 1) for n in flops],
            "flops": [short(n) for n in [*flops, whole.total_flops]],
            "memory": [short(BYTES * n) + "B" for n in memory],
            "layers": [[short(n / T), str(row.sequential_steps), str(row.path_length)] for n, row in layers],
        }

    def constants(self):
        return {"lengths": LENGTHS}

    def still(self):
        rows = "".join(
            f"<tr><th scope=row>{model}, T = {T}</th>" + "".join(f"<td>{share:.1f} %</td>" for share in value["shares"])
            + f"<td>{value['flops'][-1]}</td><td>{value['memory'][0]}</td><td>{value['memory'][2]}</td></tr>"
            for model in MODELS for T in (512, 2048, 32768) for value in [self.compute(model, T)]
        )
        names = ("", "projections", "scores and mix", "FFN", "logits", "FLOPs", "score matrices", "key/value cache")
        head = "".join(f"<th scope=col>{name}</th>" for name in names)
        return f"<table><caption>Shares of one pass over T tokens, and memory in half precision</caption><tr>{head}</tr>{rows}</table>"


def sizes(model, T=None, d=0, H=0):
    """Return d, H, L and the vocabulary: the model's, where not told."""
    own = MODELS[model]
    return (d or own[0], H or own[1], *own[2:])


def parts(row):
    """Return the FLOPs of the four projections, of scores and mix, and of the feed-forward network."""
    flops = row.flops
    return [flops["projections"] + flops["output"], flops["scores"] + flops["mix"], flops["ffn"]]


def short(n):
    """Write a count with three digits and a prefix.

    Examples
    --------
    >>> short(735_000_000_000_000), short(1536)
    ('735 T', '1.54 k')
    """
    for power, prefix in ((18, "E"), (15, "P"), (12, "T"), (9, "G"), (6, "M"), (3, "k")):
        if n >= 0.9995 * 10**power:
            digits = f"{n / 10**power:.3g}"
            return f"{float(digits):g} {prefix}"
    return f"{n:.3g} "
