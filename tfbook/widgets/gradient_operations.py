"""The layer of ``layer_operations.py`` (post-norm), walked backwards: each operation
makes the gradient dM = ∂L/∂M of a matrix from other gradients and the forward pass.
"""

import numpy as np

from tfbook.notebook.examples import LAYER, X
from tfbook.numpy import layer_norm, layer_norm_vjp, relu_vjp
from tfbook.widgets import layer_operations as forward
from tfbook.widgets.layer_operations import equals, inside, number

LOSS, NETWORK, ATTENTION = "Loss", "Feed-forward", "Self-attention"
NORM = "Residual + norm"
OPERATIONS = [  # step, result, kind, left, above, formula: as forwards
    (LOSS, "dY", "difference", "Y", "Y*", "dY = Y − Y*"),
    (
        NORM,
        "d(Z + F)",
        "norm",
        "dY",
        "Z + F",
        "dF = d(Z + F) = (dY − mean(dY) − Y · mean(dY ⊙ Y)) / σ",
    ),
    (NETWORK, "dW_2", "product", "Rᵀ", "d(Z + F)", "dW_2 = Rᵀ dF"),
    (NETWORK, "dR", "product", "d(Z + F)", "W_2ᵀ", "dR = dF W_2ᵀ"),
    (NETWORK, "dU", "relu", "dR", "U", "dU = dR where U > 0"),
    (NETWORK, "dW_1", "product", "Zᵀ", "dU", "dW_1 = Zᵀ dU"),
    (NETWORK, "via F", "product", "dU", "W_1ᵀ", "via F = dU W_1ᵀ"),
    (NETWORK, "dZ", "sum", "d(Z + F)", "via F", "dZ = d(Z + F) + via F"),
    (
        NORM,
        "d(X + A)",
        "norm",
        "dZ",
        "X + A",
        "dA = d(X + A) = (dZ − mean(dZ) − Z · mean(dZ ⊙ Z)) / σ",
    ),
    (ATTENTION, "dV", "product", "αᵀ", "d(X + A)", "dV = αᵀ dA"),
    (ATTENTION, "dα", "product", "d(X + A)", "Vᵀ", "dα = dA Vᵀ"),
    (ATTENTION, "dS", "softmax", "dα", "α", "dS = α ⊙ (dα − Σ α dα)"),
    (ATTENTION, "dQ", "score", "dS", "K", "dQ = dS K / √d_k"),
    (ATTENTION, "dK", "score", "dSᵀ", "Q", "dK = dSᵀ Q / √d_k"),
    (ATTENTION, "dW_Q", "product", "Xᵀ", "dQ", "dW_Q = Xᵀ dQ"),
    (ATTENTION, "dW_K", "product", "Xᵀ", "dK", "dW_K = Xᵀ dK"),
    (ATTENTION, "dW_V", "product", "Xᵀ", "dV", "dW_V = Xᵀ dV"),
    (ATTENTION, "via Q", "product", "dQ", "W_Qᵀ", "via Q = dQ W_Qᵀ"),
    (ATTENTION, "via K", "product", "dK", "W_Kᵀ", "via K = dK W_Kᵀ"),
    (ATTENTION, "via V", "product", "dV", "W_Vᵀ", "via V = dV W_Vᵀ"),
    (ATTENTION, "via S", "sum", "via Q", "via K", "via S = via Q + via K"),
    (ATTENTION, "via A", "sum", "via S", "via V", "via A = via S + via V"),
    (ATTENTION, "dX", "sum", "d(X + A)", "via A", "dX = d(X + A) + via A"),
]
LIT = {  # what made a number, left of it and above it
    "difference": ("cell", "cell"),
    "sum": ("cell", "cell"),
    "relu": ("cell", "cell"),
    "norm": ("row", "row"),
    "softmax": ("row", "row"),
    "product": ("row", "column"),
    "score": ("row", "column"),
}
MAKE = {
    "difference": np.subtract,
    "sum": np.add,
    "relu": relu_vjp,
    "norm": lambda dY, X: layer_norm_vjp(dY, X, np.ones(4), np.zeros(4))[0],
    "softmax": lambda dA, A: A * (dA - (A * dA).sum(axis=-1, keepdims=True)),
    "product": np.matmul,
    "score": lambda dS, K: dS @ K / np.sqrt(K.shape[-1]),
}


def matrices():
    """Every matrix by its name: of the forward pass, each transposed too, and each
    gradient. The target is each token's predecessor, normalised.
    """
    M = forward.matrices("post") | LAYER
    M["Y*"] = layer_norm(np.roll(X, 1, axis=0), np.ones(4), np.zeros(4))
    for _, name, kind, left, above, _ in OPERATIONS:
        for factor in (left, above):
            if factor.endswith("ᵀ"):
                M[factor] = M[factor[:-1]].T
        M[name] = MAKE[kind](M[left], M[above])
    return M


def sum_of(kind, value, left, above, i, j):
    """How entry (i, j) was made, written out."""
    if kind in ("sum", "product"):
        return forward.sum_of(kind, value, left, above, i, j)
    end, g, x = number(value), left[i], above[i % len(above)]
    if kind == "difference":
        return f"{number(g[j])} − {inside(x[j])} {equals(g[j], x[j], value)} {end}"
    if kind == "relu":
        return f"{number(g[j])}·({number(x[j])} > 0) {equals(value)} {end}"
    if kind == "score":
        terms = " + ".join(
            f"{inside(a)}·{inside(b)}" for a, b in zip(g, above[:, j])
        )
        return f"({terms}) / √{above.shape[1]} {equals(*g, value)} {end}"
    if kind == "softmax":
        mean = " + ".join(f"{number(a)}·{inside(da)}" for a, da in zip(x, g))
        return f"{number(x[j])}·({number(g[j])} − ({mean})) ≈ {end}"
    z = layer_norm(x, np.ones(4), np.zeros(4))
    return (
        f"({number(g[j])} − {inside(g.mean())} − {inside(z[j])}·"
        f"{inside((g * z).mean())}) / {number(np.sqrt(x.var() + 1e-5))} ≈ {end}"
    )
