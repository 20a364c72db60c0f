"""Each page of the built book, as its reader meets it from a server, light and dark.

A page is opened once, and its tests follow one another on the open page: what changes
the page comes last. test_pages_on_disk.py and test_pages_on_phone.py open it elsewhere;
three files, so that three processes can share the work.
"""

import pytest
from browser import CHAPTERS, PAGES, inaccessible, visit
from exercise_marks import exercises_by_chapter
from whole_page import figures_move, of, quiz_answers, stays_quiet

EXERCISES = exercises_by_chapter()


@pytest.fixture(scope="module")
def from_server(request, browser, address):
    # jupyterquiz looks for MathJax after 500 ms
    with visit(browser, f"{address}/{request.param}", wait=800) as visited:
        yield visited


@of("from_server", PAGES)
def test_served_page_is_quiet_and_asks_no_other_host(from_server):
    stays_quiet(from_server)


@of("from_server", PAGES)
def test_light_page_is_accessible(from_server):
    assert from_server.page.locator("html").get_attribute("data-theme") == "light"
    assert inaccessible(from_server.page) == []


@of("from_server", PAGES)
def test_dark_page_is_accessible(from_server):
    turn(from_server.page, "dark")
    assert inaccessible(from_server.page) == []


def turn(page, theme):
    """Change the theme with the button, which goes round light, dark, the system's."""
    for _ in range(3):
        if page.locator("html").get_attribute("data-theme") == theme:
            break
        page.locator("button.theme-switch-button").first.dispatch_event("click")
    assert page.locator("html").get_attribute("data-theme") == theme
    # else the button's tooltip comes after half a second
    page.evaluate("document.activeElement.blur()")
    page.wait_for_function("!document.querySelector('[role=tooltip]')")


@of("from_server", CHAPTERS)
def test_every_exercise_can_be_marked(from_server):
    page, number = from_server.page, from_server.page.url.rpartition("/")[2][:2]
    marks = page.locator(".tfb-exercise .tfb-mark").evaluate_all(
        "(marks) => marks.map((mark) => mark.dataset.mark)"
    )
    assert marks == [f"exercise-{name}" for name in EXERCISES[number]]
    assert page.locator(".tfb-end .tfb-mark").count() == 1


@of("from_server", CHAPTERS)
def test_quiz_answers_to_the_keyboard(from_server):
    question = from_server.page.locator(".Quiz").first
    assert not question.locator(".Feedback").inner_text().strip()
    question.locator("input[type=radio]").first.focus()
    from_server.page.keyboard.press("Space")
    assert question.locator(".Feedback").inner_text().strip()


@of("from_server", CHAPTERS)
def test_quiz_of_a_served_page_answers(from_server):
    quiz_answers(from_server)


@of("from_server", CHAPTERS)
def test_figures_of_a_served_page_move(from_server):
    figures_move(from_server)


@of("from_server", CHAPTERS)
def test_what_is_folded_opens_and_an_answered_page_is_accessible(from_server):
    page = from_server.page
    turn(page, "light")
    assert page.locator("details.tfb-solution").count() >= 2
    for folded in page.locator("details").all():
        content = folded.locator(":scope > :not(summary)").first
        assert not content.is_visible()
        folded.locator("summary").click()
        assert content.is_visible()
        assert content.inner_text().strip()
    for answer in page.locator(".Quiz label[data-correct]").all():
        answer.click()
    assert inaccessible(page) == []
