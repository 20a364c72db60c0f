"""The book on paper: each page as Chromium prints it, and all of them bound into one
PDF.
"""

import re
import unicodedata
from functools import cache
from pathlib import Path

import chromium
import pdf
import pytest
from browser import BOOK, CHAPTERS, visit
from pypdf import PdfReader

from tfbook.exercises import QUIZZES, catalogue
from tfbook.exercises.exercise import source
from tfbook.widgets import SoftLookup

INDEX = BOOK / "chapters/index.html"
TALL = 960  # pixels between the upper and the lower margin

# what a reader of the paper would miss, and what is of no use there
ON_PAPER = """(tall) => {
  const faults = [], say = (fault, node) => {
    const words = node.textContent.trim().slice(0, 40);
    faults.push(`${fault}: ${node.localName}.${node.getAttribute("class")}: ${words}`);
  };
  const shown = (node) => node.getClientRects().length
    && node.checkVisibility({ contentVisibilityAuto: true });
  for (const node of document.querySelectorAll(".bd-article *")) {
    const box = node.getBoundingClientRect(), style = getComputedStyle(node);
    if (!shown(node) || box.width < 2 || style.clipPath !== "none") continue;
    if (node.closest("mjx-assistive-mml, .sr-only, .tfb-voice")) continue;
    if (box.right > innerWidth + 1 || box.left < -1) say("beyond the edge", node);
    const hides = style.overflowX !== "visible" && style.display !== "inline";
    if (hides && !node.closest("svg") && node.scrollWidth > node.clientWidth + 1)
      say("cut off", node);
    if (node.matches("img, .tfb") && box.height > tall) say("cut across pages", node);
    const list = node.matches("select") && style.appearance !== "none";
    if (list || node.matches("button:not([aria-pressed]), input[type=range]"))
      say("dead", node);
    const closed = node.closest("details.tfb-solution:not([open], .tfb-exercise ~ *)");
    if (closed && node !== closed && !node.closest("summary")) say("given away", node);
  }
  const sideBar = document.querySelector("nav.bd-links");
  if (sideBar.checkVisibility()) say("the side bar", sideBar);
  return faults.slice(0, 5);
}"""


def on_paper(page):
    """What is wrong with the page in the browser as it would be printed."""
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    faults = page.evaluate(ON_PAPER, TALL)
    # not "screen", which would hold for the printing too
    page.emulate_media(media="null")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    return faults


@pytest.fixture(scope="module")
def bound(browser, tmp_path_factory):
    """The bound book, and what is wrong with a page of it, looked at just before it is
    printed.
    """
    assert INDEX.exists(), "there is no book in _build/html: run make book"
    faults, file = [], tmp_path_factory.mktemp("paper") / "book.pdf"
    as_is = pdf.reader

    def look(page):
        if page.url.startswith("file:"):
            faults.extend(f"{Path(page.url).stem}: {fault}" for fault in on_paper(page))
        return as_is(page)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pdf, "reader", look)
        pdf.bind(browser, INDEX, file)
    return PdfReader(file), faults


@pytest.fixture(scope="module")
def book(bound):
    return bound[0]


@pytest.fixture(scope="module")
def text(book):
    """The words of a page, with single spaces."""
    return cache(lambda number: " ".join(book.pages[number].extract_text().split()))


def outline(book):
    """Level, title and page of every bookmark."""
    found, level = [], 0

    def walk(items, level):
        for item in items:
            if isinstance(item, list):
                walk(item, level + 1)
            else:
                found.append(
                    (level, item.title, book.get_destination_page_number(item))
                )

    walk(book.outline, level)
    return found


def plain(text):
    """Letters and digits alone: ligatures and line breaks do not count."""
    return re.sub(r"[\W_]", "", unicodedata.normalize("NFKC", text))


def titles():
    """Of each chapter, its number and its title."""
    for page in CHAPTERS:
        (title,) = re.findall(r"<h1>(.*?)<a", (BOOK / page).read_text(encoding="utf-8"))
        yield f"{int(page.partition('/')[2][:2])}  {title}"


def test_nothing_is_cut_off_and_no_button_is_printed(bound):
    assert bound[1] == []


def test_no_page_is_blank(book, text):
    assert len(book.pages) > 50
    counts = [
        len(re.findall(rb"T[jJ]\b", page.get_contents().get_data()))
        for page in book.pages
    ]
    few = [
        number
        for number, count in enumerate(counts)
        if count < 15 and not book.pages[number].images
    ]
    # its head and its number are shorter
    assert [number for number in few if len(text(number)) < 60] == []


