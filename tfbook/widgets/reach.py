"""The reach explorer: which inputs an output depends on in a recurrence, a convolution
and attention, and over how many steps.
"""

from typing import ClassVar

import numpy as np

from tfbook import cost
from tfbook.numpy import conv1d, rnn, scaled_dot_product_attention
from tfbook.widgets.base import Figure
from tfbook.widgets.controls import Slider

D = 8  # channels


class ReachExplorer(Figure):
    """How strongly each output depends on each input, measured, and the way from the
    first input to an output.

    Parameters
    ----------
    T : int
        Tokens.
    layers : int
        Layers of the convolution; recurrence and attention have one.
    k : int
        Positions that one output of a convolution sees in the layer below, itself and k
        − 1 before it.

    Raises
    ------
    ValueError
        Where a value is not one that its control takes.
    """

    title = "How far does an output see?"
    controls = (
        Slider("T", "T tokens", [8, 12, 16], most=24),
        Slider("layers", "layers of convolution", range(1, 9)),
        Slider("k", "kernel width k", [2, 3, 5]),
    )
    default: ClassVar = {"T": 12, "layers": 3, "k": 3}

    def compute(self, T, layers, k):
        X, networks = untrained(T, layers, k)
        J = {name: reach(f, X) for name, f in networks.items()}
        paths = {
            "rnn": cost.rnn,
            "conv": lambda n, d: cost.conv(n, d, k),
            "attention": lambda n, d: cost.layer(n, d, 1),
        }
        # level 0 holds the inputs
        t, level = np.arange(T)[:, None], np.arange(layers + 1)
        return {
            # (T, T), a row for each output
            "reach": {
                name: np.where(j > 0, j / j.max(), np.nan)
                for name, j in J.items()
            },
            "seen": {
                name: (j > 0).sum(axis=1).tolist() for name, j in J.items()
            },
            "fainter": {
                name: [fainter(row) for row in j] for name, j in J.items()
            },
            # from the first input
            "path": {
                name: [f(n + 1, D).path_length for n in range(T)]
                for name, f in paths.items()
            },
            # (T, levels): the first position there that output t depends on
            "cone": np.maximum(t - (layers - level) * (k - 1), 0),
            # how far towards output t the first input has come
            "climb": np.minimum(level * (k - 1), t),
        }

    def still(self):
        value, T = self.compute(**self.state), self.state["T"]
        rows = "".join(
            f"<tr><th scope=row>{name}</th><td>{value['seen'][key][-1]} of {T}</td>"
            f"<td>{value['path'][key][-1]}</td></tr>"
            for key, name in NAMES.items()
        )
        return (
            f"<table><caption>The last output of {T} tokens; the convolution has "
            f"{self.state['layers']} layers of kernel width "
            f"{self.state['k']}</caption><tr><td></td><th scope=col>inputs it "
            "sees</th><th scope=col>steps or layers that the first input needs to "
            f"reach it</th></tr>{rows}</table>"
        )

    def constants(self):
        return {"names": NAMES}


NAMES = {"rnn": "RNN", "conv": "Convolution", "attention": "Attention"}


def untrained(T, layers, k):
    """Return T random tokens (T, 8) and three networks with random weights, functions
    from tokens to outputs.
    """
    rng = np.random.default_rng(4)
    W_x, W_h, *W_QKV = rng.standard_normal((5, D, D)) / np.sqrt(D)
    kernels = rng.standard_normal((layers, k, D, D)) / np.sqrt(k * D)
    X = np.random.default_rng(8).standard_normal((T, D))

    def convolutions(X):
        for W in kernels:
            X = np.tanh(conv1d(X, W, causal=True))
        return X

    return X, {
        "rnn": lambda X: rnn(X, W_x, W_h, np.zeros(D)),
        "conv": convolutions,
        "attention": lambda X: scaled_dot_product_attention(
            *(X @ W for W in W_QKV)
        ),
    }


def reach(f, X, nudge=1e-4):
    """Move every number of every input a little up and a little down, and measure how
    much each output moves.

    Parameters
    ----------
    f : callable
        From tokens (..., T, d) to outputs (..., T, d).
    X : ndarray, shape (T, d)
    nudge : float

    Returns
    -------
    ndarray, shape (T, T)
        Size of the derivative of output t (row) with respect to input s (column): the
        root of the sum of its squares.
    """
    T, d = X.shape
    # (s, channel, T, d): one number at a time
    moved = nudge * np.eye(T * d).reshape(T, d, T, d)
    # (s, channel, t, channel)
    J = (f(X + moved) - f(X - moved)) / (2 * nudge)
    return np.sqrt((J**2).sum(axis=(1, 3))).T


def fainter(row):
    """How many times weaker than the strongest input the first one is, to two digits; 0
    where it is not seen.
    """
    return float(f"{row.max() / row[0]:.2g}") if row[0] > 0 else 0
