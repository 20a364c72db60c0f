"""Chapter 14: answers as a reader might write them."""

import numpy as np

from tfbook.cost.communication import all_reduce
from tfbook.numpy import feed_forward


def by_channels(X, W_1, b_1, W_2, b_2, p):
    """Blocks by slices, and the sum begins at b_2."""
    n, Y = len(b_1) // p, np.broadcast_to(b_2, (len(X), len(b_2))).copy()
    for i in range(p):
        mine = slice(i * n, (i + 1) * n)
        Y += np.clip(X @ W_1[:, mine] + b_1[mine], 0, None) @ W_2[mine]
    return Y


def bias_in_the_loop(X, W_1, b_1, W_2, b_2, p):
    n = len(b_1) // p
    return sum(
        feed_forward(X, W_1[:, i : i + n], b_1[i : i + n], W_2[i : i + n], b_2)
        for i in range(0, n * p, n)
    )


def whole_first_bias(X, W_1, b_1, W_2, b_2, p):
    """Every process adds the whole b_1, so that only p = 1 works."""
    n = len(b_1) // p
    return (
        sum(
            np.maximum(X @ W_1[:, i : i + n] + b_1[:n], 0) @ W_2[i : i + n]
            for i in range(0, n * p, n)
        )
        + b_2
    )


def tokens_cut(X, W_1, b_1, W_2, b_2, p):
    """Each process takes some of the tokens, and what belongs side by side is
    summed.
    """
    return sum(
        feed_forward(x, W_1, b_1, W_2, b_2).sum(axis=0) for x in np.array_split(X, p)
    )


def handed_on(p):
    """The keys are moved, step by step."""
    keys, rows = list(range(p)), []
    for _ in range(p):
        rows.append([keys[rank] <= rank for rank in range(p)])
        keys = keys[-1:] + keys[:-1]
    return np.array(rows)


WRONG = {
    "split-network": [
        (bias_in_the_loop, "b_2 is added by every process"),
        (whole_first_bias, "Not yet"),
        (tokens_cut, "Not yet"),
        (
            lambda X, W_1, b_1, W_2, b_2, p: by_channels(X, W_1, b_1, W_2, 0 * b_2, p),
            "b_2 is missing",
        ),
        (
            lambda X, W_1, b_1, W_2, b_2, p: (X @ W_1 + b_1) @ W_2 + b_2,
            "activation is missing",
        ),
        (
            lambda X, W_1, b_1, W_2, b_2, p: by_channels(X, W_1, b_1, W_2 / p, b_2, p),
            "summed, not averaged",
        ),
    ],
    "ring-work": [
        (lambda p: handed_on(p).T, "Rows and columns are exchanged"),
        (
            lambda p: np.array(
                [[(r + s) % p <= r for r in range(p)] for s in range(p)]
            ),
            "go the other way",
        ),
        (
            lambda p: np.array([[(r - s) % p < r for r in range(p)] for s in range(p)]),
            "its own keys too",
        ),
        (lambda p: ~handed_on(p), "Not yet"),
        (lambda p: handed_on(p).astype(int), "Not yet"),
        (lambda p: np.tril(np.ones((p, p), bool)), "Rows and columns are exchanged"),
        (lambda p: handed_on(p).sum(axis=0), "Not yet"),
    ],
    "bytes-of-a-step": [
        (
            lambda B, T, d, p, L, size: L * 2 * all_reduce(B * T * d, p) * size,
            "This is half",
        ),
        (
            lambda B, T, d, p, L, size: L * 4 * all_reduce(B * T * d, p),
            "numbers, not bytes",
        ),
        (
            lambda B, T, d, p, L, size: L * 4 * (p - 1) * B * T * d // p * size,
            "This is half",
        ),
        (
            lambda B, T, d, p, L, size: L * 4 * (p - 1) * B * T * d * size,
            "does not send its whole tensor",
        ),
        (lambda B, T, d, p, L, size: 4 * all_reduce(B * T * d, p) * size, "one layer"),
        (
            lambda B, T, d, p, L, size: L * 4 * all_reduce(T * d, p) * size,
            "one sequence",
        ),
        (
            lambda B, T, d, p, L, size: L * all_reduce(12 * d * d, p) * size,
            "gradients of the parameters",
        ),
    ],
}
RIGHT = {
    "split-network": [
        by_channels,
        lambda X, W_1, b_1, W_2, b_2, p: feed_forward(X, W_1, b_1, W_2, b_2),
    ],
    "ring-work": [handed_on, lambda p: handed_on(p).tolist()],
    "bytes-of-a-step": [
        lambda B, T, d, p, L, size: 4 * L * size * all_reduce(B * T * d, p),
        lambda B, T, d, p, L, size: 8 * L * size * (p - 1) * (B * T * d // p),
    ],
}