def test_every_chapter_is_a_bookmark_at_its_page(book, text):
    found = outline(book)
    assert [
        title for level, title, _ in found if level == 0 and title[0].isdigit()
    ] == list(titles())
    assert len([level for level, _, _ in found if level == 1]) > 100
    within = ""
    for level, title, page in found:
        within = title if level == 0 else within
        # of two chapters and the notation, the headings too
        if title.isascii() and (level == 0 or within[0] in "39N"):
            assert plain(title) in plain(text(page)), f"{title}: not on page {page}"


def test_contents_and_pages_have_the_same_numbers(book, text):
    starts = [page for level, _, page in outline(book) if level == 0]
    contents = plain(" ".join(map(text, range(1, starts[0]))))
    for level, title, page in outline(book):
        if level < 2 and title.isascii():
            assert f"{plain(title)}{book.page_labels[page]}" in contents, title
    assert list(book.page_labels)[starts[0] :] == [
        str(n + 1) for n in range(len(book.pages) - starts[0])
    ]
    for page in {*starts, *(start - 1 for start in starts[1:]), len(book.pages) - 1}:
        # its foot and its head come last or first
        ends = f"{text(page)[-12:]} {text(page)[:60]}"
        assert re.search(rf"(^|\D){book.page_labels[page]}($|\D)", ends), (
            f"page {page} does not say its number"
        )


def test_links_lead_to_places_in_the_file(book):
    first = next(page for _, _, page in outline(book))
    known = {page.indirect_reference.idnum for page in book.pages}
    links = [
        [note.get_object() for note in page.get("/Annots", ())] for page in book.pages
    ]
    assert len([link for page in links[1:first] for link in page]) == len(
        [level for level, _, _ in outline(book) if level < 2]
    )
    for link in (link for page in links for link in page):
        if "/Dest" in link:
            assert link["/Dest"][0].idnum in known
        else:
            assert not link["/A"]["/URI"].startswith("file:")
    across = [
        link
        for number, page in enumerate(links[first:], first)
        for link in page
        if "/Dest" in link
        and book.get_page_number(link["/Dest"][0].get_object()) > number + 40
    ]
    assert across, "no link from a chapter to the bibliography or the notation"


def test_solutions_stand_at_the_end_and_figures_as_they_are(book, text):
    starts = {
        title.split("  ")[0]: page for level, title, page in outline(book) if level == 0
    }
    pages = lambda first, after: plain(
        " ".join(map(text, range(starts[first], starts[after])))
    )
    chapter, solutions = (
        pages("3", "4"),
        pages("Exercises and solutions", "Bibliography"),
    )
    assert (
        chapter.count(plain("Solution: at the end of the book"))
        == len([e for e in catalogue().values() if e.chapter == "03"])
        > 2
    )
    assert chapter.count("Right") >= len(QUIZZES["03"])
    for exercise in catalogue().values():
        assert plain(source(exercise.solution).splitlines()[0]) in solutions
    figure = SoftLookup()
    answer = figure.compute(**figure.state)["answer"]
    assert plain(f"the answer is {answer:.2f}") in pages("2", "3")


def test_a_dark_page_is_printed_light_and_is_dark_again_after_it(browser):
    with visit(
        browser, next(BOOK.glob("chapters/03-*.html")).as_uri(), theme="dark"
    ) as visited:
        page = visited.page
        look = (
            "[document.documentElement.dataset.theme, "
            "document.querySelector('.tfb').hasAttribute('data-dark')]"
        )
        assert page.evaluate(look) == ["dark", True]
        page.evaluate(
            "addEventListener('beforeprint', () => queueMicrotask(() => (window.seen ="
            f" {look})))"
        )
        page.pdf()
        assert page.evaluate("window.seen") == ["light", False]
        assert page.evaluate(look) == ["dark", True]
        assert page.locator(".tfb-on-paper").count() == 0


def test_it_says_what_is_missing(monkeypatch, tmp_path):
    with pytest.raises(SystemExit, match="run `make book` first"):
        pdf.main(tmp_path)
    (tmp_path / "chapters").mkdir()
    (tmp_path / "chapters/index.html").touch()
    monkeypatch.setattr(chromium, "executable", lambda: None)
    with pytest.raises(SystemExit, match="install the package chromium"):
        pdf.main(tmp_path)
