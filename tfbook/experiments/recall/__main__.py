"""Train the five networks of ``__init__.py`` on one card a row and on four, and store
how each did in ``recall.json``.

    python -m tfbook.experiments.recall [--jobs 2]

1000 steps of 32 fresh rows, Adam, no early stop. Each network is tuned for each task:
rates 0.003, 0.01 and 0.03 with seed 100; the best by accuracy on validation rows, to
the per cent, then by mean loss on the way. Then seeds 1 to 5 at that rate, measured on
other rows.

432 s of processor time in all. Parameters, the rate chosen, right answers in per cent
(mean and standard deviation of the seeds) on rows of 64 and of 256 places:

    1  attention             5,184  0.03   100 ± 0   100 ±  0
    1  attention, positions  5,184  0.03   100 ± 0    97 ±  5
    1  LSTM                  5,312  0.03   100 ± 0    99 ±  3
    1  dilated convolution   5,092  0.01    97 ± 6    34 ±  2
    1  mean pooling          5,184  0.03   100 ± 0    22 ±  9
    4  attention             5,184  0.03   100 ± 0   100 ±  0
    4  attention, positions  5,184  0.01   100 ± 0    69 ± 16
    4  LSTM                  5,312  0.01    22 ± 2    20 ±  3
    4  dilated convolution   5,092  0.03    14 ± 0    13 ±  1
    4  mean pooling          5,184  0.03    26 ± 1    17 ±  6

A guess is right in 12.5 per cent, and knowing the digits of four cards alone gives 25.
"""

import json
import time
from itertools import product

import numpy as np
import torch

from tfbook.experiments import recall
from tfbook.experiments.study import parallel

STEPS, BATCH, SEEDS = 1000, 32, (1, 2, 3, 4, 5)
RATES, TUNED_WITH = (0.003, 0.01, 0.03), 100
VALIDATION, TEST = 2**32 + 1, 2**32  # seeds of the rows
MEAN_OF = 25  # steps whose losses are stored as one number


def trial(run, steps=STEPS):
    """Train one network: its losses, its accuracy by distance, the seconds of processor
    time.
    """
    torch.set_num_threads(1)
    (cards, name, rate, seed), began = run, time.process_time()
    model, losses = recall.train(name, cards, rate, steps, BATCH, seed)
    rows = VALIDATION if seed == TUNED_WITH else TEST
    result = {
        "losses": np.mean(np.reshape(losses, (-1, MEAN_OF)), axis=-1)
        .round(3)
        .tolist(),
        "accuracy": recall.accuracy(model, cards, rows).round(3).tolist(),
        "longer": recall.accuracy(model, cards, rows, 2048, recall.LONGER)
        .round(3)
        .tolist(),
        "parameters": sum(p.numel() for p in model.parameters()),
        "seconds": time.process_time() - began,
    }
    percent = " ".join(f"{100 * x:3.0f}" for x in result["accuracy"])
    print(
        f"    {cards} {name:20}  rate {rate:<5}  seed {seed:3}"
        f"  loss {result['losses'][-1]:.3f}  accuracy {percent}"
        f"  longer {np.mean(result['longer']):.2f}"
        f"  {result['seconds']:.0f} s",
        flush=True,
    )
    return result


def quality(result):
    """The larger the better: accuracy on validation rows, then speed of learning."""
    return round(np.mean(result["accuracy"]), 2), -np.mean(result["losses"])


if __name__ == "__main__":
    arms = list(product(recall.CARDS, recall.NETWORKS))
    runs = [(*arm, rate, TUNED_WITH) for arm in arms for rate in RATES]
    tried = dict(zip(runs, parallel(trial, runs, __doc__)))
    best = {
        arm: max(
            RATES, key=lambda rate: quality(tried[*arm, rate, TUNED_WITH])
        )
        for arm in arms
    }
    runs = [(*arm, best[arm], seed) for arm in arms for seed in SEEDS]
    each = dict(zip(runs, parallel(trial, runs, __doc__)))
    tasks = {str(cards): {} for cards in recall.CARDS}
    for cards, name in arms:
        rate = best[cards, name]
        found = [each[cards, name, rate, seed] for seed in SEEDS]
        tasks[str(cards)][name] = {
            "parameters": found[0]["parameters"],
            "rate": rate,
            "tried": [
                float(np.mean(tried[cards, name, r, TUNED_WITH]["accuracy"]))
                for r in RATES
            ],
        } | {
            key: [run[key] for run in found]
            for key in ("losses", "accuracy", "longer")
        }
    record = {
        "command": "python -m tfbook.experiments.recall --jobs 2",
        "seeds": SEEDS,
        "steps": STEPS,
        "batch": BATCH,
        "rates": RATES,
        "tuned with seed": TUNED_WITH,
        "seconds": round(
            sum(r["seconds"] for r in (*tried.values(), *each.values()))
        ),
        "numpy": np.__version__,
        "torch": torch.__version__.partition("+")[0],
        "tasks": tasks,
    }
    recall.FILE.write_text(
        json.dumps(record, separators=(",", ":")) + "\n", encoding="utf-8"
    )
    print(f"{recall.FILE.name}: {recall.FILE.stat().st_size:,} bytes")
