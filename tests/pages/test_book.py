"""The built book as a whole: its pages are there, its links resolve, its search and its
menus work; and the checks of pages can fail.
"""

from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

import pytest
from browser import (
    BOOK,
    CHAPTERS,
    PAGES,
    ROOT,
    inaccessible,
    overflow,
    raw_maths,
    unnamed_pictures,
    unreachable,
    visit,
)

FIRST = "index.html"  # sends its reader on to the title page
SOURCES = [
    *ROOT.glob("_*.yml"),
    *ROOT.glob("chapters/*.*"),
    *ROOT.glob("assets/*.*"),
    *ROOT.glob("templates/*.*"),
]


@pytest.fixture
def addresses(address):
    """Where the book is read: served on this machine, and straight from the disk."""
    return {"server": address, "disk": BOOK.as_uri()}


def test_book_is_built_from_what_is_here():
    files = [path.relative_to(BOOK) for path in BOOK.rglob("*.html")]
    pages = [
        path.as_posix() for path in files if path.parts[0] not in {"_static", "lite"}
    ]
    assert pages, "there is no book in _build/html: run make book"
    assert sorted(pages) == sorted([FIRST, *PAGES])
    assert set(CHAPTERS) < set(PAGES)
    built = (BOOK / "searchindex.js").stat().st_mtime
    newer = [path.name for path in SOURCES if path.stat().st_mtime > built]
    assert not newer, f"the book is older than {', '.join(newer)}: run make book"


# ---- links ----


class Links(HTMLParser):
    """The anchors of a page and what it points to."""

    def __init__(self, path):
        super().__init__()
        self.ids, self.targets = set(), []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        named = dict(attributes)
        self.ids |= {named[key] for key in ("id", "name") if named.get(key)}
        self.targets += [named[key] for key in ("href", "src") if named.get(key)]


def broken(page, links):
    """Links of a page within the book that lead nowhere."""
    faults = []
    for target in links[page].targets:
        parts = urlsplit(target)
        if parts.scheme or parts.netloc:
            continue
        path = (BOOK / page).parent / unquote(parts.path) if parts.path else BOOK / page
        name = path.resolve().relative_to(BOOK).as_posix()
        if not path.is_file():
            faults.append(f"no file: {target}")
        elif (
            parts.fragment
            and name in links
            and unquote(parts.fragment) not in links[name].ids
        ):
            faults.append(f"no such place: {target}")
    return faults


@pytest.fixture(scope="module")
def links():
    return {page: Links(BOOK / page) for page in PAGES}


@pytest.mark.parametrize("page", PAGES)
def test_links_within_the_book_resolve(page, links):
    assert broken(page, links) == []


# ---- what a reader does ----


def test_first_visit_is_quiet(browser, addresses):
    with visit(
        browser, f"{addresses['server']}/{CHAPTERS[0]}", theme=None, wait=800
    ) as visited:
        assert visited.faults == []


@pytest.mark.parametrize("where", ["server", "disk"])
def test_search_finds_the_chapter(where, browser, addresses):
    with visit(browser, f"{addresses[where]}/search.html?q=softmax") as visited:
        visited.page.locator("#search-results li a").first.wait_for(timeout=5000)
        found = [
            link.get_attribute("href")
            for link in visited.page.locator("#search-results li a").all()
        ]
        assert any("03-scaled-dot-product-attention" in target for target in found)
        # from the disk a browser refuses the lines of context, and says so
        if where == "server":
            assert visited.faults == []


@pytest.mark.parametrize("where", ["server", "disk"])
def test_first_address_leads_to_the_title_page(where, browser, addresses):
    page = browser.new_page()
    page.goto(f"{addresses[where]}/{FIRST}")
    page.wait_for_url("**/chapters/index.html")
    page.close()


def test_contents_open_on_a_phone(browser, addresses):
    with visit(
        browser, f"{addresses['server']}/chapters/index.html", width=390
    ) as visited:
        link = visited.page.locator(
            "nav.bd-links a", has_text="Scaled dot-product attention"
        ).first
        assert not link.is_visible()
        visited.page.locator(".bd-header-article button.primary-toggle").click()
        link.wait_for(state="visible", timeout=3000)
        link.click()
        visited.page.wait_for_url("**/03-scaled-dot-product-attention.html")


