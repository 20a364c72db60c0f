"""Exercises of every chapter: the task, a check that names the mistake, and a solution
that opens.
"""

from pathlib import Path

from tfbook.exercises import (
    chapter_01,
    chapter_02,
    chapter_03,
    chapter_04,
    chapter_05,
    chapter_06,
    chapter_07,
    chapter_08,
    chapter_09,
    chapter_10,
    chapter_11,
    chapter_12,
    quiz_01,
    quiz_02,
    quiz_03,
    quiz_04,
    quiz_05,
    quiz_06,
    quiz_07,
    quiz_08,
    quiz_09,
    quiz_10,
    quiz_11,
    quiz_12,
)
from tfbook.exercises.exercise import Exercise, judge
from tfbook.exercises.page import Box, Reveal, Solutions
from tfbook.exercises.quiz import quiz

QUIZZES = {
    "01": quiz_01.QUIZ,
    "02": quiz_02.QUIZ,
    "03": quiz_03.QUIZ,
    "04": quiz_04.QUIZ,
    "05": quiz_05.QUIZ,
    "06": quiz_06.QUIZ,
    "07": quiz_07.QUIZ,
    "08": quiz_08.QUIZ,
    "09": quiz_09.QUIZ,
    "10": quiz_10.QUIZ,
    "11": quiz_11.QUIZ,
    "12": quiz_12.QUIZ,
}
_CATALOGUE = {
    exercise.name: exercise
    for chapter in (
        chapter_01,
        chapter_02,
        chapter_03,
        chapter_04,
        chapter_05,
        chapter_06,
        chapter_07,
        chapter_08,
        chapter_09,
        chapter_10,
        chapter_11,
        chapter_12,
    )
    for exercise in chapter.EXERCISES
}


def catalogue():
    """Return every exercise.

    Returns
    -------
    dict of str to Exercise
        In the order of the book; each has ``name``, ``chapter``, ``difficulty``,
        ``task``, ``hint``, ``solution``, ``mistakes``.
    """
    return dict(_CATALOGUE)


def check(name, answer):
    """Check an answer, say what is wrong with it, and let the notebook run on.

    Parameters
    ----------
    name : str
        An exercise of the catalogue.
    answer : callable or None
        The function that was asked for.

    Returns
    -------
    Result
        True where the answer passed. Its text has been printed.

    Raises
    ------
    ValueError
        Where there is no such exercise.

    Examples
    --------
    >>> check("softmax", None)
    softmax: Not attempted yet.
    Not attempted yet.
    """
    result = judge(_find(name), answer)
    print(f"{name}: {result.text}")
    return result


def exercise(name):
    """Show the task of an exercise, with a hint that opens."""
    return Box(_find(name))


def solution(name):
    """Show the solution of an exercise, closed until it is asked for."""
    return Reveal(_find(name))


def solutions(chapter, folder="."):
    """Show every exercise of a chapter with its solution, from the catalogue.

    Parameters
    ----------
    chapter : str
        Its number, such as ``"03"``.
    folder : str or Path
        Where the chapters are; titles link to the one with that number.

    Raises
    ------
    ValueError
        Where it has none.

    Examples
    --------
    >>> solutions("03")
    Solution of softmax (opens on the page and in a notebook)
    ...
    """
    found = tuple(
        exercise for exercise in _CATALOGUE.values() if exercise.chapter == chapter
    )
    if not found:
        raise ValueError(
            "chapter: expected one of"
            f" {', '.join(sorted({e.chapter for e in _CATALOGUE.values()}))}, got"
            f" {chapter!r}"
        )
    return Solutions(
        found, next((path.stem for path in Path(folder).glob(f"{chapter}-*.ipynb")), "")
    )


def _find(name):
    if name not in _CATALOGUE:
        raise ValueError(f"name: expected one of {', '.join(_CATALOGUE)}, got {name!r}")
    return _CATALOGUE[name]
