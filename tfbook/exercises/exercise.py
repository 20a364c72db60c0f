"""An exercise, and the check that names the mistake."""

import copy
import inspect
import textwrap
import warnings
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Exercise:
    """A task whose answer is a function.

    Parameters
    ----------
    name, chapter : str
        Its name in the catalogue, and the number of its chapter.
    difficulty : int
        From 1 to 5.
    task, hint : str
        What the reader sees, in HTML with formulas between ``\\(`` and ``\\)``.
    solution : callable
        The right answer, as the reader would write it.
    mistakes : dict of str to callable
        The classic wrong answers, each under the one-line diagnosis that a reader gets.
    cases : callable
        Takes a random generator and gives a list of arguments: several shapes, no two axes of one size.
    """

    name: str
    chapter: str
    difficulty: int
    task: str
    hint: str
    solution: callable
    mistakes: dict = field(repr=False)
    cases: callable = field(repr=False)


@dataclass(frozen=True)
class Result:
    """The outcome of a check; true where the answer passed."""

    passed: bool
    text: str

    def __bool__(self):
        return self.passed

    def __repr__(self):
        return self.text

    def _ipython_display_(self):
        """Nothing more: ``check`` has printed the text."""


def judge(exercise, answer):
    """Compare an answer with the solution on every case, and find the mistake where they differ.

    Parameters
    ----------
    exercise : Exercise
    answer : callable or None
        None, a function that returns None, or one that raises NotImplementedError: not attempted.

    Returns
    -------
    Result
    """
    if answer is None or answer is ...:
        return Result(False, "Not attempted yet.")
    if not callable(answer):
        return Result(False, f"Expected a function, got {type(answer).__name__}: pass the function itself, without calling it.")
    cases = exercise.cases(np.random.default_rng(3))
    right = [_outcome(exercise.solution, case) for case in cases]
    given = [_outcome(answer, case) for case in cases]
    if all(outcome.value is None and (outcome.error is None or isinstance(outcome.error, NotImplementedError)) for outcome in given):
        return Result(False, "Not attempted yet.")
    for outcome in given:
        if outcome.changed is not None:
            name = list(inspect.signature(exercise.solution).parameters)[outcome.changed]
            return Result(False, f"Your function changes its argument {name}. Work on a new array: x = x / 2, not x /= 2.")
    wrong = [i for i in range(len(cases)) if not _same(given[i], right[i])]
    if not wrong:
        return Result(True, f"Correct: equal to the solution on all {len(cases)} inputs.")
    for diagnosis, mistake in exercise.mistakes.items():
        if all(_same(given[i], _outcome(mistake, case), exactly=False) for i, case in enumerate(cases)):
            return Result(False, f"Not yet. {diagnosis}")
    return Result(False, f"Not yet. {_difference(given[wrong[0]], right[wrong[0]])}\n{_describe(cases[wrong[0]])}")


@dataclass
class _Outcome:
    value: object = None
    error: Exception = None
    changed: int = None  # which argument the function wrote into


def _outcome(function, case):
    arguments = copy.deepcopy(case)
    outcome = _Outcome()
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            outcome.value = function(*arguments)
        except Exception as error:
            outcome.error = error
    for i, (before, after) in enumerate(zip(case, arguments)):
        if isinstance(before, np.ndarray) and not np.array_equal(before, after, equal_nan=before.dtype.kind == "f"):
            outcome.changed = i
    return outcome


def _same(a, b, exactly=True):
    """Equal values of one shape and kind; nan only counts as equal where ``exactly`` is off. Equal errors count too."""
    if a.error is not None or b.error is not None:
        return not exactly and type(a.error) is type(b.error)
    x, y = np.asarray(a.value), np.asarray(b.value)
    if x.shape != y.shape or x.dtype.kind != y.dtype.kind or x.dtype.kind not in "biuf":
        return False
    return bool(np.allclose(x, y, rtol=1e-7, atol=1e-9, equal_nan=not exactly))


def _difference(given, right):
    if given.error is not None:
        return f"Your function stopped with {type(given.error).__name__}: {given.error}"
    if given.value is None:
        return "Your function returned nothing here: is a return missing?"
    x, y = np.asarray(given.value), np.asarray(right.value)
    if x.shape != y.shape:
        return f"Expected shape {y.shape}, got {x.shape}."
    if x.dtype.kind != y.dtype.kind:
        return f"Expected dtype {y.dtype}, got {x.dtype}."
    place = tuple(int(i) for i in np.argwhere(~np.isclose(x, y, rtol=1e-7, atol=1e-9))[0])
    return f"At {list(place)}, expected {y[place]:.4g}, got {x[place]:.4g}."


def _describe(case):
    return "Input: " + ", ".join(f"array {x.shape}" if isinstance(x, np.ndarray) else str(x) for x in case) + "."


def source(function):
    """A function's source as text, without the indent it may have."""
    return textwrap.dedent(inspect.getsource(function)).strip()
