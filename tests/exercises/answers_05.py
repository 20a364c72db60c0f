"""Chapter 05: answers as a reader might write them."""

import numpy as np

from tfbook.numpy import attention_weights, rotary, scaled_dot_product_attention


def angles(T, d, start=0, base=1e4, step=2):
    """Of a position and a pair, (T, pairs)."""
    return np.outer(
        np.arange(start, start + T), base ** -(np.arange(0, d, 2) * step / 2 / d)
    )


def interleaved(even, odd, d):
    P = np.empty((len(even), d))
    P[:, 0::2], P[:, 1::2] = even, odd[:, : d // 2]
    return P


def waves(T, d, **options):
    A = angles(T, d, **options)
    return interleaved(np.sin(A), np.cos(A), d)


def attend(q, k, v, scale=None):
    return attention_weights(q, k, scale=scale) @ v


def at(Q, K):
    """Where the queries stand."""
    return len(K) - len(Q) + np.arange(len(Q))


def slopes(H, power):
    return np.array([2.0 ** power(h) for h in range(1, H + 1)])[:, None, None]


def distance(T, T_k, first=None):
    return np.abs(
        np.subtract.outer(
            np.arange(T) + (T_k - T if first is None else first), np.arange(T_k)
        )
    )


def turn(angle, sign=1):
    return np.array(
        [[np.cos(angle), sign * np.sin(angle)], [-sign * np.sin(angle), np.cos(angle)]]
    )


def blocks(parts):
    R = np.zeros((2 * len(parts), 2 * len(parts)))
    for i, part in enumerate(parts):
        R[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = part
    return R


def speeds(d):
    return [1e4 ** (-2 * i / d) for i in range(d // 2)]


def permutation(order):
    return np.eye(len(order))[order]


WRONG = {
    "equivariance-gap": [
        (
            lambda X, order, f: np.max(np.abs(f(permutation(order) @ X) - f(X))),
            "measures invariance",
        ),
        (
            lambda X, order, f: np.max(
                np.abs(f(permutation(order) @ X) - permutation(order).T @ f(X))
            ),
            "other way round",
        ),
        (
            lambda X, order, f: np.max(np.abs(f(X) - permutation(order) @ f(X))),
            "never permuted",
        ),
        (lambda X, order, f: np.max(f(X[order]) - f(X)[order]), "absolute value"),
        (
            lambda X, order, f: np.mean(np.abs(f(X[order]) - f(X)[order])),
            "mean of the entries",
        ),
        (
            lambda X, order, f: np.sqrt(np.sum((f(X[order]) - f(X)[order]) ** 2)),
            "norm of the whole difference",
        ),
        (
            lambda X, order, f: np.max(
                np.abs(f(permutation(order).T @ X) - permutation(order).T @ f(X))
            ),
            "inverse of the one asked for",
        ),
    ],
    "sinusoidal-positions": [
        (
            lambda T, d: np.hstack(
                [np.sin(angles(T, d)), np.cos(angles(T, d))[:, : d // 2]]
            ),
            "All sines come first",
        ),
        (lambda T, d: waves(T, d, base=1e3), "base is 1000"),
        (lambda T, d: waves(T, d, base=1e2), "as if the base were 100"),
        (lambda T, d: waves(T, d, step=1), "as if the base were 100"),
        (lambda T, d: waves(T, d, start=1), "count from 0"),
        (
            lambda T, d: interleaved(np.cos(angles(T, d)), np.sin(angles(T, d)), d),
            "exchanged: position 0",
        ),
        (lambda T, d: waves(T, d, base=1e-4), "divide, so that the waves grow longer"),
        (lambda T, d: waves(T, d).T, "Rows and columns"),
        (
            lambda T, d: np.pad(waves(T, d)[:, : d - d % 2], ((0, 0), (0, d % 2))),
            "last channel stays 0",
        ),
        (lambda T, d: waves(T, d)[:, : d - d % 2], "last channel is missing"),
        (lambda T, d: waves(T, d + d % 2)[:, :d], "Made for d + 1 channels"),
    ],
    "alibi-bias": [
        (
            lambda H, T, T_k: slopes(H, lambda h: -8 * h / H) * distance(T, T_k),
            "wrong way round",
        ),
        (
            lambda H, T, T_k: -slopes(H, lambda h: -h) * distance(T, T_k),
            "slopes are those of 8 heads",
        ),
        (
            lambda H, T, T_k: -slopes(H, lambda h: -8 * (h - 1) / H) * distance(T, T_k),
            "counted from 0",
        ),
        (
            lambda H, T, T_k: (
                -slopes(H, lambda h: -8 * (H + 1 - h) / H) * distance(T, T_k)
            ),
            "opposite order",
        ),
        (
            lambda H, T, T_k: (
                -slopes(H, lambda h: -8 * h / H) * distance(T, T_k, first=0)
            ),
            "aligned with the first key",
        ),
        (
            lambda H, T, T_k: -slopes(H, lambda h: -8 * h / H) * distance(T, T_k) ** 2,
            "squared",
        ),
    ],
    "rotary-attention": [
        (
            lambda Q, K, V: attend(rotary(Q, at(Q, K)), rotary(K), rotary(V)),
            "values are turned",
        ),
        (lambda Q, K, V: attend(rotary(Q, at(Q, K)), K, V), "Only the queries"),
        (lambda Q, K, V: attend(Q, rotary(K), V), "Only the keys"),
        (lambda Q, K, V: attend(Q, K, V), "Nothing is turned"),
        (
            lambda Q, K, V: attend(
                rotary(Q, np.full(len(Q), len(K) - 1)), rotary(K), V
            ),
            "All queries are put at the last key",
        ),
        (lambda Q, K, V: rotary(attend(Q, K, V), at(Q, K)), "answers are turned"),
        (
            lambda Q, K, V: attend(rotary(Q), rotary(K), V),
            "first query is put at the first key",
        ),
        (
            lambda Q, K, V: attend(
                rotary(Q, at(Q, K)), rotary(K, -np.arange(len(K))), V
            ),
            "opposite directions",
        ),
        (
            lambda Q, K, V: attend(rotary(Q, at(Q, K)), rotary(K), V, scale=1.0),
            "scale is missing",
        ),
        (
            lambda Q, K, V: attend(
                Q + waves(len(K), 1 * K.shape[1])[at(Q, K)], K + waves(*K.shape), V
            ),
            "Sinusoids are added",
        ),
    ],
    "shift-of-positions": [
        (lambda k, d: blocks([turn(k * w, -1) for w in speeds(d)]), "k positions back"),
        (
            lambda k, d: blocks(
                [
                    [[np.cos(k * w), np.sin(k * w)], [np.sin(k * w), np.cos(k * w)]]
                    for w in speeds(d)
                ]
            ),
            "same sign",
        ),
        (lambda k, d: blocks([turn(k)] * (d // 2)), "All pairs turn by k"),
        (lambda k, d: blocks([turn(k * w**0.5) for w in speeds(d)]), "exponent is i/d"),
        (lambda k, d: blocks([turn(w) for w in speeds(d)]), "shift by one position"),
        (
            lambda k, d: (
                np.kron(np.eye(d // 2), np.ones((2, 2)))
                * np.diag(np.repeat([np.cos(k * w) for w in speeds(d)], 2))
            ),
            "diagonal",
        ),
    ],
}
RIGHT = {
    "equivariance-gap": [
        lambda X, order, f: np.linalg.norm(
            (f(permutation(order) @ X) - permutation(order) @ f(X)).ravel(), np.inf
        )
    ],
    "sinusoidal-positions": [waves, lambda T, d: waves(T, d).astype(np.float32)],
    "alibi-bias": [
        lambda H, T, T_k: -slopes(H, lambda h: -8 * h / H) * distance(T, T_k)
    ],
    "rotary-attention": [
        lambda Q, K, V: attend(rotary(Q, at(Q, K)), rotary(K), V),
        # from another origin
        lambda Q, K, V: scaled_dot_product_attention(
            rotary(Q), rotary(K, np.arange(len(K)) - (len(K) - len(Q))), V
        ),
    ],
    "shift-of-positions": [lambda k, d: blocks([turn(k * w) for w in speeds(d)])],
}
