"""Every solution passes, every classic mistake is refused with its own diagnosis."""

import ast
import inspect
import re
import sys
from functools import wraps

import numpy as np
import pytest

import tfbook.numpy
from tfbook.exercises import QUIZZES, catalogue, check, exercise, solution
from tfbook.exercises.exercise import source

MISTAKES = [
    (name, diagnosis)
    for name, entry in catalogue().items()
    for diagnosis in entry.mistakes
]


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
def test_the_task_names_what_the_solution_is_made_of(name):
    entry = catalogue()[name]
    names = ", ".join(inspect.signature(entry.solution).parameters)
    signature = f"{entry.solution.__name__}({names})"
    assert f"<code>{signature}</code>" in entry.task
    names = {
        node.id
        for node in ast.walk(ast.parse(source(entry.solution)))
        if isinstance(node, ast.Name)
    }
    for used in names & set(entry.solution.__globals__) - {
        "np",
        "math",
        *inspect.signature(entry.solution).parameters,
    }:
        assert re.search(rf"<code>{used}\b", entry.task)
        assert getattr(tfbook.numpy, used) is entry.solution.__globals__[used]


def test_a_number_and_a_function_are_shown_as_a_reader_would_write_them():
    assert (
        "Expected 2520, got 17640."
        in check(
            "cache-bytes",
            lambda T, L, d, H, H_kv, size: 2 * L * T * T * H_kv * d // H * size,
        ).text
    )
    assert (
        "the function attend" in check("equivariance-gap", lambda X, order, f: 1.0).text
    )


@pytest.mark.parametrize("chapter", QUIZZES)
def test_length_does_not_betray_the_right_answer(chapter):
    longest = 0
    for question in QUIZZES[chapter]:
        right, *wrong = (
            len(re.sub("<[^>]+>", "", answer["answer"]))
            for answer in question["answers"]
        )
        longest += right > max(wrong)
    assert longest <= len(QUIZZES[chapter]) / 3


@pytest.mark.parametrize("name", catalogue())
def test_the_solution_stays_closed(name):
    shown = solution(name)
    assert shown._repr_html_().startswith("<details")
    assert "return" in shown._repr_html_()
    assert "return" not in repr(shown)


def single(x):
    """An argument as a reader would make it float32 first of all."""
    if isinstance(x, np.ndarray):
        return x.astype(np.float32) if x.dtype == np.float64 else x
    return np.float32(x) if isinstance(x, float) else x


@pytest.mark.parametrize("ends", [np.float32, np.float64])
@pytest.mark.parametrize(
    "name",
    [
        name
        for name, entry in catalogue().items()
        if np.asarray(
            entry.solution(*entry.cases(np.random.default_rng(3))[0])
        ).dtype.kind
        == "f"
    ],
)
def test_a_right_answer_in_float32_passes_whatever_it_ends_in(name, ends):
    right = catalogue()[name].solution

    @wraps(right)
    def answer(*arguments):
        return np.asarray(right(*map(single, arguments)), dtype=np.float32).astype(ends)

    assert check(name, answer)


@pytest.mark.parametrize(
    "name", ["layer-flops", "writing-flops", "layer-parameters", "cache-bytes"]
)
def test_a_count_is_compared_to_the_last_unit(name):
    right = catalogue()[name].solution

    @wraps(right)
    def float_(*arguments):
        return float(right(*arguments))

    @wraps(right)
    def more(*arguments):
        return right(*arguments) + 1

    assert check(name, float_)
    assert not check(name, more)


def test_a_late_difference_is_shown():
    result = check("softmax", lambda S: catalogue()["softmax"].solution(S) * 1.0001)
    assert not result
    expected, got = re.search(r"expected (\S+), got (\S+)\.\n", result.text).groups()
    assert expected != got
    assert 1 < float(got) / float(expected) < 1.0003


# ---- not attempted, or nothing returned ----


def unfinished(*arguments):
    raise NotImplementedError


def with_words(*arguments):
    """Write it here."""
    # with a comment
    pass
    raise NotImplementedError("to do")


def dots(*arguments): ...


def forgotten(*arguments):
    x = np.asarray(arguments[0])
    x + 1


def from_nowhere(text):
    """A function whose source cannot be had."""
    scope = {}
    exec(text, scope)
    return scope["f"]


def test_a_forgotten_return_is_said():
    for name in catalogue():
        assert "returned nothing: is a return missing?" in check(name, forgotten).text


def test_a_rest_of_the_placeholder_is_no_placeholder():
    def half(S):
        E = np.exp(S)
        raise NotImplementedError(E.shape)

    assert "stopped with NotImplementedError" in check("softmax", half).text


NOWHERE = [
    from_nowhere("def f(*x): return None"),
    from_nowhere("def f(*x): raise NotImplementedError"),
]


@pytest.mark.parametrize(
    "answer",
    [None, ..., lambda *arguments: None, unfinished, with_words, dots, *NOWHERE],
)
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
        (
            lambda S: catalogue()["softmax"].solution(S) if S.ndim == 2 else None,
            "is a return missing",
        ),
        (lambda S: "0.5", "Expected shape"),
        (lambda S: (S, S), "Expected one array, got a tuple of 2."),
        (
            lambda S: [[1.0, 2.0], [3.0]],
            "Expected one array, got a list that NumPy cannot",
        ),
        (lambda S: {"S": S}, "Expected one array of numbers, got a dict."),
        (
            lambda S: (row for row in S),
            "Expected one array of numbers, got a generator.",
        ),
        (lambda S: sys.exit(1), "stopped with SystemExit: 1"),
        (lambda S: sys.exit(), "stopped with SystemExit."),
        (lambda: 1.0, "Expected a function of 1 argument, (S); yours takes ()."),
        (
            lambda S, axis: S,
            "Expected a function of 1 argument, (S); yours takes (S, axis).",
        ),
    ],
)
def test_any_other_fault_gets_a_sentence(answer, words):
    result = check("softmax", answer)
    assert not result
    assert words in result.text


def test_wrong_arguments_get_a_sentence():
    def without_mask(Q: np.ndarray, K, V) -> np.ndarray:
        return Q @ K @ V

    words = (
        "Expected a function of 4 arguments, (Q, K, V, mask); yours takes (Q, K, V)."
    )
    assert words in check("scaled-dot-product-attention", without_mask).text


def test_a_tensor_with_a_gradient_gets_a_sentence():
    torch = pytest.importorskip("torch")
    result = check("softmax", lambda S: torch.tensor(S, requires_grad=True).softmax(-1))
    assert "Expected one array, got a Tensor" in result.text
    assert "detach" in result.text
    assert check("softmax", lambda S: torch.tensor(S).softmax(-1))
    assert check("softmax", lambda S: torch.tensor(S, dtype=torch.float32).softmax(-1))


def test_an_unknown_exercise():
    with pytest.raises(ValueError, match=r"expected one of .*softmax"):
        check("sofmax", None)
