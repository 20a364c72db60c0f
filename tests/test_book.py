"""Every page of the built book, as its reader meets it: from a server and from the disk, wide and on a phone, light and dark."""

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from browser import inaccessible, overflow, raw_maths, served, unnamed_pictures, unreachable, visit, why_not

ROOT = Path(__file__).resolve().parent.parent
BOOK = ROOT / "_build" / "html"
FIRST = "index.html"  # sends its reader on to the title page
FILES = [path.relative_to(BOOK) for path in BOOK.rglob("*.html")]
PAGES = sorted({path.as_posix() for path in FILES if path.parts[0] not in {"_static", "lite"}} - {FIRST})
CHAPTERS = [page for page in PAGES if re.match(r"chapters/\d\d-", page)]
SOURCES = [*ROOT.glob("_*.yml"), *ROOT.glob("chapters/*.*"), *ROOT.glob("assets/*.*"), *ROOT.glob("templates/*.*")]

needs_browser = pytest.mark.skipif(bool(why_not()), reason=why_not() or "there is one")


@pytest.fixture(scope="module")
def places():
    """Where the book is read: served on this machine, and straight from the disk."""
    with served(BOOK) as address:
        yield {"server": address, "disk": BOOK.as_uri()}


def test_book_is_built_from_what_is_here():
    assert "chapters/index.html" in PAGES, "there is no book in _build/html: run make book"
    assert CHAPTERS
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
        elif parts.fragment and name in links and unquote(parts.fragment) not in links[name].ids:
            faults.append(f"no such place: {target}")
    return faults


@pytest.fixture(scope="module")
def links():
    return {page: Links(BOOK / page) for page in PAGES}


@pytest.mark.parametrize("page", PAGES)
def test_links_within_the_book_resolve(page, links):
    assert broken(page, links) == []


# ---- each page in a browser ----


@needs_browser
@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("place", ["server", "disk"])
def test_page_is_quiet_and_asks_no_other_host(page, place, browser, places):
    with visit(browser, f"{places[place]}/{page}", wait=800) as visited:  # jupyterquiz looks for MathJax after 500 ms
        visited.page.keyboard.press("End")
        visited.page.wait_for_timeout(100)
        assert visited.faults == []
        assert raw_maths(visited.page) == []
        assert unnamed_pictures(visited.page) == []


@needs_browser
def test_first_visit_is_quiet(browser, places):
    with visit(browser, f"{places['server']}/{CHAPTERS[0]}", theme=None, wait=800) as visited:
        assert visited.faults == []


@needs_browser
@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("width", [360, 320])
def test_page_fits_a_phone_and_what_scrolls_on_it_can_be_reached(page, width, browser, places):
    with visit(browser, f"{places['server']}/{page}", width, wait=100) as visited:
        assert overflow(visited.page) == []
        assert unreachable(visited.page) == []


@needs_browser
@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize(("theme", "width"), [("light", 1200), ("dark", 1200), ("light", 390)])
def test_page_is_accessible(page, theme, width, browser, places):
    with visit(browser, f"{places['server']}/{page}", width, theme) as visited:
        assert visited.page.locator("html").get_attribute("data-theme") == theme
        assert inaccessible(visited.page) == []


# ---- what a reader does ----


@needs_browser
@pytest.mark.parametrize("place", ["server", "disk"])
@pytest.mark.parametrize("page", CHAPTERS)
def test_quiz_answers(page, place, browser, places):
    with visit(browser, f"{places[place]}/{page}", wait=600) as visited:
        questions = visited.page.locator(".Quiz").all()
        assert len(questions) >= 3
        for question in questions:
            feedback = question.locator(".Feedback")
            for correct, word in (("false", "incorrect"), ("true", "correct")):
                assert question.locator(f"label[data-correct={correct}]").count(), "a question needs a right and a wrong answer"
                question.locator(f"label[data-correct={correct}]").first.click()
                assert word in feedback.get_attribute("class").split()
                assert feedback.inner_text().strip()
        assert raw_maths(visited.page) == []
        assert visited.faults == []


@needs_browser
@pytest.mark.parametrize("page", CHAPTERS)
def test_quiz_answers_to_the_keyboard(page, browser, places):
    with visit(browser, f"{places['server']}/{page}") as visited:
        question = visited.page.locator(".Quiz").first
        question.locator("input[type=radio]").first.focus()
        visited.page.keyboard.press("Space")
        assert question.locator(".Feedback").inner_text().strip()


@needs_browser
@pytest.mark.parametrize("page", CHAPTERS)
def test_what_is_folded_opens_and_an_answered_page_is_accessible(page, browser, places):
    with visit(browser, f"{places['server']}/{page}") as visited:
        solutions = visited.page.locator("details.tfb-solution")
        assert solutions.count() >= 2
        for folded in visited.page.locator("details").all():
            content = folded.locator(":scope > :not(summary)").first
            assert not content.is_visible()
            folded.locator("summary").click()
            assert content.is_visible()
            assert content.inner_text().strip()
        for answer in visited.page.locator(".Quiz label[data-correct]").all():
            answer.click()
        assert inaccessible(visited.page) == []


