"""Losses of small language models whose layers normalise in three places, trained by
``__main__.py``.
"""

from pathlib import Path

import numpy as np

from tfbook.experiments import stored

STEPS, RATES, WARMUPS = 300, (0.001, 0.003), (0, 100)
FILE = Path(__file__).parent / "norms.npz"


def load(norm, rate, warmup, small=False):
    """Read the losses of one form on the way.

    Parameters
    ----------
    norm : {"post", "pre", "both"}
    rate : float
        The learning rate: one of ``RATES``.
    warmup : int
        Steps over which it rose from 0: one of ``WARMUPS``.
    small : bool
        Whether W_O and W_2 were divided by √(2L) at the start, as in GPT-2; stored
        for runs without warm-up only.

    Returns
    -------
    ndarray, shape (seeds, STEPS)
        In nats a character.

    Examples
    --------
    >>> load("pre", rate=0.001, warmup=0).shape
    (3, 300)
    """
    with np.load(FILE) as kept:
        return kept[f"{norm}.{rate}.{warmup}{'.small' * small}"].astype(float)


def record():
    """What the script wrote down: the command, the sizes, the seeds."""
    return stored.record(FILE)
