"""Bind the built book into one PDF: pdf.py [FOLDER [FILE]], _build/html and
_build/book.pdf unless told. Needs Chromium on the PATH.

Chromium prints each page in the order of the side bar, its numbers going on from the
page before. Title page and contents are printed last, when the numbers are known, and
bound first. Links between pages of the book lead to places in the file.
"""

import html
import io
import json
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

import chromium
from pypdf import PdfReader, PdfWriter
from pypdf.constants import PageLabelStyle
from pypdf.generic import (
    ArrayObject,
    Fit,
    FloatObject,
    NameObject,
    NullObject,
    TextStringObject,
)

from tfbook.notebook.palette import LIGHT

LEFT_OUT = {"figures"}  # the same figures as in the chapters, only all in one place
WIDTH = 660  # pixels between the margins: figures are drawn as wide as the paper
PAPER = """@page { size: A4; margin: 22mm 18mm 20mm;
  @top-left { content: %s; font: 8pt sans-serif; color: COLOUR; }
  @bottom-right { content: counter(page); font: 9pt sans-serif; } }
html { counter-reset: page %d; }""".replace("COLOUR", LIGHT["muted"])
FRONT = """<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title>
<style>
@page {{ size: A4; margin: 22mm 18mm 20mm; }}
body {{ font: 10pt/1.4 system-ui, "Liberation Sans", sans-serif; margin: 0; }}
header {{ break-after: page; padding-top: 75mm; }}
header p {{ color: {muted}; font-size: 12pt; max-width: 120mm; }}
h1 {{ font-size: 34pt; line-height: 1.1; margin: 0 0 8mm; }}
h2 {{ font-size: 18pt; margin: 0 0 6mm; }}
nav {{ columns: 2; column-gap: 10mm; }}
a {{ break-inside: avoid; display: flex; gap: 2mm; }}
a {{ color: inherit; text-decoration: none; }}
a > span {{ flex: 1; }}
.level-1 {{ break-after: avoid; font-weight: 600; margin-top: 3.5mm; }}
.level-2 {{ color: {muted}; font-size: 9pt; padding-left: 4mm; }}
</style>
<header><h1>{title}</h1><p>{said}</p><p>{author}</p></header>
<h2>Contents</h2><nav>{rows}</nav>"""
READ = """() => ({
  title: document.querySelector(".navbar-brand").textContent.trim(),
  pages: [...document.querySelectorAll("nav.bd-links a.internal")]
    .map((link) => link.href.split("#")[0]),
  said: document.querySelector(".bd-article p").textContent,
  author: document.querySelector(".component-author").textContent.trim(),
})"""
HEADINGS = """(ids) => {
  const all = (selector) => [...document.querySelectorAll(`.bd-article ${selector}`)];
  // Chromium notes the place of what the page links to
  const hidden = document.createElement("nav");
  hidden.hidden = true;
  for (const id of new Set([...ids, ...all("section[id]").map((node) => node.id)])) {
    const link = document.createElement("a");
    link.href = `#${encodeURIComponent(id)}`;
    hidden.append(link);
  }
  document.body.append(hidden);
  return all("section > :is(h1, h2, h3)").map((heading) => {
    // the heading may go to the next page, and its section begin on this one
    const id = heading.parentElement.id;
    heading.parentElement.removeAttribute("id");
    heading.id = id;
    const words = heading.cloneNode(true);
    words.querySelector(".headerlink")?.remove();
    const text = words.textContent.trim().replace(/\\s+/g, " ");
    return [Number(heading.localName[1]), text, id];
  });
}"""


@dataclass
class Printed:
    """A page of the book on paper."""

    path: Path
    paper: PdfReader
    headings: list = field(default_factory=list)  # level, words, id
    first: int = 0  # the place of its first page in the file

    def destination(self, anchor=""):
        """Number of the page in the file and height on it (None: its top) of an
        anchor.
        """
        found = self.paper.named_destinations.get(f"/{anchor}")
        if found is None:
            return self.first, None
        return self.first + self.paper.get_destination_page_number(found), found.top


def anchors(paths):
    """Of each page of the book, the anchors that any page links to."""
    wanted = {path: set() for path in paths}
    for path in paths:
        for target, anchor in re.findall(
            r'href="([^"#:]*)#([^"]+)"', path.read_text(encoding="utf-8")
        ):
            there = (path.parent / unquote(target)).resolve() if target else path
            wanted.get(there, set()).add(unquote(anchor))
    return wanted


def numbered(path, title):
    """A chapter's title after its number."""
    found = re.match(r"(\d\d)-", path.stem)
    return f"{int(found[1])}  {title}" if found else title


def printed(page, path, before, ids):
    """Print one page of the book, its numbers going on from those before."""
    page.goto(path.as_uri())
    page.evaluate(chromium.TYPESET)
    page.wait_for_timeout(700)  # jupyterquiz writes its questions after 500 ms
    headings = page.evaluate(HEADINGS, sorted(ids))
    headings[0][1] = numbered(path, headings[0][1])
    page.add_style_tag(
        content=PAPER % (json.dumps(headings[0][1], ensure_ascii=False), before)
    )
    return Printed(path, reader(page), headings)


