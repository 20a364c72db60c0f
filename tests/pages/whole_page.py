"""What a page does wherever it was opened: it is quiet, its quiz answers, its figures
move.
"""

import pytest
from browser import raw_maths, unnamed_pictures


def of(visit, pages):
    """Run a test on each page, opened by the fixture ``visit``: the tests of a page
    follow one another on the open page.
    """
    return pytest.mark.parametrize(visit, pages, indirect=True, scope="module")


def stays_quiet(visited):
    visited.page.keyboard.press("End")
    visited.page.wait_for_timeout(100)
    assert visited.faults == []
    assert raw_maths(visited.page) == []
    assert unnamed_pictures(visited.page) == []


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
