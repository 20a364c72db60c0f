"""What a function expects of its arguments, said once and in words that a reader can act on."""

import math
import numbers
import operator

import numpy as np


def array(name, X):
    """Return X as an array, or raise where a masked array hides values: NumPy's own functions would count them."""
    if type(X) is not np.ndarray and np.ma.is_masked(X):
        raise ValueError(f"{name}: expected an array that hides no values, got a masked array; replace them with {name}.filled(value)")
    return np.asarray(X)


def floats(name, X):
    """Return X as an array of real floating-point numbers; integers and booleans become float64."""
    X = array(name, X)
    if X.dtype.kind in "iub":
        return X.astype(np.float64)
    if X.dtype.kind != "f":
        raise ValueError(f"{name}: expected real numbers, got dtype {X.dtype}")
    return X


def integers(name, X):
    """Return X as int64, from any dtype of whole numbers: of a narrow or unsigned one, sums and differences would wrap."""
    X = array(name, X)
    if X.dtype.kind not in "iu" and X.size:
        raise ValueError(f"{name}: expected whole numbers, got dtype {X.dtype}")
    return X.astype(np.int64, copy=False)


def expect_tokens(name, tokens, vocab):
    """Raise unless all tokens, an array or a tensor of int64, are in the vocabulary."""
    if math.prod(tokens.shape) and not 0 <= tokens.min() <= tokens.max() < vocab:
        raise IndexError(f"{name}: expected 0 to {vocab - 1}, got {tokens.min()} to {tokens.max()}")


def float_dtype(dtype):
    """Return a NumPy dtype, or raise unless it holds fractions."""
    if np.dtype(dtype).kind != "f":
        raise ValueError(f"dtype: expected one of floating-point numbers, got {np.dtype(dtype)}")
    return np.dtype(dtype)


def is_number(x):
    """Whether x is a real number; a boolean, an array or a tensor is none."""
    return isinstance(x, numbers.Real) and not isinstance(x, bool)


def expect(name, shape, form, **sizes):
    """Raise unless ``shape`` ends in the axes that ``form`` names, with the sizes known so far.

    Parameters
    ----------
    name : str
        The argument, for the message.
    shape : tuple of int
        What came.
    form : str
        The axes that are expected, such as ``"(..., T_k, d_k)"``, or ``"(H*d_v, d)"`` with no leading axes.
    **sizes : int
        Known sizes; an axis whose name is not among them may have any.

    Raises
    ------
    ValueError
        Naming the argument, the shape that was expected and the shape that came.

    Examples
    --------
    >>> expect("W_O", (24, 16), "(H*d_v, d)", H=4, d_v=6, d=16)
    >>> expect("W_O", (16, 24), "(H*d_v, d)", H=4, d_v=6, d=16)
    Traceback (most recent call last):
    ValueError: W_O: expected (H*d_v, d) = (24, 16), got (16, 24)
    """
    shape = tuple(shape)
    axes = [axis.strip() for axis in form.strip("()").split(",") if axis.strip()]
    leading = axes[:1] == ["..."]
    axes = axes[leading:]
    wanted = [_size(axis, sizes) for axis in axes]
    got = shape[len(shape) - len(axes):] if leading else shape
    if len(got) == len(axes) and all(w in (None, g) for w, g in zip(wanted, got)):
        return
    known = ", ".join(["..."] * leading + [axis if w is None else str(w) for axis, w in zip(axes, wanted)])
    known += "," * (len(axes) + leading == 1)
    equals = "" if f"({known})" == form else f" = ({known})"
    raise ValueError(f"{name}: expected {form}{equals}, got {shape}")


def _size(axis, sizes):
    """The size of an axis such as ``d``, ``1`` or ``H*d_v``; None where a factor is unknown."""
    size = 1
    for factor in axis.split("*"):
        n = int(factor) if factor.isdigit() else sizes.get(factor)
        if n is None:
            return None
        size *= n
    return size


def expect_broadcast(name, shape, target, form, kept=0):
    """Raise unless ``shape`` broadcasts to ``target``, which ``form`` names: its last ``kept`` axes may not grow, with None no axis."""
    shape, target = tuple(shape), tuple(target)
    try:
        met = np.broadcast_shapes(shape, target)
    except ValueError:
        met = ()
    if (met != target) if kept is None else (met[len(met) - kept:] != target[len(target) - kept:] or len(met) < len(target)):
        raise ValueError(f"{name}: expected a shape that broadcasts to {form} = {target}, got {shape}")


def expect_mask(dtype, shape, target, kept=2):
    """Raise unless a mask is boolean and broadcasts to the scores' shape (..., T, T_k)."""
    if str(dtype).rpartition(".")[2] != "bool":
        raise ValueError(f"mask: expected booleans, True where a query may attend, got dtype {dtype}; pass mask != 0, or a float as bias")
    expect_broadcast("mask", shape, target, "(..., T, T_k)", kept=kept)


def scale_factor(scale, d_k):
    """Return the factor of the dot products, 1/√d_k unless told; it is a number, so no gradient reaches it."""
    if scale is None:
        return 1 / math.sqrt(max(d_k, 1))
    if not is_number(scale) or not math.isfinite(scale):
        raise ValueError(f"scale: expected a finite real number, got {scale!r}; to scale by an array or a tensor, multiply Q by it")
    return float(scale)


def whole(name, n, least=0):
    """Return n as an int, or raise: sizes and counts are whole numbers from ``least`` on."""
    try:
        size = least - 1 if isinstance(n, bool) or getattr(n, "ndim", 0) else operator.index(n)
    except TypeError:
        size = least - 1
    if size < least:
        raise ValueError(f"{name}: expected a whole number, at least {least}, got {n!r}")
    return size


def positive(name, x):
    """Return x as a float, or raise unless it is a number above zero."""
    if not is_number(x) or not x > 0:
        raise ValueError(f"{name}: expected a number above 0, got {x!r}")
    return float(x)


def flag(name, x):
    """Return x as a bool, or raise: what is passed by position in a flag's place is not taken for its truth."""
    if not isinstance(x, (bool, np.bool_)):
        raise ValueError(f"{name}: expected True or False, got {type(x).__name__}")
    return bool(x)
