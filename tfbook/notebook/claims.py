"""Verdicts on the source's statements, each below the experiment that decided it."""

import html
from dataclasses import dataclass

from tfbook.notebook.palette import LIGHT

RULINGS = {
    "holds": LIGHT["value"],
    "holds under assumptions": LIGHT["key"],
    "imprecise": LIGHT["negative"],
    "does not hold": LIGHT["fails"],
}


@dataclass(frozen=True)
class Verdict:
    """What an experiment says of a statement of the source.

    Parameters
    ----------
    name : str
        Names the claim in the whole book; lower case, words joined by hyphens.
    claim : str
        The source's statement. Formulas stand between ``\\(`` and ``\\)``.
    ruling : str
        One of ``RULINGS``.
    reason : str
        What was measured, and under which assumptions.

    Raises
    ------
    ValueError
        Where the ruling is not one of them.

    Examples
    --------
    >>> Verdict(
    ...     "rows-sum-to-one",
    ...     "The softmax creates a distribution.",
    ...     "holds",
    ...     "Rows sum to 1.",
    ... )
    Holds: The softmax creates a distribution. Rows sum to 1.
    """

    name: str
    claim: str
    ruling: str
    reason: str

    def __post_init__(self):
        if self.ruling not in RULINGS:
            raise ValueError(
                f"ruling: expected one of {', '.join(RULINGS)}, got {self.ruling!r}"
            )

    def __repr__(self):
        return f"{self.ruling.capitalize()}: {self.claim} {self.reason}"

    def _repr_html_(self):
        return (
            f'<div class="tfb-verdict mathjax_process" id="claim-{self.name}"'
            f' data-ruling="{self.ruling}" style="border-left:4px solid'
            f' {RULINGS[self.ruling]};padding:.5rem 1rem;margin:1rem 0"><p'
            f' class="tfb-verdict-claim"><q>{html.escape(self.claim)}</q></p><p><strong'
            f' class="tfb-verdict-ruling">{self.ruling.capitalize()}.</strong>'
            f" {html.escape(self.reason)}</p></div>"
        )


def verdict(name, claim, ruling, reason):
    """Return a :class:`Verdict`, which a notebook shows as a box."""
    return Verdict(name, claim, ruling, reason)
