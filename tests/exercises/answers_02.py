"""Chapter 02: answers as a reader might write them."""

import numpy as np
from answers import exp_rows, in_float32, look, scaled, scores, soft

from tfbook.exercises import catalogue


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


WRONG = {
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
        (
            # one maximum for all places
            lambda x, X, y, h: exp_rows(s := -gap(x, X) / (2 * h * h), s.max()) @ y,
            "expected",
        ),
        (
            lambda x, X, y, h: (
                soft(-gap(x, X) / (2 * h * h)) @ y
                if gaussian(x, X, h).sum(axis=1).all()
                # the nearest point where all kernels are 0
                else y[gap(x, X).argmin(axis=1)]
            ),
            "expected",
        ),
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
}
RIGHT = {
    "soft-lookup": [
        lambda q, K, V, temperature: soft(K @ (q / temperature)) @ V,
        lambda q, K, V, temperature: sum(
            a * v for a, v in zip(soft(np.array([k @ q for k in K]) / temperature), V)
        ).tolist(),
        lambda q, K, V, temperature: (
            soft(in_float32(K)[0] @ in_float32(q)[0] / temperature) @ in_float32(V)[0]
        ),
    ],
    "kernel-regression": [
        lambda x, X, y, h: soft((x @ X.T - np.square(X).sum(axis=-1) / 2) / h**2) @ y,
        lambda x, X, y, h: [
            soft(np.array([-sum((a - b) ** 2) / (2 * h * h) for b in X])) @ y for a in x
        ],
    ],
    "cross-attention": [lambda X, C, W_Q, W_K, W_V: look(X @ W_Q, C @ W_K, C) @ W_V],
    "lookup-gradient": [
        lambda q, K, v, temperature: by_steps(
            lambda K: soft(K @ q / temperature) @ v, K
        ),
        lambda q, K, v, temperature: [
            a * (x - soft(K @ q / temperature) @ v) * q / temperature
            for a, x in zip(soft(K @ q / temperature), v)
        ],
    ],
}
