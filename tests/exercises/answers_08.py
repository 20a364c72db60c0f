"""Chapter 08: answers as a reader might write them."""

import numpy as np
from answers import ffn, soft


def norm(x, eps=1e-5):
    d = x.shape[-1]
    m = x.sum(-1)[..., None] / d
    v = ((x - m) ** 2).sum(-1)[..., None] / d
    return (x - m) * (v + eps) ** -0.5


def attend(X, q, k, v, scale=True):
    S = np.einsum("...id,...jd->...ij", X @ q, X @ k)
    return soft(S / q.shape[1] ** 0.5 if scale else S) @ X @ v


def post(X, q, k, v, *network):
    Z = norm(X + attend(X, q, k, v))
    return norm(Z + ffn(Z, *network))


def in_loops(X, q, k, v, *network):
    Z = norm(X + attend(X, q, k, v))
    F = np.empty_like(Z)
    for index in np.ndindex(Z.shape[:-1]):
        F[index] = ffn(Z[index], *network)
    return norm(Z + F)


def pre(X, q, k, v, *network):
    X = X + attend(norm(X), q, k, v)
    return X + ffn(norm(X), *network)


def residual_of_the_input(X, q, k, v, *network):
    Z = norm(X + attend(X, q, k, v))
    return norm(ffn(Z, *network) + X)


def no_residual_at_the_end(X, q, k, v, *network):
    return norm(ffn(norm(X + attend(X, q, k, v)), *network))


def norm_of_the_change(X, q, k, v, *network):
    Z = X + norm(attend(X, q, k, v))
    return Z + norm(ffn(Z, *network))


def linear(X, q, k, v, a, b, c, e):
    Z = norm(X + attend(X, q, k, v))
    return norm(Z + (Z @ a + b) @ c + e)


def another_epsilon(X, q, k, v, *network):
    Z = norm(X + attend(X, q, k, v), 1e-6)
    return norm(Z + ffn(Z, *network), 1e-6)


WRONG = {
    "one-layer": [
        (pre, "pre-norm"),
        (residual_of_the_input, "second residual adds X"),
        (no_residual_at_the_end, "second residual is missing"),
        (norm_of_the_change, "add first, then normalise"),
        (linear, "ReLU is forgotten"),
        (another_epsilon, "Not yet"),
        (
            lambda X, q, k, v, *n: norm(
                (Z := norm(X + attend(X, q, k, v, scale=False))) + ffn(Z, *n)
            ),
            "not divided by √d_k",
        ),
        (
            lambda X, q, k, v, *n: norm((Z := X + attend(X, q, k, v)) + ffn(Z, *n)),
            "first norm is missing",
        ),
        (
            lambda X, q, k, v, *n: (Z := norm(X + attend(X, q, k, v))) + ffn(Z, *n),
            "second norm is missing",
        ),
        (
            lambda X, q, k, v, *n: post(X, q * (q.shape[1] / len(q)) ** 0.5, k, v, *n),
            "divided by √d:",
        ),
        (
            lambda X, q, k, v, *n: post(X, q / q.shape[1] ** 0.5, k, v, *n),
            "divided by d_k: divide by its root",
        ),
        (lambda X, q, k, v, *n: X, "Not yet"),
    ],
    "layer-parameters": [
        (
            lambda d, d_ff, H, H_kv: 4 * d * d + 2 * d * d_ff + d_ff + 5 * d,
            "H_kv heads, not H",
        ),
        (
            lambda d, d_ff, H, H_kv: 2 * d * d * (1 + H_kv / H) + 2 * d * d_ff,
            "only the matrices",
        ),
        (
            lambda d, d_ff, H, H_kv: (
                2 * d * d * (1 + H_kv / H) + 2 * d * d_ff + d_ff + d
            ),
            "norms are forgotten",
        ),
        (
            lambda d, d_ff, H, H_kv: 2 * d * d * (1 + H_kv / H) + 2 * d * d_ff + 4 * d,
            "biases of the network",
        ),
        (lambda d, d_ff, H, H_kv: 12 * d * d, "Not yet"),
    ],
}
RIGHT = {
    "one-layer": [post, in_loops],
    "layer-parameters": [
        lambda d, d_ff, H, H_kv: (
            2 * d * d + 2 * d * d * H_kv // H + 2 * d * d_ff + d_ff + 5 * d
        )
    ],
}