def reader(page):
    """The page of the browser on paper."""
    return PdfReader(
        io.BytesIO(page.pdf(prefer_css_page_size=True, print_background=True))
    )


def front(page, read, pages):
    """Print title page and contents, with the numbers that stand on the pages."""
    rows = []
    for part in pages:
        for level, words, anchor in part.headings:
            if level < 3:
                number = part.destination(anchor)[0] + 1
                rows.append(
                    f'<a class=level-{level} href="{part.path.as_uri()}#{anchor}">'
                    f"<span>{html.escape(words)}</span>{number}</a>"
                )
    page.goto("about:blank")
    page.set_content(
        FRONT.format(
            muted=LIGHT["muted"],
            rows="".join(rows),
            **{name: html.escape(str(words)) for name, words in read.items()},
        )
    )
    return Printed(Path("/contents"), reader(page))


def lead(writer, parts):
    """Let links to pages of the book lead to places in the file, and drop those to what
    is not in it.
    """
    known = {part.path.as_uri(): part for part in parts}
    for part in parts:
        for page in writer.pages[part.first : part.first + len(part.paper.pages)]:
            kept = ArrayObject()
            for held in page.get("/Annots", ()):
                link = held.get_object()
                address, _, anchor = str(link.get("/A", {}).get("/URI", "")).partition(
                    "#"
                )
                target = part if "/Dest" in link else known.get(address)
                if target:
                    link.pop("/A", None)
                    link[NameObject("/Dest")] = link_target(
                        writer,
                        *target.destination(
                            unquote(anchor)
                            or str(link.get("/Dest", "")).removeprefix("/")
                        ),
                    )
                if target or not address.startswith("file:"):
                    kept.append(held)
            page[NameObject("/Annots")] = kept


def link_target(writer, page, top):
    """A place in the file, as a link names it: the page and the height on it."""
    height = NullObject() if top is None else FloatObject(top)
    return ArrayObject(
        [
            writer.pages[page].indirect_reference,
            NameObject("/XYZ"),
            NullObject(),
            height,
            NullObject(),
        ]
    )


def bookmarks(writer, parts):
    """The headings as an outline, each below the last one of a higher level."""
    for part in parts:
        above = {0: None}
        for level, words, anchor in part.headings:
            page, top = part.destination(anchor)
            parent = above[max(higher for higher in above if higher < level)]
            above = {higher: item for higher, item in above.items() if higher < level}
            above[level] = writer.add_outline_item(
                title=words,
                page_number=page,
                parent=parent,
                fit=Fit.xyz(top=top),
                is_open=False,
            )


def bound(parts, count, read):
    """One file of all: the first of the parts is title page and contents, of ``count``
    pages numbered by themselves.
    """
    writer = PdfWriter()
    for part in parts:
        writer.append(part.paper, import_outline=False)
    lead(writer, parts)
    bookmarks(writer, parts)
    # names of places, the same in every part; nothing asks for them now
    writer.root_object.pop("/Names", None)
    writer.root_object.pop("/Dests", None)
    writer.set_page_label(0, count - 1, PageLabelStyle.LOWERCASE_ROMAN)
    writer.set_page_label(count, len(writer.pages) - 1, PageLabelStyle.DECIMAL, start=1)
    writer.add_metadata(
        {"/Title": read["title"], "/Author": read["author"].removeprefix("By ")}
    )
    writer.root_object[NameObject("/Lang")] = TextStringObject("en")
    writer.page_mode = "/UseOutlines"
    writer.compress_identical_objects()
    return writer


def bind(browser, index, file):
    """Print the book whose first page is ``index`` and write it into one file."""
    page = browser.new_context(
        viewport={"width": WIDTH, "height": 900},
        color_scheme="light",
        reduced_motion="reduce",
    ).new_page()
    page.goto(index.as_uri())
    read = page.evaluate(READ)
    paths = [
        Path(unquote(address.removeprefix("file://"))) for address in read.pop("pages")
    ]
    paths = [path for path in paths if path.stem not in LEFT_OUT]
    wanted, parts, count = anchors(paths), [], 0
    for path in paths:
        parts.append(printed(page, path, count, wanted[path]))
        parts[-1].first, count = count, count + len(parts[-1].paper.pages)
        print(f"{path.stem}: {len(parts[-1].paper.pages)} pages", flush=True)
    contents = front(page, read, parts)
    page.context.close()
    for part in parts:
        part.first += len(contents.paper.pages)
    writer = bound([contents, *parts], len(contents.paper.pages), read)
    writer.write(file)
    print(
        f"{len(writer.pages)} pages, {Path(file).stat().st_size / 1e6:.1f} MB: {file}"
    )


def main(folder="_build/html", file="_build/book.pdf"):
    index = Path(folder, "chapters", "index.html").resolve()
    if not index.is_file():
        sys.exit(f"{folder} holds no built book: run `make book` first.")
    if not chromium.executable():
        sys.exit(
            "Chromium prints the book, and there is none on the PATH: install the "
            "package chromium, or google-chrome."
        )
    with chromium.launched() as browser:
        bind(browser, index, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
