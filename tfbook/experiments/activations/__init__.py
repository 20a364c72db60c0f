"""Held-out losses of small language models with different feed-forward networks, made
by ``__main__.py``.
"""

from pathlib import Path

import numpy as np

from tfbook.experiments import stored

FILE = Path(__file__).parent / "activations.json"


def record():
    """What the script wrote down: the command, the sizes, the seeds, and every run."""
    return stored.record(FILE)


def load():
    """Held-out losses of every model that was trained.

    Returns
    -------
    dict of str to ndarray, shape (seeds, rates)
        In nats a character, by the name of the feed-forward network; seeds and learning
        rates in the order of ``record()``.

    Examples
    --------
    >>> list(load())
    ['none', 'ReLU', 'GELU', 'SwiGLU', 'GEGLU']
    """
    runs, shape = (
        record()["runs"],
        (len(record()["seeds"]), len(record()["rates"])),
    )
    networks = dict.fromkeys(run["network"] for run in runs)
    return {
        name: np.reshape(
            [run["loss"] for run in runs if run["network"] == name], shape
        )
        for name in networks
    }