def test_theme_can_be_changed(browser, addresses):
    with visit(browser, f"{addresses['server']}/chapters/index.html") as visited:
        paper = "getComputedStyle(document.body).backgroundColor"
        before = visited.page.evaluate(paper)
        for _ in range(3):  # the button goes round light, dark, the system's
            visited.page.locator("button.theme-switch-button").first.click()
            if visited.page.locator("html").get_attribute("data-theme") == "dark":
                break
        assert visited.page.evaluate(paper) != before


# ---- the checks themselves can fail ----

FAULTS = {
    "another host": (
        "<img alt='x' src='https://example.org/a.png'>",
        lambda v: v.faults,
    ),
    "console": ("<script>console.error('no')</script>", lambda v: v.faults),
    "script": ("<script>null.x</script>", lambda v: v.faults),
    "source in the text": (
        r"<main><p>the root \(d_k\)</p></main>",
        lambda v: raw_maths(v.page),
    ),
    "not typeset": (
        "<main><span class='math'>x</span></main>",
        lambda v: raw_maths(v.page),
    ),
    "no name": ("<main><canvas></canvas></main>", lambda v: unnamed_pictures(v.page)),
    "the page is": (
        "<main><pre style='width: 2000px'>wide</pre></main>",
        lambda v: overflow(v.page),
    ),
    "ends at": (
        (
            "<body style='overflow-x: hidden'><main><pre style='width: 2000px'>wide"
            "</pre></main>"
        ),
        lambda v: overflow(v.page),
    ),
    "cut off: a text": (
        (
            "<main><p style='width: 60px; overflow: hidden; white-space: nowrap'>a "
            "text longer than its box</p></main>"
        ),
        lambda v: overflow(v.page),
    ),
    "cut off: low": (
        (
            "<main><p style='height: 30px; overflow: clip'>high<br>high<br>high<br>"
            "<b>low</b></p></main>"
        ),
        lambda v: overflow(v.page),
    ),
    "cut off: beyond": (
        (
            "<main><svg viewBox='0 0 100 50' width=100 height=50><text x=80 y=20>"
            "beyond</text></svg></main>"
        ),
        lambda v: overflow(v.page),
    ),
    "div.: a text": (
        (
            "<main><div style='width: 60px; overflow: auto; white-space: nowrap'>a "
            "text longer than its box</div></main>"
        ),
        lambda v: unreachable(v.page),
    ),
    "region": (
        "<main><h1>a page</h1></main><p>outside of it</p>",
        lambda v: inaccessible(v.page),
    ),
    "color-contrast": (
        "<main><p style='color: #ccc; background: #fff'>pale</p></main>",
        lambda v: inaccessible(v.page),
    ),
    "color-contrast: <b": (
        (
            "<main><pre style='background: #fff'><b>dark</b> <b>dark</b> "
            "<b style='color: #ccc'>pale</b></pre></main>"
        ),
        lambda v: inaccessible(v.page),
    ),
    "color-contrast: <i": (
        (
            "<main><pre style='background: #fff'><b>dark</b> "
            "<b style='background: #333'><i>dark</i></b></pre></main>"
        ),
        lambda v: inaccessible(v.page),
    ),
    "color-contrast: <mi": (
        (
            "<main style='background: #fff'><mjx-container><math><mi>cos</mi>"
            "<mi style='color: #ccc'>sin</mi></math></mjx-container></main>"
        ),
        lambda v: inaccessible(v.page),
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_checks_see(fault, browser, tmp_path):
    text, check = FAULTS[fault]
    page = tmp_path / "page.html"
    page.write_text(
        f"<!doctype html><html lang=en><title>a page</title>{text}", encoding="utf-8"
    )
    with visit(browser, page.as_uri(), wait=50) as visited:
        assert any(fault in found for found in check(visited))


def test_the_link_check_sees(tmp_path, monkeypatch):
    (tmp_path / "a.html").write_text(
        "<a href='b.html'>b</a><a href='#nowhere'>n</a><a id='here' href='#here'>h</a>",
        encoding="utf-8",
    )
    monkeypatch.setattr("test_book.BOOK", tmp_path)
    found = broken("a.html", {"a.html": Links(tmp_path / "a.html")})
    assert found == ["no file: b.html", "no such place: #nowhere"]
