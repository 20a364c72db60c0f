"""Exercises of chapter 03: the softmax and its gradient; those on attention are in the
file beside.
"""

import numpy as np

from tfbook.exercises import chapter_03_attention as attention
from tfbook.exercises.exercise import Exercise

# ---- softmax ----


def softmax(S):
    E = np.exp(S - S.max(axis=-1, keepdims=True))
    return E / E.sum(axis=-1, keepdims=True)


def _overflows(S):
    E = np.exp(S)
    return E / E.sum(axis=-1, keepdims=True)


def _one_maximum_for_all(S):
    E = np.exp(S - S.max())
    return E / E.sum(axis=-1, keepdims=True)


def _minimum_subtracted(S):
    E = np.exp(S - S.min(axis=-1, keepdims=True))
    return E / E.sum(axis=-1, keepdims=True)


def _mean_subtracted(S):
    E = np.exp(S - S.mean(axis=-1, keepdims=True))
    return E / E.sum(axis=-1, keepdims=True)


def _over_columns(S):
    E = np.exp(S - S.max(axis=-2, keepdims=True))
    return E / E.sum(axis=-2, keepdims=True)


def _over_everything(S):
    E = np.exp(S - S.max())
    return E / E.sum()


def _softmax_cases(rng):
    # float32 holds them exactly, with thousands added too
    def sixty_fourths(*shape):
        return np.round(rng.standard_normal(shape) * 64) / 64

    apart = np.array([1000.0, 999, 0, -1000, -999, 3, 2, 1, 5, -7, 11])
    return [
        (rng.standard_normal((5, 7)),),
        (rng.standard_normal((2, 3, 5)),),
        (
            sixty_fourths(5, 7)
            + np.array([[1000.0], [-1000.0], [0.0], [50.0], [-3000.0]]),
        ),
        # one maximum a matrix is not enough
        (
            sixty_fourths(2, 3, 7)
            + np.array([[1000.0], [-1000.0], [-3000.0]]),
        ),
        # far apart within a row
        (np.stack([apart, *(rng.permutation(apart) for _ in range(2))]),),
    ]


# ---- the gradient of a softmax ----


def jacobian(a):
    return np.diag(a) - np.outer(a, a)


def _jacobian_cases(rng):
    return [(softmax(rng.standard_normal(n)),) for n in (2, 5, 11)]


EXERCISES = [
    Exercise(
        "softmax",
        "03",
        1,
        "Write <code>softmax(S)</code> over the last axis. It must survive scores of a "
        "thousand, and rows that differ by thousands.",
        "Subtract something from every score of a row before you exponentiate. Which "
        "number makes overflow impossible, and may it be the same for all rows?",
        softmax,
        {
            "exp overflows on large scores: subtract the row's maximum "
            "first.": _overflows,
            "One maximum for all rows: a row far below it underflows to 0 / 0. Take "
            "each row's own (axis=-1, keepdims=True).": _one_maximum_for_all,
            "The minimum is subtracted: exp still overflows; subtract the row's "
            "maximum.": _minimum_subtracted,
            "The mean is subtracted: exp still overflows; subtract the row's "
            "maximum.": _mean_subtracted,
            "The columns sum to one, not the rows: use axis=-1.": _over_columns,
            "All entries together sum to one: sum along the last axis "
            "only.": _over_everything,
            "The largest entry of each row is one, but the rows do not sum to one: "
            "divide by the sum.": lambda S: np.exp(
                S - S.max(axis=-1, keepdims=True)
            ),
            "Scores are divided by their sum, with no exponential: they can be "
            "negative.": lambda S: S / S.sum(axis=-1, keepdims=True),
        },
        _softmax_cases,
    ),
    *attention.EXERCISES,
    Exercise(
        "softmax-jacobian",
        "03",
        4,
        r"Let \(a = \operatorname{softmax}(s)\). Write <code>jacobian(a)</code>: the "
        r"matrix of all \(\partial a_i / \partial s_j\), from \(a\) alone. What "
        r"becomes of it when one weight nears 1?",
        r"Start from \(\log a_i = s_i - \log \sum_k e^{s_k}\) and take the derivative "
        r"with respect to \(s_j\). The case \(i = j\) has one term more.",
        jacobian,
        {
            "Only a weight's own score counts here, but raising another score lowers "
            "it too: the rest is −a_i·a_j.": lambda a: np.diag(a * (1 - a)),
            "The diagonal misses its own term: add a_i where i = j.": lambda a: (
                -np.outer(a, a)
            ),
            "The normaliser depends on every score too: subtract a_i·a_j.": lambda a: (
                np.diag(a)
            ),
            "The sign is the wrong way round: raising a score raises its own "
            "weight.": lambda a: np.outer(a, a) - np.diag(a),
            "This is the diagonal alone, as a vector: the Jacobian is a "
            "matrix.": lambda a: a * (1 - a),
        },
        _jacobian_cases,
    ),
]
