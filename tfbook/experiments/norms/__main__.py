"""Train the models behind ``norms.npz``: three places for a norm, with warm-up and
without.

    python -m tfbook.experiments.norms [--jobs 2]

Six layers of 32 channels, 4 heads, characters of Python's help texts (those of Python
3.11; they differ between versions), 300 steps of 8 sequences of 32; about 550 s of
processor time in all. A small start divides W_O and W_2 by √(2L). The mean loss of the
last 30 steps in nats a character, seeds 0, 1 and 2:

    post  rate 0.001  warm-up   0  full   loss 2.96 2.89 3.07
    post  rate 0.001  warm-up 100  full   loss 2.95 2.90 2.93
    post  rate 0.001  warm-up   0  small  loss 2.70 2.72 2.70
    post  rate 0.003  warm-up   0  full   loss 3.25 3.28 3.27
    post  rate 0.003  warm-up 100  full   loss 3.18 3.18 3.24
    post  rate 0.003  warm-up   0  small  loss 2.77 2.76 2.72
    pre   rate 0.001  warm-up   0  full   loss 2.90 2.90 2.92
    pre   rate 0.001  warm-up 100  full   loss 2.98 2.96 3.00
    pre   rate 0.001  warm-up   0  small  loss 2.88 2.85 2.90
    pre   rate 0.003  warm-up   0  full   loss 2.77 2.81 2.80
    pre   rate 0.003  warm-up 100  full   loss 2.81 2.79 2.85
    pre   rate 0.003  warm-up   0  small  loss 2.82 2.84 2.94
    both  rate 0.001  warm-up   0  full   loss 2.86 2.88 2.92
    both  rate 0.001  warm-up 100  full   loss 2.97 2.92 2.98
    both  rate 0.001  warm-up   0  small  loss 2.92 2.89 2.93
    both  rate 0.003  warm-up   0  full   loss 2.76 2.78 2.80
    both  rate 0.003  warm-up 100  full   loss 2.79 2.78 2.78
    both  rate 0.003  warm-up   0  small  loss 2.85 2.82 2.85
"""

import json
import time
from itertools import product

import numpy as np
import torch

from tfbook.experiments import norms
from tfbook.experiments.depth.forms import NORMS
from tfbook.experiments.study import fit, parallel, warmed_up
from tfbook.text import characters, encode, text
from tfbook.torch import LanguageModel, cross_entropy

L, D, H, T, BATCH, SEEDS = 6, 32, 4, 32, 8, 3


def losses(norm, rate, warmup, seed, small=False, steps=norms.STEPS):
    """Train one language model on characters; the loss at each step, in nats."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    written = text()[:200_000]
    vocabulary = characters(written)
    tokens = torch.tensor(encode(written, vocabulary))
    rng = np.random.default_rng(seed)
    model = LanguageModel(len(vocabulary), T, D, H, L, norm=norm)
    if small:
        for layer in model.layers:
            layer.W_O.data /= (2 * L) ** 0.5
            layer.W_2.data /= (2 * L) ** 0.5

    def loss():
        start = torch.tensor(rng.integers(len(tokens) - T, size=(BATCH, 1)))
        read = tokens[start + torch.arange(T + 1)]  # (BATCH, T + 1)
        guesses = model(read[:, :-1]).flatten(0, 1)
        return cross_entropy(guesses, read[:, 1:].flatten())

    rising, betas = warmed_up(warmup), (0.9, 0.98)
    return fit(model.parameters(), loss, steps, rate, rising, betas)


def run(job):
    """One model: its losses, and a line on the screen."""
    began = time.process_time()
    kept = losses(*job)
    norm, rate, warmup, seed, small = job
    last, seconds = np.mean(kept[-30:]), time.process_time() - began
    print(
        f"    {norm:4}  rate {rate}  warm-up {warmup:3}  seed {seed}  "
        f"{'small' if small else 'full '}  loss {last:.2f} "
        f" {seconds:.0f} s",
        flush=True,
    )
    return kept


if __name__ == "__main__":
    full = product(NORMS, norms.RATES, norms.WARMUPS, range(SEEDS), [False])
    small = product(NORMS, norms.RATES, [0], range(SEEDS), [True])
    every = [*full, *small]
    done = np.array(parallel(run, every, __doc__), np.float32)
    done = done.reshape(-1, SEEDS, norms.STEPS)
    record = {
        "command": "python -m tfbook.experiments.norms",
        "L": L,
        "d": D,
        "H": H,
        "T": T,
        "batch": BATCH,
        "seeds": list(range(SEEDS)),
        "steps": norms.STEPS,
        "torch": torch.__version__.partition("+")[0],
    }
    curves = {
        f"{norm}.{rate}.{warmup}{'.small' * start}": curve
        for (norm, rate, warmup, _, start), curve in zip(every[::SEEDS], done)
    }
    np.savez_compressed(norms.FILE, record=json.dumps(record), **curves)
    print(f"{norms.FILE.name}: {norms.FILE.stat().st_size:,} bytes")
