"""The catalogue of exercises: nothing hides behind a name, every chapter has its
solutions on one page.
"""

import json
import re
from pathlib import Path

import pytest

import tfbook.exercises
from tfbook.exercises import catalogue, solutions

CHAPTERS = Path(__file__).resolve().parents[2] / "chapters"
MODULES = {
    name.removeprefix("chapter_"): module
    for name, module in vars(tfbook.exercises).items()
    if re.fullmatch(r"chapter_\d\d", name)
}


def test_no_exercise_takes_the_name_of_another():
    names = [
        exercise.name for module in MODULES.values() for exercise in module.EXERCISES
    ]
    assert sorted(names) == sorted(catalogue())


def test_the_catalogue_is_in_the_order_of_the_book():
    chapters = [exercise.chapter for exercise in catalogue().values()]
    assert chapters == sorted(chapters)


def test_every_chapter_with_exercises_is_on_the_page_of_solutions():
    cells = json.loads((CHAPTERS / "solutions.ipynb").read_text(encoding="utf-8"))[
        "cells"
    ]
    shown = re.findall(
        r'solutions\("(\d\d)"\)',
        "".join(line for cell in cells for line in cell["source"]),
    )
    assert shown == sorted(path.name[:2] for path in CHAPTERS.glob("[0-9]*.ipynb"))


@pytest.mark.parametrize("chapter", MODULES)
def test_solutions_of_a_chapter_are_all_there(chapter):
    page = solutions(chapter)._repr_html_()
    assert page.count('<details class="tfb-solution"') == len(
        MODULES[chapter].EXERCISES
    )


def test_a_chapter_that_is_not_there():
    with pytest.raises(ValueError, match="chapter: expected one of "):
        solutions("99")
