"""Train the models behind ``norms.npz``: norms after each residual, before each
function or nowhere, from full weights and from small ones.

    python -m tfbook.experiments.norms [--jobs 2]

*Language models*: six layers of 32 channels, 4 heads, characters of Python's help texts
(those of Python 3.11; they differ between versions), 200 steps of 8 sequences of 32;
three rates, one of them with warm-up too; seeds 0, 1 and 2. Trained on 200,000
characters; a setting is chosen by the next 50,000, and the loss on 50,000 more is what
is reported. *By heart*: ``by_heart.py``, stacks of 4 and 12 layers with and without
residuals; a rate is chosen with a seed of its own. A small start divides W_O and W_2 by
√(2L).
"""

import json
import platform
import time
from functools import partial
from itertools import product

import numpy as np
import torch

from tfbook.experiments import norms
from tfbook.experiments.depth.forms import NORMS
from tfbook.experiments.norms import by_heart
from tfbook.experiments.study import fit, parallel, warmed_up
from tfbook.text import characters, encode, text
from tfbook.torch import LanguageModel, cross_entropy

L, D, H, T, BATCH, SEEDS = 6, 32, 4, 32, 8, 3
WRITTEN = text()[:300_000]
VOCABULARY = characters(WRITTEN)
TOKENS = torch.tensor(encode(WRITTEN, VOCABULARY))
TRAIN, CHOSEN, HELD_OUT = TOKENS.split([200_000, 50_000, 50_000])


def model_of(form, small=False):
    """A language model whose layers have one of three forms."""
    norm = form if form in NORMS else "post"
    model = LanguageModel(len(VOCABULARY), T, D, H, L, norm=norm, fused=True)
    for layer in model.layers:
        if form not in NORMS:
            layer.forward = partial(without_norms, layer)
        if small:
            layer.W_O.data /= (2 * L) ** 0.5
            layer.W_2.data /= (2 * L) ** 0.5
    return model


def without_norms(layer, X, mask=None, bias=None):
    """A layer of residuals alone: the parameters of its norms are not used."""
    P, seen = dict(layer.named_parameters()), {"mask": mask, "bias": bias}
    return by_heart.layer(X, P, layer.H, attention=layer.attention, **seen)


def batch(rng, tokens, n):
    """n stretches of T + 1 characters from anywhere in a text."""
    start = torch.tensor(rng.integers(len(tokens) - T, size=(n, 1)))
    return tokens[start + torch.arange(T + 1)]


def loss_of(model, read):
    """Of each next character, in nats: tokens (B, T + 1)."""
    guesses = model(read[:, :-1]).flatten(0, 1)
    return cross_entropy(guesses, read[:, 1:].flatten())


def losses(form, small, rate, warmup, seed, steps=norms.STEPS):
    """Train one language model on characters: the loss at each step, then of the text
    by which a setting is chosen and of the text that is reported.
    """
    torch.manual_seed(seed)
    model, rng = model_of(form, small), np.random.default_rng(seed)
    kept = fit(
        model.parameters(),
        lambda: loss_of(model, batch(rng, TRAIN, BATCH)),
        steps,
        rate,
        warmed_up(warmup),
        betas=(0.9, 0.98),
    )
    with torch.no_grad():
        return kept, *(
            loss_of(model, batch(np.random.default_rng(0), part, 500)).item()
            for part in (CHOSEN, HELD_OUT)
        )


def run(job):
    """One language model: its losses, the seconds, and a line on the screen."""
    began = time.process_time()
    kept, chosen, held_out = losses(*job)
    form, small, rate, warmup, seed = job
    start = "small" if small else "full"
    print(
        f"    {form:8}  {start:5}  rate {rate:5}  warm-up {warmup:3}  "
        f"seed {seed}  held out {held_out:.3f}",
        flush=True,
    )
    return kept, chosen, held_out, time.process_time() - began


if __name__ == "__main__":
    settings = [
        (form, small, *at)
        for form, small, at in product(
            norms.FORMS, (False, True), norms.SETTINGS
        )
    ]
    every = [(*at, seed) for at in settings for seed in range(SEEDS)]
    done = parallel(run, every, __doc__)
    heart = parallel(by_heart.study, by_heart.ARMS, __doc__)
    arrays = {}
    for i, at in enumerate(settings):
        of_seeds = zip(*done[i * SEEDS : (i + 1) * SEEDS])
        name = ".".join(map(str, at))
        for measure, values in zip(("steps", "chosen", "held out"), of_seeds):
            kind = np.float16 if measure == "steps" else np.float32
            arrays[f"{measure}.{name}"] = np.array(values, kind)
    seconds = sum(run[-1] for run in done)
    seconds += sum(arm.pop("seconds") for arm in heart)
    record = {
        "command": "python -m tfbook.experiments.norms --jobs 2",
        "L": L,
        "d": D,
        "H": H,
        "T": T,
        "batch": BATCH,
        "seeds": list(range(SEEDS)),
        "steps": norms.STEPS,
        "by heart": {
            "d": by_heart.D,
            "H": by_heart.H,
            "T": by_heart.T,
            "batch": by_heart.BATCH,
            "steps": by_heart.STEPS,
            "seeds": list(by_heart.SEEDS),
            "tried with seed": by_heart.TRIED_WITH,
            "rates": by_heart.RATES,
            "arms": heart,
        },
        "seconds": round(seconds),
        "python": platform.python_version(),
        "torch": torch.__version__.partition("+")[0],
    }
    np.savez_compressed(norms.FILE, record=json.dumps(record), **arrays)
    print(f"{norms.FILE.name}: {norms.FILE.stat().st_size:,} bytes")
