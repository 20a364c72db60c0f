"""The static figures: matplotlib in the book's palette, on white paper that the page
turns dark by itself.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap

from tfbook.notebook.palette import LIGHT, ramp

WEIGHTS = ListedColormap(ramp(steps=257), name="weights")
STYLE = {
    "font.size": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.dpi": 180,
    "savefig.bbox": "tight",
    "text.color": LIGHT["ink"],
    "axes.labelcolor": LIGHT["ink"],
    "axes.edgecolor": LIGHT["muted"],
    "xtick.color": LIGHT["muted"],
    "ytick.color": LIGHT["muted"],
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "lines.linewidth": 2,
    "legend.frameon": False,
    "figure.constrained_layout.use": True,
}
plt.rcParams.update(STYLE)


def matrix(A, rows, columns=None, title="", ax=None, values=True, limit=1.0):
    """Draw a matrix whose rows are queries and whose columns are keys, with its numbers
    in the cells.

    Parameters
    ----------
    A : array_like, shape (T, T_k)
        Numbers from 0 to ``limit``, or booleans; NaN is left white.
    rows, columns : list of str
        Tokens; by default the columns have those of the rows.
    title : str
    ax : matplotlib Axes, optional
    values : bool
        Write the numbers.
    limit : float
        The number that gets the strongest colour.

    Returns
    -------
    matplotlib Axes
    """
    A = np.asarray(A)
    columns = rows if columns is None else columns
    ax = (
        plt.subplots(
            figsize=(0.62 * len(columns) + 1.2, 0.62 * len(rows) + 0.8)
        )[1]
        if ax is None
        else ax
    )
    ax.pcolormesh(
        A.astype(float),
        cmap=WEIGHTS,
        vmin=0,
        vmax=limit,
        edgecolors="white",
        linewidth=1.5,
    )
    ax.invert_yaxis()
    ax.set(
        aspect="equal",
        title=title,
        xticks=np.arange(len(columns)) + 0.5,
        yticks=np.arange(len(rows)) + 0.5,
    )
    ax.set_xticklabels(
        columns,
        rotation=40,
        ha="right",
        rotation_mode="anchor",
        color=LIGHT["key"],
    )
    ax.set_yticklabels(rows, color=LIGHT["query"])
    ax.set_xlabel("keys", color=LIGHT["key"], style="italic")
    ax.set_ylabel("queries", color=LIGHT["query"], style="italic")
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    if values:
        for (i, j), a in np.ndenumerate(A):
            text = (
                "yes"
                if a is np.True_
                else (
                    ""
                    if a is np.False_ or np.isnan(a)
                    else f"{a:.2f}".rstrip("0").rstrip(".")
                )
            )
            ax.text(
                j + 0.5,
                i + 0.5,
                text,
                ha="center",
                va="center",
                fontsize=9,
                color="white" if a > 0.5 * limit else LIGHT["ink"],
            )
    return ax


def label_line(ax, x, y, text, role, dx=6, dy=0):
    """Write a line's name at a point of it, in the line's colour: no legend to
    decode.
    """
    ax.annotate(
        text,
        (x, y),
        (dx, dy),
        textcoords="offset points",
        color=LIGHT[role],
        va="center",
        fontsize=10,
        annotation_clip=False,
    )
