"""What the studies share: one training loop, and one command line."""

import argparse
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
    """The rate rises over the first ``warmup`` steps, then stays."""

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
        Takes no arguments; draws a batch and returns its loss.
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


def parallel(trial, settings, doc):
    """Map a study's trials over its settings, several at a time with ``--jobs``.

    Parameters
    ----------
    trial : callable
        From a setting to its result; runs in a process of its own, with one thread.
    settings : iterable
    doc : str
        The study's docstring, whose first paragraph ``--help`` shows.

    Returns
    -------
    list
        The results, in the order of the settings; the same for any number of jobs.
    """
    parser = argparse.ArgumentParser(description=doc.partition("\n\n")[0])
    words = "trials at the same time; the results are the same"
    parser.add_argument("--jobs", type=int, default=1, help=words)
    jobs = parser.parse_args().jobs
    with ProcessPoolExecutor(
        jobs, initializer=torch.set_num_threads, initargs=(1,)
    ) as pool:
        return list(pool.map(trial, settings))
