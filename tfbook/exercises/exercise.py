"""An exercise, and the check that names the mistake."""

import ast
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
        Takes a random generator and gives a list of arguments: several shapes, no two
        axes of one size.
    atol : float
        How far off a number of the answer may be, whatever its size; less where the
        right numbers are small.
    """

    name: str
    chapter: str
    difficulty: int
    task: str
    hint: str
    solution: callable
    mistakes: dict = field(repr=False)
    cases: callable = field(repr=False)
    atol: float = 1e-5


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
    """Compare an answer with the solution on every case, and find the mistake where
    they differ.

    Parameters
    ----------
    exercise : Exercise
    answer : callable or None
        None, or a function whose body is still a placeholder: not attempted.

    Returns
    -------
    Result
    """
    if answer is None or answer is ...:
        return Result(False, "Not attempted yet.")
    if not callable(answer):
        return Result(
            False,
            f"Expected a function, got {type(answer).__name__}: pass the function"
            " itself, without calling it.",
        )
    blank = _blank(answer)
    if blank:
        return Result(False, "Not attempted yet.")
    cases = exercise.cases(np.random.default_rng(3))
    misfit = _misfit(answer, exercise.solution)
    if misfit:
        return Result(False, f"Not yet. {misfit}")
    right = [_outcome(exercise.solution, case) for case in cases]
    given = [_outcome(answer, case) for case in cases]
    if blank is None and all(
        outcome.nothing or isinstance(outcome.error, NotImplementedError)
        for outcome in given
    ):
        return Result(False, "Not attempted yet.")
    if all(outcome.nothing for outcome in given):
        return Result(
            False,
            "Not yet. Your function returned nothing: is a return missing?",
        )
    for outcome in given:
        if outcome.changed is not None:
            name = list(inspect.signature(exercise.solution).parameters)[
                outcome.changed
            ]
            return Result(
                False,
                f"Your function changes its argument {name}. Work on a new array: x = x"
                " / 2, not x /= 2.",
            )
    wrong = [
        i
        for i in range(len(cases))
        if not _same(given[i], right[i], exercise.atol)
    ]
    if not wrong:
        return Result(
            True,
            f"Correct: equal to the solution on all {len(cases)} inputs.",
        )
    for diagnosis, mistake in exercise.mistakes.items():
        if all(
            _same(
                given[i],
                _outcome(mistake, case),
                exercise.atol,
                exactly=False,
            )
            for i, case in enumerate(cases)
        ):
            return Result(False, f"Not yet. {diagnosis}")
    first = wrong[0]
    difference = _difference(given[first], right[first], exercise.atol)
    return Result(False, f"Not yet. {difference}\n{_describe(cases[first])}")


def _blank(function):
    """Whether the body only holds placeholders; None where the source cannot be had."""
    try:
        function = inspect.unwrap(function)
        (node,) = ast.parse(source(function)).body
        if (
            not isinstance(node, ast.FunctionDef)
            or node.name != function.__code__.co_name
        ):
            return None
    except Exception:  # a lambda, a builtin, a cell that is gone
        return None
    return all(_placeholder(statement) for statement in node.body)


def _placeholder(statement):
    if isinstance(statement, ast.Expr) and isinstance(
        statement.value, ast.Constant
    ):
        return statement.value.value is ... or isinstance(
            statement.value.value, str
        )
    if isinstance(statement, ast.Raise):
        raised = (
            statement.exc.func
            if isinstance(statement.exc, ast.Call)
            else statement.exc
        )
        return (
            isinstance(raised, ast.Name)
            and raised.id == "NotImplementedError"
        )
    return isinstance(statement, ast.Pass)


def _misfit(answer, solution):
    """A sentence where the answer cannot take the solution's arguments, else None."""
    names = list(inspect.signature(solution).parameters)
    try:
        signature = inspect.signature(answer)
    except (TypeError, ValueError):  # some builtins have none
        return None
    try:
        signature.bind(*names)
    except TypeError:
        plain = [
            parameter.replace(annotation=inspect.Parameter.empty)
            for parameter in signature.parameters.values()
        ]
        takes = signature.replace(
            parameters=plain, return_annotation=inspect.Signature.empty
        )
        count = f"{len(names)} argument{'s' if len(names) > 1 else ''}"
        return (
            f"Expected a function of {count}, ({', '.join(names)}); yours takes"
            f" {takes}."
        )
    return None


