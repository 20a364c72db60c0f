"""The feed-forward network: what one unit does, how a few of them bend a line, and what
they cost.
"""

from typing import ClassVar

import numpy as np

from tfbook import cost
from tfbook.numpy import feed_forward, gated_feed_forward
from tfbook.widgets.base import Figure
from tfbook.widgets.controls import Choice, Slider

REACH, FLOOR = 4, 2.5  # inputs from −4 to 4; heights are told from −2.5 on
X = np.linspace(-REACH, REACH, 81)[:, None]
TARGET = 1.4 * np.sin(1.1 * X[:, 0] + 0.6) + 0.15 * X[:, 0]
NAMES = {"ReLU": "relu", "GELU": "gelu", "SiLU": "silu"}


class FeedForwardExplorer(Figure):
    """One unit of the hidden layer, the sum of a few that was fitted to a wave, and the
    share of the layer that they are.

    Parameters
    ----------
    unit : {"ReLU", "GELU", "SiLU", "gated"}
        The activation; gated is SwiGLU.
    units : int
        Hidden units of the small network.
    ratio : int
        d_ff / d of the layer whose costs are shared out, with d = T = 512 and 8 heads.

    Raises
    ------
    ValueError
        Where a value is not one that its control takes.
    """

    title = "The feed-forward network"
    controls = (
        Choice("unit", "unit", [*NAMES, "gated"]),
        Slider("units", "units", [1, 2, 3, 4, 6, 8], most=16),
        Slider("ratio", "d_ff / d", [1, 2, 4, 8], most=16),
    )
    default: ClassVar = {"unit": "ReLU", "units": 4, "ratio": 4}

    def compute(self, unit, units, ratio):
        # where each unit begins
        bends = -REACH + 2 * REACH * np.arange(units) / units
        hidden = np.array(
            [one(unit, X - bend) for bend in bends]
        ).T  # (81, units)
        partial = fitted(hidden, offset=unit != "gated")  # (units, 81)
        layer = cost.layer(
            512, 512, 8, d_ff=512 * ratio, gated=unit == "gated"
        )
        return {
            "curve": height(one(unit, X)),
            "bends": [round(float(bend), 3) for bend in bends],
            "partial": height(partial[:-1]).reshape(units - 1, len(X)),
            "sum": height(partial[-1]),
            "error": round(
                float(np.sqrt(np.mean((partial[-1] - TARGET) ** 2))), 3
            ),
            # of the layer
            "params": round(layer.params["ffn"] / layer.total_params, 4),
            "flops": round(layer.flops["ffn"] / layer.total_flops, 4),
        }

    def constants(self):
        return {"target": [round(float(y), 3) for y in TARGET + FLOOR]}

    def still(self):
        rows = "".join(
            f"<tr><th scope=row>{ratio}</th>"
            f"<td>{'yes' if unit == 'gated' else 'no'}</td>"
            f"<td>{100 * value['params']:.0f} %</td><td>{100 * value['flops']:.0f} "
            "%</td></tr>"
            for unit in ("ReLU", "gated")
            for ratio in self.controls[2].values
            for value in [self.compute(unit, 1, ratio)]
        )
        head = "".join(
            f"<th scope=col>{name}</th>"
            for name in (
                "d_ff / d",
                "gated",
                "of the parameters",
                "of the FLOPs",
            )
        )
        return (
            "<table><caption>The feed-forward network's share of a layer, d = T = "
            f"512</caption><tr>{head}</tr>{rows}</table>"
        )


def one(unit, x):
    """One unit as the layers compute it, with all weights 1: (T, 1) to (T,)."""
    I = np.ones((1, 1))
    if unit == "gated":
        return gated_feed_forward(x, I, I, I)[:, 0]
    return feed_forward(
        x, I, np.zeros(1), I, np.zeros(1), activation=NAMES[unit]
    )[:, 0]


def fitted(hidden, offset):
    """Sums of the first 1, 2, … units, weighted so that all together come as near to
    the target as they can: (units, 81).
    """
    columns = (
        np.hstack([hidden, np.ones((len(hidden), 1))]) if offset else hidden
    )
    W_2 = np.linalg.lstsq(columns, TARGET, rcond=1e-9)[0]
    units = hidden.shape[1]
    return np.cumsum(hidden * W_2[:units], axis=1).T + (
        W_2[units] if offset else 0
    )


def height(y):
    """Above the panel's floor; nothing where a curve is out of the panel."""
    return np.where(abs(y) <= FLOOR, y + FLOOR, np.nan)
