"""Every solution passes, every classic mistake is refused with its own diagnosis."""

import numpy as np
import pytest

from tfbook.exercises import catalogue, check, exercise, solution

MISTAKES = [(name, diagnosis) for name, entry in catalogue().items() for diagnosis in entry.mistakes]


@pytest.mark.parametrize("name", catalogue())
def test_the_solution_passes(name, capsys):
    assert check(name, catalogue()[name].solution)
    assert "Correct" in capsys.readouterr().out


@pytest.mark.parametrize(("name", "diagnosis"), MISTAKES)
def test_each_mistake_is_named(name, diagnosis, capsys):
    result = check(name, catalogue()[name].mistakes[diagnosis])
    assert not result
    assert diagnosis in result.text
    assert diagnosis in capsys.readouterr().out


@pytest.mark.parametrize("name", catalogue())
def test_an_exercise_is_whole(name):
    entry = catalogue()[name]
    assert 1 <= entry.difficulty <= 5
    assert len(entry.mistakes) >= 3
    assert all("\n" not in diagnosis for diagnosis in entry.mistakes)
    assert entry.task in exercise(name)._repr_html_()
    assert entry.hint in exercise(name)._repr_html_()


@pytest.mark.parametrize("name", catalogue())
def test_the_solution_stays_closed(name):
    shown = solution(name)
    assert shown._repr_html_().startswith("<details")
    assert "return" in shown._repr_html_()
    assert "return" not in repr(shown)


def unfinished(*arguments):
    raise NotImplementedError


@pytest.mark.parametrize("answer", [None, ..., lambda *arguments: None, unfinished])
@pytest.mark.parametrize("name", catalogue())
def test_not_attempted(name, answer):
    assert check(name, answer).text == "Not attempted yet."


def test_a_changed_input_is_noticed():
    def in_place(S):
        S -= S.max(axis=-1, keepdims=True)
        E = np.exp(S)
        return E / E.sum(axis=-1, keepdims=True)

    result = check("softmax", in_place)
    assert not result
    assert "changes its argument S" in result.text


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (3, "Expected a function, got int"),
        (lambda S: S[..., 0], "Expected shape (5, 7), got (5,)"),
        (lambda S: S @ np.ones((3, 3)), "stopped with ValueError"),
        (lambda S: catalogue()["softmax"].solution(S) + 0.01, "At [0, 0], expected"),
        (lambda S: catalogue()["softmax"].solution(S) if S.ndim == 2 else None, "is a return missing"),
        (lambda S: "0.5", "Expected shape"),
    ],
)
def test_any_other_fault_gets_a_sentence(answer, words):
    result = check("softmax", answer)
    assert not result
    assert words in result.text


def test_an_unknown_exercise():
    with pytest.raises(ValueError, match="expected one of softmax"):
        check("sofmax", None)
