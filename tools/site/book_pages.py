"""What the book's tools leave undone on a page, as a Sphinx extension.

The palette, room for pictures and formulas, words and a picture for links to it, a
place for each search, a list of all pages. The title page's tables say what each page
is about; that is its description. The address follows from the repository's in
_config.yml.
"""

import re
from pathlib import Path
from xml.sax.saxutils import escape

from address import slug
from imagesize import get as size_of
from room import kept
from sphinx.addnodes import index as Index

from tfbook.notebook import palette

ROOT = Path(__file__).resolve().parents[2]
PICTURE = "_static/preview.png"


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
    config.html_baseurl = home()
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
                (kind, name, place, "", key)
                for kind, name, place, _, key in node["entries"]
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


def finish_page(app, name, template, context, doctree):
    """Runs for each page that is about to be written."""
    context["palette"] = palette.css("html", 'html[data-theme="dark"]')
    first = app.config.root_doc
    said = app.book_questions.get(name) or (context.get("meta") or {}).get(
        "description"
    )
    if said:
        alt = (
            "The first screen of the chapter Why attention: three networks hand a "
            "token on."
        )
        context["about"] = {
            "description": said,
            "type": "book" if name == first else "article",
            "picture": home() + PICTURE,
            "alt": alt,
        }
    if name == "search":
        context["questions"] = app.book_questions
    if "body" in context:
        context["body"] = kept(
            sized(context["body"], Path(app.outdir) / f"{name}.html")
        )


def list_pages(app, failure):
    """Write sitemap.xml, with every page of the table of contents."""
    if failure or app.builder.format != "html":
        return
    pages = "".join(
        f"<url><loc>{escape(home() + app.builder.get_target_uri(name))}</loc></url>\n"
        for name in sorted(app.env.found_docs)
    )
    text = (
        '<?xml version="1.0" encoding="utf-8"?>\n<urlset'
        f' xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{pages}</urlset>\n'
    )
    Path(app.outdir, "sitemap.xml").write_text(text, encoding="utf-8", newline="\n")


def setup(app):
    app.connect("config-inited", begin)
    app.connect("doctree-read", find_terms)
    app.connect("html-page-context", finish_page)
    app.connect("build-finished", list_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
