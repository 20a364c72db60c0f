"""The operations of one layer in the order in which they run, after or before which it
normalises; and how each makes a number.
"""

from math import sqrt

import numpy as np

from tfbook.notebook.examples import LAYER, X
from tfbook.numpy import attention_scores, layer_norm, relu, softmax

ATTENTION, NETWORK = "Self-attention", "Feed-forward"


def attention(tokens):
    """Operations of self-attention: each a step of the source, the result, the kind,
    what stands left and above, the formula.
    """
    return [
        (ATTENTION, "Q", "product", tokens, "W_Q", f"Q = {tokens} W_Q"),
        (ATTENTION, "K", "product", tokens, "W_K", f"K = {tokens} W_K"),
        (ATTENTION, "V", "product", tokens, "W_V", f"V = {tokens} W_V"),
        (ATTENTION, "S", "score", "Q", "Kᵀ", "S = Q Kᵀ / √d_k"),
        (ATTENTION, "α", "softmax", "S", None, "α = softmax(S)"),
        (ATTENTION, "A", "product", "α", "V", "A = α V"),
    ]


def network(tokens):
    """Operations of the feed-forward network."""
    return [
        (
            NETWORK,
            "U",
            "product",
            tokens,
            "W_1, b_1",
            f"U = {tokens} W_1 + b_1",
        ),
        (NETWORK, "R", "relu", None, "U", "R = ReLU(U)"),
        (NETWORK, "F", "product", "R", "W_2, b_2", "F = R W_2 + b_2"),
    ]


OPERATIONS = {
    "post": [
        *attention("X"),
        ("Residual + norm", "X + A", "sum", "X", "A", "X + A"),
        (
            "Residual + norm",
            "Z",
            "norm",
            "X + A",
            "γ_1, β_1",
            "Z = LayerNorm(X + A)",
        ),
        *network("Z"),
        ("Residual + norm", "Z + F", "sum", "Z", "F", "Z + F"),
        (
            "Residual + norm",
            "Y",
            "norm",
            "Z + F",
            "γ_2, β_2",
            "Y = LayerNorm(Z + F)",
        ),
    ],
    "pre": [
        ("Norm", "N", "norm", "X", "γ_1, β_1", "N = LayerNorm(X)"),
        *attention("N"),
        ("Residual", "Z", "sum", "X", "A", "Z = X + A"),
        ("Norm", "M", "norm", "Z", "γ_2, β_2", "M = LayerNorm(Z)"),
        *network("M"),
        ("Residual", "Y", "sum", "Z", "F", "Y = Z + F"),
    ],
}
LIT = {  # what made a number, left of it and above it
    "product": ("row", "column"),
    "score": ("row", "column"),
    "softmax": ("row", None),
    "sum": ("cell", "cell"),
    "norm": ("row", "column"),
    "relu": (None, "cell"),
}
MAKE = {
    # a last row is the bias
    "product": (
        lambda left, above: (
            left @ above[: left.shape[1]] + above[left.shape[1] :].sum(axis=0)
        )
    ),
    "score": lambda Q, K_T: attention_scores(Q, K_T.T),
    "softmax": lambda S, _: softmax(S),
    "sum": np.add,
    "norm": lambda left, above: layer_norm(left, *above),
    "relu": lambda _, above: relu(above),
}


def matrices(norm):
    """Every matrix of the layer by its name."""
    M = {"X": X, **LAYER}
    for i in "12":
        M[f"W_{i}, b_{i}"] = np.vstack([LAYER[f"W_{i}"], LAYER[f"b_{i}"]])
        M[f"γ_{i}, β_{i}"] = np.stack(
            [LAYER[f"gamma_{i}"], LAYER[f"beta_{i}"]]
        )
    for _, name, kind, left, above, _ in OPERATIONS[norm]:
        M[name] = MAKE[kind](M.get(left), M.get(above))
        if name == "K":
            M["Kᵀ"] = M["K"].T
    return M


def number(x):
    """A number with two decimals at most."""
    text = f"{x:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text.replace("-", "−")


def inside(x):
    """A number within a sum."""
    return f"({number(x)})" if number(x).startswith("−") else number(x)


def equals(*numbers):
    """The sign between two sides: whether two decimals hold all their numbers."""
    return "=" if np.abs(np.round(numbers, 2) - numbers).max() < 1e-9 else "≈"


def sum_of(kind, value, left, above, i, j):
    """How entry (i, j) was made, written out."""
    end = number(value)
    if kind == "softmax":
        e = np.exp(left[i])
        top, all_of = (
            f"exp({number(left[i, j])})",
            " + ".join(f"exp({number(s)})" for s in left[i]),
        )
        return (
            f"{top} / ({all_of}) {equals(*left[i], *e)} {number(e[j])} /"
            f" ({' + '.join(map(number, e))}) {equals(*e, value)} {end}"
        )
    if kind == "norm":
        x, mean, variance = left[i, j], left[i].mean(), left[i].var()
        sigma, (gamma, beta) = sqrt(variance + 1e-5), above[:, j]
        return (
            f"({number(x)} − {inside(mean)}) / √({number(variance)} + ε) ·"
            f" {number(gamma)} + {number(beta)} ≈ {number(x - mean)} / {number(sigma)}"
            f" · {number(gamma)} + {number(beta)} ≈ {end}"
        )
    if kind == "relu":
        return f"max(0, {number(above[i, j])}) {equals(value)} {end}"
    if kind == "sum":
        return (
            f"{number(left[i, j])} + {inside(above[i, j])}"
            f" {equals(left[i, j], above[i, j], value)} {end}"
        )
    row, column = left[i], above[:, j]
    terms = [f"{inside(x)}·{inside(w)}" for x, w in zip(row, column)] + [
        inside(b) for b in column[len(row) :]
    ]
    sum_ = " + ".join(terms)
    return (
        f"{f'({sum_}) / √{len(row)}' if kind == 'score' else sum_}"
        f" {equals(*row, *column, value)} {end}"
    )
