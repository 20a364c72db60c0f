"""What becomes of an answer to an exercise."""

from tfbook.exercises import check


def expect_refused(name, answer, words):
    """A wrong answer does not pass, and the check's words name the mistake."""
    result = check(name, answer)
    assert not result, f"{name}: a wrong answer passed; expected {words!r}"
    assert words in result.text
