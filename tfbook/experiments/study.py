"""What the studies share: one training loop, one command line, one head of a record."""

import argparse
import time
from concurrent.futures import ProcessPoolExecutor

import torch


def one_cycle(optimizer, rate, steps):
    """The rate rises for a tenth of the steps, then falls to nothing (Smith, arXiv
    1708.07120).
    """
    return torch.optim.lr_scheduler.OneCycleLR(
        optimizer, rate, total_steps=steps, pct_start=0.1
    )


def warmed_up(warmup):
    """The rate rises over so many steps, then stays."""

    def schedule(optimizer, rate, steps):
        return torch.optim.lr_scheduler.LambdaLR(
            optimizer, lambda step: min(1, (step + 1) / max(warmup, 1))
        )

    return schedule


def fit(
    parameters,
    loss,
    steps,
    rate,
    schedule=one_cycle,
    betas=(0.9, 0.999),
    clip=None,
    each=None,
    stop=None,
):
    """Train by Adam.

    Parameters
    ----------
    parameters : iterable of Tensor
    loss : callable
        Of nothing: draws a batch and returns its loss.
    steps : int
    rate : float
        The highest learning rate.
    schedule : callable
        From the optimizer, the rate and the steps to a schedule of torch.
    betas : pair of float
    clip : float, optional
        The largest norm of all gradients together; default: none.
    each : callable, optional
        Called with the number of steps done, after each.
    stop : callable, optional
        From the losses so far to whether to stop.

    Returns
    -------
    list of float
        The loss of every step.

    Examples
    --------
    >>> x = torch.tensor(4.0, requires_grad=True)
    >>> losses = fit([x], lambda: x**2, steps=200, rate=0.1)
    >>> losses[0], round(losses[-1], 3)
    (16.0, 0.0)
    """
    parameters, losses = list(parameters), []
    optimizer = torch.optim.Adam(parameters, rate, betas)
    rates = schedule(optimizer, rate, steps)
    for step in range(1, steps + 1):
        value = loss()
        optimizer.zero_grad()
        value.backward()
        if clip is not None:
            torch.nn.utils.clip_grad_norm_(parameters, clip)
        optimizer.step()
        rates.step()
        losses.append(value.item())
        if each:
            each(step)
        if stop and stop(losses):
            break
    return losses


def runs(trial, settings, doc, describe=str):
    """Run a study's trials from the command line, several at a time with ``--jobs``.

    Parameters
    ----------
    trial : callable
        From a setting to its result, in a process with one thread.
    settings : sequence
    doc : str
        The study's docstring, for ``--help``.
    describe : callable
        From a result to the line that is printed.

    Returns
    -------
    results : list
        In the order of the settings.
    head : dict
        Of the record: ``command``, ``torch``, ``seconds`` of processor time.
    """
    parser = argparse.ArgumentParser(description=doc.partition("\n\n")[0])
    words = "trials at the same time; the results are the same"
    parser.add_argument("--jobs", type=int, default=1, help=words)
    jobs, results, seconds = parser.parse_args().jobs, [], 0.0
    with ProcessPoolExecutor(jobs) as pool:
        timed = pool.map(Timed(trial), settings)
        for setting, (result, took) in zip(settings, timed, strict=True):
            print(f"    {setting}  {describe(result)}  {took:.0f} s", flush=True)
            results.append(result)
            seconds += took
    return results, {
        "command": doc_command(doc),
        "torch": torch.__version__.partition("+")[0],
        "seconds": round(seconds),
    }


class Timed:
    """A trial that also gives the seconds of processor time that it took."""

    def __init__(self, trial):
        self.trial = trial

    def __call__(self, setting):
        torch.set_num_threads(1)
        began = time.process_time()
        return self.trial(setting), time.process_time() - began


def doc_command(doc):
    """The command that a study's docstring gives, without its options in brackets."""
    line = next(line for line in doc.splitlines() if "python -m" in line)
    return line.partition("[")[0].strip()
