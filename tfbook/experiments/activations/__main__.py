"""Train a small language model with each feed-forward network, all of equal parameters:
``activations.json``.

    python -m tfbook.experiments.activations [--jobs 2]

One layer, d = 24, on 32 characters of English; 10 seeds, 4 learning rates, 400 steps of
16 stretches; 419 s of one core in all. Held-out loss in nats a character, the mean of
the seeds and their standard deviation, by learning rate:

              0.005          0.01           0.02           0.04      parameters
    none    2.382 ± 0.015  2.352 ± 0.014  2.363 ± 0.026  2.492 ± 0.059  10,416
    ReLU    2.317 ± 0.014  2.284 ± 0.015  2.308 ± 0.024  2.441 ± 0.046  10,416
    GELU    2.319 ± 0.016  2.274 ± 0.022  2.293 ± 0.033  2.435 ± 0.069  10,416
    SwiGLU  2.304 ± 0.026  2.250 ± 0.015  2.274 ± 0.025  2.407 ± 0.042  10,296
    GEGLU   2.298 ± 0.029  2.253 ± 0.024  2.284 ± 0.027  2.415 ± 0.045  10,296

All are best at 0.01. There both gated networks beat ReLU for each of the ten seeds, by
0.03 on average; GELU does not.
"""

import json
import time
from itertools import product

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from tfbook.experiments import activations
from tfbook.experiments.study import fit, parallel
from tfbook.text import characters, encode, text
from tfbook.torch import LanguageModel

D, H, L, T, BATCH, STEPS = 24, 2, 1, 32, 16, 400
SEEDS, RATES = range(10), (0.005, 0.01, 0.02, 0.04)
NETWORKS = {
    "none": {"activation": torch.clone},  # bends nothing
    "ReLU": {"activation": "relu"},
    "GELU": {"activation": "gelu"},
    "SwiGLU": {"activation": "silu", "gated": True, "d_ff": 2 * 4 * D // 3},
    "GEGLU": {"activation": "gelu", "gated": True, "d_ff": 2 * 4 * D // 3},
}
VOCABULARY = characters(text())
TOKENS = torch.tensor(encode(text(), VOCABULARY))
TRAIN, HELD_OUT = (
    TOKENS[: len(TOKENS) * 9 // 10],
    TOKENS[len(TOKENS) * 9 // 10 :],
)


def loss(model, tokens):
    """Of each next character, in nats: tokens (B, T + 1)."""
    logits = model(tokens[:, :-1])
    return cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())


def batch(rng, tokens, n):
    """n stretches of T + 1 characters from anywhere in the text."""
    start = torch.tensor(rng.integers(len(tokens) - T, size=n))
    return tokens[start[:, None] + torch.arange(T + 1)]


def model_of(network, seed):
    """A model whose parameters outside the feed-forward networks are the same whatever
    the network.
    """
    torch.manual_seed(seed)
    base = LanguageModel(
        len(VOCABULARY), T, D, H, L, norm="pre", fused=True
    ).state_dict()
    model = LanguageModel(
        len(VOCABULARY),
        T,
        D,
        H,
        L,
        norm="pre",
        fused=True,
        **NETWORKS[network],
    )
    state = model.state_dict()
    model.load_state_dict(
        state
        | {
            name: p
            for name, p in base.items()
            if name in state and not name.endswith(("W_1", "W_2"))
        }
    )
    return model


def train(network, seed, rate):
    """Return the held-out loss of one model, the number of its parameters, and the
    seconds that it took.
    """
    torch.set_num_threads(1)
    began, rng = time.process_time(), np.random.default_rng(seed)
    model = model_of(network, seed)
    on_batch = lambda: loss(model, batch(rng, TRAIN, BATCH))
    fit(model.parameters(), on_batch, STEPS, rate)
    with torch.no_grad():
        held_out = loss(
            model, batch(np.random.default_rng(2**32), HELD_OUT, 1000)
        ).item()
    return (
        held_out,
        sum(p.numel() for p in model.parameters()),
        time.process_time() - began,
    )


def entry(run):
    """One run as the file keeps it."""
    (network, seed, rate), (held_out, params, seconds) = run, train(*run)
    print(
        f"{network:7} seed {seed}  rate {rate:<6}  held out {held_out:.4f}  {params:,}"
        f" parameters  {seconds:.0f} s",
        flush=True,
    )
    return {
        "network": network,
        "seed": seed,
        "rate": rate,
        "loss": round(held_out, 4),
        "params": params,
        "seconds": round(seconds, 1),
    }


if __name__ == "__main__":
    settings = [
        (n, seed, rate) for seed, rate, n in product(SEEDS, RATES, NETWORKS)
    ]
    runs = parallel(entry, settings, __doc__)
    record = {
        "command": "python -m tfbook.experiments.activations",
        "seeds": list(SEEDS),
        "rates": list(RATES),
        "steps": STEPS,
        "batch": BATCH,
        "d": D,
        "H": H,
        "L": L,
        "T": T,
        "vocab": len(VOCABULARY),
        "torch": torch.__version__.partition("+")[0],
        "seconds": round(sum(run["seconds"] for run in runs)),
        "runs": runs,
    }
    activations.FILE.write_text(
        json.dumps(record, indent=1) + "\n", encoding="utf-8"
    )
