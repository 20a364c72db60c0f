"""Train a small language model with each feed-forward network, all of equal parameters:
``activations.json``.

    python -m tfbook.experiments.activations [--jobs 2]

Claim: a gated network is better than ReLU at equal parameters. It would be refuted by
paired differences, seed by seed, whose mean is not below 0 by more than twice its
standard error. The control has both matrices and no bend between them.

One layer, d = 24, on 32 characters of English; 10 seeds, 4 learning rates, 400 steps of
16 stretches. The first 90 % of the text are for training. The rate of each network is
chosen by its loss on the next 5 %, the mean of all seeds, and the loss is reported on
the last 5 %.
"""

import json
import platform
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
TRAIN, VALIDATION, TEST = TOKENS.tensor_split(
    [len(TOKENS) * 18 // 20, len(TOKENS) * 19 // 20]
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
    """Return the losses of one model on the validation and the test text, the number of
    its parameters, and the seconds that it took.
    """
    torch.set_num_threads(1)
    began, rng = time.process_time(), np.random.default_rng(seed)
    model = model_of(network, seed)
    on_batch = lambda: loss(model, batch(rng, TRAIN, BATCH))
    fit(model.parameters(), on_batch, STEPS, rate)
    with torch.no_grad():
        validation, test = (
            loss(
                model, batch(np.random.default_rng(2**32), part, 1000)
            ).item()
            for part in (VALIDATION, TEST)
        )
    params = sum(p.numel() for p in model.parameters())
    return validation, test, params, time.process_time() - began


def entry(run):
    """One run as the file keeps it."""
    (network, seed, rate), (validation, test, params, seconds) = (
        run,
        train(*run),
    )
    print(
        f"{network:7} seed {seed}  rate {rate:<6}  test {test:.4f}  {params:,}"
        f" parameters  {seconds:.0f} s",
        flush=True,
    )
    return {
        "network": network,
        "seed": seed,
        "rate": rate,
        "validation": round(validation, 4),
        "test": round(test, 4),
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
        "python": platform.python_version(),
        "numpy": np.__version__,
        "torch": torch.__version__.partition("+")[0],
        "seconds": round(sum(run["seconds"] for run in runs)),
        "runs": runs,
    }
    activations.FILE.write_text(
        json.dumps(record, indent=1) + "\n", encoding="utf-8"
    )
