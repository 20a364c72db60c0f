"""Train the small language models of ``tfbook/weights/positions.npz``, one for each scheme and seed, and read each past its length.

    python scripts/train_positions.py [--jobs 2]

Seeds 0 and 1, 600 steps of 32 sequences of 64 tokens each; 240 s of one core in all. Loss in nats: at the end of training; of
held-out text, within the trained length and at positions 257 to 512; the seconds of processor time last:

    learned     seed 0  loss 1.811  held out 1.793  past 256 nan  21 s
    sinusoidal  seed 0  loss 2.065  held out 1.971  past 256 3.678  24 s
    rotary      seed 0  loss 1.555  held out 1.613  past 256 3.374  26 s
    alibi       seed 0  loss 1.857  held out 1.821  past 256 1.792  30 s
    none        seed 0  loss 2.283  held out 2.160  past 256 2.350  22 s
    learned     seed 1  loss 1.800  held out 1.781  past 256 nan  20 s
    sinusoidal  seed 1  loss 2.028  held out 1.956  past 256 4.163  23 s
    rotary      seed 1  loss 1.542  held out 1.626  past 256 3.554  24 s
    alibi       seed 1  loss 1.786  held out 1.805  past 256 1.771  27 s
    none        seed 1  loss 2.275  held out 2.162  past 256 2.358  20 s
"""

import argparse
import json
import time
from concurrent.futures import ProcessPoolExecutor
from itertools import product

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from tfbook.torch import LanguageModel
from tfbook.weights import positions as task

STEPS, BATCH, RATE, STRIDE = 600, 32, 4e-3, 128


def step(model, optimizer, learned_from, rng):
    """One step on sequences from anywhere in the text; returns the loss."""
    start = rng.integers(len(learned_from) - task.TRAINED, size=(BATCH, 1))
    tokens = torch.tensor(learned_from[start + np.arange(task.TRAINED + 1)])
    loss = cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def train(scheme, seed, steps=STEPS):
    """Return a trained model and the losses on the way; the data's order is the same for every scheme."""
    torch.manual_seed(seed)
    model = LanguageModel(task.VOCAB, task.TRAINED, positions=scheme, fused=True, **task.SIZE)
    if scheme == "sinusoidal":
        model.E.data *= task.SIZE["d"] ** 0.5  # as in the paper: the waves are large, and would drown the tokens
    optimizer = torch.optim.Adam(model.parameters(), RATE)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=steps, pct_start=0.1)
    learned_from, rng, losses = task.tokens()[0], np.random.default_rng(seed), []
    for _ in range(steps):
        losses.append(step(model, optimizer, learned_from, rng))
        schedule.step()
    return model, losses


@torch.no_grad()
def read(model, T=task.READ):
    """Held-out loss at each position, (READ,): NaN past the end of a learned table."""
    found = np.full(task.READ, np.nan, np.float32)
    try:
        asked, right = (torch.tensor(x[:, :T]) for x in task.windows(task.tokens()[1], task.READ, STRIDE))
        batches = [cross_entropy(model(a).transpose(1, 2), r, reduction="none") for a, r in zip(asked.split(16), right.split(16))]
    except ValueError as error:  # the table ends
        print(f"{model.positions}: {error}")
        return read(model, task.TRAINED)
    found[:T] = torch.cat(batches).mean(dim=0)
    return found


def entry(which):
    """Train one model: its parameters by name, its losses by position, and what the record keeps of it."""
    torch.set_num_threads(1)
    (seed, scheme), began = which, time.process_time()
    model, losses = train(scheme, seed)
    P = {name: p.half().numpy() for name, p in model.state_dict().items()}
    model.load_state_dict({name: torch.tensor(p) for name, p in P.items()})  # what is read is what is stored
    by_position = read(model)
    last, within, past = np.mean(losses[-50:]), by_position[: task.TRAINED].mean(), by_position[256:].mean()
    took = time.process_time() - began
    print(f"    {scheme:10}  seed {seed}  loss {last:.3f}  held out {within:.3f}  past 256 {past:.3f}  {took:.0f} s", flush=True)
    result = {"scheme": scheme, "seed": seed, "last_loss": round(float(last), 4), "seconds": round(took)}
    return {f"{scheme}.{name}": p for name, p in P.items()} if seed == task.SEEDS[0] else {}, by_position, result


def store(done):
    """Write down what ``entry`` returned for each seed and scheme, in their order."""
    losses = np.stack([by_position for _, by_position, _ in done]).reshape(len(task.SEEDS), len(task.SCHEMES), -1).swapaxes(0, 1)
    record = {
        "command": "python scripts/train_positions.py --jobs 2", "seeds": task.SEEDS, "steps": STEPS, "batch": BATCH, "rate": RATE,
        "stride": STRIDE, "torch": torch.__version__.partition("+")[0], "models": [result for _, _, result in done],
    }
    np.savez_compressed(task.FILE, record=json.dumps(record), losses=losses, **{name: p for P, _, _ in done for name, p in P.items()})
    print(f"{task.FILE.name}: {task.FILE.stat().st_size:,} bytes")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--jobs", type=int, default=1, help="models trained at the same time; the result is the same")
    jobs = parser.parse_args().jobs
    with ProcessPoolExecutor(jobs) as pool:
        store(list(pool.map(entry, product(task.SEEDS, task.SCHEMES))))
