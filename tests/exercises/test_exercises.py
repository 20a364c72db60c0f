"""Every solution passes, every classic mistake is refused with its own diagnosis."""

import ast
import inspect
import re
import sys
from functools import wraps

import numpy as np
import pytest
from answers import expect_refused

import tfbook.exercises
import tfbook.numpy
from tfbook.exercises import QUIZZES, catalogue, check, exercise, solution
from tfbook.exercises.exercise import source

MISTAKES = [
    (name, diagnosis)
    for name, entry in catalogue().items()
    for diagnosis in entry.mistakes
]


def test_no_name_is_given_twice():
    chapters = [
        module
        for name, module in vars(tfbook.exercises).items()
        if re.fullmatch(r"chapter_\d\d", name)
    ]
    names = [entry.name for chapter in chapters for entry in chapter.EXERCISES]
    assert sorted(names) == sorted(catalogue())


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


# ---- wrong answers written anew, as a reader might, each with words of the diagnosis
# ----


def exp_rows(S, shift):
    E = np.exp(S - shift)
    return E / np.sum(E, axis=-1)[..., None]


def soft(S, axis=-1):
    E = np.exp(S - np.max(S, axis=axis, keepdims=True))
    return E / np.sum(E, axis=axis, keepdims=True)


def scores(Q, K):
    return np.einsum("...id,...jd->...ij", Q, K)


def scaled(Q, K):
    return scores(Q, K) * Q.shape[-1] ** -0.5


def hide(S, mask, value=-np.inf):
    S = S.copy()
    S[..., ~mask] = value
    return S


def by_loop(T, T_k, sees):
    return np.array([[sees(t, j) for j in range(T_k)] for t in range(T)])


def bias(value):
    return lambda T, T_k: np.triu(np.full((T, T_k), value), k=T_k - T + 1)


def gap(x, X):
    """Squared distances of all places and all data, (T, n)."""
    return np.square(x).sum(axis=-1)[:, None] - 2 * x @ X.T + np.square(X).sum(axis=-1)


def gaussian(x, X, h):
    return np.array([[np.exp(-sum((a - b) ** 2) / (2 * h * h)) for b in X] for a in x])


def outer(a, b):
    return np.einsum("i,j->ij", a, b)


def by_steps(f, x, step=1e-3):
    """The gradient from small steps, of sixth order."""
    e = step * np.eye(x.size).reshape(x.size, *x.shape)
    slopes = [
        sum(c * (f(x + k * d) - f(x - k * d)) for k, c in ((1, 45), (2, -9), (3, 1)))
        / (60 * step)
        for d in e
    ]
    return np.reshape(slopes, x.shape)


def look(Q, K, V):
    return soft(scaled(Q, K)) @ V


