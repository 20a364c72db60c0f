"""Marks of what is done: set on a page, kept in the reader's browser, seen on every
other page, carried as a file.
"""

import json
import re

import pytest
from browser import BOOK, TYPESET, inaccessible, overflow, visit
from exercise_marks import exercises_by_chapter

from tfbook.exercises import catalogue

CHAPTER = "chapters/03-scaled-dot-product-attention.html"
TITLE, ALL = "chapters/index.html", "chapters/solutions.html"
NAMES = exercises_by_chapter()["03"]
HALF_DONE = json.dumps(
    {
        "tfbook": "progress",
        "done": [
            *(f"exercise-{name}" for name in catalogue()),
            "chapter-01",
            "chapter-03",
        ][::2],
    }
)
REFUSE = (
    "Object.defineProperty(window, 'localStorage', { get() { throw new "
    "DOMException('denied', 'SecurityError'); } });"
)
SHIFTS = """window.shift = 0;
new PerformanceObserver((list) => {
  for (const { hadRecentInput, value } of list.getEntries())
    if (!hadRecentInput) window.shift += value;
}).observe({ type: "layout-shift", buffered: true });"""

WHERE = """() => [...document.querySelectorAll(
  ".bd-article :is(h1, h2, h3, p, li, td, details, pre), .bd-sidebar-primary nav li")]
  .filter((node) => !node.closest(".tfb-filter, .tfb-end"))
  .map((node) => node.getBoundingClientRect())
  .map(({ x, y, width, height }) => [x, y, width, height].map(Math.round).join())"""


@pytest.fixture(params=["server", "disk"])
def book(request, address):
    return {"server": address, "disk": BOOK.as_uri()}[request.param]


def opened(browser, book, name):
    """A page with nothing remembered: a theme that is written before each load from the
    disk may, in Chromium, undo what else is kept.
    """
    return visit(browser, f"{book}/{name}", theme=None)


def mark(page, name):
    return page.locator(f'.tfb-mark[data-mark="{name}"]')


def pressed(page, name):
    return mark(page, name).get_attribute("aria-pressed") == "true"


def arrives(page, name):
    """Wait for a mark: between pages on the disk, Chromium hands it over a moment
    late.
    """
    here = f'.tfb-mark[data-mark="{name}"][aria-pressed="true"]'
    page.locator(here).wait_for(timeout=3000)


def said(page):
    return page.locator("[role=status]").last.inner_text()


def in_sidebar(page):
    """What stands beside chapter 03 in the list of chapters."""
    return page.locator(
        '.bd-sidebar-primary .tfb-share[data-chapter="03"] [aria-hidden]'
    ).all_text_contents()


def shown(page):
    return page.locator(".tfb-entry:not([hidden]) .tfb-exercise").evaluate_all(
        "(boxes) => boxes.map((box) => box.id)"
    )


def wanted(levels=range(1, 6), done=()):
    return [
        f"exercise-{e.name}"
        for e in catalogue().values()
        if e.difficulty in levels and e.name not in done
    ]


def sections(page):
    return page.locator("article section section:not([hidden]) > h2").count()


def test_pages_know_the_exercises_of_all_chapters(browser, address):
    with visit(browser, f"{address}/{TITLE}") as visited:
        assert visited.page.evaluate("tfbookExercises") == exercises_by_chapter()


def test_marks_are_kept_and_seen_everywhere(browser, book):
    with opened(browser, book, CHAPTER) as visited:
        page = visited.page
        assert page.locator(".tfb-exercise .tfb-mark").count() == len(NAMES)
        assert in_sidebar(page) == []
        mark(page, f"exercise-{NAMES[0]}").click()
        mark(page, f"exercise-{NAMES[2]}").click()
        assert (
            said(page)
            == f"Done: causal mask. 2 of {len(NAMES)} exercises of this chapter."
        )
        mark(page, "chapter-03").click()
        page.reload()
        assert [pressed(page, f"exercise-{name}") for name in NAMES] == [
            True,
            False,
            True,
            False,
        ]
        assert pressed(page, "chapter-03")
        assert in_sidebar(page) == [f"2/{len(NAMES)}", "✓"]
        page.goto(f"{book}/{TITLE}")
        # as in ``arrives``
        page.get_by_text(f"2 of {len(NAMES)} exercises").first.wait_for(timeout=3000)
        rows = page.locator("article table .tfb-share").all_inner_texts()
        assert rows[2].startswith(f"2 of {len(NAMES)} exercises✓")
        assert rows[0] == f"0 of {len(exercises_by_chapter()['01'])} exercises"
        page.goto(f"{book}/{CHAPTER}")
        arrives(page, f"exercise-{NAMES[0]}")
        mark(page, f"exercise-{NAMES[0]}").click()  # and taken back
        mark(page, "chapter-03").click()
        assert said(page).startswith("Not done: this chapter.")
        assert in_sidebar(page) == [f"1/{len(NAMES)}"]
        assert visited.faults == []


