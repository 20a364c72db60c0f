"""Chapter 03: answers as a reader might write them."""

import numpy as np
from answers import exp_rows, in_float32, scaled, scores, soft


def hide(S, mask, value=-np.inf):
    S = S.copy()
    S[..., ~mask] = value
    return S


def by_loop(T, T_k, sees):
    return np.array([[sees(t, j) for j in range(T_k)] for t in range(T)])


def bias(value):
    return lambda T, T_k: np.triu(np.full((T, T_k), value), k=T_k - T + 1)


def attention_in_float32(Q, K, V, mask):
    Q, K, V = in_float32(Q, K, V)
    Y = soft(hide(scaled(Q, K), mask)) @ V
    assert Y.dtype == np.float32
    return Y


WRONG = {
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
RIGHT = {
    "softmax": [lambda S: soft(S), lambda S: soft(*in_float32(S))],
    "scaled-dot-product-attention": [
        attention_in_float32,
        lambda Q, K, V, mask: soft(hide(scaled(Q, K), mask)) @ V,
        lambda Q, K, V, mask: soft(hide(scaled(Q, K), mask, -1e9)) @ V,
    ],
    "causal-mask": [lambda T, T_k: by_loop(T, T_k, lambda t, j: j <= t + T_k - T)],
    "softmax-jacobian": [
        lambda a: (np.eye(len(a)) - a) * a[:, None],
        lambda a: np.diag(*in_float32(a)) - np.outer(*in_float32(a, a)),
    ],
}
