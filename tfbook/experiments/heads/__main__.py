"""Train the small models of ``heads.npz``, one for each d and H. They are what the
figure shows; ``seeds`` trains more, to measure the spread over random seeds.

    python -m tfbook.experiments.heads [--jobs 2]

Seed 0, 1600 steps of 32 sequences each; about 220 s of one core in all. Held out,
accuracy in per cent by question (previous, three back, first, third, induction), the
seconds of processor time last:

    d 128  H 1  loss 0.798  accuracy  38  46 100  98  28  21 s
    d 128  H 2  loss 0.010  accuracy 100  99 100 100 100  20 s
    d 128  H 4  loss 0.001  accuracy 100 100 100 100 100  22 s
    d 128  H 8  loss 0.001  accuracy 100 100 100 100 100  24 s
    d  64  H 1  loss 0.605  accuracy  27 100 100 100  15  11 s
    d  64  H 2  loss 0.005  accuracy 100 100 100  99 100  12 s
    d  64  H 4  loss 0.000  accuracy 100 100 100 100 100  14 s
    d  64  H 8  loss 0.000  accuracy 100 100 100 100 100  15 s
    d  32  H 1  loss 0.516  accuracy 100  36 100 100  17  9 s
    d  32  H 2  loss 0.000  accuracy 100 100 100 100 100  10 s
    d  32  H 4  loss 0.000  accuracy 100 100 100 100 100  11 s
    d  32  H 8  loss 0.000  accuracy 100 100 100 100 100  13 s
    d  16  H 1  loss 0.917  accuracy 100  20 100  10  16  8 s
    d  16  H 2  loss 0.410  accuracy  99  87 100 100  16  10 s
    d  16  H 4  loss 0.303  accuracy 100 100 100 100  17  10 s
    d  16  H 8  loss 0.302  accuracy 100 100 100 100  18  12 s

With this seed no model with one head a layer answers all five, and every model with two
or more heads and 32 channels or more does. Other seeds make exceptions to both: see
``seeds``.
"""

import json
import time

import numpy as np
import torch
from torch import nn

from tfbook.experiments import heads as task
from tfbook.experiments.study import fit, parallel
from tfbook.torch import MultiHeadAttention, causal_mask, embed

STEPS, BATCH, SEED = 1600, 32, 0


class Reader(nn.Module):
    """The model of ``tfbook.experiments.heads.read``, with parameters of its own."""

    def __init__(self, d, H, seed=0):
        super().__init__()
        self.layers = nn.ModuleList(
            MultiHeadAttention(d, H) for _ in range(task.LAYERS)
        )
        P = task.start(d, H, seed)
        P = {name: torch.tensor(p) for name, p in P.items()}
        self.E, self.P, self.W = (
            nn.Parameter(P[name].clone()) for name in "EPW"
        )
        self.load_state_dict(P)

    def forward(self, tokens):
        """Tokens (B, T) in, logits (B, questions, T, letters) of every answer out."""
        X = embed(tokens, self.E, self.P)
        for attention in self.layers:
            X = X + attention(X, causal_mask(task.T))
        return (
            (X @ self.W)
            .unflatten(-1, (len(task.QUESTIONS), -1))
            .transpose(-2, -3)
        )


def cross_entropy(logits, right):
    """Of one question, in nats, over the places where there is an answer."""
    return nn.functional.cross_entropy(
        logits.flatten(0, 1), right.flatten(), ignore_index=-1
    )


def loss(model, rng):
    """On fresh sequences; each question counts alike."""
    tokens = task.sequences(rng, BATCH)
    logits = model(torch.tensor(tokens))  # (B, questions, T, letters)
    right = torch.tensor(task.answers(tokens))  # (B, questions, T)
    each = map(cross_entropy, logits.unbind(1), right.unbind(1))
    return sum(each) / len(task.QUESTIONS)


def train(d, H, steps=STEPS, seed=SEED, rate=0.04):
    """Return a trained model and the losses on the way; ``rate`` is divided by √d."""
    model, rng = Reader(d, H, seed), np.random.default_rng([seed, d, H])
    rate = rate * d**-0.5
    return model, fit(
        model.parameters(), lambda: loss(model, rng), steps, rate
    )


def entry(size):
    """Train one model: its parameters by name, and what the record keeps of it."""
    torch.set_num_threads(1)
    (d, H), began = size, time.process_time()
    model, losses = train(d, H)
    P = {
        name: p.detach().numpy().astype(np.float16)
        for name, p in model.state_dict().items()
    }
    tests = task.held_out()
    stored = {name: p.astype(np.float32) for name, p in P.items()}
    untrained, trained = (
        task.measure(tests, task.start(d, H), H),
        task.measure(tests, stored, H),
    )
    last = round(float(np.mean(losses[-20:])), 4)
    result = {
        "d": d,
        "H": H,
        "last_loss": last,
        "untrained": plain(untrained),
        "trained": plain(trained),
    }
    accuracy = " ".join(f"{100 * x:3.0f}" for x in trained["accuracy"])
    print(
        f"d {d:3}  H {H}  loss {trained['loss']:.3f}  accuracy {accuracy} "
        f" {time.process_time() - began:.0f} s",
        flush=True,
    )
    return {f"{d}.{H}.{name}": p for name, p in P.items()}, result


def plain(measures):
    """Arrays as rounded lists, ready for JSON."""
    return {name: np.round(x, 4).tolist() for name, x in measures.items()}


if __name__ == "__main__":
    sizes = [(d, H) for d in reversed(task.WIDTHS) for H in task.HEADS]
    done = parallel(entry, sizes, __doc__)
    record = {
        "command": "python -m tfbook.experiments.heads --jobs 2",
        "seed": SEED,
        "steps": STEPS,
        "batch": BATCH,
        "torch": torch.__version__.partition("+")[0],
        "models": [result for _, result in done],
    }
    np.savez_compressed(
        task.FILE,
        record=json.dumps(record),
        **{name: p for P, _ in done for name, p in P.items()},
    )
    print(f"{task.FILE.name}: {task.FILE.stat().st_size:,} bytes")