def test_a_mark_answers_to_the_keyboard(browser, address):
    with visit(browser, f"{address}/{CHAPTER}") as visited:
        button = mark(visited.page, "exercise-softmax")
        assert button.get_attribute("aria-label") == "Done: softmax"
        button.focus()
        visited.page.keyboard.press("Space")
        assert pressed(visited.page, "exercise-softmax")
        visited.page.keyboard.press("Enter")
        assert not pressed(visited.page, "exercise-softmax")


def test_two_tabs_agree(browser, address):
    with visit(browser, f"{address}/{CHAPTER}") as visited:
        one, other = visited.page, visited.page.context.new_page()
        other.goto(f"{address}/{CHAPTER}")
        mark(one, "exercise-softmax").click()
        other.locator(
            '.tfb-mark[data-mark="exercise-softmax"][aria-pressed="true"]'
        ).wait_for(timeout=3000)
        mark(other, "exercise-causal-mask").click()  # and neither overwrites the other
        one.locator(
            '.tfb-mark[data-mark="exercise-causal-mask"][aria-pressed="true"]'
        ).wait_for(timeout=3000)
        assert in_sidebar(one) == in_sidebar(other) == [f"2/{len(NAMES)}"]


def test_a_file_brings_marks_back(browser, book, tmp_path):
    with opened(browser, book, CHAPTER) as visited:
        page = visited.page
        mark(page, "exercise-softmax").click()
        mark(page, "chapter-03").click()
        page.goto(f"{book}/{ALL}")
        arrives(page, "exercise-softmax")
        kept = page.evaluate("localStorage.getItem('tfbook-progress')")
        with page.expect_download() as download:
            page.get_by_role("button", name="export").click()
        path = tmp_path / download.value.suggested_filename
        download.value.save_as(path)
        held = json.loads(path.read_text(encoding="utf-8"))
        assert held == {
            "tfbook": "progress",
            "version": 2,
            "done": ["chapter-03", "exercise-softmax"],
        }
        page.once("dialog", lambda dialog: dialog.dismiss())
        page.get_by_role("button", name="clear").click()
        assert pressed(page, "exercise-softmax")  # not without a yes
        page.once("dialog", lambda dialog: dialog.accept())
        page.get_by_role("button", name="clear").click()
        assert not pressed(page, "exercise-softmax")
        assert said(page) == "2 marks cleared."
        mark(page, "exercise-causal-mask").click()
        page.get_by_label("import").set_input_files(path)
        page.get_by_text("2 marks read, 2 of them new.").wait_for(timeout=3000)
        assert pressed(page, "exercise-softmax")
        assert pressed(page, "exercise-causal-mask")  # what was there stays
        mark(page, "exercise-causal-mask").click()
        assert page.evaluate("localStorage.getItem('tfbook-progress')") == kept
        assert visited.faults == []


def test_marks_of_the_first_edition_move_with_their_chapters(browser, address):
    done = ["chapter-08", "chapter-09", "chapter-12", "exercise-softmax"]
    first = json.dumps({"tfbook": "progress", "version": 1, "done": done})
    with visit(browser, f"{address}/{CHAPTER}") as visited:
        page = visited.page
        page.evaluate("(text) => localStorage.setItem('tfbook-progress', text)", first)
        page.reload()
        assert pressed(page, "exercise-softmax")
        mark(page, "exercise-softmax").click()  # what is kept is written anew
        kept = json.loads(page.evaluate("localStorage.getItem('tfbook-progress')"))
        moved = ["chapter-08", "chapter-10", "chapter-14"]
        assert kept == {"tfbook": "progress", "version": 2, "done": moved}
        page.reload()
        again = json.loads(page.evaluate("localStorage.getItem('tfbook-progress')"))
        assert again == kept


