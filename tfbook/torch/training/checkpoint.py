"""Checkpoints: a model, its optimiser and a record in one file of numbers, whole at
every moment.
"""

import json
import os
from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save


def save_checkpoint(file, model, optimizer=None, best=None, **record):
    """Write a checkpoint in one stroke: whoever reads the file, even after a crash,
    finds the old or the new one whole.

    Parameters
    ----------
    file : path
        Its folder holds the new file, ``file`` + ``.part``, until the last byte is on
        the disk; one process writes.
    model : torch.nn.Module
    optimizer : torch.optim.Optimizer, optional
    best : dict of Tensor, optional
        A second ``state_dict()`` of the model, such as the one of least held-out loss.
    **record
        What else belongs to the run: numbers, text, tensors, arrays, and tuples, lists
        and dicts of them, such as ``rng.bit_generator.state`` of a NumPy generator. All
        come back as they were.

    Raises
    ------
    ValueError
        Where the record, or the optimizer's state, holds something else.

    Notes
    -----
    The states of torch's own generators are kept too, those of the model's CUDA
    devices among them. ``os.replace`` is atomic: a name stands for the one file or for
    the other.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_checkpoint(
    ...         f"{folder}/a.safetensors", torch.nn.Linear(2, 1), step=7
    ...     )
    ...     load_checkpoint(f"{folder}/a.safetensors", torch.nn.Linear(2, 1))
    {'step': 7}
    """
    held = {
        "model": model.state_dict(),
        "record": record,
        "random": [g.get_state() for g in generators(model)],
    }
    if optimizer is not None:
        held["optimizer"] = optimizer.state_dict()
    if best:
        held["best"] = best
    file, tensors = Path(file), {}
    text = json.dumps(
        {name: plain(part, name, tensors) for name, part in held.items()}
    )

    part = file.with_name(f"{file.name}.part")
    with part.open("wb") as target:
        target.write(save(tensors, {"record": text}))
        target.flush()
        # the bytes are on the disk before the name is
        os.fsync(target.fileno())
    os.replace(part, file)
    # so that the name is on the disk too; Windows has no such call
    if hasattr(os, "O_DIRECTORY"):
        folder = os.open(file.parent, os.O_RDONLY | os.O_DIRECTORY)
        os.fsync(folder)
        os.close(folder)


def load_checkpoint(file, model, optimizer=None):
    """Put a checkpoint's numbers into a model and its optimiser, and torch's generators
    back into their states.

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
        Where the file is cut short or no checkpoint, holds another model, or no
        optimiser where one is asked for.
    """
    held = read(Path(file))
    state = held["model"]
    expect_same(file, shapes(model.state_dict()), shapes(state))
    if optimizer is not None:
        if "optimizer" not in held:
            raise ValueError(
                f"{file}: expected the state of an optimizer, got a model alone"
            )
        optimizer.load_state_dict(held["optimizer"])
    model.load_state_dict(state)
    for generator, saved in zip(generators(model), held["random"]):
        generator.set_state(saved)
    return held["record"] | ({"best": held["best"]} if "best" in held else {})


def read(file):
    """What a file holds, as it was saved."""
    if not file.is_file():
        raise FileNotFoundError(f"{file}: there is no such checkpoint")
    try:
        with safe_open(file, framework="pt") as stored:
            names = stored.keys()
            tensors = {name: stored.get_tensor(name) for name in names}
            text = (stored.metadata() or {}).get("record")
    except SafetensorError as error:
        raise ValueError(
            f"{file}: expected a whole checkpoint, got {file.stat().st_size} bytes that"
            f" are none: {error}"
        ) from error
    held = {} if text is None else back(json.loads(text), tensors)
    if not {"model", "record", "random"} <= held.keys():
        raise ValueError(
            f"{file}: expected a file of save_checkpoint, got other tensors:"
            f" {', '.join(sorted(tensors)[:4])}"
        )
    return held


def generators(model):
    """The generators that a model may draw from: the CPU's, and that of each of its
    CUDA devices.
    """
    devices = sorted(
        {
            p.device.index
            for p in model.state_dict().values()
            if isinstance(p, torch.Tensor) and p.is_cuda
        }
    )
    return [
        torch.default_generator,
        *(torch.cuda.default_generators[i] for i in devices),
    ]


def plain(x, name, tensors):
    """What JSON can hold of x: its numbers go to ``tensors``; whatever else JSON lacks
    becomes a dict that names its kind.
    """
    if isinstance(x, torch.Tensor) or (
        isinstance(x, np.ndarray | np.generic) and x.dtype.kind in "biuf"
    ):
        kind, x = (
            ("tensor", x)
            if isinstance(x, torch.Tensor)
            else ("array", torch.from_numpy(np.array(x)))
        )
        while name in tensors:  # as a.b of {"a": {"b": x}, "a.b": y}
            name += "'"
        tensors[name] = (
            x.detach().cpu().clone(memory_format=torch.contiguous_format)
        )
        return {"kind": kind, "value": name}
    if isinstance(x, dict):
        pairs = [
            (
                plain(key, name, tensors),
                plain(value, f"{name}.{key}", tensors),
            )
            for key, value in x.items()
        ]
        as_it_is = all(isinstance(key, str) for key in x) and "kind" not in x
        return dict(pairs) if as_it_is else {"kind": "dict", "value": pairs}
    if isinstance(x, list | tuple):
        values = [
            plain(value, f"{name}.{i}", tensors) for i, value in enumerate(x)
        ]
        return (
            values
            if isinstance(x, list)
            else {"kind": "tuple", "value": values}
        )
    if x is None or isinstance(x, bool | int | float | str):
        return x
    raise ValueError(
        f"{name}: expected numbers, text, tensors, arrays, and tuples, lists and dicts"
        f" of them, got {type(x).__name__}"
    )


def back(x, tensors):
    """What :func:`plain` was given."""
    if isinstance(x, list):
        return [back(value, tensors) for value in x]
    if not isinstance(x, dict):
        return x
    value = x.get("value")
    match x.get("kind"):
        case "tensor":
            return tensors[value]
        case "array":
            # an array without axes is a scalar
            return tensors[value].numpy()[()]
        case "tuple":
            return tuple(back(value, tensors))
        case "dict":
            return {
                back(key, tensors): back(part, tensors) for key, part in value
            }
    return {key: back(part, tensors) for key, part in x.items()}


def shapes(state):
    """The shape of each parameter."""
    return {
        name: tuple(p.shape)
        for name, p in state.items()
        if isinstance(p, torch.Tensor)
    }


def expect_same(file, wanted, got):
    """Raise unless two models have the same parameters of the same shapes; the first
    difference is named.
    """
    for name in [*wanted, *sorted(got)]:
        if wanted.get(name) != got.get(name):
            raise ValueError(
                f"{file}: holds another model; {name}: expected"
                f" {wanted.get(name, 'none')}, got {got.get(name, 'none')}"
            )
