"""Wrong answers written anew, as a reader might, are refused with words of their
diagnosis; right ones written another way pass.
"""

from importlib import import_module
from pathlib import Path

import pytest

from tfbook.exercises import catalogue, check

CHAPTERS = [
    import_module(path.stem)
    for path in sorted(Path(__file__).parent.glob("answers_[0-9]*.py"))
]


def every(table):
    """Each entry of a table of every chapter, with the name of its exercise."""
    return [
        (name, entry)
        for chapter in CHAPTERS
        for name, entries in getattr(chapter, table).items()
        for entry in entries
    ]


@pytest.mark.parametrize(
    ("name", "answer", "words"), [(name, *pair) for name, pair in every("WRONG")]
)
def test_a_wrong_answer_is_named(name, answer, words):
    result = check(name, answer)
    assert not result, f"{name}: a wrong answer passed; expected {words!r}"
    assert words in result.text


@pytest.mark.parametrize(("name", "answer"), every("RIGHT"))
def test_a_right_answer_passes(name, answer):
    assert check(name, answer)


@pytest.mark.parametrize("table", ["WRONG", "RIGHT"])
def test_every_exercise_has_answers_of_both_kinds(table):
    assert {name for name, _ in every(table)} == set(catalogue())