@pytest.fixture(scope="module")
def one_marked(browser, address):
    with visit(browser, f"{address}/{ALL}") as visited:
        mark(visited.page, "exercise-causal-mask").click()
        yield visited


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no JSON",
        "[1, 2]",
        '{"done": ["exercise-softmax"]}',
        '{"tfbook": "progress", "done": 3}',
    ],
)
def test_another_file_changes_nothing(text, one_marked, tmp_path):
    page, path = one_marked.page, tmp_path / "other.json"
    path.write_text(text, encoding="utf-8")
    # what was said of the file before
    page.locator("[role=status]").last.evaluate("(node) => node.replaceChildren()")
    page.get_by_label("import").set_input_files(path)
    page.get_by_text("This file holds no marks of this book.").wait_for(timeout=3000)
    assert pressed(page, "exercise-causal-mask")
    assert not pressed(page, "exercise-softmax")
    assert one_marked.faults == []


def test_the_filter_shows_what_was_asked_for_and_can_be_shared(browser, book):
    with opened(browser, book, ALL) as visited:
        page = visited.page
        count, open_ = (
            page.locator(".tfb-filter output"),
            page.get_by_role("button", name="not yet done"),
        )
        total, everything = len(catalogue()), sections(page)
        assert shown(page) == wanted()
        assert count.inner_text() == f"{total} of {total} exercises"
        page.get_by_role("button", name="4", exact=True).click()
        assert shown(page) == wanted({4})
        assert (
            sections(page)
            == len({e.chapter for e in catalogue().values() if e.difficulty == 4})
            < everything
        )
        page.get_by_role("button", name="1", exact=True).click()
        open_.click()
        # stays where it is until the filter is asked again
        mark(page, "exercise-softmax").click()
        assert shown(page) == wanted({1, 4})
        assert page.url.endswith("#level=1,4&open")
        page.reload()
        assert shown(page) == wanted({1, 4}, {"softmax"})
        assert count.inner_text() == f"{len(shown(page))} of {total} exercises"
        assert page.locator(".tfb-filter [aria-pressed=true]").all_inner_texts() == [
            "1",
            "4",
            "not yet done",
        ]
        for name in ("1", "4", "not yet done"):
            page.get_by_role("button", name=name, exact=True).click()
        assert shown(page) == wanted()
        assert "#" not in page.url
        page.evaluate("location.hash = 'level=5'")  # a link followed, or the way back
        page.wait_for_timeout(100)
        assert shown(page) == wanted({5})
        assert visited.faults == []


def test_what_is_left_is_one_click_from_a_chapter(browser, address):
    with visit(browser, f"{address}/{CHAPTER}") as visited:
        mark(visited.page, "exercise-softmax").click()
        visited.page.get_by_role("link", name="Exercises left to do").click()
        visited.page.wait_for_url("**/solutions.html#open")
        assert shown(visited.page) == wanted(done={"softmax"})
        visited.page.get_by_role("link", name="Causal mask").click()
        visited.page.wait_for_url(f"**/{CHAPTER}#exercise-causal-mask")
        assert visited.page.locator("#exercise-causal-mask").is_visible()


def test_where_storage_is_refused_it_says_so_and_goes_on(browser, book):
    context = browser.new_context()
    context.add_init_script(REFUSE)
    page = context.new_page()
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(f"{book}/{CHAPTER}")
    mark(page, "exercise-softmax").click()
    assert pressed(page, "exercise-softmax")
    assert in_sidebar(page) == [f"1/{len(NAMES)}"]
    assert "keeps nothing for this page" in said(page)
    assert "keeps nothing for this page" in page.locator(".tfb-note").inner_text()
    page.goto(f"{book}/{ALL}")
    assert not pressed(page, "exercise-softmax")
    mark(page, "exercise-softmax").click()
    page.get_by_role("button", name="not yet done").click()
    assert shown(page) == wanted(done={"softmax"})
    context.close()
    assert not [error for error in errors if "progress" in error]


