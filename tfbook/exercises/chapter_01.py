"""Exercises of chapter 01: what convolutions see and what an RNN does; those on the way
to the first token are in the file beside.
"""

import math

import numpy as np

from tfbook.exercises import chapter_01_distance as distance
from tfbook.exercises.exercise import Exercise

# ---- the receptive field of a stack of convolutions ----


def receptive_field(widths, gaps):
    reach = sum((k - 1) * gap for k, gap in zip(widths, gaps))
    return reach + 1


def _gaps_multiply_up(widths, gaps):
    seen, step = 1, 1
    for k, gap in zip(widths, gaps):
        step *= gap
        seen += (k - 1) * step
    return seen


def _receptive_field_cases(rng):
    return [
        ([3], [1]),
        ([3, 3, 3], [1, 1, 1]),
        ([2, 5, 3], [1, 1, 1]),
        ([2, 2, 2, 2], [1, 2, 4, 8]),
        ([3, 5, 2], [7, 2, 3]),
        ([1, 4], [5, 2]),
    ]


# ---- run an RNN ----


def rnn(X, W_x, W_h, b):
    h = np.zeros(W_h.shape[0])
    states = []
    for x in X:
        h = np.tanh(x @ W_x + h @ W_h + b)
        states.append(h)
    return np.array(states)


def _run(X, W_x, W_h, b, step, start=None):
    h, states = np.zeros(len(W_h)) if start is None else start, []
    for x in X:
        h = step(x, h)
        states.append(h)
    return np.array(states)


def _rnn_cases(rng):
    return [
        tuple(
            rng.standard_normal(shape) / shape[-1] ** 0.5
            for shape in ((T, d), (d, d_h), (d_h, d_h), (d_h,))
        )
        for T, d, d_h in ((7, 5, 3), (11, 2, 5), (1, 3, 2))
    ]


EXERCISES = [
    Exercise(
        "receptive-field",
        "01",
        2,
        r"A stack of causal convolutions: layer \(l\) has kernel width "
        r"<code>widths[l]</code> and looks at every <code>gaps[l]</code>-th position "
        r"before it (1: all neighbours). Write <code>receptive_field(widths, "
        r"gaps)</code>: how many positions lie between the earliest input that an "
        r"output can see and the output's own, both included.",
        "How much further back does one layer of width 3 reach? And one of width 3 "
        "with gap 2? A stack adds these up.",
        receptive_field,
        {
            "This is how far the output reaches back; the position itself is missing: "
            "add 1.": lambda widths, gaps: sum(
                (k - 1) * gap for k, gap in zip(widths, gaps)
            ),
            "The widths are added. A layer of width k reaches k − 1 further back, and "
            "one position is the output's own.": lambda widths, gaps: sum(
                k * gap for k, gap in zip(widths, gaps)
            ),
            "A layer of width k reaches k − 1 positions further back, not k: the first "
            "of them is where it stands.": lambda widths, gaps: (
                sum(k * gap for k, gap in zip(widths, gaps)) + 1
            ),
            "The widths are multiplied: neighbours overlap, so that reaches add "
            "up.": lambda widths, gaps: math.prod(widths),
            "The gaps are not used: a layer with gap g reaches (k − 1)·g further "
            "back.": lambda widths, gaps: sum(k - 1 for k in widths) + 1,
            "A gap of 1 means that no position is left out: steps are gap long, not "
            "gap + 1.": lambda widths, gaps: (
                sum((k - 1) * (gap + 1) for k, gap in zip(widths, gaps)) + 1
            ),
            "Each layer has its own gap: multiply layer by layer, then "
            "add.": lambda widths, gaps: (
                sum(k - 1 for k in widths) * sum(gaps) + 1
            ),
            "This is what the last layer sees of the layer below it, not what the "
            "stack sees of the input.": lambda widths, gaps: (
                (widths[-1] - 1) * gaps[-1] + 1
            ),
            "This is the widest layer alone. The reaches of all layers add "
            "up.": lambda widths, gaps: max(
                (k - 1) * gap + 1 for k, gap in zip(widths, gaps)
            ),
            "The gaps multiply up here, as strides do. A gap counts positions of the "
            "input.": _gaps_multiply_up,
        },
        _receptive_field_cases,
    ),
    Exercise(
        "run-an-rnn",
        "01",
        2,
        r"Write <code>rnn(X, W_x, W_h, b)</code> for one sequence \(X\) of shape (T, "
        r"d): \(h_t = \tanh(x_t W_x + h_{t-1} W_h + b)\) with \(h_0 = 0\). Return all "
        r"states \(h_1, \dots, h_T\), an array of shape (T, d_h).",
        "One variable holds the state. Each turn of the loop makes the new one from "
        "it, and a list keeps them all.",
        rnn,
        {
            "No state is carried: every output comes from its own token alone. Where "
            "is h W_h?": lambda X, W_x, W_h, b: np.tanh(X @ W_x + b),
            "This is the last state alone: keep the state after each "
            "token.": lambda X, W_x, W_h, b: rnn(X, W_x, W_h, b)[-1],
            "The tanh is missing: without it, the state can grow without "
            "bound.": lambda X, W_x, W_h, b: _run(
                X, W_x, W_h, b, lambda x, h: x @ W_x + h @ W_h + b
            ),
            "The bias b is missing.": lambda X, W_x, W_h, b: rnn(
                X, W_x, W_h, 0 * b
            ),
            "W_h is transposed: the state is a row, and stands on the left of "
            "W_h.": lambda X, W_x, W_h, b: rnn(X, W_x, W_h.T, b),
            "The sequence is read from its end.": lambda X, W_x, W_h, b: rnn(
                X[::-1], W_x, W_h, b
            )[::-1],
            "The old state is added outside the tanh; it belongs "
            "inside.": lambda X, W_x, W_h, b: _run(
                X, W_x, W_h, b, lambda x, h: np.tanh(x @ W_x + b) + h @ W_h
            ),
            "The state begins with ones: h₀ is zero.": lambda X, W_x, W_h, b: (
                _run(
                    X,
                    W_x,
                    W_h,
                    b,
                    lambda x, h: np.tanh(x @ W_x + h @ W_h + b),
                    start=np.ones(len(W_h)),
                )
            ),
            "Each state is stored before its token is read: store it "
            "after.": lambda X, W_x, W_h, b: np.concatenate(
                [np.zeros((1, len(W_h))), rnn(X, W_x, W_h, b)[:-1]]
            ),
            "The state before the first token is returned too: the states asked for "
            "are h₁ to h_T.": lambda X, W_x, W_h, b: np.concatenate(
                [np.zeros((1, len(W_h))), rnn(X, W_x, W_h, b)]
            ),
            "The new state is added to the old one: it replaces "
            "it.": lambda X, W_x, W_h, b: _run(
                X,
                W_x,
                W_h,
                b,
                lambda x, h: h + np.tanh(x @ W_x + h @ W_h + b),
            ),
        },
        _rnn_cases,
    ),
    *distance.EXERCISES,
]
