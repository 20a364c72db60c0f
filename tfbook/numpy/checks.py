"""How the NumPy half reads its arrays, and what values may be that no shape tells."""

import math
from functools import partial
from types import SimpleNamespace

import numpy as np

import tfbook.shapes
from tfbook.shapes import (
    expect,
    expect_broadcast,
    flag,
    is_number,
    positive,
    whole,
)


def array(name, X):
    """Return X as an array; one that hides values is refused, since they would
    count.
    """
    if np.ma.is_masked(X):
        raise ValueError(
            f"{name}: expected an array that hides no values, got a masked array; "
            f"replace them with {name}.filled(value)"
        )
    return np.asarray(X)


def floats(name, X, like=None):
    """Return X as an array of real numbers; integers and booleans become float64."""
    X = array(name, X)
    if X.dtype.kind in "iub":
        return X.astype(np.float64)
    if X.dtype.kind != "f":
        raise ValueError(
            f"{name}: expected real numbers, got dtype {X.dtype}"
        )
    return X


def integers(name, X, like=None):
    """Return X as int64, whatever integers it holds."""
    X = array(name, X)
    if X.dtype.kind not in "iu" and X.size:
        raise ValueError(
            f"{name}: expected whole numbers, got dtype {X.dtype}"
        )
    return X.astype(np.int64, copy=False)


def booleans(name, X, like=None):
    """Return X as an array of booleans."""
    X = array(name, X)
    expect_booleans(name, X.dtype)
    return X


def expect_booleans(name, dtype):
    """Raise unless a mask's dtype, of either half, is boolean."""
    if str(dtype).rpartition(".")[2] != "bool":
        raise ValueError(
            f"{name}: expected booleans, True where a query may attend, got dtype"
            f" {dtype}; pass {name} != 0, or a float as bias"
        )


ARRAYS = SimpleNamespace(
    floats=floats,
    integers=integers,
    booleans=booleans,
    alike=lambda real: real,  # NumPy promotes
    repeat=lambda X, n: np.repeat(X, n, axis=-3),
    WORDS={
        "floats": "array_like",
        "integers": "array_like of int",
        "booleans": "array_like of bool",
        "answer": "ndarray",
    },
)
shapes = partial(tfbook.shapes.shapes, ARRAYS)


def float_dtype(dtype):
    """Return a dtype of real numbers, or raise."""
    if np.dtype(dtype).kind != "f":
        raise ValueError(
            f"dtype: expected one of floating-point numbers, got {np.dtype(dtype)}"
        )
    return np.dtype(dtype)


def same_shape(name, Y, X):
    """Return Y as real numbers, or raise unless it has the shape of X."""
    Y = floats(name, Y)
    if Y.shape != X.shape:
        raise ValueError(
            f"{name}: expected the shape of X, {tuple(X.shape)}, got {tuple(Y.shape)}"
        )
    return Y


def scale_factor(scale, d_k):
    """The factor of the dot products, by default 1/√d_k."""
    return 1 / math.sqrt(max(d_k, 1)) if scale is None else scale


def expect_tokens(name, tokens, vocab):
    """Raise IndexError unless tokens, of either half, are from 0 to vocab − 1."""
    if (
        math.prod(tokens.shape)
        and not 0 <= tokens.min() <= tokens.max() < vocab
    ):
        raise IndexError(
            f"{name}: expected 0 to {vocab - 1}, got {tokens.min()} to {tokens.max()}"
        )


def expect_targets(targets, logits):
    """Raise unless there is one class for each row of logits, and at least one."""
    shape, vocab = tuple(logits.shape[:-1]), logits.shape[-1]
    if tuple(targets.shape) != shape:
        raise ValueError(
            f"targets: expected one for each row of logits, shape {shape}, "
            f"got {tuple(targets.shape)}"
        )
    if 0 in shape:
        raise ValueError("targets: expected at least one, got none")
    if not 0 <= targets.min() <= targets.max() < vocab:
        raise IndexError(
            f"targets: expected classes 0 to {vocab - 1}, "
            f"got {targets.min()} to {targets.max()}"
        )


def expect_lengths(lengths, T_k):
    """Raise unless every length is from 0 to T_k."""
    if (
        0 not in lengths.shape
        and not 0 <= lengths.min() <= lengths.max() <= T_k
    ):
        raise ValueError(
            f"lengths: expected whole numbers from 0 to T_k = {T_k}, "
            f"got {lengths.tolist()}"
        )


def expect_rows(P, T):
    """Raise unless a table of positions has T rows."""
    if len(P) < T:
        raise ValueError(
            f"T: expected at most T_max = {len(P)}, the rows of the table P, got {T}"
        )


def expect_pairs(X, pairs="adjacent", base=10000.0, frequencies=None):
    """Raise unless the channels of X come in pairs of a known kind, each with one
    frequency.
    """
    d_k = X.shape[-1]
    if d_k % 2:
        raise ValueError(
            f"X: expected an even d_k, channels turn in pairs, got {tuple(X.shape)}"
        )
    if pairs not in ("adjacent", "halves"):
        raise ValueError(
            f"pairs: expected 'adjacent' or 'halves', got {pairs!r}"
        )
    if frequencies is None:
        return
    expect("frequencies", frequencies.shape, "(n,)", n=d_k // 2)
    if base != 10000.0:
        raise ValueError(
            f"base: expected none beside frequencies, got {base}; pass it to"
            " rotary_frequencies"
        )


def expect_kernel(W, causal):
    """Raise unless a kernel has as many neighbours on either side, or is causal."""
    k = whole("k", W.shape[0], least=1)
    if k % 2 == 0 and not causal:
        raise ValueError(
            "W: expected an odd k, for as many neighbours on either side, "
            f"got k = {k}; pass causal=True for any k"
        )


SCALINGS = None, "linear", "ntk", "yarn", "llama3"


def expect_scaling(d_k, scaling, factor, trained):
    """Return the positions of training, or raise where a setting of the frequencies is
    missing or has no effect.
    """
    if d_k % 2:
        raise ValueError(f"d_k: expected an even number, got {d_k}")
    if scaling not in SCALINGS:
        raise ValueError(
            f"scaling: expected one of {', '.join(map(str, SCALINGS))}, got {scaling!r}"
        )
    if factor < 1 or (scaling is None and factor != 1):
        raise ValueError(
            f"factor: expected 1 without a scaling, from 1 on with one, got {factor}"
        )
    if scaling == "yarn" and trained is None:
        raise ValueError(
            "trained: expected the positions of training, which yarn needs, got None"
        )
    if trained is not None and scaling not in ("yarn", "llama3"):
        raise ValueError(
            f"trained: expected none with scaling={scaling!r}, got {trained!r}"
        )
    return 8192 if trained is None else whole("trained", trained, least=1)
