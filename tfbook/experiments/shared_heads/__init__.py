"""What sharing key/value heads did to small models in training: loss on text, and
answers to five questions, seed by seed.
"""

from pathlib import Path

import numpy as np

from tfbook.experiments import stored

FILE = Path(__file__).parent / "shared_heads.json"


def record():
    """What ``__main__.py`` wrote down: the command, the sizes, and of each model H_kv,
    seed and measures.
    """
    return stored.record(FILE)


def measured(name):
    """One measure of every model.

    Parameters
    ----------
    name : {"loss", "right"}
        Nats a character on unseen text, or the share of right answers.

    Returns
    -------
    dict of int to ndarray
        For each H_kv, most heads first, a number for each seed.
    """
    models = record()["models"]
    return {
        H_kv: np.array([m[name] for m in models if m["H_kv"] == H_kv])
        for H_kv in dict.fromkeys(m["H_kv"] for m in models)
    }
