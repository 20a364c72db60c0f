"""Losses of stacks that normalise after each residual, before each function or nowhere,
from full weights and from small ones, trained by ``__main__.py``: language models, and
stacks that learn a few pairs by heart.
"""

from pathlib import Path

import numpy as np

from tfbook.experiments import stored

FORMS = "residual", "post", "pre"
STEPS = 200
# learning rates, and the steps over which they rose from 0
SETTINGS = (0.001, 0), (0.003, 0), (0.003, 100), (0.01, 0)
FILE = Path(__file__).parent / "norms.npz"


def load(form, rate, warmup=0, small=False, measure="steps"):
    """Read the losses of language models of one form, a row for each seed.

    Parameters
    ----------
    form : {"residual", "post", "pre"}
        Where the layers normalise; "residual" has no norm at all.
    rate, warmup
        One of ``SETTINGS``.
    small : bool
        Whether W_O and W_2 were divided by √(2L) at the start, as in GPT-2.
    measure : {"steps", "chosen", "held out"}
        The loss of each training step; after the last, on the text by which a setting
        is chosen; or on the text that is reported.

    Returns
    -------
    ndarray, shape (seeds, STEPS) or (seeds,)
        In nats a character.

    Examples
    --------
    >>> load("pre", rate=0.001).shape
    (3, 200)
    >>> load("pre", rate=0.001, small=True, measure="held out").shape
    (3,)
    """
    with np.load(FILE) as kept:
        return kept[f"{measure}.{form}.{small}.{rate}.{warmup}"].astype(float)


def best(form, small=False):
    """The setting of the lowest loss, the mean of all seeds, on the text by which it is
    chosen.

    Examples
    --------
    >>> best("pre") in SETTINGS
    True
    """
    return min(
        SETTINGS,
        key=lambda at: load(form, *at, small, measure="chosen").mean(),
    )


def learned_by_heart():
    """The last losses of the stacks that learn pairs by heart, each arm at its best
    rate.

    Returns
    -------
    dict of tuple to ndarray
        For each L, residual (or not), norm and small, a number for each seed.
    """
    return {
        tuple(arm["arm"]): np.array(arm["losses"])
        for arm in record()["by heart"]["arms"]
    }


def record():
    """What the script wrote down: the command, the sizes, the seeds, the seconds, and
    the stacks that learned by heart.
    """
    return stored.record(FILE)
