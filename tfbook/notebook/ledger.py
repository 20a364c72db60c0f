"""The claims ledger: every verdict of the book, read off the stored outputs of its
chapters.
"""

import html
import json
import re
from dataclasses import dataclass
from pathlib import Path

from tfbook.notebook.claims import RULINGS, Verdict

STORED = re.compile(
    r'id="claim-([\w-]+)" data-ruling="([^"]+)".*?<q>(.*?)</q></p>.*?</strong>'
    r" (.*?)</p>(?:<details.*?<dl>(.*?)</dl></details>)?</div>",
    re.DOTALL,
)
FIELD = re.compile(r"<dt>(.*?)</dt><dd>(.*?)</dd>", re.DOTALL)


ELSEWHERE = re.compile(r'id="(evidence-[\w-]+)" data-claim="([\w-]+)"')
FILTER = (
    ".tfb-ledger:has([value='{0}']:checked) :is(tbody tr, table)"
    ":not([data-ruling='{0}']):not(:has([data-ruling='{0}'])){{display:none}}"
)


@dataclass(frozen=True)
class Chapter:
    """A chapter's title, the name of its page, its verdicts in the order of the page,
    and where it has evidence: pairs of a place on the page and a claim of another.
    """

    title: str
    page: str
    verdicts: tuple
    evidence: tuple = ()


@dataclass(frozen=True)
class Ledger:
    """Every claim with its verdict and a link to the experiment."""

    chapters: tuple

    def count(self):
        """How many claims got which ruling."""
        rulings = [
            v.ruling for chapter in self.chapters for v in chapter.verdicts
        ]
        return {ruling: rulings.count(ruling) for ruling in RULINGS}

    def elsewhere(self, name):
        """The other chapters with evidence on a claim, each with the first place."""
        first = (
            (c, {claim: at for at, claim in c.evidence[::-1]})
            for c in self.chapters
        )
        return [(chapter, at[name]) for chapter, at in first if name in at]

    def __repr__(self):
        return "\n".join(
            f"{chapter.title}: {v!r}"
            for chapter in self.chapters
            for v in chapter.verdicts
        )

    def _repr_html_(self):
        counts = self.count()
        choices = [("", "all", sum(counts.values()))]
        choices += [(ruling, ruling, n) for ruling, n in counts.items()]
        chosen = "".join(
            f'<label class="tfb-count" data-ruling="{ruling}">'
            f'<input type="radio" name="tfb-ruling" value="{ruling}"'
            f"{' checked' * (not ruling)}> "
            f'<strong class="tfb-verdict-ruling">{n}</strong> {name}</label> '
            for ruling, name, n in choices
        )
        style = "".join(map(FILTER.format, RULINGS))
        tables = "".join(self._table(c) for c in self.chapters if c.verdicts)
        return (
            f'<div class="tfb-ledger mathjax_process"><style>{style}</style>'
            f"<fieldset><legend>Show the claims with this verdict</legend>{chosen}"
            f"</fieldset>{tables}</div>"
        )

    def _table(self, chapter):
        rows = "".join(self._row(chapter, v) for v in chapter.verdicts)
        return (
            f'<table class="table"><caption>{html.escape(chapter.title)}</caption>'
            '<thead><tr data-ruling><th scope="col">The source says</th>'
            '<th scope="col">The experiment says</th></tr></thead>'
            f"<tbody>{rows}</tbody></table>"
        )

    def _row(self, chapter, v):
        also = ", ".join(
            f'<a href="{c.page}.html#{at}">{html.escape(c.title)}</a>'
            for c, at in self.elsewhere(v.name)
        )
        also = f" Further evidence: {also}." if also else ""
        return (
            f'<tr id="row-{v.name}" data-ruling="{v.ruling}"><td>'
            f'<a href="{chapter.page}.html#claim-{v.name}">{html.escape(v.claim)}</a>'
            f'</td><td><strong class="tfb-verdict-ruling">{v.ruling.capitalize()}.'
            f"</strong> {html.escape(v.reason)}{also}</td></tr>"
        )


def ledger(folder="."):
    """Collect the verdicts that stand in the chapters' stored outputs.

    Parameters
    ----------
    folder : str or Path
        Where the chapters are; a notebook of the book runs among them.

    Returns
    -------
    Ledger

    Raises
    ------
    FileNotFoundError
        Where there is no chapter in the folder, such as on Colab, which opens one
        notebook alone.
    """
    paths = sorted(Path(folder).glob("[0-9][0-9]-*.ipynb"))
    if not paths:
        raise FileNotFoundError(
            f"folder: expected the chapters of the book, got {Path(folder).resolve()};"
            " run this in a clone of it"
        )
    chapters = map(_read, paths)
    return Ledger(tuple(c for c in chapters if c.verdicts or c.evidence))


def _read(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    text = "".join(
        line
        for cell in cells
        if cell["cell_type"] == "markdown"
        for line in cell["source"]
    )
    title = re.match(r"# (.+)", text)[1]
    pages = [
        "".join(output.get("data", {}).get("text/html", ""))
        for cell in cells
        for output in cell.get("outputs", [])
    ]
    verdicts = map(_verdict, filter(None, map(STORED.search, pages)))
    elsewhere = (found for page in pages for found in ELSEWHERE.findall(page))
    return Chapter(title, path.stem, tuple(verdicts), tuple(elsewhere))


def _verdict(match):
    *said, how = match.groups()
    name, ruling, claim, reason = map(html.unescape, said)
    fields = {
        name: html.unescape(text) for name, text in FIELD.findall(how or "")
    }
    seeds = fields.get("Seeds")
    return Verdict(
        name,
        claim,
        ruling,
        reason,
        fields.get("Refuted by", ""),
        fields.get("Control", ""),
        None if seeds is None else int(seeds),
    )
