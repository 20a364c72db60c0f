"""Train the models of ``shared_heads.json``: 8 query heads that share 8, 4 or 1
key/value heads.

    python -m tfbook.experiments.shared_heads [--jobs 3]

Two tasks. *Text*: guess the next character of Python's help texts (2 layers, d = 64, 64
characters at a time); the loss in nats on text that no model was trained on. *Recall*:
the five questions of ``tfbook/experiments/heads/__init__.py`` (2 layers, d = 64); the
share of right answers. Seeds 0, 1, 2; within a seed all models see the same data in the
same order. 400 and 1000 steps of 16 and 32 sequences; about 230 s of one core in all.
The seconds of processor time stand last:

    H_kv 8      seed 0      loss 2.1654 right 1.0    28 s
    H_kv 8      seed 2      loss 2.1694 right 1.0    29 s
    H_kv 8      seed 1      loss 2.1614 right 1.0    28 s
    H_kv 4      seed 1      loss 2.1885 right 0.9999 24 s
    H_kv 4      seed 0      loss 2.1952 right 1.0    25 s
    H_kv 4      seed 2      loss 2.1729 right 1.0    24 s
    H_kv 1      seed 0      loss 2.2413 right 1.0    24 s
    H_kv 1      seed 1      loss 2.2072 right 0.8965 25 s
    H_kv 1      seed 2      loss 2.2208 right 1.0    24 s
"""

import json
import time
from itertools import product

import numpy as np
import torch
from torch import nn

from tfbook.experiments import heads as recall
from tfbook.experiments import shared_heads as stored
from tfbook.experiments.heads import __main__ as train_heads
from tfbook.experiments.study import fit, parallel
from tfbook.text import characters, encode, text
from tfbook.torch import LanguageModel

D, H, L, T, BATCH = 64, 8, 2, 64, 16


def excerpts(tokens, n, rng):
    """n pieces of T + 1 tokens, each from a random place."""
    return torch.tensor(
        tokens[rng.integers(len(tokens) - T, size=(n, 1)) + np.arange(T + 1)]
    )


def loss_of(model, pieces):
    """In nats a character."""
    return nn.functional.cross_entropy(
        model(pieces[:, :-1]).flatten(0, 1), pieces[:, 1:].flatten()
    )


def train_text(H_kv, seed, steps=400):
    """The loss of a language model on text that it has not seen."""
    torch.manual_seed(seed)
    whole, rng = text(), np.random.default_rng(seed)
    vocab = characters(whole)
    tokens = encode(whole, vocab)
    seen, unseen = np.split(tokens, [int(0.9 * len(tokens))])
    model = LanguageModel(len(vocab), T, D, H, L, H_kv=H_kv, norm="pre")
    on_batch = lambda: loss_of(model, excerpts(seen, BATCH, rng))
    fit(model.parameters(), on_batch, steps, rate=3e-3)
    with torch.no_grad():
        return loss_of(
            model, excerpts(unseen, 256, np.random.default_rng(0))
        ).item()


def train_recall(H_kv, seed, steps=1000):
    """The share of right answers to the five questions, of sequences that the model has
    not seen.
    """
    model, _ = train_heads.train(D, H, steps, seed, H_kv)
    tokens = recall.held_out()
    with torch.no_grad():
        given = model(torch.tensor(tokens)).argmax(dim=-1).numpy()
    right = recall.answers(tokens)
    return float((given == right)[right >= 0].mean())


def entry(model):
    """Train both models of one H_kv and seed."""
    torch.set_num_threads(1)
    (H_kv, seed), began = model, time.process_time()
    result = {
        "H_kv": H_kv,
        "seed": seed,
        "loss": round(train_text(*model), 4),
        "right": round(train_recall(*model), 4),
    }
    print(
        *(f"{name} {value:<6}" for name, value in result.items()),
        f"{time.process_time() - began:.0f} s",
        flush=True,
    )
    return result


if __name__ == "__main__":
    results = parallel(entry, product((H, H // 2, 1), range(3)), __doc__)
    record = {
        "command": "python -m tfbook.experiments.shared_heads --jobs 3",
        "d": D,
        "H": H,
        "L": L,
        "T": T,
        "torch": torch.__version__.partition("+")[0],
        "models": results,
    }
    stored.FILE.write_text(
        json.dumps(record, indent=1) + "\n", encoding="utf-8"
    )
