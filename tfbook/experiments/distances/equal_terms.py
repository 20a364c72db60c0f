"""The look-up at 64 positions on equal terms: no run is stopped unless it has learned,
and each network has the best of three rates at this very distance.

    python -m tfbook.experiments.distances.equal_terms [--jobs 2]

Claim: attention makes a look-up over 64 positions easy to learn. Refuted by mean
pooling, which has no queries and keys, or by a network with a longer path that does as
well. All have the same number of parameters within 2 %, at most 2000 steps of 32 rows,
and five seeds; the rate is chosen with another seed, by the loss on rows that are drawn
anew in each step.
"""

import json
import time
from itertools import product
from pathlib import Path

import numpy as np
import torch

from tfbook.experiments import stored
from tfbook.experiments.distances import study as distances
from tfbook.experiments.study import parallel

D, STEPS, BATCH, SEEDS = 64, 2000, 32, (1, 2, 3, 4, 5)
RATES, TRIED_WITH = (0.003, 0.01, 0.03), 100
NETWORKS = (
    "transformer",
    "rotary transformer",
    "mean pooling",
    "LSTM",
    "dilated convolution",
    "RNN",
)
FILE = Path(__file__).parent / "equal_terms.json"


def record():
    """What the script wrote down."""
    return stored.record(FILE)


def trial(run):
    """Train one network: its accuracy, the steps it took, its last loss, the seconds of
    processor time.
    """
    torch.set_num_threads(1)
    (name, rate, seed), began = run, time.process_time()
    model, losses = distances.train(
        name, D, rate, STEPS, BATCH, seed, stop=distances.learned
    )
    result = {
        "accuracy": round(distances.accuracy(model, D), 3),
        "steps": len(losses),
        "loss": round(float(np.mean(losses[-50:])), 3),
        "seconds": time.process_time() - began,
    }
    print(f"    {name:20} rate {rate:5} seed {seed:3}  {result}", flush=True)
    return result


def trouble(result):
    """The smaller the better: the loss; where the task is learned, the steps."""
    return max(result["loss"], distances.LEARNED), result["steps"]


if __name__ == "__main__":
    tries = list(product(NETWORKS, RATES, [TRIED_WITH]))
    tried = dict(zip(tries, parallel(trial, tries, __doc__)))
    best = {
        name: min(RATES, key=lambda r: trouble(tried[name, r, TRIED_WITH]))
        for name in NETWORKS
    }
    runs = [(name, best[name], seed) for name in NETWORKS for seed in SEEDS]
    done = dict(zip(runs, parallel(trial, runs, __doc__)))
    networks = {}
    for name in NETWORKS:
        found = [done[name, best[name], seed] for seed in SEEDS]
        networks[name] = {
            "rate": best[name],
            "tried": [tried[name, r, TRIED_WITH]["loss"] for r in RATES],
            **{key: [f[key] for f in found] for key in ("accuracy", "steps")},
        }
    everything = (*tried.values(), *done.values())
    text = json.dumps(
        {
            "command": "python -m tfbook.experiments.distances.equal_terms",
            "D": D,
            "steps": STEPS,
            "batch": BATCH,
            "seeds": SEEDS,
            "rates": RATES,
            "tried with seed": TRIED_WITH,
            "seconds": round(sum(run["seconds"] for run in everything)),
            "numpy": np.__version__,
            "torch": torch.__version__.partition("+")[0],
            "networks": networks,
        }
    )
    FILE.write_text(text + "\n", encoding="utf-8")
    print(f"{FILE.name}: {FILE.stat().st_size:,} bytes")
