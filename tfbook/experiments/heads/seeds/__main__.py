"""Heads and the five questions, over random seeds and learning rates: ``seeds.json``.

    python -m tfbook.experiments.heads.seeds [--jobs 2]

Claim: with the same number of parameters, several heads a layer answer more questions
than one. It would be refuted by models with one head that answer as many. The arms of a
width differ in H alone. Each has the best of four learning rates, chosen by its loss on
validation sequences with seed 100, to the thousandth of a nat. Then come seeds 1 to 5,
of the initialisation and of the training sequences, measured on the held-out sequences.

Second claim: heads specialise. It would be refuted by removals of a head that lower the
answers to all questions alike. Of the models in ``EXAMINED`` every head is removed in
turn.
"""

import json
import time
from itertools import product

import numpy as np
import torch

from tfbook.experiments import heads as task
from tfbook.experiments.heads.__main__ import BATCH, STEPS, plain, train
from tfbook.experiments.heads.seeds import EXAMINED, FILE, WIDTHS
from tfbook.experiments.study import parallel

SEEDS, TUNED_WITH = (1, 2, 3, 4, 5), 100
RATES = (0.02, 0.04, 0.08, 0.16)  # to be divided by √d


def trial(run, steps=STEPS):
    """Train one model: the measures of it, and of it without each head."""
    torch.set_num_threads(1)
    (d, H, rate, seed), began = run, time.process_time()
    model, _ = train(d, H, steps, seed, rate)
    P = {name: p.detach().numpy() for name, p in model.state_dict().items()}
    if seed == TUNED_WITH:
        tokens = task.sequences(np.random.default_rng(2**32 + 1), 200)
    else:
        tokens = task.held_out()
    result = {"seed": seed, **plain(task.measure(tokens, P, H))}
    if seed != TUNED_WITH and (d, H) in EXAMINED:
        removed = task.each_removed(tokens, P, H)
        result["removed"] = [
            {key: plain(without)[key] for key in ("accuracy", "loss")}
            for without in removed
        ]
    result["seconds"] = round(time.process_time() - began, 1)
    accuracy = " ".join(f"{100 * x:3.0f}" for x in result["accuracy"])
    print(
        f"d {d:3}  H {H}  rate {rate:4}  seed {seed:3}  loss {result['loss']:.3f}"
        f"  accuracy {accuracy}  {result['seconds']:.0f} s",
        flush=True,
    )
    return result


if __name__ == "__main__":
    sizes = list(product(WIDTHS, task.HEADS))
    tries = [(*size, rate, TUNED_WITH) for size in sizes for rate in RATES]
    tried = dict(zip(tries, parallel(trial, tries, __doc__)))

    def loss(d, H, rate):
        return round(tried[d, H, rate, TUNED_WITH]["loss"], 3)

    best = {
        size: min(RATES, key=lambda rate: loss(*size, rate)) for size in sizes
    }
    settings = [(*size, best[size], seed) for size in sizes for seed in SEEDS]
    done = dict(zip(settings, parallel(trial, settings, __doc__)))
    models = [
        {
            "d": d,
            "H": H,
            "rate": best[d, H],
            "tried": [loss(d, H, rate) for rate in RATES],
            "runs": [done[d, H, best[d, H], seed] for seed in SEEDS],
        }
        for d, H in sizes
    ]
    everything = (*tried.values(), *done.values())
    text = json.dumps(
        {
            "command": "python -m tfbook.experiments.heads.seeds",
            "seeds": SEEDS,
            "rates": RATES,
            "tuned with seed": TUNED_WITH,
            "steps": STEPS,
            "batch": BATCH,
            "seconds": round(sum(run["seconds"] for run in everything)),
            "numpy": np.__version__,
            "torch": torch.__version__.partition("+")[0],
            "models": models,
        },
        separators=(",", ":"),
    )
    FILE.write_text(text + "\n", encoding="utf-8")
    print(f"{FILE.name}: {FILE.stat().st_size:,} bytes")
