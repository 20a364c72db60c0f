"""Training: one loop for every model of the book, the same whether it runs through or
is stopped and goes on.
"""

import math
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import torch

from tfbook.notebook.progress import progress
from tfbook.numpy.checks import whole
from tfbook.torch.functions import cross_entropy
from tfbook.torch.training.checkpoint import (
    generators,
    load_checkpoint,
    save_checkpoint,
)


def train(
    model,
    batches,
    steps,
    held_out=None,
    loss=None,
    rate=1e-3,
    warmup=0.1,
    decay=0.1,
    clip=1.0,
    every=50,
    patience=None,
    checkpoint=None,
    seed=0,
    watch=None,
):
    """Train a model with AdamW; the rate rises, then falls along a cosine, and
    gradients are clipped.

    Parameters
    ----------
    model : torch.nn.Module
    batches : callable
        From a NumPy generator to ``(inputs, targets)``, arrays or tensors. Each step
        has a generator of its own, made of the seed and the step's number, so that a
        run that goes on later draws what it would have drawn.
    steps : int
    held_out : tuple, optional
        ``(inputs, targets)`` that the model is not trained on; the loss on them is
        measured every ``every`` steps.
    loss : callable, optional
        Of model, inputs and targets; default: ``cross_entropy(model(inputs),
        targets)``, in nats.
    rate : float
        The highest learning rate.
    warmup : float
        Part of the steps in which the rate rises.
    decay : float
        Weight decay of matrices and tables; vectors have none.
    clip : float, optional
        The largest norm of all gradients together; longer ones are shortened. None
        clips nothing.
    every : int
        Steps between two measures, and between two checkpoints.
    patience : int, optional
        Stop after so many measures without a new least loss, and give the model the
        parameters of the least. NaN is never the least.
    checkpoint : path, optional
        Where the run is kept. If the file is there, the run goes on from it.
    seed : int
    watch : callable, optional
        Called with the model and the steps done, before the first step and after each;
        it may look and change nothing.

    Returns
    -------
    dict
        ``step``, the steps done; ``losses``, one for each; ``held_out``, pairs of a
        step and the held-out loss after it.

    Raises
    ------
    ValueError
        Where the loss, a gradient or a parameter is no finite number: the last
        checkpoint stays. Where a setting is out of range, patience has nothing to
        watch, or the checkpoint is of another run.

    Examples
    --------
    >>> model = torch.nn.Linear(1, 2)
    >>> def which_sign(rng):
    ...     x = rng.standard_normal((16, 1), dtype=np.float32)
    ...     return x, (x[:, 0] > 0).astype(int)
    >>> losses = train(model, which_sign, steps=100, rate=0.1)["losses"]
    >>> losses[-1] < losses[0] / 2
    True
    """
    steps, every = whole("steps", steps), whole("every", every, least=1)
    if patience is not None and held_out is None:
        raise ValueError("patience: expected held_out to watch, got none")
    rate = positive("rate", rate)
    if clip is not None:
        clip = positive("clip", clip, ", or None for no clipping")
    # a warmup out of range is refused here, not after the first measure
    schedule(0, steps, warmup)
    loss, device = loss or guess_loss, next(model.parameters()).device
    held_out = held_out and on_device(held_out, device)
    optimizer = torch.optim.AdamW(
        parameter_groups(model, decay), lr=rate, betas=(0.9, 0.95)
    )
    settings = {
        "steps": steps,
        "rate": rate,
        "warmup": warmup,
        "decay": decay,
        "clip": clip,
        "every": every,
        "patience": patience,
        "seed": seed,
    }
    with seeded(seed, model):
        run = begin(model, optimizer, checkpoint, settings)
        best = run.pop("best", None)

        def measure():
            nonlocal best
            run["held_out"].append(
                (run["step"], evaluate(model, held_out, loss))
            )
            if patience and run["held_out"][-1] is least(run["held_out"]):
                best = {
                    name: p.detach().clone()
                    for name, p in model.state_dict().items()
                }

        if watch and not run["step"]:
            watch(model, 0)
        if held_out and not run["held_out"]:
            measure()
        with progress(steps, run["step"]) as bar:
            while run["step"] < steps and not exhausted(
                run["held_out"], patience
            ):
                for step in range(
                    run["step"], min(run["step"] + every, steps)
                ):
                    set_rate(optimizer, rate * schedule(step, steps, warmup))
                    batch = on_device(
                        batches(np.random.default_rng([seed, step])), device
                    )
                    run["losses"].append(
                        train_step(model, optimizer, batch, loss, clip, step)
                    )
                    bar.set_postfix_str(
                        f"loss {run['losses'][-1]:.3f}", refresh=False
                    )
                    bar.update()
                    if watch:
                        watch(model, step + 1)
                run["step"] = step + 1
                expect_finite(model, step)
                if held_out:
                    measure()
                if checkpoint:
                    save_checkpoint(
                        checkpoint,
                        model,
                        optimizer,
                        best,
                        settings=settings,
                        **run,
                    )
    if best:
        model.load_state_dict(best)
    return run