def test_without_a_script_nothing_is_missing(browser, address):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    for name in (CHAPTER, TITLE, ALL):
        page.goto(f"{address}/{name}")
        assert page.locator(".tfb-mark, .tfb-share, .tfb-end").count() == 0
    assert not page.locator(".tfb-filter").is_visible()
    assert len(shown(page)) == len(catalogue())
    context.close()


@pytest.mark.parametrize("name", [CHAPTER, TITLE, ALL])
def test_marks_move_nothing(name, browser, address):
    """Everything is where it was before the script ran: in the article, and in the list
    of chapters; wide and on a phone.
    """
    context = browser.new_context(
        viewport={"width": 1200, "height": 900}, reduced_motion="reduce"
    )
    context.add_init_script(
        f"localStorage.setItem('tfbook-progress', {json.dumps(HALF_DONE)});"
    )
    # a quiz shuffles its answers, and their lines break otherwise each time
    context.add_init_script("Math.random = () => 0.5;")
    stood = {}
    for blocked in (True, False):
        page = context.new_page()
        if blocked:
            page.route("**/marks.js*", lambda route: route.abort())
        page.goto(f"{address}/{name}", wait_until="networkidle")
        page.evaluate(TYPESET)
        assert (page.locator(".tfb-mark, .tfb-share").count() == 0) == blocked
        for width in (1200, 390):
            page.set_viewport_size({"width": width, "height": 900})
            page.wait_for_timeout(300)
            stood[blocked, width] = page.evaluate(WHERE)
    context.close()
    for width in (1200, 390):
        assert len(stood[True, width]) > 50
        assert stood[True, width] == stood[False, width]
    assert stood[True, 1200] != stood[True, 390]


@pytest.mark.parametrize("width", [1200, 390])
def test_a_shared_filter_does_not_jump(width, browser, address):
    """Cumulative layout shift of the filtered page, where the script comes long after
    the first paint.
    """
    context = browser.new_context(viewport={"width": width, "height": 900})
    context.add_init_script(
        f"localStorage.setItem('tfbook-progress', {json.dumps(HALF_DONE)}); {SHIFTS}"
    )
    page = context.new_page()
    page.route(
        "**/marks.js*", lambda route: (page.wait_for_timeout(1500), route.continue_())
    )
    page.goto(f"{address}/{ALL}#level=3,4&open", wait_until="networkidle")
    page.wait_for_timeout(500)
    assert 0 < page.locator(".tfb-entry:visible").count() < len(catalogue())
    assert page.evaluate("shift") < 0.05
    context.close()


def test_a_shared_filter_hides_nothing_where_its_script_is_missing(browser, address):
    with visit(browser, "about:blank") as visited:
        visited.page.route("**/marks.js*", lambda route: route.abort())
        visited.page.goto(f"{address}/{ALL}#level=3,4&open")
        assert visited.page.locator(".tfb-entry:visible").count() == len(catalogue())


@pytest.mark.parametrize(
    ("theme", "widths"), [("light", (1200, 360)), ("dark", (1200, 390))]
)
def test_marks_are_accessible_and_fit_a_phone(theme, widths, browser, address):
    with visit(browser, f"{address}/{CHAPTER}", theme=theme) as visited:
        page = visited.page
        for button in page.locator(".tfb-mark").all():
            button.click()
        for name in (CHAPTER, TITLE, f"{ALL}#level=2"):
            page.goto(f"{address}/{name}")
            for width in widths:
                page.set_viewport_size({"width": width, "height": 900})
                page.wait_for_timeout(300)
                assert overflow(page) == []
                # test_pages.py looks at the rest
                assert (
                    inaccessible(page, ".tfb-mark, .tfb-share, .tfb-end, .tfb-filter")
                    == []
                )


def test_marks_are_not_printed(browser, address):
    with visit(browser, f"{address}/{CHAPTER}") as visited:
        visited.page.emulate_media(media="print")
        assert not visited.page.locator(
            ".tfb-mark:visible, .tfb-end:visible, .tfb-share:visible"
        ).count()


def test_the_script_is_small_and_asks_nobody():
    text = (BOOK.parent.parent / "assets/marks.js").read_text(encoding="utf-8")
    assert len(text.encode()) <= 10_000
    assert not re.search(r"https?://|fetch\(|XMLHttp|cookie|sendBeacon", text)
