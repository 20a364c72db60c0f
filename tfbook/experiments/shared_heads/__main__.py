"""Train the models of ``shared_heads.json``: query heads that share key/value heads,
with fewer parameters, and with as many as without sharing.

    python -m tfbook.experiments.shared_heads [--jobs 2]

An arm is H, H_kv and d_ff, with heads of 8 channels. Eight query heads share 8, 4 or 1
key/value heads. Sharing removes parameters; two kinds of arms have them again, in a
wider feed-forward network or in more query heads.

*Text*: guess the next character of Python's help texts (2 layers, d = 64, 64 characters
at a time); the loss in nats on text that no model was trained on. Each arm's learning
rate is the best of three with another seed on another text. *Recall*: the five
questions of ``tfbook/experiments/heads/__init__.py`` (2 layers of attention alone,
d = 64, one rate); the share of right answers. Within a seed all models see the same
data in the same order; about 820 s of processor time in all.
"""

import json
import platform
import time

import numpy as np
import torch
from torch import nn

from tfbook.experiments import heads as recall
from tfbook.experiments import shared_heads as stored
from tfbook.experiments.heads import __main__ as train_heads
from tfbook.experiments.study import fit, parallel
from tfbook.text import characters, encode, text
from tfbook.torch import LanguageModel, MultiHeadAttention, cross_entropy

D, D_K, L, T, BATCH = 64, 8, 2, 64, 16
SHARED = (8, 8), (8, 4), (8, 1)
MORE_HEADS = (12, 4), (15, 1)
ARMS = {  # H, H_kv and d_ff
    "text": [
        *((*heads, 256) for heads in SHARED),
        (8, 4, 288),
        (8, 1, 312),
        *((*heads, 256) for heads in MORE_HEADS),
    ],
    "recall": [(*heads, 0) for heads in SHARED + MORE_HEADS],
}
STEPS = {"text": 300, "recall": 1000}
RATES, TRIED_WITH, SEEDS = (0.002, 0.004, 0.008), 5, range(5)


class Reader(train_heads.Reader):
    """The model of the five questions, with random weights and any number of heads of
    D_K channels.
    """

    def __init__(self, H, H_kv):
        nn.Module.__init__(self)
        sizes = {"H_kv": H_kv, "d_k": D_K, "d_v": D_K}
        self.layers = nn.ModuleList(
            MultiHeadAttention(D, H, **sizes) for _ in range(L)
        )
        P = recall.start(D, SHARED[0][0])
        self.E, self.P, self.W = (
            nn.Parameter(torch.tensor(P[name])) for name in "EPW"
        )


def excerpts(tokens, n, rng):
    """n pieces of T + 1 tokens, each from a random place."""
    return torch.tensor(
        tokens[rng.integers(len(tokens) - T, size=(n, 1)) + np.arange(T + 1)]
    )


def loss_of(model, windows):
    """In nats a character."""
    return cross_entropy(
        model(windows[:, :-1]).flatten(0, 1), windows[:, 1:].flatten()
    )


def train_text(arm, rate, seed, steps=STEPS["text"]):
    """A language model, its loss on the text by which a rate is chosen and on the text
    that is reported.
    """
    torch.manual_seed(seed)
    (H, H_kv, d_ff), rng = arm, np.random.default_rng(seed)
    vocab = characters(text())
    tokens = encode(text(), vocab)
    seen, *unseen = np.split(
        tokens, [len(tokens) * n // 20 for n in (18, 19)]
    )
    sizes = {"H_kv": H_kv, "d_ff": d_ff, "d_k": D_K, "d_v": D_K}
    model = LanguageModel(
        len(vocab), T, D, H, L, norm="pre", fused=True, **sizes
    )
    on_batch = lambda: loss_of(model, excerpts(seen, BATCH, rng))
    fit(model.parameters(), on_batch, steps, rate)
    with torch.no_grad():
        return model, *(
            loss_of(
                model, excerpts(part, 256, np.random.default_rng(0))
            ).item()
            for part in unseen
        )


def train_recall(arm, seed, steps=STEPS["recall"]):
    """A model of the five questions, and its share of right answers on sequences that
    it has not seen.
    """
    torch.manual_seed(seed)
    model, rng = Reader(*arm[:2]), np.random.default_rng(seed)
    on_batch = lambda: train_heads.loss(model, rng)
    fit(model.parameters(), on_batch, steps, 0.04 * D**-0.5)
    tokens = recall.held_out()
    with torch.no_grad():
        given = model(torch.tensor(tokens)).argmax(dim=-1).numpy()
    right = recall.answers(tokens)
    return model, float((given == right)[right >= 0].mean())


def trial(setting):
    """Train one model: what the record keeps of it."""
    (task, arm, rate, seed), began = setting, time.process_time()
    if task == "text":
        model, chosen, measure = train_text(arm, rate, seed)
    else:
        model, measure = train_recall(arm, seed)
        chosen = None
    result = {
        "arm": arm,
        "rate": rate,
        "seed": seed,
        "parameters": sum(p.numel() for p in model.parameters()),
        "chosen by": chosen and round(chosen, 4),
        "measure": round(measure, 4),
        "seconds": round(time.process_time() - began, 1),
    }
    print(task, *result.values(), flush=True)
    return result


def study(setting):
    """An arm of a task: first the best rate, then every seed at it."""
    task, arm = setting
    if task == "recall":
        return [], [trial((task, arm, None, seed)) for seed in SEEDS]
    tried = [trial((task, arm, rate, TRIED_WITH)) for rate in RATES]
    best = min(tried, key=lambda result: result["chosen by"])["rate"]
    return tried, [trial((task, arm, best, seed)) for seed in SEEDS]


if __name__ == "__main__":
    settings = [(task, arm) for task in ARMS for arm in ARMS[task]]
    done = dict(zip(settings, parallel(study, settings, __doc__)))
    tried = [result for runs, _ in done.values() for result in runs]
    models = {
        task: [run for arm in ARMS[task] for run in done[task, arm][1]]
        for task in ARMS
    }
    record = {
        "command": "python -m tfbook.experiments.shared_heads --jobs 2",
        "d": D,
        "d_k": D_K,
        "L": L,
        "T": T,
        "batch": {"text": BATCH, "recall": train_heads.BATCH},
        "steps": STEPS,
        "seeds": list(SEEDS),
        "rates": RATES,
        "seconds": round(
            sum(run["seconds"] for run in sum(models.values(), tried))
        ),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "torch": torch.__version__.partition("+")[0],
        "tried": tried,
        **models,
    }
    stored.FILE.write_text(json.dumps(record) + "\n", encoding="utf-8")
    print(f"{stored.FILE.name}: {record['seconds']} s of processor time")
