"""What the book's tools leave undone on a page, as a Sphinx extension.

The palette, room for pictures and formulas, a description for links to it, a place for
each search. The title page's tables say what each page is about; that is its
description. The address follows from the repository's in _config.yml.
"""

import re
from html import escape
from pathlib import Path

from address import slug
from formula_size import reserve_space
from imagesize import get as size_of
from sphinx.addnodes import index as Index

from tfbook.notebook import palette

ROOT = Path(__file__).resolve().parents[2]


def home(root=ROOT):
    """Where the book is hosted: the repository's own pages."""
    owner, name = slug(root).split("/")
    return f"https://{owner.lower()}.github.io/{name}/"


def questions(index):
    """What each page is about, by its name, from the tables of the title page."""
    rows = re.findall(r"^\| \[[^]]+\]\(([\w-]+)\) \| (.+?) \|$", index, re.MULTILINE)
    return {
        f"chapters/{page}": re.sub(r"\$(.+?)\$", r"\1", said).replace("^2", "²")
        for page, said in rows
    }


def terms(glossary):
    """The names of each entry of the glossary, with the page and the heading where the
    book explains them.
    """
    entries = re.findall(r"^((?:[^\s:#].*\n)+)((?: +.*\n)+)", glossary, re.MULTILINE)
    return [
        (names.splitlines(), *re.search(r"\]\(([\w-]+)\.ipynb#(\S+)\)", said).groups())
        for names, said in entries
    ]


def sized(html, page):
    """A page's HTML with the width and height of each picture, so that nothing moves
    when it comes; it comes when it is near.
    """

    def known(found):
        path = (page.parent / found["src"]).resolve()
        if "width=" in found[0] or not path.is_file() or min(size := size_of(path)) < 0:
            return found[0]
        return (
            f'<img width="{size[0]}" height="{size[1]}" loading="lazy"'
            f' decoding="async"{found[1]}'
        )

    return re.sub(
        r'<img((?=[^>]*\ssrc="(?P<src>[^"]+\.(?:png|webp|jpe?g))")[^>]*)', known, html
    )


def begin(app, config):
    config.html_baseurl = config.ogp_site_url = home()
    config.ogp_site_name = config.html_title
    read = {
        name: (ROOT / "chapters" / f"{name}.md").read_text(encoding="utf-8")
        for name in ("index", "glossary")
    }
    app.book_questions, app.book_terms = (
        questions(read["index"]),
        terms(read["glossary"]),
    )


def find_terms(app, doctree):
    """Let the search lead from each name of the glossary to the place where the book
    explains it, and to the glossary after that.
    """
    page = app.env.docname.rpartition("/")[2]
    if page == "glossary":
        for node in doctree.findall(Index):
            node["entries"] = [
                (kind, name, target, "", key)
                for kind, name, target, _, key in node["entries"]
            ]
    headings = app.env.metadata[app.env.docname].get("myst_slugs", {})
    for names, where, heading in app.book_terms:
        if where == page:
            doctree += Index(
                entries=[
                    ("single", name, headings[heading][1], "main", None)
                    for name in names
                ]
            )


def describe(app, name, template, context, doctree):
    """Give sphinxext-opengraph the page's description, before it takes the first words
    of the page.
    """
    meta = context.get("meta") or {}
    about = app.book_questions.get(name) or meta.get("description")
    if about:
        kind = "book" if name == app.config.root_doc else "article"
        about = escape(about)
        context["meta"] = meta | {"og:description": about, "og:type": kind}
        context["metatags"] += f'<meta name="description" content="{about}" />\n'


def finish_page(app, name, template, context, doctree):
    """Runs for each page that is about to be written."""
    context["palette"] = palette.css("html", 'html[data-theme="dark"]')
    if name == "search":
        context["questions"] = app.book_questions
    if "body" in context:
        context["body"] = reserve_space(
            sized(context["body"], Path(app.outdir) / f"{name}.html")
        )


def setup(app):
    app.connect("config-inited", begin)
    app.connect("doctree-read", find_terms)
    app.connect("html-page-context", describe, priority=400)  # opengraph has 500
    app.connect("html-page-context", finish_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
