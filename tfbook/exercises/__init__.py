"""Exercises of every chapter: the task, a check that names the mistake, and a solution
that opens.
"""

import re
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from tfbook.exercises.exercise import Exercise, judge
from tfbook.exercises.page import Box, Reveal, Solutions
from tfbook.exercises.quiz import quiz


def _modules(kind):
    """The modules chapter_01, chapter_02 … or quiz_01, quiz_02 …, by number."""
    names = sorted(module.name for module in iter_modules(__path__))
    found = filter(
        None, (re.fullmatch(rf"{kind}_(\d\d)", name) for name in names)
    )
    return {name[1]: import_module(f"{__name__}.{name[0]}") for name in found}


QUIZZES = {number: module.QUIZ for number, module in _modules("quiz").items()}
_CATALOGUE = {
    exercise.name: exercise
    for module in _modules("chapter").values()
    for exercise in module.EXERCISES
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
        exercise
        for exercise in _CATALOGUE.values()
        if exercise.chapter == chapter
    )
    if not found:
        raise ValueError(
            "chapter: expected one of"
            f" {', '.join(sorted({e.chapter for e in _CATALOGUE.values()}))}, got"
            f" {chapter!r}"
        )
    return Solutions(
        found,
        next(
            (path.stem for path in Path(folder).glob(f"{chapter}-*.ipynb")),
            "",
        ),
    )


def _find(name):
    if name not in _CATALOGUE:
        raise ValueError(
            f"name: expected one of {', '.join(_CATALOGUE)}, got {name!r}"
        )
    return _CATALOGUE[name]
