"""Chapter 01: answers as a reader might write them."""

import numpy as np

from tfbook import cost


def states(X, step, h):
    return np.stack([h := step(x, h) for x in X])


def product(factors):
    J = np.eye(len(factors[0]))
    for factor in factors:
        J = factor @ J
    return J


def steps(H, W_h):
    return [np.diag(1 - h * h) @ W_h.T for h in H]


def zero(W_h):
    return np.zeros(W_h.shape[1])


WRONG = {
    "receptive-field": [
        (
            lambda widths, gaps: int(np.dot(np.array(widths) - 1, gaps)),
            "position itself is missing",
        ),
        (lambda widths, gaps: int(np.dot(widths, gaps)), "widths are added"),
        (lambda widths, gaps: 1 + int(np.dot(widths, gaps)), "not k"),
        (lambda widths, gaps: int(np.prod(widths)), "widths are multiplied"),
        (lambda widths, gaps: sum(widths) - len(widths) + 1, "gaps are not used"),
        (
            lambda widths, gaps: 1 + (sum(widths) - len(widths)) * sum(gaps),
            "Each layer has its own gap",
        ),
        (lambda widths, gaps: 1 + gaps[-1] * (widths[-1] - 1), "last layer sees"),
        (
            lambda widths, gaps: (
                1 + int(np.dot(np.array(widths) - 1, np.cumprod(gaps)))
            ),
            "gaps multiply up",
        ),
        (lambda widths, gaps: 3, "Expected"),
    ],
    "run-an-rnn": [
        (lambda X, W_x, W_h, b: np.tanh(b + X @ W_x), "No state is carried"),
        (
            lambda X, W_x, W_h, b: states(
                X, lambda x, h: np.tanh(x @ W_x + h @ W_h + b), zero(W_h)
            )[-1],
            "last state alone",
        ),
        (
            lambda X, W_x, W_h, b: states(
                X, lambda x, h: x @ W_x + h @ W_h + b, zero(W_h)
            ),
            "tanh is missing",
        ),
        (
            lambda X, W_x, W_h, b: states(
                X, lambda x, h: np.tanh(x @ W_x + h @ W_h), zero(W_h)
            ),
            "bias b is missing",
        ),
        (
            lambda X, W_x, W_h, b: states(
                X, lambda x, h: np.tanh(x @ W_x + W_h @ h + b), zero(W_h)
            ),
            "W_h is transposed",
        ),
        (
            lambda X, W_x, W_h, b: states(
                X[::-1], lambda x, h: np.tanh(x @ W_x + h @ W_h + b), zero(W_h)
            )[::-1],
            "from its end",
        ),
        (
            lambda X, W_x, W_h, b: states(
                X, lambda x, h: h @ W_h + np.tanh(x @ W_x + b), zero(W_h)
            ),
            "outside the tanh",
        ),
        (
            lambda X, W_x, W_h, b: states(
                X, lambda x, h: np.tanh(x @ W_x + h @ W_h + b), zero(W_h) + 1
            ),
            "begins with ones",
        ),
        (
            lambda X, W_x, W_h, b: states(
                X, lambda x, h: h + np.tanh(x @ W_x + h @ W_h + b), zero(W_h)
            ),
            "added to the old one",
        ),
        (
            lambda X, W_x, W_h, b: states(
                X, lambda x, h: 1 / (1 + np.exp(-x @ W_x - h @ W_h - b)), zero(W_h)
            ),
            "expected",
        ),
    ],
    "layers-needed": [
        (lambda T, k: -(-T // k), "lays kernels side by side"),
        (lambda T, k: int((T - 1) / (k - 1)), "Rounded down"),
        (lambda T, k: -(-T // (k - 1)), "One layer too many"),
        (lambda T, k: -(-(T - 1) // k), "not k"),
        (lambda T, k: T - 1, "number of places"),
        (lambda T, k: int(np.ceil(np.round(np.log(T) / np.log(k), 9))), "dilated"),
        (lambda T, k: (T - 1) / (k - 1), "Expected"),
        (lambda T, k: round((T - 1) / (k - 1)), "Expected"),
    ],
    "rnn-jacobian": [
        (
            lambda H, W_h: np.linalg.matrix_power(W_h.T, len(H)),
            "slope of the tanh is missing",
        ),
        (lambda H, W_h: np.diag(np.prod(1 - H**2, axis=0)), "W_h is missing"),
        (lambda H, W_h: product([np.diag(1 - h) @ W_h.T for h in H]), "not 1 − h."),
        (
            lambda H, W_h: product([np.diag(1 / np.cosh(h) ** 2) @ W_h.T for h in H]),
            "not 1 − tanh(h)²",
        ),
        (
            lambda H, W_h: product([np.diag(1 - h**2) @ W_h for h in H]),
            "has to be transposed",
        ),
        (lambda H, W_h: product(steps(H, W_h)).T, "answer is transposed"),
        (lambda H, W_h: product(steps(H, W_h)[::-1]), "wrong order"),
        (lambda H, W_h: steps(H, W_h)[-1], "last step alone"),
        (
            lambda H, W_h: product([np.eye(len(W_h)), *steps(H, W_h)[1:]]),
            "One step is missing",
        ),
        (
            lambda H, W_h: product([W_h.T * (1 - h**2) for h in H]),
            "on the left of W_hᵀ",
        ),
        (lambda H, W_h: np.sum(steps(H, W_h), axis=0), "these are added"),
        (lambda H, W_h: np.prod(steps(H, W_h), axis=0), "entry by entry"),
    ],
}
RIGHT = {
    "receptive-field": [
        lambda widths, gaps: 1 + int(np.dot(np.array(widths) - 1, gaps))
    ],
    "run-an-rnn": [
        lambda X, W_x, W_h, b: [
            h
            for h in states(
                X, lambda x, h: np.tanh(x @ W_x + h @ W_h + b), np.zeros(len(b))
            )
        ]
    ],
    "layers-needed": [
        lambda T, k: next(n for n in range(T) if 1 + n * (k - 1) >= T),
        lambda T, k: cost.conv(T, 1, k).path_length,
    ],
    "rnn-jacobian": [lambda H, W_h: product([(W_h * (1 - h**2)).T for h in H])],
}
