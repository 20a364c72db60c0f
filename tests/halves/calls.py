"""Arguments for calls of either half: ``cases`` says how to call a function,
``test_parity`` with what sizes.
"""

import re
from types import SimpleNamespace

import numpy as np
import pytest
import torch

import tfbook.numpy
import tfbook.torch
from tfbook.numpy import init_layer

HALVES = pytest.mark.parametrize(
    "half", [tfbook.numpy, tfbook.torch], ids=["numpy", "torch"]
)

# axes that may differ do differ, and are primes where they can be
SIZES = {
    "T": 5,
    "T_k": 7,
    "d": 11,
    "d_k": 2,
    "d_v": 17,
    "d_ff": 13,
    "d_h": 29,
    "vocab": 19,
    "T_max": 23,
    "H": 6,
    "H_kv": 3,
    "n": 2,
    "k": 3,
}
SIZES |= {"d_in": 31, "d_out": 37}


class In:
    """An argument that each half makes for itself."""

    def __init__(self, make):
        self.make = make


def call(*args, then=None, smooth=True, **options):
    """A way to call; ``then`` makes something comparable of what comes back,
    ``smooth=False`` has no gradient to check.
    """
    return SimpleNamespace(args=args, options=options, then=then, smooth=smooth)


class Arguments:
    """Arguments with leading axes and sizes that the walk chooses, the same numbers
    each time.
    """

    def __init__(self, leading=(), dtype=np.float64, sizes=SIZES, seed=0):
        self.leading, self.dtype, self.sizes, self.rng = (
            tuple(leading),
            np.dtype(dtype),
            dict(sizes),
            np.random.default_rng(seed),
        )

    def __getattr__(self, size):
        try:
            return self.sizes[size]
        except KeyError:
            raise AttributeError(size) from None

    def sized(self, **sizes):
        """With some sizes of one's own."""
        self.sizes |= sizes
        return self

    def shape(self, form):
        """``"... T H*d_k"`` as numbers."""
        axes = form.split()
        leading = self.leading if axes[:1] == ["..."] else ()
        return leading + tuple(
            eval(axis, {}, self.sizes) for axis in axes if axis != "..."
        )

    def __call__(self, form):
        return self.rng.normal(size=self.shape(form)).astype(self.dtype)

    def mask(self, form):
        return self.rng.random(self.shape(form)) < 0.6

    def whole(self, form, below, least=0):
        return self.rng.integers(least, below, size=self.shape(form))

    def layer(self, norm="post", gated=False, biases=False, rms=False):
        s = self.sizes
        P = init_layer(
            s["d"],
            s["H"],
            s["d_ff"],
            s["H_kv"],
            s["d_k"],
            s["d_v"],
            norm,
            gated,
            self.rng,
            self.dtype,
        )
        if rms:
            P = {name: p for name, p in P.items() if not name.startswith("beta")}
        if biases:
            P |= {"b_Q": self("H*d_k") * 0, "b_K": self("H_kv*d_k") * 0}
            P |= {"b_V": self("H_kv*d_v") * 0, "b_O": self("d") * 0}
        return {
            name: p + self(" ".join(map(str, p.shape))) / 5 for name, p in P.items()
        }

    def model(self, **form):
        P = {
            "E": self("vocab d"),
            "P": self("T_max d"),
            "gamma_f": self("d"),
            "beta_f": self("d"),
        }
        return P | {
            f"layers.{l}.{name}": p
            for l in range(2)
            for name, p in self.layer(**form).items()
        }


def of(name):
    """A function of the half itself."""
    return In(lambda half: getattr(half, name))


def says(message, error=ValueError):
    """Expect an error with this message, or this part of it."""
    return pytest.raises(error, match=re.escape(message))


def generator(half, seed=0):
    return (
        np.random.default_rng(seed)
        if half is tfbook.numpy
        else torch.Generator().manual_seed(seed)
    )


def native(half, X):
    """Arguments as a half takes them."""
    if isinstance(X, In):
        return X.make(half)
    if isinstance(X, dict):
        return {name: native(half, x) for name, x in X.items()}
    if isinstance(X, (list, tuple)):
        return type(X)(native(half, x) for x in X)
    if half is tfbook.numpy:
        return X
    if isinstance(X, np.dtype):
        return getattr(torch, X.name)
    if not isinstance(X, np.ndarray):
        return X
    return torch.from_numpy(X if X.flags.writeable else X.copy())
