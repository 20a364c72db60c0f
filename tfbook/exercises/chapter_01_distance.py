"""Exercises of chapter 01 on the way to the first token: how many layers it takes, and
what an RNN leaves of a gradient.
"""

import math

import numpy as np

from tfbook.exercises.exercise import Exercise

# ---- how many layers ----


def layers_needed(T, k):
    return math.ceil((T - 1) / (k - 1))


def _logarithm(T, k):
    layers = 0
    while k**layers < T:
        layers += 1
    return layers


def _layers_needed_cases(rng):
    return [
        (16, 3),
        (16, 2),
        (17, 5),
        (18, 5),
        (64, 3),
        (2, 7),
        (1, 3),
        (5, 5),
        (10, 4),
        (100, 12),
    ]


# ---- the gradient through an RNN ----


def rnn_jacobian(H, W_h):
    J = np.eye(len(W_h))
    for h in H:
        J = (1 - h**2)[:, None] * W_h.T @ J
    return J


def _chain(H, step, first=None, left=True):
    J = np.eye(H.shape[-1]) if first is None else first
    for h in H:
        J = step(h) @ J if left else J @ step(h)
    return J


def _slope(h):
    return np.diag(1 - h**2)


def _entry_by_entry(H, W_h):
    J = np.ones_like(W_h)
    for h in H:
        J = J * (_slope(h) @ W_h.T)
    return J


def _rnn_jacobian_cases(rng):
    sizes = (5, 3), (3, 2), (1, 7), (7, 5)
    return [
        (
            np.tanh(rng.standard_normal((T, d_h))),
            rng.standard_normal((d_h, d_h)) / d_h**0.5,
        )
        for T, d_h in sizes
    ]


EXERCISES = [
    Exercise(
        "layers-needed",
        "01",
        3,
        r"How many causal convolutions of kernel width \(k \ge 2\), without gaps, must "
        r"be stacked until the last of \(T\) outputs sees the first input? Write "
        r"<code>layers_needed(T, k)</code>, without a loop if you can.",
        "From the last position to the first it is T − 1 places. How many does one "
        "layer cover? And what if that does not come out even?",
        layers_needed,
        {
            "This lays kernels side by side. They overlap in one position: a layer "
            "covers k − 1 places, of T − 1.": lambda T, k: math.ceil(T / k),
            "Rounded down: where it does not come out even, one more layer is "
            "needed.": lambda T, k: (T - 1) // (k - 1),
            "One layer too many where k − 1 divides T − 1: from position T to position "
            "1 it is T − 1 places, not T.": lambda T, k: math.ceil(
                T / (k - 1)
            ),
            "A kernel of width k reaches k − 1 places back, not k.": lambda T, k: (
                math.ceil((T - 1) / k)
            ),
            "That is the number of places; a layer covers k − 1 of them at "
            "once.": lambda T, k: T - 1,
            "This is for gaps that grow from layer to layer (dilated "
            "convolutions).": _logarithm,
        },
        _layers_needed_cases,
    ),
    Exercise(
        "rnn-jacobian",
        "01",
        4,
        r"The states \(h_1, \dots, h_T\) of a plain RNN are given as the rows of "
        r"\(H\), with \(h_t = \tanh(x_t W_x + h_{t-1} W_h + b)\). Write "
        r"<code>rnn_jacobian(H, W_h)</code>: the matrix of all \(\partial h_{T,i} / "
        r"\partial h_{0,j}\), a row for each \(i\). When must it "
        r"shrink as \(T\) grows, and when may it grow?",
        r"One step first: \(\partial h_{t,i} / \partial h_{t-1,j} = (1 - h_{t,i}^2)\, "
        r"W_h[j, i]\), since \(\tanh' = 1 - \tanh^2\). The chain rule multiplies the "
        r"steps as matrices; the latest stands on the left.",
        rnn_jacobian,
        {
            "The slope of the tanh is missing: each step also multiplies by 1 − "
            "h².": lambda H, W_h: _chain(H, lambda h: W_h.T),
            "W_h is missing: each step also multiplies by it.": lambda H, W_h: (
                _chain(H, _slope)
            ),
            "The slope of tanh is 1 − h², not 1 − h.": lambda H, W_h: _chain(
                H, lambda h: np.diag(1 - h) @ W_h.T
            ),
            "H holds states, after the tanh: the slope is 1 − h², not 1 − "
            "tanh(h)².": lambda H, W_h: _chain(
                H, lambda h: np.diag(1 - np.tanh(h) ** 2) @ W_h.T
            ),
            "W_h has to be transposed: state j reaches state i through W_h[j, i], and "
            "i is the row here.": lambda H, W_h: _chain(
                H, lambda h: _slope(h) @ W_h
            ),
            "The answer is transposed: a row for each entry of the last "
            "state.": lambda H, W_h: rnn_jacobian(H, W_h).T,
            "The steps are multiplied in the wrong order: the latest stands on the "
            "left.": lambda H, W_h: _chain(
                H, lambda h: _slope(h) @ W_h.T, left=False
            ),
            "This is the last step alone. The chain has T of them.": lambda H, W_h: (
                _slope(H[-1]) @ W_h.T
            ),
            "One step is missing: the first state depends on h₀ too.": lambda H, W_h: (
                _chain(H[1:], lambda h: _slope(h) @ W_h.T)
            ),
            "The slope belongs to the state that a step makes: it multiplies rows, on "
            "the left of W_hᵀ.": lambda H, W_h: _chain(
                H, lambda h: W_h.T @ _slope(h)
            ),
            "Steps of a chain multiply; these are added.": lambda H, W_h: sum(
                _slope(h) @ W_h.T for h in H
            ),
            "The steps are multiplied entry by entry: they are matrices, and multiply "
            "as such.": _entry_by_entry,
        },
        _rnn_jacobian_cases,
    ),
]
