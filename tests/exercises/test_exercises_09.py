"""Exercises of chapter 09: wrong answers written anew, as a reader might, and right
ones written another way.
"""

import numpy as np
import pytest
from answers import expect_refused

from tfbook.exercises import catalogue, check


def soft(S):
    E = np.exp(S)
    return E / E.sum(axis=-1)[..., None]


def ffn(Z, a, b, c, e):
    H = Z @ a + b
    return np.where(H > 0, H, 0) @ c + e


def slope(f, X, dY):
    """The gradient of (dY * f(X)).sum() by central differences."""
    dX = np.zeros_like(X)
    for place in np.ndindex(X.shape):
        step = np.zeros_like(X)
        step[place] = 1e-6
        dX[place] = (dY * (f(X + step) - f(X - step))).sum() / 2e-6
    return dX


def weights(Q, K):
    return soft(Q @ np.moveaxis(K, -1, -2) / Q.shape[-1] ** 0.5)


def by_jacobian(dA, Q, K, V):
    """Query by query, with the whole Jacobian of its softmax."""
    dQ = np.zeros_like(Q)
    for *leading, t in np.ndindex(Q.shape[:-1]):
        q, k, v = Q[(*leading, t)], K[tuple(leading)], V[tuple(leading)]
        a = weights(q[None], k)[0]
        dQ[(*leading, t)] = (
            k.T @ (np.diag(a) - np.outer(a, a)) @ v @ dA[(*leading, t)] / len(q) ** 0.5
        )
    return dQ


def softmax_as_sigmoid(dA, Q, K, V):
    a, d = weights(Q, K), dA @ np.moveaxis(V, -1, -2)
    return (a - a**2) * d @ K / Q.shape[-1] ** 0.5


def centred(dA, Q, K, V):
    a, d = weights(Q, K), dA @ np.moveaxis(V, -1, -2)
    return a * (d - np.average(d, axis=-1)[..., None]) @ K / Q.shape[-1] ** 0.5


WRONG = [
    (
        "network-gradient",
        lambda dY, Z, a, b, c, e: ((Z @ a + b > 0) * (dY @ c.T)) @ a.T,
        "way around is missing",
    ),
    (
        "network-gradient",
        lambda dY, Z, a, b, c, e: dY + dY @ (a @ c).T,
        "ReLU is forgotten",
    ),
    (
        "network-gradient",
        lambda dY, Z, a, b, c, e: dY + (np.sign(Z @ a).clip(0) * (dY @ c.T)) @ a.T,
        "depends on b_1",
    ),
    (
        "network-gradient",
        lambda dY, Z, a, b, c, e: dY + (Z @ a + b).clip(0) * (dY @ c.T) @ a.T,
        "slope there is 1",
    ),
    ("network-gradient", lambda dY, Z, a, b, c, e: 2 * dY, "Not yet"),
    ("network-gradient", lambda dY, Z, a, b, c, e: dY.copy(), "Only the way around"),
    ("query-gradient", softmax_as_sigmoid, "own weight alone"),
    ("query-gradient", centred, "plain one"),
    (
        "query-gradient",
        lambda dA, Q, K, V: by_jacobian(dA, Q, K, V) * Q.shape[-1] ** 0.5,
        "scale is missing on the way back",
    ),
    (
        "query-gradient",
        lambda dA, Q, K, V: (
            weights(Q, K) * (dA @ np.moveaxis(V, -1, -2)) @ K / Q.shape[-1] ** 0.5
        ),
        "weighted mean of dα",
    ),
    (
        "query-gradient",
        lambda dA, Q, K, V: np.einsum("...tk,...td->...kd", weights(Q, K), dA),
        "gradient of the values",
    ),
]
RIGHT = [
    (
        "network-gradient",
        lambda dY, Z, a, b, c, e: dY + np.where(Z @ a + b > 0, dY @ c.T, 0) @ a.T,
    ),
    ("query-gradient", by_jacobian),
]


@pytest.mark.parametrize(("name", "answer", "words"), WRONG)
def test_a_wrong_answer_written_anew_is_named(name, answer, words):
    expect_refused(name, answer, words)


@pytest.mark.parametrize(("name", "answer"), RIGHT)
def test_a_right_answer_written_another_way_passes(name, answer):
    assert check(name, answer)


def test_the_solutions_are_gradients():
    rng = np.random.default_rng(5)
    dY, Z, *P = (
        rng.standard_normal(shape)
        for shape in ((3, 4), (3, 4), (4, 6), (6,), (6, 4), (4,))
    )
    solutions = {name: entry.solution for name, entry in catalogue().items()}
    np.testing.assert_allclose(
        solutions["network-gradient"](dY, Z, *P),
        slope(lambda Z: Z + ffn(Z, *P), Z, dY),
        atol=1e-6,
    )
    dA, Q, K, V = (
        rng.standard_normal(shape) for shape in ((3, 2), (3, 4), (5, 4), (5, 2))
    )
    np.testing.assert_allclose(
        solutions["query-gradient"](dA, Q, K, V),
        slope(lambda Q: weights(Q, K) @ V, Q, dA),
        atol=1e-6,
    )
