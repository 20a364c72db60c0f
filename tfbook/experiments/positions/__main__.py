"""Train the small models of ``positions.npz``, one for each reader and seed, and read
each past its length.

    nice -n 10 python -m tfbook.experiments.positions --jobs 2

Seeds 0 and 1, 600 steps of 32 sequences of 64 tokens each. One run, from end to end:
403 s of one core in all, 13 minutes on two that were shared. Loss in nats: at the end
of training; of held-out text, within the trained length and at positions 257 to 512;
the seconds of processor time last:

    learned                  seed 0  loss 1.811  held out 1.793  past 256 nan  22 s
    sinusoidal               seed 0  loss 2.065  held out 1.971  past 256 3.678  24 s
    rotary                   seed 0  loss 1.555  held out 1.613  past 256 3.374  24 s
    alibi                    seed 0  loss 1.857  held out 1.821  past 256 1.792  28 s
    none                     seed 0  loss 2.283  held out 2.160  past 256 2.350  21 s
    lstm                     seed 0  loss 2.073  held out 1.992  past 256 1.959  31 s
    sinusoidal, small start  seed 0  loss 2.724  held out 2.562  past 256 5.250  20 s
    lstm, small start        seed 0  loss 3.154  held out 3.098  past 256 3.085  30 s
    learned                  seed 1  loss 1.800  held out 1.781  past 256 nan  19 s
    sinusoidal               seed 1  loss 2.028  held out 1.956  past 256 4.163  20 s
    rotary                   seed 1  loss 1.542  held out 1.626  past 256 3.554  23 s
    alibi                    seed 1  loss 1.786  held out 1.805  past 256 1.771  30 s
    none                     seed 1  loss 2.275  held out 2.162  past 256 2.358  23 s
    lstm                     seed 1  loss 2.095  held out 2.019  past 256 1.985  33 s
    sinusoidal, small start  seed 1  loss 2.752  held out 2.609  past 256 3.812  22 s
    lstm, small start        seed 1  loss 3.092  held out 3.008  past 256 2.995  33 s
"""

import json
import time
from itertools import product

import numpy as np
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from tfbook.experiments import positions as task
from tfbook.experiments.study import fit, parallel
from tfbook.torch import LanguageModel, embed, lstm

STEPS, BATCH, RATE, STRIDE = 600, 32, 4e-3, 128


class LSTM(nn.Module):
    """A stack of LSTM layers under the table of tokens; with d = d_h it has 74,240
    parameters, the Transformers 74,752 or 78,848.
    """

    def __init__(self, vocab, d, L):
        super().__init__()
        # as in a LanguageModel
        self.E = nn.Parameter(0.02 * torch.randn(vocab, d))
        self.layers = nn.ModuleList(
            nn.ParameterDict(self.start(d)) for _ in range(L)
        )

    @staticmethod
    def start(d):
        P = {name: torch.randn(d, 4 * d) / d**0.5 for name in ("W_x", "W_h")}
        # forget gates begin open
        return P | {
            "b": torch.cat(
                [torch.zeros(d), torch.ones(d), torch.zeros(2 * d)]
            )
        }

    def forward(self, tokens):
        return task.recurrent_logits(
            tokens, dict(self.named_parameters()), embed, lstm
        )


def loss(model, text, rng):
    """Of the model's guesses on sequences from anywhere in the text, in nats."""
    start = rng.integers(len(text) - task.TRAINED, size=(BATCH, 1))
    tokens = torch.tensor(text[start + np.arange(task.TRAINED + 1)])
    return cross_entropy(
        model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten()
    )


def begin(reader):
    """A model before its training."""
    kind, _, small = reader.partition(", ")
    if kind == "lstm":
        model = LSTM(task.VOCAB, task.SIZE["d"], task.SIZE["L"])
    else:
        model = LanguageModel(
            task.VOCAB, task.TRAINED, positions=kind, fused=True, **task.SIZE
        )
    if kind in task.SCALED and not small:
        model.E.data *= task.SIZE["d"] ** 0.5  # as the paper scales them
    return model


def train(reader, seed, steps=STEPS):
    """Return a trained model and the losses on the way; the data's order is the same
    for every reader.
    """
    torch.manual_seed(seed)
    model = begin(reader)
    text, rng = task.tokens()[0], np.random.default_rng(seed)
    losses = fit(
        model.parameters(), lambda: loss(model, text, rng), steps, RATE
    )
    return model, losses


@torch.no_grad()
def read(model, T=task.READ):
    """Held-out loss at each position, (READ,): NaN past the end of a learned table."""
    found = np.full(task.READ, np.nan, np.float32)
    try:
        asked, right = (
            torch.tensor(x[:, :T])
            for x in task.windows(task.tokens()[1], task.READ, STRIDE)
        )
        batches = [
            cross_entropy(model(a).transpose(1, 2), r, reduction="none")
            for a, r in zip(asked.split(16), right.split(16))
        ]
    except ValueError as error:  # the table ends
        print(f"{model.positions}: {error}")
        return read(model, task.TRAINED)
    found[:T] = torch.cat(batches).mean(dim=0)
    return found


def entry(which):
    """Train one model: its parameters by name, its losses by position, and what the
    record keeps of it.
    """
    torch.set_num_threads(1)
    (seed, reader), began = which, time.process_time()
    model, losses = train(reader, seed)
    P = {name: p.half().numpy() for name, p in model.state_dict().items()}
    # what is read is what is stored
    model.load_state_dict({name: torch.tensor(p) for name, p in P.items()})
    by_position = read(model)
    last, within, past = (
        np.mean(losses[-50:]),
        by_position[: task.TRAINED].mean(),
        by_position[256:].mean(),
    )
    took = time.process_time() - began
    print(
        f"    {reader:23}  seed {seed}  loss {last:.3f}  held out {within:.3f}  past"
        f" 256 {past:.3f}  {took:.0f} s",
        flush=True,
    )
    size = sum(p.size for p in P.values())
    result = {
        "reader": reader,
        "seed": seed,
        "parameters": size,
        "last_loss": round(float(last), 4),
        "seconds": round(took),
    }
    return (
        (
            {f"{reader}.{name}": p for name, p in P.items()}
            if seed == task.SEEDS[0]
            else {}
        ),
        by_position,
        result,
    )


def store(done):
    """Write down what ``entry`` returned for each seed and reader, in their order."""
    losses = (
        np.stack([by_position for _, by_position, _ in done])
        .reshape(len(task.SEEDS), len(task.READERS), -1)
        .swapaxes(0, 1)
    )
    record = {
        "command": "python -m tfbook.experiments.positions --jobs 2",
        "seeds": task.SEEDS,
        "steps": STEPS,
        "batch": BATCH,
        "rate": RATE,
        "stride": STRIDE,
        "torch": torch.__version__.partition("+")[0],
        "models": [result for _, _, result in done],
    }
    np.savez_compressed(
        task.FILE,
        record=json.dumps(record),
        losses=losses,
        **{name: p for P, _, _ in done for name, p in P.items()},
    )
    print(f"{task.FILE.name}: {task.FILE.stat().st_size:,} bytes")


if __name__ == "__main__":
    store(parallel(entry, product(task.SEEDS, task.READERS), __doc__))
