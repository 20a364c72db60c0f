"""Checkpoints: a model, its optimiser and a record in one file of numbers, whole at every moment."""

import json
import os
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save


def save_checkpoint(file, model, optimizer=None, best=None, **record):
    """Write a checkpoint in one stroke: whoever reads the file, even after a crash, finds the old or the new one whole.

    Parameters
    ----------
    file : path
        Its folder holds the new file, ``file`` + ``.part``, until the last byte is on the disk; one process writes.
    model : torch.nn.Module
    optimizer : torch.optim.Optimizer, optional
    best : dict of Tensor, optional
        A second ``state_dict()`` of the model, such as the one of least held-out loss.
    **record
        What else belongs to the run, ready for JSON: its step, its losses, ``rng.bit_generator.state`` of a NumPy generator.

    Notes
    -----
    The state of torch's own generator is kept too. ``os.replace`` is atomic: a name stands for the one file or for the other.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_checkpoint(f"{folder}/a.safetensors", torch.nn.Linear(2, 1), step=7)
    ...     load_checkpoint(f"{folder}/a.safetensors", torch.nn.Linear(2, 1))
    {'step': 7}
    """
    file, tensors = Path(file), {f"model.{name}": p for name, p in model.state_dict().items()}
    tensors |= {f"best.{name}": p for name, p in (best or {}).items()} | {"random": torch.get_rng_state()}
    if optimizer is not None:
        state = optimizer.state_dict()
        tensors |= {f"optimizer.{i}.{name}": s for i, kept in state["state"].items() for name, s in kept.items() if s is not None}
        record["optimizer"] = state["param_groups"]
    tensors = {name: p.detach().cpu().clone(memory_format=torch.contiguous_format) for name, p in tensors.items()}

    part = file.with_name(f"{file.name}.part")
    with part.open("wb") as target:
        target.write(save(tensors, {"record": json.dumps(record)}))
        target.flush()
        os.fsync(target.fileno())  # the bytes are on the disk before the name is
    os.replace(part, file)
    if hasattr(os, "O_DIRECTORY"):  # so that the name is on the disk too; Windows has no such call
        folder = os.open(file.parent, os.O_RDONLY | os.O_DIRECTORY)
        os.fsync(folder)
        os.close(folder)


def load_checkpoint(file, model, optimizer=None):
    """Put a checkpoint's numbers into a model and its optimiser, and torch's generator back into its state.

    Parameters
    ----------
    file : path
    model : torch.nn.Module
        Of the sizes that were saved. Nothing is changed where it is another.
    optimizer : torch.optim.Optimizer, optional
        Of the kind that was saved, over the parameters of ``model``.

    Returns
    -------
    dict
        The record; under ``"best"`` the second ``state_dict()``, where one was saved.

    Raises
    ------
    FileNotFoundError
        Where there is no such file.
    ValueError
        Where the file is cut short or no checkpoint, holds another model, or no optimiser where one is asked for.
    """
    tensors, record = read(Path(file))
    state, best = below(tensors, "model."), below(tensors, "best.")
    expect_same(file, {name: tuple(p.shape) for name, p in model.state_dict().items()}, {name: tuple(p.shape) for name, p in state.items()})
    groups = record.pop("optimizer", None)
    if optimizer is not None:
        if groups is None:
            raise ValueError(f"{file}: expected the state of an optimizer, got a model alone")
        kept = {}
        for name, s in below(tensors, "optimizer.").items():
            i, _, name = name.partition(".")
            kept.setdefault(int(i), {})[name] = s
        optimizer.load_state_dict({"state": kept, "param_groups": groups})
    model.load_state_dict(state)
    torch.set_rng_state(tensors["random"])
    return record | ({"best": best} if best else {})


def read(file):
    """All tensors of a file, and its record."""
    if not file.is_file():
        raise FileNotFoundError(f"{file}: there is no such checkpoint")
    try:
        with safe_open(file, framework="pt") as stored:
            tensors, record = {name: stored.get_tensor(name) for name in stored.keys()}, (stored.metadata() or {}).get("record")  # noqa: SIM118
    except SafetensorError as error:
        raise ValueError(f"{file}: expected a whole checkpoint, got {file.stat().st_size} bytes that are none: {error}") from error
    if record is None or "random" not in tensors:
        raise ValueError(f"{file}: expected a file of save_checkpoint, got other tensors: {', '.join(sorted(tensors)[:4])}")
    return tensors, json.loads(record)


def below(tensors, prefix):
    """Those whose name begins so, by what follows."""
    return {name.removeprefix(prefix): p for name, p in tensors.items() if name.startswith(prefix)}


def expect_same(file, wanted, got):
    """Raise unless two models have the same parameters of the same shapes; the first difference is named."""
    for name in wanted | got:
        if wanted.get(name) != got.get(name):
            raise ValueError(f"{file}: holds another model; {name}: expected {wanted.get(name, 'none')}, got {got.get(name, 'none')}")
