"""Chapter 07: answers as a reader might write them."""

import numpy as np
import torch

from tfbook.numpy import layer_norm_vjp, residual_vjp, rms_norm


def standard(X, axis=-1, ddof=0, eps=1e-5):
    return (X - np.mean(X, axis, keepdims=True)) / (
        np.var(X, axis, ddof=ddof, keepdims=True) + eps
    ) ** 0.5


def by_torch(X, gamma, beta, eps):
    X, gamma, beta = map(torch.tensor, (X, gamma, beta))
    # torch's var divides by d − 1
    return (X - X.mean(-1, keepdim=True)) / torch.sqrt(
        X.var(-1, keepdim=True) + eps
    ) * gamma + beta


def down(g, J, step):
    rows = [g]
    for l in range(len(J) - 1, -1, -1):
        rows.insert(0, step(rows[0], J[l]))
    return np.stack(rows)


def stack_by_vjp(g, J):
    return down(g, J, lambda g, M: residual_vjp(g, g, lambda dY, X: dY @ M))


WRONG = {
    "layer-norm": [
        (by_torch, "divided by d − 1"),
        (
            lambda X, gamma, beta, eps: gamma * standard(X, axis=-2, eps=eps) + beta,
            "runs over the tokens",
        ),
        (
            lambda X, gamma, beta, eps: (
                gamma * (X - X.mean()) / np.sqrt(X.var() + eps) + beta
            ),
            "whole array",
        ),
        (
            lambda X, gamma, beta, eps: (
                gamma
                * (X - X.mean(-1)[..., None])
                / (np.sqrt(X.var(-1)) + eps)[..., None]
                + beta
            ),
            "inside the root",
        ),
        (
            lambda X, gamma, beta, eps: gamma * standard(X, eps=0) + beta,
            "eps is not used",
        ),
        (
            lambda X, gamma, beta, eps: (
                gamma * (X - X.mean(-1)[..., None]) / (X.var(-1) + eps)[..., None]
                + beta
            ),
            "take its root",
        ),
        (lambda X, gamma, beta, eps: rms_norm(X, gamma, eps) + beta, "RMS"),
        (lambda X, gamma, beta, eps: gamma * standard(X) + beta, "eps is fixed"),
        (
            lambda X, gamma, beta, eps: gamma * (standard(X, eps=eps) + beta),
            "beta is scaled too",
        ),
        (
            lambda X, gamma, beta, eps: standard(X, eps=eps),
            "gamma and beta are not used",
        ),
    ],
    "pre-norm": [
        (
            lambda X, A, W: standard((Z := standard(X + A @ X)) + np.tanh(Z @ W)),
            "This is post-norm",
        ),
        (
            lambda X, A, W: (Z := X + A @ standard(X)) + np.tanh(Z @ W),
            "not normalised: norm(Z)",
        ),
        (
            lambda X, A, W: X + np.tanh(standard(X + A @ standard(X)) @ W),
            "start from Z",
        ),
        (
            lambda X, A, W: standard(
                (Z := X + A @ standard(X)) + np.tanh(standard(Z) @ W)
            ),
            "layer's answer",
        ),
        (
            lambda X, A, W: (Z := X + standard(A @ X)) + standard(np.tanh(Z @ W)),
            "after the function",
        ),
        (
            lambda X, A, W: (
                (Z := X + standard(A @ standard(X)))
                + standard(np.tanh(standard(Z) @ W))
            ),
            "sandwich",
        ),
        (lambda X, A, W: (Z := X + A @ X) + np.tanh(Z @ W), "Nothing is normalised"),
        (
            lambda X, A, W: (Z := X + A @ standard(X)) + standard(Z) @ W,
            "tanh of the network is missing",
        ),
        (
            lambda X, A, W: (
                (Z := X + A @ standard(X, ddof=1)) + np.tanh(standard(Z, ddof=1) @ W)
            ),
            "divided by d − 1",
        ),
        (
            lambda X, A, W: (
                (N := standard(X)) + (M := A @ N) + np.tanh(standard(N + M) @ W)
            ),
            "At [",
        ),
    ],
    "residual-gradients": [
        (lambda g, J: down(g, J, lambda g, M: g @ M), "direct path is missing"),
        (lambda g, J: np.tile(g, (len(J) + 1, 1)), "Only the direct path"),
        (lambda g, J: down(g, J, lambda g, M: g + M @ g), "transposed"),
        (lambda g, J: down(g, J[::-1], lambda g, M: g + g @ M), "bottom up"),
        (lambda g, J: down(g, J, lambda g, M: g + g @ M)[::-1], "top first"),
        (
            lambda g, J: down(g, J, lambda g, M: g + g @ M)[:-1],
            "gradient at the top is missing",
        ),
    ],
    "layer-norm-gradient": [
        (
            lambda dY, X, eps: dY / np.sqrt(X.var(-1, keepdims=True) + eps),
            "taken for constants",
        ),
        (
            lambda dY, X, eps: (
                (dY - dY.mean(-1, keepdims=True))
                / np.sqrt(X.var(-1, keepdims=True) + eps)
            ),
            "deviation is taken",
        ),
        (lambda dY, X, eps: standard(X, eps=eps), "forward pass"),
    ],
}
RIGHT = {
    "layer-norm": [
        lambda X, gamma, beta, eps: gamma * standard(X, eps=eps) + beta,
        lambda X, gamma, beta, eps: torch.nn.functional.layer_norm(
            torch.tensor(X), gamma.shape, torch.tensor(gamma), torch.tensor(beta), eps
        ),
    ],
    "pre-norm": [lambda X, A, W: (Z := X + A @ standard(X)) + np.tanh(standard(Z) @ W)],
    "residual-gradients": [stack_by_vjp],
    "layer-norm-gradient": [
        lambda dY, X, eps: layer_norm_vjp(
            dY, X, np.ones(X.shape[-1]), np.zeros(X.shape[-1]), eps
        )[0]
    ],
}
