"""The files of a published model: settings in JSON, numbers in safetensors."""

import json
from pathlib import Path

import numpy as np

from tfbook.shapes import expect

ONE, INDEX = "model.safetensors", "model.safetensors.index.json"
DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2"}


def read_json(path):
    """What a JSON file holds, a dict, or a ValueError that names the file."""
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path.name}: expected JSON, {error}") from None
    if not isinstance(values, dict):
        raise ValueError(
            f"{path.name}: expected a JSON object, got {type(values).__name__}"
        )
    return values


def read_config(folder):
    """The settings of the model in a folder."""
    if not (folder / "config.json").is_file():
        raise FileNotFoundError(
            f"config.json: expected it in {folder}, found none; is this the folder of"
            " a model?"
        )
    return read_json(folder / "config.json")


def read_tensors(folder):
    """Every tensor of a folder by its name, as ``(dtype, shape, bytes)``."""
    if (folder / ONE).is_file():
        return read_file(folder / ONE)
    if not (folder / INDEX).is_file():
        pickles = sorted(
            path.name
            for ending in ("*.bin", "*.pt", "*.pth", "*.ckpt")
            for path in folder.glob(ending)
        )
        because = (
            f"; {pickles[0]} is a pickle, which can run code and is not opened"
            if pickles
            else ""
        )
        raise FileNotFoundError(
            f"{ONE}: expected it, or {INDEX}, in {folder}, found neither{because}"
        )
    files = read_json(folder / INDEX).get("weight_map")
    if not isinstance(files, dict):
        raise ValueError(f"{INDEX}: expected a weight_map, got {files!r}")
    tensors = {}
    for file in sorted(set(map(str, files.values()))):
        if Path(file).name != file or not file.endswith(".safetensors"):
            raise ValueError(
                f"{INDEX}: expected names of .safetensors files, got {file!r}"
            )
        if not (folder / file).is_file():
            raise FileNotFoundError(
                f"{file}: {INDEX} expects it in {folder}, found none"
            )
        held = read_file(folder / file)
        for name in held:
            if files.get(name) != file:
                raise ValueError(
                    f"{name}: expected in {files.get(name, 'no file')}, as {INDEX}"
                    f" says, found in {file}"
                )
        tensors |= held
    for name, file in files.items():
        if name not in tensors:
            raise ValueError(
                f"{name}: expected in {file}, as {INDEX} says, found no tensor of"
                " this name"
            )
    return tensors


def read_file(path):
    """Every tensor of one file."""
    try:
        import safetensors
    except ImportError:
        raise ImportError(
            "load: expected the package safetensors, which reads the numbers; run:"
            ' pip install "tfbook[pretrained]"'
        ) from None
    try:
        held = safetensors.deserialize(path.read_bytes())
    except safetensors.SafetensorError as error:
        raise ValueError(damage(path, error)) from None
    return {name: (t["dtype"], t["shape"], t["data"]) for name, t in held}


def damage(path, error):
    """Say what is wrong with a file: of a truncated one, which tensors lack numbers."""
    with path.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header = file.read(min(size, path.stat().st_size))
    try:
        ends = {
            name: tensor["data_offsets"][1]
            for name, tensor in json.loads(header).items()
            if name != "__metadata__"
        }
    except (ValueError, KeyError, TypeError, IndexError, AttributeError):
        return f"{path.name}: expected a safetensors file, {error}"
    there = path.stat().st_size - 8 - size
    cut = [name for name, end in ends.items() if end > there]
    if not cut:
        return f"{path.name}: expected a safetensors file, {error}"
    return (
        f"{cut[0]}: expected {ends[cut[0]]} bytes of numbers up to its end in"
        f" {path.name}, got {there}: the file is cut short; download it again"
    )


class Tensors:
    """The tensors of a model, each taken once by its name and its shape."""

    def __init__(self, held, sizes=None):
        self.held, self.sizes = dict(held), dict(sizes or {})

    def without(self, prefix, *unused):
        """Drop a prefix of names, as models with a head for their task have it, and
        every tensor whose name begins or ends as one of the unused.
        """
        names = {name: name.removeprefix(prefix) for name in self.held}
        self.held = {
            names[name]: held
            for name, held in self.held.items()
            if not names[name].startswith(unused)
            and not names[name].endswith(unused)
        }

    def rename(self, endings):
        """Give tensors whose names end in one way another ending."""
        for old, new in endings.items():
            self.held = {
                name.removesuffix(old) + new
                if name.endswith(old)
                else name: X
                for name, X in self.held.items()
            }

    def drop(self, name):
        """Leave a tensor out, if it is there."""
        self.held.pop(name, None)

    def take(self, name, form):
        """The tensor of that name, whose shape is a form such as "(d_ff, d)"."""
        if name not in self.held:
            raise ValueError(
                f"{name}: expected a tensor {form}, found none of this name among"
                f" {len(self.held)} others"
            )
        dtype, shape, data = self.held.pop(name)
        expect(name, shape, form, **self.sizes)
        return array(name, dtype, data).reshape(shape)

    def linear(self, name, form):
        """A matrix that is stored as PyTorch's linear layers are, (out, in),
        transposed; a vector as it is.
        """
        return self.take(name, form).T

    def expect_none_left(self):
        """Raise where a tensor was not taken."""
        if self.held:
            name, (_, shape, _) = next(iter(self.held.items()))
            raise ValueError(
                f"{name}: expected no tensor of this name, got one of shape"
                f" {tuple(shape)}; {len(self.held)} such in all"
            )


def array(name, dtype, data):
    """The numbers of a tensor; bfloat16 becomes float32, whose upper half it is."""
    if dtype == "BF16":
        upper = np.frombuffer(data, "<u2").astype("<u4")
        return (upper << 16).view("<f4")
    if dtype not in DTYPES:
        raise ValueError(
            f"{name}: expected numbers as {', '.join(DTYPES)} or BF16, got {dtype}"
        )
    return np.frombuffer(data, DTYPES[dtype])
