"""What the cases of each exercise reach: no edge that they try today is given up.

``python tests/exercises/test_gaps_exercises.py`` notes more.
"""

import inspect
import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from tfbook.exercises import catalogue

FILE = Path(__file__).with_name("exercise_edges.json")


def edges(entry):
    """What the arguments of an exercise's cases are like, as short sentences."""
    names, found = list(inspect.signature(entry.solution).parameters), set()
    for case in entry.cases(np.random.default_rng(3)):
        for name, x in zip(names, case):
            found |= {
                f"{name} {word}"
                for word in (of_array(x) if isinstance(x, np.ndarray) else of_value(x))
            }
        sizes = {name: x for name, x in zip(names, case) if type(x) is int}
        for (a, m), (b, n) in combinations(sorted(sizes.items()), 2):
            found.add(f"{a} {'<' if m < n else '>' if m > n else '='} {b}")
    return sorted(found)


def of_array(x):
    yield f"has {x.ndim} axes"
    yield f"is {x.dtype}"
    for n in (0, 1):
        if n in x.shape:
            yield f"has an axis of {n}"
    if x.dtype == bool:
        if x.ndim and not x.any(axis=-1).all():
            yield "has a row of False"
        if not x.all() and x.any():
            yield "is mixed"
    elif x.size and x.dtype.kind == "f":
        largest = np.abs(x[np.isfinite(x)]).max(initial=0)
        yield from (f"reaches {bound}" for bound in (30, 300) if largest >= bound)
        if largest == 0:
            yield "is zero"
        if not np.isfinite(x).all():
            yield "is not finite"
        if (x < 0).any() and (x > 0).any():
            yield "has both signs"
    elif x.size and x.ndim and len(np.unique(x)) < x.size:
        yield "repeats itself"


def of_value(x):
    if isinstance(x, bool | str) or x is None:
        yield f"is {x!r}"
    elif callable(x):
        yield f"is {x.__name__}"
    elif isinstance(x, int | float):
        yield (
            "is 1"
            if x == 1
            else (
                "is 0"
                if x == 0
                else "is below 0"
                if x < 0
                else "is between"
                if x < 1
                else "is above 1"
            )
        )
    else:
        yield f"is a {type(x).__name__}"


def cases(entry):
    return len(entry.cases(np.random.default_rng(3)))


@pytest.mark.parametrize("name", catalogue())
def test_no_edge_is_given_up(name):
    noted = json.loads(FILE.read_text(encoding="utf-8")).get(
        name, {"cases": 1, "edges": []}
    )
    entry = catalogue()[name]
    lost = set(noted["edges"]) - set(edges(entry))
    assert not lost, (
        f"no case of {name} tries this any more; if it is meant, run"
        " tests/exercises/test_gaps_exercises.py"
    )
    assert cases(entry) >= noted["cases"], (
        "a case was dropped; if it is meant, run tests/exercises/test_gaps_exercises.py"
    )


def test_every_edge_that_is_noted_is_of_an_exercise():
    assert set(json.loads(FILE.read_text(encoding="utf-8"))) <= set(catalogue())


@pytest.mark.parametrize("name", catalogue())
def test_every_case_counts(name):
    """An answer that is right everywhere but in one case is refused."""
    from tfbook.exercises.exercise import judge

    entry = catalogue()[name]
    for wrong_in in range(cases(entry)):
        called = -1

        def answer(*arguments, entry=entry, wrong_in=wrong_in):
            nonlocal called
            called += 1
            Y = np.asarray(entry.solution(*arguments))
            if called % cases(entry) != wrong_in:
                return Y
            return ~Y if Y.dtype == bool else Y + 1

        answer.__signature__ = inspect.signature(entry.solution)
        assert not judge(entry, answer), (name, wrong_in)


if __name__ == "__main__":
    noted = {
        name: {"cases": cases(entry), "edges": edges(entry)}
        for name, entry in sorted(catalogue().items())
    }
    rows = ",\n".join(
        f"{json.dumps(name)}: {json.dumps(row, ensure_ascii=False)}"
        for name, row in noted.items()
    )
    FILE.write_text(f"{{\n{rows}\n}}\n", encoding="utf-8")
