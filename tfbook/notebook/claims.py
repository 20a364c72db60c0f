"""Verdicts on the source's statements, each below the experiment that decided it."""

import html
from dataclasses import dataclass

from tfbook.notebook.palette import LIGHT

RULINGS = {
    "holds": LIGHT["value"],
    "holds under assumptions": LIGHT["key"],
    "imprecise": LIGHT["negative"],
    "does not hold": LIGHT["fails"],
    "not tested here": LIGHT["muted"],
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
        What was measured, and under which assumptions; where nothing was tested, what
        a test would need.
    refuted_by : str
        The result that would have refuted the claim, said before looking.
    control : str
        What lacks the mechanism, and what it gave.
    seeds : int, optional
        Random seeds behind the measurement; None where nothing is random.

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
    ...     refuted_by="A row whose sum differs from 1 by more than rounding.",
    ...     control="Without the division rows sum to 3.2.",
    ... )
    Holds: The softmax creates a distribution. Rows sum to 1.
    """

    name: str
    claim: str
    ruling: str
    reason: str
    refuted_by: str = ""
    control: str = ""
    seeds: int | None = None

    def __post_init__(self):
        if self.ruling not in RULINGS:
            raise ValueError(
                f"ruling: expected one of {', '.join(RULINGS)}, got {self.ruling!r}"
            )

    def __repr__(self):
        return f"{self.ruling.capitalize()}: {self.claim} {self.reason}"

    def _repr_html_(self):
        return (
            f'<div class="tfb-verdict mathjax_process" id="claim-{self.name}" '
            f'data-ruling="{self.ruling}" style="border-left:4px solid '
            f'{RULINGS[self.ruling]};padding:.5rem 1rem;margin:1rem 0">'
            f'<p class="tfb-verdict-claim"><q>{html.escape(self.claim)}</q></p>'
            f'<p><strong class="tfb-verdict-ruling">{self.ruling.capitalize()}.'
            f"</strong> {html.escape(self.reason)}</p>{self._how()}</div>"
        )

    def _how(self):
        """How it was tested, folded."""
        seeds = "" if self.seeds is None else str(self.seeds)
        said = {
            "Refuted by": self.refuted_by,
            "Control": self.control,
            "Seeds": seeds,
        }
        rows = "".join(
            f"<dt>{name}</dt><dd>{html.escape(text)}</dd>"
            for name, text in said.items()
            if text
        )
        if not rows:
            return ""
        summary = "<summary>How this was tested</summary>"
        return f'<details class="tfb-verdict-how">{summary}<dl>{rows}</dl></details>'


@dataclass(frozen=True)
class Evidence:
    """What another chapter measured on a claim that has its verdict elsewhere.

    Parameters
    ----------
    name : str
        The claim's name.
    claim : str
        The source's statement, or the part of it that was measured.
    text : str
        What was measured.
    part : str
        Names the part of the claim that it is about, where a chapter has several.

    Examples
    --------
    >>> Evidence(
    ...     "rows-sum-to-one",
    ...     "Rows sum to 1.",
    ...     "So they do in a trained model.",
    ... )
    Evidence: Rows sum to 1. So they do in a trained model.
    """

    name: str
    claim: str
    text: str
    part: str = ""

    def __repr__(self):
        return f"Evidence: {self.claim} {self.text}"

    def _repr_html_(self):
        name = f"{self.name}-{self.part}" if self.part else self.name
        colour = LIGHT["muted"]
        return (
            f'<div class="tfb-evidence mathjax_process" id="evidence-{name}" '
            f'data-claim="{self.name}" style="border-left:4px solid {colour};'
            'padding:.5rem 1rem;margin:1rem 0">'
            f'<p class="tfb-verdict-claim"><q>{html.escape(self.claim)}</q></p>'
            f'<p><a href="claims.html#row-{self.name}"><strong>Evidence for the '
            f"verdict.</strong></a> {html.escape(self.text)}</p></div>"
        )


def evidence(name, claim, text, part=""):
    """Return an :class:`Evidence`: a claim has one verdict, in one chapter."""
    return Evidence(name, claim, text, part)


def verdict(
    name, claim, ruling, reason, refuted_by="", control="", seeds=None
):
    """Return a :class:`Verdict`, which a notebook shows as a box."""
    return Verdict(name, claim, ruling, reason, refuted_by, control, seeds)