ANEW = {
    "soft-lookup": [
        (
            lambda q, K, V, temperature: soft(temperature * (K @ q)) @ V,
            "multiplied by the temperature",
        ),
        (lambda q, K, V, temperature: soft(K.dot(q)) @ V, "temperature is not used"),
        (
            lambda q, K, V, temperature: V.T @ soft(q @ K.T) / temperature,
            "weights are divided",
        ),
        (
            lambda q, K, V, temperature: (
                soft(K @ q / (temperature * K.shape[1] ** 0.5)) @ V
            ),
            "√d_k too",
        ),
        (
            lambda q, K, V, temperature: soft(K @ q / temperature**0.5) @ V,
            "root of the temperature",
        ),
        (
            lambda q, K, V, temperature: exp_rows(K @ q / temperature, 0) @ V,
            "exp overflows",
        ),
        (
            lambda q, K, V, temperature: (
                soft(-np.square(q - K).sum(axis=1) / temperature / 2) @ V
            ),
            "distance",
        ),
        (lambda q, K, V, temperature: V[(K * q).sum(axis=1).argmax()], "hard lookup"),
        (lambda q, K, V, temperature: soft(K @ q / temperature) @ K, "mix the keys"),
        (lambda q, K, V, temperature: V.T @ (K @ q) / temperature, "softmax first"),
        (
            lambda q, K, V, temperature: soft(K @ q / temperature**2) @ V,
            "square of the temperature",
        ),
        (
            lambda q, K, V, temperature: (
                soft(K @ q / np.sqrt((K**2).sum(axis=1) * (q @ q)) / temperature) @ V
            ),
            "cosine",
        ),
        (
            lambda q, K, V, temperature: (
                exp_rows(np.clip(K @ q / temperature, -700, 700), 0) @ V
            ),
            "expected",
        ),
        (
            lambda q, K, V, temperature: soft(K @ q)[None] ** (1 / temperature) @ V,
            "Expected shape",
        ),
        (
            lambda q, K, V, temperature: (
                exp_rows(s, 0) @ V
                if max(s := K @ q / temperature) < 700
                else V[s.argmax()]
            ),
            "expected",
        ),
        (lambda q, K, V, temperature: V.mean(axis=0), "At [0], expected"),
        (lambda q, K, V, temperature: soft(K @ q / temperature), "Expected shape"),
    ],
    "kernel-regression": [
        (
            lambda x, X, y, h: (
                soft(-np.linalg.norm(x[:, None] - X, axis=-1) / (2 * h * h)) @ y
            ),
            "not squared",
        ),
        (lambda x, X, y, h: soft(-gap(x, X) / (2 * h)) @ y, "width h is not squared"),
        (lambda x, X, y, h: soft(-gap(x, X) / h / h) @ y, "½ is missing"),
        (lambda x, X, y, h: soft(gap(x, X) / (2 * h * h)) @ y, "sign is missing"),
        (
            lambda x, X, y, h: soft(-gap(x, X) / (2 * h * h), axis=0) @ y,
            "those of each place must",
        ),
        (lambda x, X, y, h: soft(scores(x, X) / h**2) @ y, "dot product alone"),
        (lambda x, X, y, h: gaussian(x, X, h) @ y, "not divided by their sum"),
        (lambda x, X, y, h: (gaussian(x, X, h) * y).mean(axis=1), "divided by n"),
        (
            lambda x, X, y, h: (
                (gaussian(x, X, h) * y).sum(axis=1) / gaussian(x, X, h).sum(axis=1)
            ),
            "0 / 0",
        ),
        (
            lambda x, X, y, h: np.array([y[np.argmin(row)] for row in gap(x, X)]),
            "nearest neighbour",
        ),
        (
            lambda x, X, y, h: (
                gaussian(x, X, h) @ y / (gaussian(x, X, h).sum(axis=1) + 1e-12)
            ),
            "Far from all data the answer is 0",
        ),
        (
            lambda x, X, y, h: (
                gaussian(x, X, h)
                @ y
                / np.maximum(gaussian(x, X, h).sum(axis=1), 1e-300)
            ),
            "Far from all data the answer is 0",
        ),
        # one maximum for all places
        (
            lambda x, X, y, h: exp_rows(s := -gap(x, X) / (2 * h * h), s.max()) @ y,
            "expected",
        ),
        (
            lambda x, X, y, h: (
                soft(-gap(x, X) / (2 * h * h)) @ y
                if gaussian(x, X, h).sum(axis=1).all()
                else y[gap(x, X).argmin(axis=1)]
            ),
            "expected",
        ),  # the nearest point where all kernels are 0
    ],
    "cross-attention": [
        (
            lambda X, C, W_Q, W_K, W_V: look(C @ W_Q, X @ W_K, X @ W_V),
            "Queries come from the context",
        ),
        (lambda X, C, W_Q, W_K, W_V: look(X @ W_Q, X @ W_K, X @ W_V), "self-attention"),
        (
            lambda X, C, W_Q, W_K, W_V: look(C @ W_Q, C @ W_K, C @ W_V),
            "All three come from the context",
        ),
        (
            lambda X, C, W_Q, W_K, W_V: look(X @ W_Q, X @ W_K, C @ W_V),
            "keys come from X",
        ),
        (
            lambda X, C, W_Q, W_K, W_V: look(X @ W_Q, C @ W_K, X @ W_V),
            "values come from X",
        ),
        (
            lambda X, C, W_Q, W_K, W_V: look(X @ W_K, C @ W_Q, C @ W_V),
            "W_Q and W_K are exchanged",
        ),
        (lambda X, C, W_Q, W_K, W_V: look(X @ W_Q, C @ W_K, C @ W_K), "mix the keys"),
        (
            lambda X, C, W_Q, W_K, W_V: soft(X @ W_Q @ W_K.T @ C.T) @ C @ W_V,
            "scale is missing",
        ),
        (
            lambda X, C, W_Q, W_K, W_V: (
                soft(X @ W_Q @ W_K.T @ C.T / len(W_Q) ** 0.5) @ C @ W_V
            ),
            "scale is √d:",
        ),
        (
            lambda X, C, W_Q, W_K, W_V: (
                soft(scaled(X @ W_Q, C @ W_K), axis=-2) @ (C @ W_V)
            ),
            "softmax runs over the queries",
        ),
    ],
    "lookup-gradient": [
        (
            lambda q, K, v, temperature: outer(
                soft(K @ q / temperature) * (v - soft(K @ q / temperature) @ v), q
            ),
            "temperature is missing",
        ),
        (
            lambda q, K, v, temperature: (
                outer(soft(K @ q) * (v - soft(K @ q) @ v), q) / temperature
            ),
            "at temperature 1",
        ),
        (
            lambda q, K, v, temperature: outer(
                soft(K @ q / temperature) * v, q / temperature
            ),
            "lowers the other weights",
        ),
        (
            lambda q, K, v, temperature: outer(
                soft(K @ q / temperature) * (v - np.mean(v)), q / temperature
            ),
            "plain mean",
        ),
        (
            lambda q, K, v, temperature: outer(
                v - soft(K @ q / temperature) @ v, q / temperature
            ),
            "factor a_j is missing",
        ),
        (
            lambda q, K, v, temperature: by_steps(
                lambda q: soft(K @ q / temperature) @ v, q
            ),
            "with respect to the query",
        ),
        (lambda q, K, v, temperature: 0 * K, "weights are taken as constant"),
        (
            lambda q, K, v, temperature: (
                -catalogue()["lookup-gradient"].solution(q, K, v, temperature)
            ),
            "sign is the wrong way round",
        ),
    ],
    "softmax": [
        (lambda S: exp_rows(S, 0), "exp overflows on large scores"),
        (lambda S: exp_rows(S, np.min(S, axis=-1)[..., None]), "minimum is subtracted"),
        (lambda S: exp_rows(S, np.mean(S, axis=-1)[..., None]), "mean is subtracted"),
        (lambda S: exp_rows(S, np.max(S)), "One maximum for all rows"),
        (
            lambda S: exp_rows(S, np.max(S, axis=(-2, -1), keepdims=True)),
            "One maximum for all rows",
        ),
        (lambda S: soft(S, axis=-2), "columns sum to one"),
        (lambda S: exp_rows(S, 0).astype(np.float32), "exp overflows on large scores"),
        (lambda S: exp_rows(S.astype(np.float32), 0), "exp overflows on large scores"),
    ],
    "scaled-dot-product-attention": [
        (lambda Q, K, V, mask: soft(hide(scores(Q, K), mask)) @ V, "scale is missing"),
        (
            lambda Q, K, V, mask: soft(hide(scores(Q, K) / K.shape[-1], mask)) @ V,
            "divided by d_k",
        ),
        (
            lambda Q, K, V, mask: (
                soft(hide(scores(Q, K) / V.shape[-1] ** 0.5, mask)) @ V
            ),
            "scale is √d_v",
        ),
        (
            lambda Q, K, V, mask: (
                soft(hide(scores(Q, K) / len(mask[0]) ** 0.5, mask)) @ V
            ),
            "scale is √T_k",
        ),
        (
            lambda Q, K, V, mask: soft(hide(scaled(Q, K), mask), axis=-2) @ V,
            "softmax runs over the queries",
        ),
        (
            lambda Q, K, V, mask: (soft(scaled(Q, K)) * mask) @ V,
            "mask comes after the softmax",
        ),
        (
            lambda Q, K, V, mask: soft(np.where(mask, -np.inf, scaled(Q, K))) @ V,
            "wrong way round",
        ),
        (
            lambda Q, K, V, mask: soft(scaled(Q, K) * mask) @ V,
            "Masked scores are set to 0",
        ),
        (
            lambda Q, K, V, mask: soft(hide(scaled(Q, K), mask, 1e-9)) @ V,
            "Masked scores are set to 0",
        ),
        (
            lambda Q, K, V, mask: (
                np.moveaxis(soft(hide(scaled(Q, K), mask)), -1, -2) @ V
            ),
            "weights are transposed",
        ),
        (
            lambda Q, K, V, mask: soft(hide(scaled(Q, K), mask)) @ K,
            "weights mix the keys",
        ),
        (lambda Q, K, V, mask: soft(scaled(Q, K)) @ V, "mask is not used"),
        (lambda Q, K, V, mask: hide(scaled(Q, K), mask, 0) @ V, "softmax is missing"),
    ],
    "causal-mask": [
        (
            lambda T, T_k: np.tril(np.ones((T, T_k), dtype=bool)),
            "aligned with the first key",
        ),
        (
            lambda T, T_k: np.tril(np.ones((T, T_k), dtype=bool), k=T_k - T - 1),
            "attend to itself",
        ),
        (
            lambda T, T_k: np.triu(np.ones((T, T_k), dtype=bool), k=T_k - T + 1),
            "wrong way round",
        ),
        (
            lambda T, T_k: np.triu(np.ones((T, T_k), dtype=bool), k=T_k - T),
            "Queries see what comes after",
        ),
        (
            lambda T, T_k: by_loop(T, T_k, lambda t, j: j <= t + T_k - T + 1),
            "one token too far",
        ),
        (lambda T, T_k: by_loop(T_k, T, lambda j, t: j <= t + T_k - T), "exchanged"),
        (lambda T, T_k: np.tril(np.ones((T, T_k)), k=T_k - T), "numbers, not booleans"),
        (
            lambda T, T_k: np.tril(np.ones((T, T_k), dtype=int), k=T_k - T),
            "numbers, not booleans",
        ),
        (
            lambda T, T_k: np.tril(np.ones((T, T_k), dtype=np.uint8), k=T_k - T),
            "numbers, not booleans",
        ),
        (bias(-np.inf), "bias of 0 and −∞"),
        (bias(-1e9), "bias of 0 and −∞"),
        (bias(np.float32(-1e9)), "bias of 0 and −∞"),
        (bias(np.finfo(np.float64).min), "bias of 0 and −∞"),
        (
            lambda T, T_k: np.ones((T, T_k), dtype=bool),
            "At [0, 1], expected False, got True",
        ),
    ],
    "softmax-jacobian": [
        (lambda a: a * np.eye(len(a)) - (a * a) * np.eye(len(a)), "own score"),
        (lambda a: -a[:, None] * a, "diagonal misses"),
        (lambda a: np.eye(len(a)) * a, "normaliser"),
        (lambda a: a[:, None] * (a - np.eye(len(a))), "sign"),
        (lambda a: a - a**2, "diagonal alone"),
    ],
}


