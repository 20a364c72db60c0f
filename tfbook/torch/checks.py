"""What the PyTorch half expects of its tensors; shapes are checked by the NumPy half's
own rules.
"""

import inspect
import re
from contextlib import suppress
from functools import partial, wraps
from types import SimpleNamespace

import numpy as np
import torch

import tfbook.shapes
from tfbook.numpy.checks import expect_booleans


def floats(name, X, like=None):
    """Return X if it is a tensor of floating-point numbers; integers and booleans
    become float64, as in NumPy.
    """
    if not isinstance(X, torch.Tensor):
        raise ValueError(
            f"{name}: expected a torch.Tensor, got {type(X).__name__}; pass"
            f" torch.as_tensor({name})"
        )
    if X.is_complex():
        raise ValueError(
            f"{name}: expected real numbers, got dtype {X.dtype}"
        )
    return X if X.is_floating_point() else X.double()


def integers(name, X, like=None):
    """Return X as a tensor of int64, from any dtype of whole numbers, or an array or a
    file of them: comparisons of uint8 with 256 wrap.
    """
    # a copy: an array may be read-only
    X = torch.as_tensor(np.array(X) if isinstance(X, np.ndarray) else X)
    if X.numel() and (
        X.is_floating_point() or X.is_complex() or X.dtype == torch.bool
    ):
        raise ValueError(
            f"{name}: expected whole numbers, got dtype {X.dtype}"
        )
    return X.long() if like is None else X.to(like.device, torch.long)


def float_dtype(dtype):
    """Return a dtype, or raise unless it holds fractions."""
    if not torch.empty(0, dtype=dtype).is_floating_point():
        raise ValueError(
            f"dtype: expected one of floating-point numbers, got {dtype}"
        )
    return dtype


def autocast_dtype(X):
    """The dtype in which products on X's device are taken under autocast; None where it
    is off.
    """
    device = X.device.type
    if torch.amp.is_autocast_available(device) and torch.is_autocast_enabled(
        device
    ):
        return torch.get_autocast_dtype(device)
    return None


def autocast(*tensors):
    """Cast tensors as autocast does before a product, float64 excepted; where it is
    off, leave them.
    """
    dtype = autocast_dtype(tensors[0])
    return [
        X if dtype is None or X.dtype == torch.float64 else X.to(dtype)
        for X in tensors
    ]


def without_autocast(f):
    """Make a function of tensors compute in the dtypes that it chose itself."""

    @wraps(f)
    def exact(X, *args):
        if autocast_dtype(X) is None:
            return f(X, *args)
        with torch.autocast(X.device.type, enabled=False):
            return f(X, *args)

    return exact


def alike(**tensors):
    """Return tensors as :func:`floats` does, or raise where devices or dtypes differ:
    torch does not promote products (autocast does).
    """
    tensors = {name: floats(name, X) for name, X in tensors.items()}
    dtypes = {name: X.dtype for name, X in tensors.items()}
    devices = [str(X.device) for X in tensors.values()]
    if len(set(devices)) > 1:
        raise ValueError(
            f"{', '.join(tensors)}: expected one device, got {', '.join(devices)}; move"
            " them with .to(device)"
        )
    if (
        len(set(dtypes.values())) > 1
        and autocast_dtype(next(iter(tensors.values()))) is None
    ):
        got = ", ".join(map(str, dtypes.values()))
        raise ValueError(
            f"{', '.join(tensors)}: expected one dtype, got {got}; convert them with"
            " .to(dtype)"
        )
    return tensors.values()


def booleans(name, X, like):
    """Return X as a tensor of booleans on the device of another tensor."""
    X = torch.as_tensor(X, device=like.device)
    expect_booleans(name, X.dtype)
    return X


def where_known(check, *args):
    """Check values, unless a transformation hides them: compile, vmap, the meta
    device.
    """
    if not torch.compiler.is_compiling():
        # what they raise where a value is asked for
        with suppress(RuntimeError):
            check(*args)


def same_shape(name, Y, X):
    """Return Y as real numbers, or raise unless it has the shape of X."""
    Y = floats(name, Y)
    if Y.shape != X.shape:
        raise ValueError(
            f"{name}: expected the shape of X, {tuple(X.shape)}, got {tuple(Y.shape)}"
        )
    return Y


def same_dtype_and_device(real):
    """Return the tensors unchanged, or raise unless dtype and device are the same."""
    first = next(iter(real.values()), None)
    if any(
        X.dtype != first.dtype or X.device != first.device
        for X in real.values()
    ):
        alike(**real)
    return real


ARRAYS = SimpleNamespace(
    floats=floats,
    integers=integers,
    booleans=booleans,
    alike=same_dtype_and_device,
    repeat=lambda X, n: X.repeat_interleave(n, dim=-3),
    WORDS={
        "floats": "Tensor",
        "integers": "Tensor of int",
        "booleans": "Tensor of bool",
        "answer": "Tensor",
    },
)
shapes = partial(tfbook.shapes.shapes, ARRAYS)


def twin(reference):
    """Make a function the twin of one of NumPy's: one contract, and one docstring.

    Parameters
    ----------
    reference : function
        The function of ``tfbook.numpy``.

    Returns
    -------
    callable
        A decorator. What its function has as a docstring takes the place of the
        reference's examples.
    """

    def decorate(function):
        door = function
        if hasattr(reference, "contract"):
            door = shapes(returns=reference.returns, **reference.contract)(
                function
            )
        door.__doc__ = twin_docstring(reference.__doc__, function.__doc__)
        return door

    return decorate


def twin_docstring(text, examples):
    """A docstring of NumPy's in PyTorch's words, with examples of its own."""
    if text is None:
        return None
    text = inspect.cleandoc(text).partition("\n\nExamples\n")[0]
    text = re.sub(r"\barray_like\b|\bndarray\b", "Tensor", text)
    text = re.sub(r"\barray\b", "tensor", text)
    text = text.replace(
        "the shapes do not", "shapes, dtypes or devices do not"
    )
    if examples is None:
        return text
    return f"{text}\n\nExamples\n--------\n{inspect.cleandoc(examples)}"


def broadcast(*shapes):
    """The shape that leading axes broadcast to."""
    return tuple(torch.broadcast_shapes(*shapes))
