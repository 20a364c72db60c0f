"""What scripts have stored: the parameters of a trained model, and the record of how it
was made.
"""

import json
from functools import cache

import numpy as np


@cache
def record(file):
    """What the script wrote down, command and seeds among it; of a .json file the
    whole, of an .npz file its entry ``record``.
    """
    if file.suffix == ".json":
        return json.loads(file.read_text(encoding="utf-8"))
    with np.load(file) as stored:
        return json.loads(str(stored["record"]))


def parameters(file, model):
    """The parameters of one model among several, in single precision, by the names that
    follow ``model`` and a dot.
    """
    with np.load(file) as stored:
        prefix = f"{model}."
        return {
            name.removeprefix(prefix): stored[name].astype(np.float32)
            for name in stored.files
            if name.startswith(prefix)
        }