@pytest.mark.parametrize(
    ("name", "answer", "words"),
    [(name, *pair) for name, pairs in ANEW.items() for pair in pairs],
)
def test_a_wrong_answer_written_anew_is_named(name, answer, words):
    expect_refused(name, answer, words)


# ---- right answers written another way ----


def in_float32(*arguments):
    return [x.astype(np.float32) if x.dtype == np.float64 else x for x in arguments]


RIGHT = [
    ("softmax", lambda S: soft(S)),
    ("softmax", lambda S: soft(*in_float32(S))),
    (
        "scaled-dot-product-attention",
        lambda Q, K, V, mask: soft(hide(scaled(Q, K), mask)) @ V,
    ),
    (
        "scaled-dot-product-attention",
        lambda Q, K, V, mask: soft(hide(scaled(Q, K), mask, -1e9)) @ V,
    ),
    ("causal-mask", lambda T, T_k: by_loop(T, T_k, lambda t, j: j <= t + T_k - T)),
    ("soft-lookup", lambda q, K, V, temperature: soft(K @ (q / temperature)) @ V),
    (
        "kernel-regression",
        lambda x, X, y, h: soft((x @ X.T - np.square(X).sum(axis=-1) / 2) / h**2) @ y,
    ),
    ("cross-attention", lambda X, C, W_Q, W_K, W_V: look(X @ W_Q, C @ W_K, C) @ W_V),
    (
        "lookup-gradient",
        lambda q, K, v, temperature: by_steps(
            lambda K: soft(K @ q / temperature) @ v, K
        ),
    ),
    (
        "lookup-gradient",
        lambda q, K, v, temperature: [
            a * (x - soft(K @ q / temperature) @ v) * q / temperature
            for a, x in zip(soft(K @ q / temperature), v)
        ],
    ),
    (
        "soft-lookup",
        lambda q, K, V, temperature: sum(
            a * v for a, v in zip(soft(np.array([k @ q for k in K]) / temperature), V)
        ).tolist(),
    ),
    (
        "soft-lookup",
        lambda q, K, V, temperature: (
            soft(in_float32(K)[0] @ in_float32(q)[0] / temperature) @ in_float32(V)[0]
        ),
    ),
    (
        "kernel-regression",
        lambda x, X, y, h: [
            soft(np.array([-sum((a - b) ** 2) / (2 * h * h) for b in X])) @ y for a in x
        ],
    ),
    ("softmax-jacobian", lambda a: (np.eye(len(a)) - a) * a[:, None]),
    (
        "softmax-jacobian",
        lambda a: np.diag(*in_float32(a)) - np.outer(*in_float32(a, a)),
    ),
]


@pytest.mark.parametrize(("name", "answer"), RIGHT)
def test_a_right_answer_written_anew_passes(name, answer):
    assert check(name, answer)


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


def test_attention_in_float32_passes():
    def answer(Q, K, V, mask):
        Q, K, V = in_float32(Q, K, V)
        out = soft(hide(scaled(Q, K), mask)) @ V
        assert out.dtype == np.float32
        return out

    assert check("scaled-dot-product-attention", answer)


def test_a_late_difference_is_shown():
    result = check("softmax", lambda S: soft(S) * (1 + 1e-4))
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
