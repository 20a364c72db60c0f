"""Train the models of ``__init__.py`` for longer and from several seeds, and store how
accurate they were on the way.

    python -m tfbook.experiments.dates [--jobs 2]

With attention and without, 2500 steps of 64 dates each. The learning rate of each is
the best of three, with a seed of its own, by the loss on dates of the days of training;
seeds 0 to 4 are reported, on days that no model was trained on. No parameters are
stored: the chapter trains its own model.
"""

import json
import time
from itertools import product

import numpy as np
import torch

from tfbook.experiments import dates
from tfbook.experiments.study import parallel

SEEDS, STEPS, EVERY = range(5), 2500, 100
RATES, TRIED_WITH = (0.003, 0.01, 0.03), 100


def trial(run):
    """One run: its last loss on other dates of the days of training, its accuracy on
    held-out ones every so many steps, the seconds of processor time.
    """
    rate, attend, seed = run
    torch.set_num_threads(1)
    began, curve = time.process_time(), []
    P = dates.train(
        seed,
        attend,
        STEPS,
        learning_rate=rate,
        each=lambda step, P: (
            step % EVERY
            or curve.append(round(float(dates.accuracy(P, attend=attend)), 3))
        ),
    )
    loss = dates.loss(P, of=dates.drawn(2**32 + 1), attend=attend)
    result = {"loss": round(loss, 4), "accuracy": curve}
    print(f"rate {rate}  attend {attend}  seed {seed}  {result}", flush=True)
    return result | {"seconds": time.process_time() - began}


if __name__ == "__main__":
    tries = list(product(RATES, [True, False], [TRIED_WITH]))
    tried = dict(zip(tries, parallel(trial, tries, __doc__)))
    losses = {
        attend: [tried[rate, attend, TRIED_WITH]["loss"] for rate in RATES]
        for attend in (True, False)
    }
    best = {attend: RATES[np.argmin(of)] for attend, of in losses.items()}
    runs = [(best[a], a, seed) for seed, a in product(SEEDS, [True, False])]
    done = parallel(trial, runs, __doc__)
    record = {
        "command": "python -m tfbook.experiments.dates --jobs 2",
        "steps": list(range(EVERY, STEPS + 1, EVERY)),
        "rates": RATES,
        "tried with seed": TRIED_WITH,
        "tried": [
            {"attend": attend, "losses": of, "rate": best[attend]}
            for attend, of in losses.items()
        ],
        "seconds": round(sum(r["seconds"] for r in (*tried.values(), *done))),
        "numpy": np.__version__,
        "torch": torch.__version__.partition("+")[0],
        "runs": [
            {"seed": seed, "attend": attend, "accuracy": result["accuracy"]}
            for (_, attend, seed), result in zip(runs, done)
        ],
    }
    dates.FILE.write_text(
        json.dumps(record, separators=(",", ":")) + "\n", encoding="utf-8"
    )
    print(f"{dates.FILE.name}: {dates.FILE.stat().st_size:,} bytes")
