"""MyST as plain Markdown: what the book's pages number, cite and link, written out for
a notebook that knows none of it.
"""

import json
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import yaml
from pybtex.database import parse_file

EQUATION = re.compile(r"\$\$\s*\(([\w-]+)\)")  # the end of one that has a label
BLOCK = re.compile(
    r"^(:{3,}|`{3,})\{([\w-]+)\} *(.*)\n(?::[\w-]+:.*\n)*([\s\S]*?)^\1[ \t]*$",
    re.MULTILINE,
)
ROLE = re.compile(r"\{([\w:-]+)\}`([^`]+)`")
LINK = re.compile(
    r"(?<!!)\[([^\]]*)\]\((?!\w+:|#)([\w./-]+?)(?:\.ipynb|\.md)?(#[\w-]*)?\)"
)
LEFT = re.compile(
    r"^(?:\([\w-]+\)=|:::+|\+\+\+|% "
    r").*\n?|(?<=[\])])\{[.#][^}\n]*\}|^\{[.#][^}\n]*\}\n",
    re.MULTILINE,
)


def text_of(path):
    """The Markdown of a page or a notebook."""
    if path.suffix == ".md":
        return path.read_text(encoding="utf-8")
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return "\n\n".join(
        "".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"
    )


@dataclass(frozen=True)
class Book:
    """What a page may point to in the book, and which of its pages have a copy in the
    browser.
    """

    root: Path
    staged: tuple  # names without an ending, such as 03-scaled-dot-product-attention

    @cached_property
    def pages(self):
        """The Markdown of each page by its name, in the order of the contents."""
        toc = yaml.safe_load((self.root / "_toc.yml").read_text(encoding="utf-8"))
        entries = (entry for part in toc["parts"] for entry in part["chapters"])
        files = [toc["root"], *(entry["file"] for entry in entries)]
        paths = [
            next(
                path
                for ending in (".ipynb", ".md")
                if (path := self.root / f"{name}{ending}").is_file()
            )
            for name in files
        ]
        return {path.stem: text_of(path) for path in paths}

    @cached_property
    def titles(self):
        return {
            name: re.search(r"^# (.+)$", text, re.MULTILINE)[1]
            for name, text in self.pages.items()
        }

    @cached_property
    def equations(self):
        """The number of each labelled equation, counted through the book."""
        labels = (
            label for text in self.pages.values() for label in EQUATION.findall(text)
        )
        return {label: number for number, label in enumerate(labels, 1)}

    @cached_property
    def works(self):
        """Authors and year of each work that the book cites."""
        entries = parse_file(self.root / "chapters" / "references.bib").entries
        return {
            key: (_authors(entry.persons["author"]), entry.fields["year"])
            for key, entry in entries.items()
        }

    def markdown(self, text):
        """The same text in plain Markdown."""
        text = EQUATION.sub(lambda m: rf"\tag{{{self.equations[m[1]]}}}" + "\n$$", text)
        text = BLOCK.sub(lambda m: _quoted(m[2], m[3], m[4]), text)
        text = ROLE.sub(lambda m: self._role(m[1], m[2]), text)
        text = LINK.sub(lambda m: self._link(m[1], m[2]), text)
        return LEFT.sub("", text)

    def _role(self, role, content):
        if role == "eq":
            return f"({self.equations[content]})"
        if role.startswith("cite"):
            works = [self.works[key.strip()] for key in content.split(",")]
            if role == "cite:t":
                return ", ".join(f"{authors} [{year}]" for authors, year in works)
            return (
                "[" + ", ".join(f"{authors}, {year}" for authors, year in works) + "]"
            )
        # the words of any other, without its target
        return re.sub(r"\s*<[^>]*>$", "", content)

    def _link(self, words, target):
        name = Path(target).name
        words = words or self.titles.get(name, name)
        return f"[{words}]({name}.ipynb)" if name in self.staged else f"*{words}*"


def _authors(persons):
    last = [
        " ".join([*person.prelast_names, *person.last_names]).strip("{}")
        for person in persons
    ]
    if len(last) > 2:
        return f"{last[0]} et al."
    return " and ".join(last)


def _quoted(kind, title, content):
    """A box of the page as a quotation with a bold head."""
    head = title or kind.capitalize()
    return "\n".join(
        f"> {line}".rstrip()
        for line in [f"**{head}.**", "", *content.strip().splitlines()]
    )
