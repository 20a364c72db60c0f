"""Each page of the built book, as its reader meets it: from a server and from the disk,
light and dark, wide and on a phone.

A page is opened three times, and its tests follow one another on the open page: what
changes the page comes last.
"""

import pytest
from browser import (
    BOOK,
    CHAPTERS,
    PAGES,
    inaccessible,
    overflow,
    raw_maths,
    served,
    unnamed_pictures,
    unreachable,
    visit,
    why_not,
)
from exercise_marks import exercises_by_chapter

pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not() or "there is one")
EXERCISES = exercises_by_chapter()


@pytest.fixture(scope="module")
def address():
    with served(BOOK) as here:
        yield here


@pytest.fixture(scope="module")
def from_server(request, browser, address):
    # jupyterquiz looks for MathJax after 500 ms
    with visit(browser, f"{address}/{request.param}", wait=800) as visited:
        yield visited


@pytest.fixture(scope="module")
def from_disk(request, browser):
    with visit(browser, (BOOK / request.param).as_uri(), wait=800) as visited:
        yield visited


@pytest.fixture(scope="module")
def on_phone(request, browser, address):
    with visit(browser, f"{address}/{request.param}", width=360, wait=100) as visited:
        yield visited


def of(visit, pages):
    return pytest.mark.parametrize(visit, pages, indirect=True, scope="module")


# ---- opened from a server ----


@of("from_server", PAGES)
def test_served_page_is_quiet_and_asks_no_other_host(from_server):
    stays_quiet(from_server)


def stays_quiet(visited):
    visited.page.keyboard.press("End")
    visited.page.wait_for_timeout(100)
    assert visited.faults == []
    assert raw_maths(visited.page) == []
    assert unnamed_pictures(visited.page) == []


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


def quiz_answers(visited):
    questions = visited.page.locator(".Quiz").all()
    assert len(questions) >= 3
    for question in questions:
        feedback = question.locator(".Feedback")
        for correct, word in (("false", "incorrect"), ("true", "correct")):
            assert question.locator(f"label[data-correct={correct}]").count(), (
                "a question needs a right and a wrong answer"
            )
            question.locator(f"label[data-correct={correct}]").first.click()
            assert word in feedback.get_attribute("class").split()
            assert feedback.inner_text().strip()
    assert raw_maths(visited.page) == []
    assert visited.faults == []


@of("from_server", CHAPTERS)
def test_figures_of_a_served_page_move(from_server):
    figures_move(from_server)


def figures_move(visited):
    figures = visited.page.locator(".tfb[data-live]").all()
    assert figures
    for figure in figures:
        # others wait for their scheme
        sliders = figure.locator("input[type=range]:visible").all()
        assert sliders
        for slider in sliders:
            before, stood = figure.inner_html(), slider.input_value()
            slider.focus()
            visited.page.keyboard.press("ArrowRight")
            if slider.input_value() == stood:  # it stood at its end
                visited.page.keyboard.press("ArrowLeft")
            assert figure.inner_html() != before
    assert visited.faults == []


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


# ---- opened from the disk ----


@of("from_disk", PAGES)
def test_page_on_the_disk_is_quiet_and_asks_no_other_host(from_disk):
    stays_quiet(from_disk)


@of("from_disk", CHAPTERS)
def test_quiz_of_a_page_on_the_disk_answers(from_disk):
    quiz_answers(from_disk)


@of("from_disk", CHAPTERS)
def test_figures_of_a_page_on_the_disk_move(from_disk):
    figures_move(from_disk)


# ---- opened on a phone ----


@of("on_phone", PAGES)
def test_page_is_accessible_on_a_phone(on_phone):
    assert inaccessible(on_phone.page) == []


@of("on_phone", PAGES)
@pytest.mark.parametrize("width", [360, 320])
def test_page_fits_a_phone_and_what_scrolls_on_it_can_be_reached(on_phone, width):
    on_phone.page.set_viewport_size({"width": width, "height": 900})
    on_phone.page.wait_for_timeout(100)
    assert overflow(on_phone.page) == []
    assert unreachable(on_phone.page) == []
