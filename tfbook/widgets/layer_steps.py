"""One layer, step by step, forwards and backwards: each matrix beside what it is made
of, and each number with the sum that made it.
"""

from itertools import groupby
from typing import ClassVar

from tfbook.notebook.examples import TOKENS
from tfbook.widgets import gradient_operations, layer_operations
from tfbook.widgets.base import Figure, table
from tfbook.widgets.controls import Choice, Slider
from tfbook.widgets.layer_operations import number

ROLES = {
    **{"Q": "query", "K": "key", "V": "value", "α": "weight"},
    **{"dQ": "query", "dK": "key", "dV": "value"},
}


class Steps(Figure):
    """Operations in the order in which they run, each a matrix beside what it was made
    from. A subclass has a list of them for each norm, what makes a number light up, its
    matrices and the words of a sum; ``told`` are the matrices of the still table.
    """

    default: ClassVar = {"step": 1}
    operations: ClassVar = {}
    lit: ClassVar = {}
    numbering = 1  # of the steps; -1: the last one comes first
    caption, told = "", ()

    def matrices(self, norm):
        raise NotImplementedError

    def sum_of(self, *made):
        raise NotImplementedError

    def given(self, name):
        """What a matrix is that no operation of the figure makes."""
        return "the input" if name == "X" else "parameters"

    def compute(self, step, norm="post"):
        M, operations = self.matrices(norm), self.operations[norm]
        made = {name: at for at, (_, name, *_) in enumerate(operations, 1)}
        _, name, kind, left, above, formula = operations[step - 1]
        called = f"({name})" if name in ("X + A", "Z + F") else name
        result = described(M, name, "cell", 0)

        def operand(of, lit):
            source = of and of.removesuffix("ᵀ")
            return of and {
                **described(M, of, lit, made.get(source, 0)),
                "given": self.given(source),
            }

        return {
            "title": next(
                group["title"]
                for group in self.constants()["maps"][norm]
                if [step, name] in group["parts"]
            ),
            "formula": formula,
            "left": operand(left, self.lit[kind][0]),
            "above": operand(above, self.lit[kind][1]),
            "result": result,
            "sums": [
                [
                    f"{called}[{row}, {column}] = "
                    + self.sum_of(
                        kind, M[name][i, j], M.get(left), M.get(above), i, j
                    )
                    for j, column in enumerate(result["columns"])
                ]
                for i, row in enumerate(result["rows"])
            ],
        }

    def constants(self):
        return {
            "maps": {
                norm: self.map(operations)
                for norm, operations in self.operations.items()
            }
        }

    def map(self, operations):
        """The operations by the step that they belong to, each with its number."""
        numbered = enumerate(operations, 1)
        steps = [
            (step, [[number, name] for number, (_, name, *_) in group])
            for step, group in groupby(numbered, lambda entry: entry[1][0])
        ]
        numbers = range(1, len(steps) + 1)[:: self.numbering]
        return [
            {"title": f"{number} {step}", "parts": parts}
            for number, (step, parts) in zip(numbers, steps)
        ]

    def still(self):
        M = self.matrices(self.state.get("norm", "post"))
        head = "".join(f"<th scope=col>{name}</th>" for name in self.told)
        rows = "".join(
            f"<tr><th scope=row>{token}</th>"
            + "".join(
                f"<td>({', '.join(map(number, M[name][i]))})</td>"
                for name in self.told
            )
            + "</tr>"
            for i, token in enumerate(TOKENS)
        )
        return table(self.caption, f"<td></td>{head}", rows)


class LayerSteps(Steps):
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
            range(1, len(layer_operations.OPERATIONS["post"]) + 1),
            between=False,
        ),
        Choice("norm", "norm", ["post", "pre"]),
    )
    default: ClassVar = {"step": 1, "norm": "post"}
    operations = layer_operations.OPERATIONS
    lit = layer_operations.LIT
    caption = "What goes in, what each step makes, what comes out"
    told = ("X", "A", "Z", "F", "Y")

    def matrices(self, norm):
        return layer_operations.matrices(norm)

    def sum_of(self, *made):
        return layer_operations.sum_of(*made)


class GradientSteps(Steps):
    """The same layer backwards, post-norm: the gradient of half the squared distance
    from a target, one operation at a time.

    Parameters
    ----------
    step : int
        Which operation, from 1.

    Raises
    ------
    ValueError
        Where the value is not one that the slider takes.
    """

    title = "One layer, backwards"
    controls = (
        Slider(
            "step",
            "operation",
            range(1, len(gradient_operations.OPERATIONS) + 1),
            between=False,
        ),
    )
    operations: ClassVar = {"post": gradient_operations.OPERATIONS}
    lit = gradient_operations.LIT
    numbering = -1
    caption = "The gradient of each token, from the loss down to the input"
    told = ("dY", "d(Z + F)", "dZ", "d(X + A)", "dX")

    def matrices(self, norm):
        return gradient_operations.matrices()

    def sum_of(self, *made):
        return gradient_operations.sum_of(*made)

    def given(self, name):
        if name == "Y*":
            return "the target"
        made = [entry[1] for entry in layer_operations.OPERATIONS["post"]]
        return (
            "from the forward pass" if name in made else super().given(name)
        )


def described(M, name, lit, made):
    """A matrix as the page draws it: its numbers as texts, its labels, and the
    operation that made it (0: it is given).
    """
    height, width = M[name].shape
    first, *vectors = name.split(", ")  # the last row is a vector of its own
    own = height - len(vectors)
    rows, shape = [*labels(own), *vectors], f"{own} × {width}"
    if first[0] == "γ":
        rows, shape = [first, *vectors], f"{width}"
    return {
        "name": name,
        "shape": shape + f", {width}" * len(vectors),
        "role": ROLES.get(name.removesuffix("ᵀ"), "plain"),
        "lit": lit,
        "made": made,
        "turned": name.endswith("ᵀ"),
        "rows": rows,
        "columns": labels(width),
        "cells": [[number(x) for x in row] for row in M[name]],
    }


def labels(length):
    """Those of tokens, or of channels: no side has as many channels as tokens."""
    channels = [str(channel) for channel in range(1, length + 1)]
    return TOKENS if length == len(TOKENS) else channels