class _NotAnArray(Exception):
    """The answer returned something else; the message says what."""


@dataclass
class _Outcome:
    value: object = None  # an array
    error: BaseException = None
    changed: int = None  # which argument the function wrote into

    @property
    def nothing(self):
        return self.value is None and self.error is None


def _outcome(function, case):
    arguments = copy.deepcopy(case)
    outcome = _Outcome()
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            value = function(*arguments)
            outcome.value = None if value is None else _array(value)
        except (Exception, SystemExit) as error:
            outcome.error = error
    for i, (before, after) in enumerate(zip(case, arguments)):
        if isinstance(before, np.ndarray) and not np.array_equal(
            before, after, equal_nan=before.dtype.kind == "f"
        ):
            outcome.changed = i
    return outcome


def _array(value):
    kind = type(value).__name__
    if isinstance(value, tuple):
        raise _NotAnArray(f"Expected one array, got a tuple of {len(value)}.")
    try:
        array = np.asarray(value)
    except Exception as error:
        raise _NotAnArray(
            f"Expected one array, got a {kind} that NumPy cannot make into one: {error}"
        ) from None
    if array.dtype.kind == "O":
        got = (
            "an array of objects"
            if isinstance(value, np.ndarray)
            else f"a {kind}"
        )
        raise _NotAnArray(f"Expected one array of numbers, got {got}.")
    return array


def _same(a, b, atol, exactly=True):
    """Equal values of one shape, both numbers or both booleans.

    Where ``exactly`` is off, nan equals nan, any number far below zero stands for −∞,
    and equal errors count too.
    """
    if a.error is not None or b.error is not None:
        return not exactly and type(a.error) is type(b.error)
    if a.value is None or b.value is None:
        return False
    x, y = a.value, b.value
    if (
        x.shape != y.shape
        or x.dtype.kind not in "biuf"
        or _is_boolean(x) != _is_boolean(y)
    ):
        return False
    if not exactly:
        x, y = (
            z if _is_boolean(z) else np.where(z <= -1e4, -np.inf, z)
            for z in (x, y)
        )
    return bool(np.all(_close(x, y, atol, equal_nan=not exactly)))


def _is_boolean(x):
    return x.dtype.kind == "b"


def _close(x, y, atol, equal_nan=False):
    """Entry by entry: counts exactly, other numbers as closely as arithmetic in float32
    comes to them, whatever dtype they end in.
    """
    counted = any(z.dtype.kind in "iu" for z in (x, y))
    return np.isclose(
        x,
        y,
        rtol=1e-12 if counted else 1e-5,
        atol=1e-9 if counted else atol,
        equal_nan=equal_nan,
    )


def _difference(given, right, atol):
    if isinstance(given.error, _NotAnArray):
        return str(given.error)
    if given.error is not None:
        return f"Your function stopped with {type(given.error).__name__}" + (
            f": {given.error}" if str(given.error) else "."
        )
    if given.value is None:
        return "Your function returned nothing here: is a return missing?"
    x, y = given.value, right.value
    if x.shape != y.shape:
        return f"Expected shape {y.shape}, got {x.shape}."
    if x.dtype.kind not in "biuf" or _is_boolean(x) != _is_boolean(y):
        return f"Expected dtype {y.dtype}, got {x.dtype}."
    index = tuple(int(i) for i in np.argwhere(~_close(x, y, atol))[0])
    expected, got = _apart(y[index], x[index])
    return (
        f"{f'At {list(index)}, expected' if index else 'Expected'} {expected}, got"
        f" {got}."
    )


def _apart(a, b):
    """Two numbers with as many digits as tell them apart, four at least; whole ones in
    full.
    """
    if isinstance(a, np.bool_):
        return str(a), str(b)
    if all(float(x).is_integer() and abs(x) < 1e15 for x in (a, b)):
        return f"{int(a)}", f"{int(b)}"
    return next(
        pair
        for digits in range(4, 19)
        if len(set(pair := (f"{a:.{digits}g}", f"{b:.{digits}g}"))) == 2
        or digits == 18
    )


def _describe(case):
    return "Input: " + ", ".join(map(_describe_one, case)) + "."


def _describe_one(x):
    if isinstance(x, np.ndarray):
        return f"array {x.shape}"
    return f"the function {x.__name__.strip('_')}" if callable(x) else str(x)


def source(function):
    """A function's source as text, without the indent it may have."""
    return textwrap.dedent(inspect.getsource(function)).strip()
