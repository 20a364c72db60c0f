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


@dataclass(frozen=True)
class Chapter:
    """A chapter's title, the name of its page, and its verdicts in the order of the
    page.
    """

    title: str
    page: str
    verdicts: tuple


@dataclass(frozen=True)
class Ledger:
    """Every claim with its verdict and a link to the experiment."""

    chapters: tuple

    def count(self):
        """How many claims got which ruling."""
        rulings = [v.ruling for chapter in self.chapters for v in chapter.verdicts]
        return {ruling: rulings.count(ruling) for ruling in RULINGS}

    def __repr__(self):
        return "\n".join(
            f"{chapter.title}: {v!r}"
            for chapter in self.chapters
            for v in chapter.verdicts
        )

    def _repr_html_(self):
        counts = "".join(
            f'<span class="tfb-count" data-ruling="{ruling}">'
            f'<strong class="tfb-verdict-ruling">{n}</strong> {ruling}</span> '
            for ruling, n in self.count().items()
        )
        return (
            f'<div class="tfb-ledger mathjax_process"><p>{counts}</p>'
            f"{''.join(map(_part, self.chapters))}</div>"
        )


def _part(chapter):
    rows = "".join(
        f'<tr><td><a href="{chapter.page}.html#claim-{v.name}">{html.escape(v.claim)}'
        f'</a></td><td data-ruling="{v.ruling}"><strong class="tfb-verdict-ruling">'
        f"{v.ruling.capitalize()}.</strong> {html.escape(v.reason)}</td></tr>"
        for v in chapter.verdicts
    )
    return (
        f'<table class="table"><caption>{html.escape(chapter.title)}</caption>'
        '<thead><tr><th scope="col">The source says</th><th scope="col">The '
        f"experiment says</th></tr></thead><tbody>{rows}</tbody></table>"
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
    return Ledger(tuple(chapter for chapter in chapters if chapter.verdicts))


def _read(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    text = "".join(
        line
        for cell in cells
        if cell["cell_type"] == "markdown"
        for line in cell["source"]
    )
    title = re.match(r"# (.+)", text)[1]
    pages = (
        "".join(output.get("data", {}).get("text/html", ""))
        for cell in cells
        for output in cell.get("outputs", [])
    )
    return Chapter(
        title, path.stem, tuple(map(_verdict, filter(None, map(STORED.search, pages))))
    )


def _verdict(match):
    *said, how = match.groups()
    name, ruling, claim, reason = map(html.unescape, said)
    fields = {name: html.unescape(text) for name, text in FIELD.findall(how or "")}
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
