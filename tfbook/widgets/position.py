"""Positions: the sinusoidal table, its dot products, rotary's turning pairs, ALiBi's
slopes, and what trained models keep of them.
"""

from typing import ClassVar

import numpy as np

from tfbook.numpy import alibi_bias, rotary, sinusoidal_positions
from tfbook.widgets.base import Figure
from tfbook.widgets.controls import Choice, Slider
from tfbook.widgets.position_lengths import lengths, still_lengths


class PositionExplorer(Figure):
    """Ways to tell tokens their order, and how far each carries.

    Parameters
    ----------
    scheme : {"sinusoidal", "products", "rotary", "ALiBi", "trained models"}
        The table of sines and cosines, its dot products by distance, pairs of channels
        that turn, a bias by distance, or the loss of models trained on 64 tokens, read
        on up to 512, an LSTM among them.
    T : int
        Positions; those of the trained models are on a slider of their own.
    d : int
        Channels; of no matter to ALiBi.
    H : int
        Heads; of matter to ALiBi alone.

    Raises
    ------
    ValueError
        Where a value is not one that its control takes, or d is odd.
    """

    title = "Positions"
    controls = (
        Choice(
            "scheme",
            "scheme",
            ["sinusoidal", "products", "rotary", "ALiBi", "trained models"],
        ),
        Slider("T", "T positions", [16, 32, 48], most=128),
        Slider("d", "d channels", [8, 16, 32], most=64),
        Slider("H", "H heads", [2, 4, 8], most=12),
    )
    default: ClassVar = {"scheme": "sinusoidal", "T": 32, "d": 16, "H": 8}

    def check(self, state):
        if super().check(state)["d"] % 2:
            raise ValueError(
                f"d must be even, for pairs of channels: got d = {state['d']}"
            )
        return state

    def compute(self, scheme, T, d, H):
        nothing = {
            "up": [],
            "down": [],
            "products": [],
            "differ": 0.0,
            "waves": [],
            "turns": [],
            "alike": [],
            "slopes": [],
            "least": 0.0,
        }
        views = {
            "sinusoidal": sinusoidal,
            "products": products,
            "rotary": turning,
            "ALiBi": alibi,
        }
        return nothing | (views[scheme](T, d, H) if scheme in views else {})

    def constants(self):
        return {"lengths": lengths()}

    def still(self):
        slopes = "".join(
            f"<td>{-slope:.4f}</td>" for slope in alibi(2, 2, 8)["slopes"]
        )
        shown = [
            (p, products(p + 1, 16, 1)["products"][p])
            for p in (0, 1, 2, 4, 8, 16)
        ]
        return (
            "<table><caption>Sinusoidal positions of 16 channels: dot products by "
            "distance, as a part of that with itself</caption><tr>"
            + "".join(f"<th scope=col>{p}</th>" for p, _ in shown)
            + "</tr><tr>"
            + "".join(f"<td>{x:.2f}</td>" for _, x in shown)
            + "</tr></table><table><caption>ALiBi: bias for each step of distance, for"
            " each of 8 heads</caption><tr>"
            + "".join(f"<th scope=col>{h}</th>" for h in range(1, 9))
            + f"</tr><tr>{slopes}</tr></table>"
            + still_lengths()
        )


def sinusoidal(T, d, H):
    """The table, its positive part and the size of its negative one apart: (d, T), a
    row for each channel.
    """
    P = sinusoidal_positions(T, d).T
    # positions that the fastest and the slowest need for one turn
    wavelengths = 2 * np.pi * 10_000 ** (np.array([0, d - 2]) / d)
    return {
        "up": np.where(P >= 0, P, np.nan),
        "down": np.where(P < 0, -P, np.nan),
        "waves": [round(float(wavelength)) for wavelength in wavelengths],
    }


def products(T, d, H):
    """Dot product of the first position with each, as a part of that with itself, and
    how far other pairs as far apart differ.
    """
    P = sinusoidal_positions(T, d)
    S = P @ P.T / (d / 2)
    differ = max(np.ptp(np.diagonal(S, k)) for k in range(T))
    return {"products": rounded(S[0]), "differ": round(float(differ), 3)}


def turning(T, d, H):
    """How far each pair has turned at each position, in parts of a full turn; and the
    product of query and key by distance.
    """
    # every pair points east, then turns
    X = rotary(np.tile([1.0, 0.0], (T, d // 2)))
    x, y = X[:, 0::2], X[:, 1::2]  # (T, d/2)
    return {
        "turns": np.arctan2(y, x).T / (2 * np.pi) % 1,
        "alike": rounded(X @ X[0] / (d / 2)),
    }


def alibi(T, d, H):
    """Slope of each head, and the bias of its first key as the last query sees it."""
    B = alibi_bias(H, T)
    return {
        "slopes": [round(float(-b[-1, -2]), 6) for b in B],
        "least": round(float(B.min()), 3),
    }


def rounded(values):
    """Numbers that may be negative, for the page."""
    return [round(float(x), 3) for x in values]
