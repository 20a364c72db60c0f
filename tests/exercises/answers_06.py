"""Chapter 06: answers as a reader might write them."""

import math

import numpy as np
import torch
from torch.nn import functional as F

from tfbook import cost
from tfbook.numpy import feed_forward, gated_feed_forward


def sigmoid(x):
    return 0.5 * (1 + np.tanh(x / 2))


def swish(x):
    return x * sigmoid(x)


def bend(x):
    return x * (x > 0)


def by_units(X, W_1, b_1, W_2, b_2):
    return b_2 + sum(
        bend(X @ W_1[:, h] + b_1[h])[..., None] * W_2[h] for h in range(len(b_1))
    )


def by_layer(T, d, d_ff):
    layer = cost.layer(T, d, 1, d_ff)
    return layer.flops["ffn"] / layer.total_flops


def swiglu_by_torch(X, W_gate, W_up, W_down):
    X, W_gate, W_up, W_down = map(torch.tensor, (X, W_gate, W_up, W_down))
    return (F.silu(X @ W_gate) * (X @ W_up)) @ W_down


WRONG = {
    "feed-forward": [
        (
            lambda X, W_1, b_1, W_2, b_2: X @ (W_1 @ W_2) + b_1 @ W_2 + b_2,
            "Nothing bends",
        ),
        (
            lambda X, W_1, b_1, W_2, b_2: bend(X @ W_1 @ W_2 + b_1 @ W_2 + b_2),
            "after the second matrix",
        ),
        (
            lambda X, W_1, b_1, W_2, b_2: bend(by_units(X, W_1, b_1, W_2, b_2)),
            "acts twice",
        ),
        (
            lambda X, W_1, b_1, W_2, b_2: bend(X @ W_1) @ W_2 + b_1 @ W_2 + b_2,
            "b_1 is added after ReLU",
        ),
        (
            lambda X, W_1, b_1, W_2, b_2: by_units(X, W_1, 0 * b_1, W_2, b_2),
            "b_1 is not used",
        ),
        (
            lambda X, W_1, b_1, W_2, b_2: by_units(X, W_1, b_1, W_2, 0 * b_2),
            "b_2 is not used",
        ),
        (lambda X, W_1, b_1, W_2, b_2: bend(X @ W_1) @ W_2, "Neither bias"),
        (
            lambda X, W_1, b_1, W_2, b_2: -bend(-X @ W_1 - b_1) @ W_2 + b_2,
            "negative part is kept",
        ),
        (
            lambda X, W_1, b_1, W_2, b_2: np.sqrt((X @ W_1 + b_1) ** 2) @ W_2 + b_2,
            "absolute value",
        ),
        (
            lambda X, W_1, b_1, W_2, b_2: np.heaviside(X @ W_1 + b_1, 0) @ W_2 + b_2,
            "0 or 1",
        ),
        (
            lambda X, W_1, b_1, W_2, b_2: by_units(X, W_1, b_1, W_2, X + b_2),
            "residual is the layer's",
        ),
        (
            lambda X, W_1, b_1, W_2, b_2: feed_forward(X, W_1, b_1, W_2, b_2, "gelu"),
            "At [",
        ),
    ],
    "swiglu": [
        (
            lambda X, W_gate, W_up, W_down: gated_feed_forward(X, W_up, W_gate, W_down),
            "wrong branch",
        ),
        (
            lambda X, W_gate, W_up, W_down: (
                swish(X @ W_gate) * swish(X @ W_up) @ W_down
            ),
            "Both branches",
        ),
        (
            lambda X, W_gate, W_up, W_down: np.einsum(
                "...f,...f,fd->...d", X @ W_gate, X @ W_up, W_down
            ),
            "activation is missing",
        ),
        (
            lambda X, W_gate, W_up, W_down: sigmoid(X @ W_gate) * (X @ W_up) @ W_down,
            "gate is a sigmoid",
        ),
        (
            lambda X, W_gate, W_up, W_down: gated_feed_forward(
                X, W_gate, W_up, W_down, "relu"
            ),
            "gate is ReLU",
        ),
        (
            lambda X, W_gate, W_up, W_down: gated_feed_forward(
                X, W_gate, W_up, W_down, "gelu"
            ),
            "GEGLU",
        ),
        (
            lambda X, W_gate, W_up, W_down: (
                swish(X @ W_gate) @ W_down + X @ W_up @ W_down
            ),
            "a gate multiplies",
        ),
        (
            lambda X, W_gate, W_up, W_down: swish((X @ W_up) * (X @ W_gate)) @ W_down,
            "SiLU acts on the product",
        ),
        (
            lambda X, W_gate, W_up, W_down: swish(X @ W_gate) @ W_down,
            "W_up is not used",
        ),
        (
            lambda X, W_gate, W_up, W_down: swish((X @ W_up) * (X @ W_gate) @ W_down),
            "SiLU acts on the output",
        ),
        (lambda X, W_gate, W_up, W_down: swish(X @ W_up) @ W_down, "At ["),
    ],
    "gated-width": [
        (lambda d, d_ff: d_ff, "same width"),
        (lambda d, d_ff: int(d_ff / 2), "Half"),
        (lambda d, d_ff: int(1.5 * d_ff), "Upside down"),
        (lambda d, d_ff: int(8 / 3 * d), "takes d_ff for 4·d"),
        (lambda d, d_ff: d * 2 // 3, "Two thirds of d"),
        (lambda d, d_ff: math.ceil(2 * d_ff / 3), "Rounded up"),
        (lambda d, d_ff: d_ff * (2 / 3), "Not a whole number"),
        (lambda d, d_ff: 3 * d * (d_ff * 2 // 3), "number of weights"),
        (lambda d, d_ff: 2 * (d_ff // 3), "Expected"),
    ],
    "ffn-share": [
        (
            lambda T, d, d_ff: by_layer(T, d, d_ff) / (1 - by_layer(T, d, d_ff)),
            "ratio to the rest",
        ),
        (lambda T, d, d_ff: 100 * by_layer(T, d, d_ff), "per cent"),
        (lambda T, d, d_ff: d_ff / (d_ff + 2 * d), "share of the parameters"),
        (lambda T, d, d_ff: 4 * d_ff / (4 * d_ff + 6 * d + 4 * T), "W_O is left out"),
        (lambda T, d, d_ff: 4 * d_ff / (4 * d_ff + 8 * d + 2 * T), "A V, is left out"),
        (lambda T, d, d_ff: d_ff / (d_ff + T), "projections are left out"),
        (
            lambda T, d, d_ff: d_ff / (d_ff + 4 * d + 2 * T),
            "one of the network's two matrices",
        ),
        (
            lambda T, d, d_ff: 2 * d_ff / (2 * d_ff + d + 2 * T),
            "one of the four projections",
        ),
        (lambda T, d, d_ff: 4 / (6 + T / d), "takes d_ff for 4·d"),
        (lambda T, d, d_ff: d_ff / (d_ff + d + T), "half of what they are"),
        (lambda T, d, d_ff: d_ff / (d_ff + 2 * d + 1), "grow with T²"),
        (lambda T, d, d_ff: 0.8, "Expected"),
    ],
}
RIGHT = {
    "feed-forward": [
        by_units,
        lambda X, W_1, b_1, W_2, b_2: feed_forward(
            *(a.astype(np.float32) for a in (X, W_1, b_1, W_2, b_2))
        ),
    ],
    "swiglu": [
        swiglu_by_torch,
        lambda X, W_gate, W_up, W_down: X @ W_up * swish(X @ W_gate) @ W_down,
    ],
    "gated-width": [
        lambda d, d_ff: (2 * d * d_ff) // (3 * d),
        lambda d, d_ff: int(d_ff * 2 / 3),
    ],
    "ffn-share": [by_layer, lambda T, d, d_ff: 1 / (1 + (2 * d + T) / d_ff)],
}
