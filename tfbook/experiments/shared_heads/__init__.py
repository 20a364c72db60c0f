"""What sharing key/value heads did to small models in training: loss on text, and
answers to five questions, seed by seed, with fewer parameters and with as many.
"""

from pathlib import Path

import numpy as np

from tfbook.experiments import stored

FILE = Path(__file__).parent / "shared_heads.json"


def record():
    """What ``__main__.py`` wrote down: the command, the sizes, the seeds, and of each
    model its sizes, its parameters and its measure.
    """
    return stored.record(FILE)


def measured(task):
    """The measure of every model, and the parameters of every arm.

    Parameters
    ----------
    task : {"text", "recall"}
        Nats a character on unseen text, or the share of right answers.

    Returns
    -------
    dict of (int, int, int) to ndarray
        For each H, H_kv and d_ff (0: no feed-forward network), a number for each seed.
    dict of (int, int, int) to int
        For each of them, the parameters.
    """
    values, parameters = {}, {}
    for model in record()[task]:
        arm = tuple(model["arm"])
        values.setdefault(arm, []).append(model["measure"])
        parameters[arm] = model["parameters"]
    return {arm: np.array(v) for arm, v in values.items()}, parameters
