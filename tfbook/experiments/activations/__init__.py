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


def load(split="test"):
    """Losses of every model that was trained, on text that it was not trained on.

    Parameters
    ----------
    split : {"validation", "test"}
        The text by which a learning rate is chosen, or the text that is reported.

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
    runs = record()["runs"]
    shape = len(record()["seeds"]), len(record()["rates"])
    networks = dict.fromkeys(run["network"] for run in runs)
    return {
        name: np.reshape(
            [run[split] for run in runs if run["network"] == name], shape
        )
        for name in networks
    }


def best():
    """The learning rate of each network that has the lowest mean loss on the validation
    text, and the losses on the test text at this rate.

    Returns
    -------
    rates : dict of str to float
    losses : dict of str to ndarray, shape (seeds,)
        In nats a character.

    Examples
    --------
    >>> rates, losses = best()
    >>> losses["ReLU"].shape
    (10,)
    """
    at = {
        name: runs.mean(axis=0).argmin()
        for name, runs in load("validation").items()
    }
    rates = {name: record()["rates"][i] for name, i in at.items()}
    return rates, {name: runs[:, at[name]] for name, runs in load().items()}
