"""The depth explorer: what becomes of a gradient, and of the tokens, in a deep stack
with and without residuals and norms.
"""

from math import floor, log10
from typing import ClassVar

import numpy as np

from tfbook.experiments import depth
from tfbook.widgets.base import Figure, table
from tfbook.widgets.controls import Choice, Slider, Switch

FORMS = {
    "plain": "none",
    "residual": "residual",
    "post-norm": "post",
    "pre-norm": "pre",
    "both": "both",
}
# measure, powers of ten at the foot and at the top of the chart, where to read it, what
# the number there is
SHOWN = {
    "gradient": (
        "gradient",
        -4,
        4,
        0,
        ["Of a gradient of size 1 at the top,", "reaches the bottom"],
    ),
    "direct-path": (
        "direct",
        -8,
        0,
        0,
        [
            "Of a gradient of size 1 at the top,",
            "comes down the direct path alone",
        ],
    ),
    "activations": (
        "scale",
        -4,
        4,
        -1,
        ["At the top, activations have size", ""],
    ),
    "token-spread": (
        "spread",
        -8,
        0,
        -1,
        ["At the top,", "of the tokens' size still tells them apart"],
    ),
}
# between labels, and of the last, as a share of the chart's height
GAP, LOWEST = 0.115, 0.06


class DepthExplorer(Figure):
    """Gradient, activations and the spread of the tokens at every depth of untrained
    stacks.

    Parameters
    ----------
    form : str
        Which form of layer to bring out: plain (no residual, no norm), residual,
        post-norm, pre-norm or both (norms).
    shown : str
        gradient, direct-path, activations or token-spread.
    L : int
        Layers; a stack was measured for each number on the page.
    small : bool
        Whether the last matrix of each branch started smaller, divided by √(2L).

    Raises
    ------
    ValueError
        Where no such stack was measured.
    """

    title = "A gradient's way down"
    controls = (
        Choice("form", "layers with", FORMS),
        Choice("shown", "show", SHOWN),
        Slider("L", "L layers", depth.DEPTHS, between=False),
        Switch("small", "shrink branches by √(2L)"),
    )
    default: ClassVar = {
        "form": "plain",
        "shown": "gradient",
        "L": 48,
        "small": False,
    }

    def compute(self, form, shown, L, small):
        measure, foot, top, end, _ = SHOWN[shown]
        step = max(1, L // 48)  # points enough for a line
        # least, median, largest; (3, L + 1)
        powers = {
            name: depth.load(FORMS[name], L, small)[measure] for name in FORMS
        }
        heights = {
            name: (p[:, ::step] - foot) / (top - foot)
            for name, p in powers.items()
        }
        return {
            "lines": np.array([within(h[1]) for h in heights.values()]),
            "band": np.clip(
                np.nan_to_num(heights[form][[0, 2]], nan=0.0), 0, 1
            ),
            "labels": apart([h[1, end] for h in heights.values()]),
            "numbers": [number(p[1, end]) for p in powers.values()],
            "range": [number(powers[form][i, end]) for i in (0, 2)],
        }

    def constants(self):
        record = depth.record()
        return {
            "forms": list(FORMS),
            "axes": {
                shown: [foot, top, end, *words]
                for shown, (_, foot, top, end, words) in SHOWN.items()
            },
            "sizes": (
                f"{len(record['seeds'])} untrained stacks each, d = {record['d']},"
                f" {record['H']} heads, {record['T']} tokens"
            ),
        }

    def still(self):
        rows = "".join(
            f"<tr><th scope=row>{shown}, L = {L}</th>"
            + "".join(
                f"<td>{text}</td>"
                for text in self.compute("plain", shown, L, False)["numbers"]
            )
            + "</tr>"
            for shown in SHOWN
            for L in (12, 48, 96)
        )
        head = "".join(f"<th scope=col>{name}</th>" for name in FORMS)
        caption = (
            "Gradients at the bottom, activations and tokens at the top of untrained "
            "stacks; medians"
        )
        return table(caption, f"<td></td>{head}", rows)


def within(heights):
    """NaN outside the chart, but for the first point out, which goes to the edge."""
    heights = np.where(np.isnan(heights), -1, heights)
    inside = (heights >= 0) & (heights <= 1)
    beside = np.convolve(inside, [1, 1, 1], mode="same") > 0
    return np.where(beside, np.clip(heights, 0, 1), np.nan)


def apart(heights):
    """Heights of labels: each near its line's end, in their order, none over another,
    all on the chart.
    """
    heights = np.nan_to_num(np.array(heights), nan=-np.inf)
    order = np.argsort(heights, kind="stable")
    placed = np.clip(heights[order], LOWEST, 1)
    for i in range(1, len(placed)):
        placed[i] = max(placed[i], placed[i - 1] + GAP)
    placed[-1] = min(placed[-1], 1)
    for i in reversed(range(len(placed) - 1)):
        placed[i] = min(placed[i], placed[i + 1] - GAP)
    return placed[np.argsort(order, kind="stable")]


def number(power):
    """Write a power of ten with two digits, or as a power where it is far from 1.

    Examples
    --------
    >>> [number(power) for power in (-17.2, -1.5, 0, 2, 2.9, 25.6, -np.inf)]
    ['10⁻¹⁷', '0.032', '1.0', '100', '790', '10²⁶', '0']
    """
    if not np.isfinite(power):
        return "0"
    if not -2.5 < power < 3:
        return "10" + f"{round(power)}".translate(
            str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
        )
    rounded = float(f"{10**power:.2g}")
    return f"{rounded:.{max(0, 1 - floor(log10(rounded)))}f}"