def begin(model, optimizer, checkpoint, settings):
    """The run so far: that of the checkpoint where there is one, which must have the
    same settings.
    """
    if not checkpoint or not Path(checkpoint).exists():
        return {"step": 0, "losses": [], "held_out": []}
    run = load_checkpoint(checkpoint, model, optimizer)
    kept = run.pop("settings", {})
    for name, value in settings.items():
        if kept.get(name) != value:
            raise ValueError(
                f"checkpoint: {checkpoint} is of a run with {name} = {kept.get(name)},"
                f" not {value}; name another file"
            )
    return run


def train_step(model, optimizer, batch, loss, clip, step):
    """One step downhill; returns the loss before it."""
    value = loss(model, *batch)
    if not value.isfinite():
        raise ValueError(
            f"loss: expected a finite number, got {value.item()} at step "
            f"{step}; a lower rate may help"
        )
    optimizer.zero_grad()
    value.backward()
    norm = torch.nn.utils.clip_grad_norm_(
        model.parameters(), math.inf if clip is None else clip
    )
    if not norm.isfinite():
        raise ValueError(
            f"gradients: expected a finite norm, got {norm.item()} at step "
            f"{step}; a lower rate may help"
        )
    optimizer.step()
    return value.item()


@torch.no_grad()
def evaluate(model, batch, loss=None):
    """The loss of a model, dropout asleep, as a number; afterwards each part trains or
    not as before.
    """
    modes = {part: part.training for part in model.modules()}
    model.eval()
    try:
        return (loss or guess_loss)(
            model, *on_device(batch, next(model.parameters()).device)
        ).item()
    finally:
        for part, training in modes.items():
            part.training = training


def guess_loss(model, inputs, targets):
    """Cross-entropy of the model's guesses, in nats."""
    return cross_entropy(model(inputs), targets)


def schedule(step, steps, warmup=0.1, floor=0.1):
    """The rate at a step, as a part of the highest: up in a straight line, then down
    along half a cosine to ``floor``, where it stays.

    Examples
    --------
    >>> [round(schedule(step, steps=10, warmup=0.2), 2) for step in range(10)]
    [0.5, 1.0, 1.0, 0.97, 0.87, 0.72, 0.55, 0.38, 0.23, 0.13]
    """
    if not 0 <= warmup <= 1:
        raise ValueError(
            f"warmup: expected a share of the steps, from 0 to 1, got {warmup}"
        )
    rising = math.ceil(warmup * steps)
    if step >= steps:
        return floor
    if step < rising:
        return (step + 1) / rising
    return (
        floor
        + (1 - floor)
        * (1 + math.cos(math.pi * (step - rising) / (steps - rising)))
        / 2
    )


def set_rate(optimizer, rate):
    """Give every group of parameters this learning rate."""
    for group in optimizer.param_groups:
        group["lr"] = rate


def parameter_groups(model, decay):
    """Matrices and tables, which decay, and vectors, which do not."""
    matrices, vectors = (
        [p for p in model.parameters() if (p.ndim >= 2) == many]
        for many in (True, False)
    )
    return [
        group
        for group in (
            {"params": matrices, "weight_decay": decay},
            {"params": vectors, "weight_decay": 0.0},
        )
        if group["params"]
    ]


def least(held_out):
    """The first measure of the least loss; None where every loss is NaN."""
    return min(
        (measure for measure in held_out if not math.isnan(measure[1])),
        key=lambda measure: measure[1],
        default=None,
    )


def exhausted(held_out, patience):
    """Whether so many measures have come since the least, or since the first where
    there is none.
    """
    if not patience:
        return False
    best = least(held_out)
    return (
        len(held_out) - 1 - (held_out.index(best) if best else 0) >= patience
    )


def positive(name, x, otherwise=""):
    """A number or a scalar of an array or a tensor as a float, or raise: it must be
    positive and finite.
    """
    number = (
        float(x)
        if getattr(x, "ndim", 0) == 0
        and hasattr(x, "__float__")
        and not isinstance(x, bool)
        else math.nan
    )
    if not 0 < number < math.inf:
        raise ValueError(
            f"{name}: expected a positive, finite number{otherwise}, got {x!r}"
        )
    return number


def expect_finite(model, step):
    """Raise where a parameter holds NaN or an infinity."""
    for name, p in model.named_parameters():
        if not p.isfinite().all():
            raise ValueError(
                f"{name}: expected finite numbers, got others after step {step}; a"
                " lower rate may help"
            )


@contextmanager
def seeded(seed, model):
    """Draw from a seed, and leave every generator in the state in which it was
    found.
    """
    states = [
        (generator, generator.get_state()) for generator in generators(model)
    ]
    try:
        for generator, _ in states:
            generator.manual_seed(seed)
        yield
    finally:
        for generator, state in states:
            generator.set_state(state)


def on_device(batch, device):
    """Arrays as tensors where the model is."""
    return tuple(torch.as_tensor(part, device=device) for part in batch)
