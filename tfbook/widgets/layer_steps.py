"""One layer, step by step: each matrix beside what it is made of, and each number with
the sum that made it.
"""

from itertools import groupby
from typing import ClassVar

from tfbook.notebook.examples import TOKENS
from tfbook.widgets.base import Figure
from tfbook.widgets.controls import Choice, Slider
from tfbook.widgets.layer_operations import (
    OPERATIONS,
    matrices,
    number,
    sum_of,
)

ROLES = {"Q": "query", "K": "key", "Kᵀ": "key", "V": "value", "α": "weight"}
LIT = {  # what made a number, left of it and above it
    "product": ("row", "column"),
    "score": ("row", "column"),
    "softmax": ("row", None),
    "sum": ("cell", "cell"),
    "norm": ("row", "column"),
    "relu": (None, "cell"),
}


class LayerSteps(Figure):
    """The forward pass of one transformer layer, one operation at a time, in numbers
    that can be followed by hand.

    Parameters
    ----------
    step : int
        Which operation, from 1.
    norm : {"post", "pre"}
        Whether the layer normalises after each residual sum, as in the source's
        example, or before each function.

    Raises
    ------
    ValueError
        Where a value is not one that its control takes.
    """

    title = "One layer, step by step"
    controls = (
        Slider(
            "step",
            "operation",
            range(1, len(OPERATIONS["post"]) + 1),
            between=False,
        ),
        Choice("norm", "norm", ["post", "pre"]),
    )
    default: ClassVar = {"step": 1, "norm": "post"}

    def compute(self, step, norm):
        M, made = (
            matrices(norm),
            {
                operation[1]: place
                for place, operation in enumerate(OPERATIONS[norm], 1)
            },
        )
        _, name, kind, left, above, formula = OPERATIONS[norm][step - 1]
        called = f"({name})" if "+" in name else name
        result = described(M, name, "cell", 0)
        return {
            "title": next(
                group["title"]
                for group in self.constants()["maps"][norm]
                if [step, name] in group["parts"]
            ),
            "formula": formula,
            "left": left
            and described(M, left, LIT[kind][0], made.get(left, 0)),
            "above": (
                above
                and described(
                    M,
                    above,
                    LIT[kind][1],
                    made.get(above.removesuffix("ᵀ"), 0),
                )
            ),
            "result": result,
            "sums": [
                [
                    f"{called}[{row}, {column}] ="
                    f" {sum_of(kind, M[name][i, j], M.get(left), M.get(above), i, j)}"
                    for j, column in enumerate(result["columns"])
                ]
                for i, row in enumerate(result["rows"])
            ],
        }

    def constants(self):
        return {
            "maps": {
                norm: [
                    {
                        "title": f"{place} {step}",
                        "parts": [
                            [number, operation[1]]
                            for number, operation in operations
                        ],
                    }
                    for place, (step, operations) in enumerate(
                        groupby(
                            enumerate(operations, 1),
                            lambda numbered: numbered[1][0],
                        ),
                        1,
                    )
                ]
                for norm, operations in OPERATIONS.items()
            }
        }

    def still(self):
        M = matrices(self.state["norm"])
        names = ["X", "A", "Z", "F", "Y"]
        head = "".join(f"<th scope=col>{name}</th>" for name in names)
        rows = "".join(
            f"<tr><th scope=row>{token}</th>"
            + "".join(
                f"<td>({', '.join(map(number, M[name][i]))})</td>"
                for name in names
            )
            + "</tr>"
            for i, token in enumerate(TOKENS)
        )
        return (
            "<table><caption>What goes in, what each step makes, what comes "
            f"out</caption><tr><td></td>{head}</tr>{rows}</table>"
        )


def described(M, name, lit, made):
    """A matrix as the page draws it: its numbers as texts, its labels, and the
    operation that made it (0: it is given).
    """
    height, width = M[name].shape
    channels = [str(channel) for channel in range(1, max(height, width) + 1)]
    rows, shape = TOKENS, f"{height} × {width}"
    if name[0] in "Wγ":
        # the last row is a vector of its own
        first, *others = name.split(", ")
        rows = (
            [first, *others]
            if name[0] == "γ"
            else channels[: height - len(others)] + others
        )
        shape = (
            f"{width}, {width}"
            if name[0] == "γ"
            else f"{height - len(others)} × {width}"
            + f", {width}" * len(others)
        )
    return {
        "name": name,
        "shape": shape,
        "role": ROLES.get(name, "plain"),
        "lit": lit,
        "made": made,
        "turned": name == "Kᵀ",
        "rows": channels[:height] if name == "Kᵀ" else rows,
        "columns": TOKENS if name in ("Kᵀ", "S", "α") else channels[:width],
        "cells": [[number(x) for x in row] for row in M[name]],
    }
