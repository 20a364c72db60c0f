"""Train the five networks of ``__init__.py`` on letters far back, and store how each
did in ``recall.npz``.

    python -m tfbook.experiments.recall [--jobs 2]

Seeds 1, 2, 3; 800 steps of 32 rows each, Adam at rate 0.01; about 120 s of one core in
all. Last loss, accuracy in per cent by distance (the nearest 8 places first), seconds
of processor time:

    attention            seed 1  loss 0.000  accuracy 100 100 100 100 100 100 100 100
    7 s attention            seed 2  loss 0.000  accuracy 100 100 100 100 100 100 100
    100    6 s attention            seed 3  loss 0.000  accuracy 100 100 100 100 100 100
    100 100    6 s LSTM                 seed 1  loss 0.002  accuracy 100 100 100 100 100
    100 100 100   14 s LSTM                 seed 2  loss 0.004  accuracy 100 100 100 100
    100 100 100 100   12 s LSTM                 seed 3  loss 0.004  accuracy 100 100 100
    100 100 100 100 100   13 s dilated convolution  seed 1  loss 0.000  accuracy 100 100
    100 100 100 100 100 100    7 s dilated convolution  seed 2  loss 0.000  accuracy 100
    100 100 100 100 100 100 100    7 s dilated convolution  seed 3  loss 0.000  accuracy
    100 100 100 100 100 100 100 100    8 s convolution          seed 1  loss 1.929
    accuracy  74  14  13  11  12  12  12  13    6 s convolution          seed 2  loss
    1.839  accuracy  97  20  13  14  14  12  13  10    6 s convolution          seed 3
    loss 1.801  accuracy  96  22  12  12  12  13  13  13    6 s RNN
    seed 1  loss 2.074  accuracy  39  14  14  12  11  12  13  12    6 s RNN
    seed 2  loss 1.427  accuracy  46  24  27  24  24  23  25  26    6 s RNN
    seed 3  loss 1.773  accuracy  38  23  25  24  24  21  21  26    6 s

A guess is right in 12.5 per cent and loses 2.08 nats.
"""

import json
import time

import numpy as np
import torch

from tfbook.experiments import recall
from tfbook.experiments.study import parallel

STEPS, BATCH, RATE, SEEDS = 800, 32, 0.01, (1, 2, 3)


def trial(run):
    """Train one network: its losses, its accuracy by distance, the seconds of processor
    time.
    """
    torch.set_num_threads(1)
    (name, seed), began = run, time.process_time()
    model, losses = recall.train(name, RATE, STEPS, BATCH, seed)
    result = {
        # means of 20 steps
        "losses": np.mean(np.reshape(losses, (-1, 20)), axis=-1)
        .round(4)
        .tolist(),
        "accuracy": recall.accuracy(model).round(4).tolist(),
        "parameters": sum(p.numel() for p in model.parameters()),
    }
    seconds = time.process_time() - began
    percent = " ".join(f"{100 * x:3.0f}" for x in result["accuracy"])
    print(
        f"    {name:20} seed {seed}  loss {result['losses'][-1]:.3f}  accuracy"
        f" {percent}  {seconds:3.0f} s",
        flush=True,
    )
    return result


if __name__ == "__main__":
    runs = [(name, seed) for seed in SEEDS for name in recall.NETWORKS]
    each = dict(zip(runs, parallel(trial, runs, __doc__)))
    networks = {
        name: {
            "parameters": each[name, SEEDS[0]]["parameters"],
            "losses": [each[name, seed]["losses"] for seed in SEEDS],
            "accuracy": [each[name, seed]["accuracy"] for seed in SEEDS],
        }
        for name in recall.NETWORKS
    }
    record = {
        "command": "python -m tfbook.experiments.recall --jobs 2",
        "seeds": SEEDS,
        "steps": STEPS,
        "batch": BATCH,
        "rate": RATE,
        "torch": torch.__version__.partition("+")[0],
        "networks": networks,
    }
    np.savez_compressed(recall.FILE, record=json.dumps(record))
    print(f"{recall.FILE.name}: {recall.FILE.stat().st_size:,} bytes")