@needs_browser
@pytest.mark.parametrize("place", ["server", "disk"])
@pytest.mark.parametrize("page", CHAPTERS)
def test_figures_move_without_a_kernel(page, place, browser, places):
    with visit(browser, f"{places[place]}/{page}") as visited:
        figures = visited.page.locator(".tfb[data-live]").all()
        assert figures
        for figure in figures:
            sliders = figure.locator("input[type=range]:visible").all()  # others wait for their scheme
            assert sliders
            for slider in sliders:
                before, stood = figure.inner_html(), slider.input_value()
                slider.focus()
                visited.page.keyboard.press("ArrowRight")
                if slider.input_value() == stood:  # it stood at its end
                    visited.page.keyboard.press("ArrowLeft")
                assert figure.inner_html() != before
        assert visited.faults == []


@needs_browser
@pytest.mark.parametrize("place", ["server", "disk"])
def test_search_finds_the_chapter(place, browser, places):
    with visit(browser, f"{places[place]}/search.html?q=softmax") as visited:
        visited.page.locator("#search-results li a").first.wait_for(timeout=5000)
        found = [link.get_attribute("href") for link in visited.page.locator("#search-results li a").all()]
        assert any("03-scaled-dot-product-attention" in target for target in found)
        if place == "server":  # from the disk a browser refuses the lines of context, and says so
            assert visited.faults == []


@needs_browser
@pytest.mark.parametrize("place", ["server", "disk"])
def test_first_address_leads_to_the_title_page(place, browser, places):
    page = browser.new_page()
    page.goto(f"{places[place]}/{FIRST}")
    page.wait_for_url("**/chapters/index.html")
    page.close()


@needs_browser
def test_contents_open_on_a_phone(browser, places):
    with visit(browser, f"{places['server']}/chapters/index.html", width=390) as visited:
        link = visited.page.locator("nav.bd-links a", has_text="Scaled dot-product attention").first
        assert not link.is_visible()
        visited.page.locator(".bd-header-article button.primary-toggle").click()
        link.wait_for(state="visible", timeout=3000)
        link.click()
        visited.page.wait_for_url("**/03-scaled-dot-product-attention.html")


@needs_browser
def test_theme_can_be_changed(browser, places):
    with visit(browser, f"{places['server']}/chapters/index.html") as visited:
        paper = "getComputedStyle(document.body).backgroundColor"
        before = visited.page.evaluate(paper)
        for _ in range(3):  # the button goes round light, dark, the system's
            visited.page.locator("button.theme-switch-button").first.click()
            if visited.page.locator("html").get_attribute("data-theme") == "dark":
                break
        assert visited.page.evaluate(paper) != before


# ---- the checks themselves can fail ----

FAULTS = {
    "another host": ("<img alt='x' src='https://example.org/a.png'>", lambda v: v.faults),
    "console": ("<script>console.error('no')</script>", lambda v: v.faults),
    "script": ("<script>null.x</script>", lambda v: v.faults),
    "source in the text": (r"<main><p>the root \(d_k\)</p></main>", lambda v: raw_maths(v.page)),
    "not typeset": ("<main><span class='math'>x</span></main>", lambda v: raw_maths(v.page)),
    "no name": ("<main><canvas></canvas></main>", lambda v: unnamed_pictures(v.page)),
    "the page is": ("<main><pre style='width: 2000px'>wide</pre></main>", lambda v: overflow(v.page)),
    "ends at": ("<body style='overflow-x: hidden'><main><pre style='width: 2000px'>wide</pre></main>", lambda v: overflow(v.page)),
    "cut off: a text": ("<main><p style='width: 60px; overflow: hidden; white-space: nowrap'>a text longer than its box</p></main>",
                        lambda v: overflow(v.page)),
    "cut off: low": ("<main><p style='height: 30px; overflow: clip'>high<br>high<br>high<br><b>low</b></p></main>",
                     lambda v: overflow(v.page)),
    "cut off: beyond": ("<main><svg viewBox='0 0 100 50' width=100 height=50><text x=80 y=20>beyond</text></svg></main>",
                        lambda v: overflow(v.page)),
    "div.: a text": ("<main><div style='width: 60px; overflow: auto; white-space: nowrap'>a text longer than its box</div></main>",
                     lambda v: unreachable(v.page)),
    "region": ("<main><h1>a page</h1></main><p>outside of it</p>", lambda v: inaccessible(v.page)),
    "color-contrast": ("<main><p style='color: #ccc; background: #fff'>pale</p></main>", lambda v: inaccessible(v.page)),
}


@needs_browser
@pytest.mark.parametrize("fault", FAULTS)
def test_the_checks_see(fault, browser, tmp_path):
    text, check = FAULTS[fault]
    page = tmp_path / "page.html"
    page.write_text(f"<!doctype html><html lang=en><title>a page</title>{text}", encoding="utf-8")
    with visit(browser, page.as_uri(), wait=50) as visited:
        assert any(fault in found for found in check(visited))


def test_the_link_check_sees(tmp_path, monkeypatch):
    (tmp_path / "a.html").write_text("<a href='b.html'>b</a><a href='#nowhere'>n</a><a id='here' href='#here'>h</a>", encoding="utf-8")
    monkeypatch.setattr("test_book.BOOK", tmp_path)
    found = broken("a.html", {"a.html": Links(tmp_path / "a.html")})
    assert found == ["no file: b.html", "no such place: #nowhere"]
