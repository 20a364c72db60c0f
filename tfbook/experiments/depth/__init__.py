"""Gradients, activations and tokens at every depth of untrained stacks, measured by
``__main__.py``.
"""

from functools import cache
from pathlib import Path

import numpy as np

from tfbook.experiments import stored

DEPTHS = 6, 12, 24, 48, 96
MEASURES = "gradient", "own", "direct", "scale", "spread"
FILE = Path(__file__).parent / "depth.npz"


@cache
def load(form, L, small=False):
    """Read what was measured of stacks of one form: of each measure the powers of ten.

    Parameters
    ----------
    form : str
        One of ``tfbook.experiments.depth.forms.FORMS``.
    L : int
        One of ``DEPTHS``.
    small : bool
        Whether the branches started small.

    Returns
    -------
    dict of ndarray, shape (3, L + 1)
        By the names of ``MEASURES``: least, median and largest of all seeds, as
        logarithms to base 10; −∞ where there is nothing, NaN where there are no tokens
        left to compare.

    Examples
    --------
    >>> float(
    ...     abs(load("pre", L=96)["direct"]).max()
    ... )  # 10⁰ at every depth, for every seed
    0.0
    """
    with np.load(FILE) as kept:
        return dict(zip(MEASURES, kept[f"{form}.{L}.{small}"].astype(float)))


def record():
    """What the script wrote down: the command, the sizes, the seeds."""
    return stored.record(FILE)
