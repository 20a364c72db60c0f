"""The text that the book walks through, line by line: each statement with its verdict,
in the order in which it was written.
"""

import html
from dataclasses import dataclass
from pathlib import Path

from tfbook.notebook.ledger import Ledger, ledger


def statements():
    """Sections of the source: a heading, and pairs of a short quotation and the names
    of its claims; or, for a definition, the page that takes it up.
    """
    text = (Path(__file__).parent / "source_text.txt").read_text(
        encoding="utf-8"
    )
    for section in text.strip().split("\n\n"):
        heading, *lines = section.split("\n")
        parts = (line.split(" | ") for line in lines)
        yield (
            heading.removeprefix("# "),
            [(q, names.split()) for q, names in parts],
        )


@dataclass(frozen=True)
class SourceText:
    """The source's statements, each with the verdict that the book came to."""

    ledger: Ledger

    def verdicts(self):
        """Every claim's verdict and the page that has its experiment, by name."""
        return {
            v.name: (v, c.page)
            for c in self.ledger.chapters
            for v in c.verdicts
        }

    def __repr__(self):
        return "\n".join(
            f"{quote}: {self._rulings(names)}"
            for _, lines in statements()
            for quote, names in lines
        )

    def _rulings(self, names):
        known = self.verdicts()
        return ", ".join(
            known[n][0].ruling if n in known else n for n in names
        )

    def _repr_html_(self):
        known = self.verdicts()
        tables = "".join(_table(*section, known) for section in statements())
        return f'<div class="tfb-ledger tfb-source">{tables}</div>'


def _table(heading, lines, known):
    rows = "".join(_row(quote, names, known) for quote, names in lines)
    return (
        f'<table class="table"><caption>{html.escape(heading)}</caption>'
        '<thead><tr><th scope="col">The source says</th>'
        f'<th scope="col">Verdict</th></tr></thead><tbody>{rows}</tbody></table>'
    )


def _row(quote, names, known):
    cells = "<br>".join(_link(name, known) for name in names)
    return f"<tr><td><q>{html.escape(quote)}</q></td><td>{cells}</td></tr>"


def _link(name, known):
    """To the experiment of a claim, or to the page that takes up a definition."""
    if name.endswith(".html"):
        return f'<a href="{name}">a definition</a>'
    verdict, page = known[name]
    return (
        f'<span data-ruling="{verdict.ruling}"><a href="{page}.html#claim-{name}">'
        f'<strong class="tfb-verdict-ruling">{verdict.ruling.capitalize()}</strong>'
        f'</a></span> (<a href="claims.html#row-{name}">why</a>)'
    )


def source_text(folder="."):
    """The source, line by line, with the verdicts of the chapters in a folder.

    Parameters
    ----------
    folder : str or Path
        As in :func:`tfbook.notebook.ledger.ledger`.

    Returns
    -------
    SourceText
    """
    return SourceText(ledger(folder))
