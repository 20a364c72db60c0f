"""Exercises of chapter 06: the feed-forward network and its gated form; those that
count are in the file beside.
"""

import numpy as np

from tfbook.exercises import chapter_06_counting as counting
from tfbook.exercises.exercise import Exercise
from tfbook.numpy.functions import gelu, relu, silu

# ---- the feed-forward network ----


def feed_forward(X, W_1, b_1, W_2, b_2):
    hidden = np.maximum(X @ W_1 + b_1, 0)
    return hidden @ W_2 + b_2


def _nothing_bends(X, W_1, b_1, W_2, b_2):
    return (X @ W_1 + b_1) @ W_2 + b_2


def _bends_at_the_end(X, W_1, b_1, W_2, b_2):
    return relu((X @ W_1 + b_1) @ W_2 + b_2)


def _bends_twice(X, W_1, b_1, W_2, b_2):
    return relu(feed_forward(X, W_1, b_1, W_2, b_2))


def _bias_after_the_bend(X, W_1, b_1, W_2, b_2):
    return (relu(X @ W_1) + b_1) @ W_2 + b_2


def _no_first_bias(X, W_1, b_1, W_2, b_2):
    return relu(X @ W_1) @ W_2 + b_2


def _no_second_bias(X, W_1, b_1, W_2, b_2):
    return relu(X @ W_1 + b_1) @ W_2


def _no_bias(X, W_1, b_1, W_2, b_2):
    return relu(X @ W_1) @ W_2


def _negative_kept(X, W_1, b_1, W_2, b_2):
    return np.minimum(X @ W_1 + b_1, 0) @ W_2 + b_2


def _absolute(X, W_1, b_1, W_2, b_2):
    return abs(X @ W_1 + b_1) @ W_2 + b_2


def _one_if_positive(X, W_1, b_1, W_2, b_2):
    return (X @ W_1 + b_1 > 0) @ W_2 + b_2


def _residual_added(X, W_1, b_1, W_2, b_2):
    return X + feed_forward(X, W_1, b_1, W_2, b_2)


def _feed_forward_cases(rng):
    return [
        tuple(
            rng.standard_normal(axes)
            for axes in ((*leading, T, d), (d, d_ff), (d_ff,), (d_ff, d), (d,))
        )
        for leading, T, d, d_ff in (((), 5, 3, 7), ((2,), 3, 5, 11), ((2, 3), 7, 2, 13))
    ]


# ---- a gated network ----


def swiglu(X, W_gate, W_up, W_down):
    gate = X @ W_gate
    gate = gate / (1 + np.exp(-gate))  # SiLU
    return (gate * (X @ W_up)) @ W_down


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def _wrong_branch(X, W_gate, W_up, W_down):
    return ((X @ W_gate) * silu(X @ W_up)) @ W_down


def _both_branches(X, W_gate, W_up, W_down):
    return (silu(X @ W_gate) * silu(X @ W_up)) @ W_down


def _bilinear(X, W_gate, W_up, W_down):
    return ((X @ W_gate) * (X @ W_up)) @ W_down


def _sigmoid_gate(X, W_gate, W_up, W_down):
    return (_sigmoid(X @ W_gate) * (X @ W_up)) @ W_down


def _relu_gate(X, W_gate, W_up, W_down):
    return (relu(X @ W_gate) * (X @ W_up)) @ W_down


def _gelu_gate(X, W_gate, W_up, W_down):
    return (gelu(X @ W_gate) * (X @ W_up)) @ W_down


def _added(X, W_gate, W_up, W_down):
    return (silu(X @ W_gate) + X @ W_up) @ W_down


def _bent_after_the_product(X, W_gate, W_up, W_down):
    return silu((X @ W_gate) * (X @ W_up)) @ W_down


def _gate_alone(X, W_gate, W_up, W_down):
    return silu(X @ W_gate) @ W_down


def _gate_on_the_way_out(X, W_gate, W_up, W_down):
    return silu(((X @ W_gate) * (X @ W_up)) @ W_down)


def _swiglu_cases(rng):
    return [
        tuple(
            rng.standard_normal(axes)
            for axes in ((*leading, T, d), (d, d_ff), (d, d_ff), (d_ff, d))
        )
        for leading, T, d, d_ff in (((), 5, 3, 7), ((2,), 3, 5, 11), ((2, 3), 7, 2, 13))
    ]


EXERCISES = [
    Exercise(
        "feed-forward",
        "06",
        1,
        r"Write <code>feed_forward(X, W_1, b_1, W_2, b_2)</code> with ReLU for \(X\) "
        r"<code>(..., T, d)</code>: \(W_1\) is <code>(d, d_ff)</code>, \(W_2\) is "
        r"<code>(d_ff, d)</code>. NumPy only, and no loop.",
        "A matrix product acts on the last axis and leaves all others alone, so that "
        "one line serves a token, a sequence and a batch. Biases stretch over the "
        "leading axes by themselves.",
        feed_forward,
        {
            "Nothing bends: without ReLU the two matrices are one.": _nothing_bends,
            "ReLU comes after the second matrix: it belongs between the "
            "two.": _bends_at_the_end,
            "ReLU acts twice: the output must be free to be negative.": _bends_twice,
            "b_1 is added after ReLU: it sets where a unit begins, so it belongs "
            "inside.": _bias_after_the_bend,
            "b_1 is not used.": _no_first_bias,
            "b_2 is not used.": _no_second_bias,
            "Neither bias is used.": _no_bias,
            "The negative part is kept: ReLU keeps the positive one.": _negative_kept,
            "This is the absolute value: ReLU makes negative numbers 0.": _absolute,
            "The hidden units are 0 or 1: ReLU lets positive numbers through as they "
            "are.": _one_if_positive,
            "The input is added: the residual is the layer's, not the "
            "network's.": _residual_added,
        },
        _feed_forward_cases,
    ),
    Exercise(
        "swiglu",
        "06",
        2,
        r"Write SwiGLU, <code>swiglu(X, W_gate, W_up, W_down)</code>, with "
        r"\(\mathrm{SiLU}(x) = x / (1 + e^{-x})\). \(X\) is <code>(..., T, d)</code>, "
        r"the first two matrices are <code>(d, d_ff)</code>, the third <code>(d_ff, "
        r"d)</code>; no biases.",
        "Two products widen the token, and one of the two is bent: which? A gate says "
        "how much of each hidden channel passes, so what joins them?",
        swiglu,
        {
            "The wrong branch is bent: SiLU belongs to X @ W_gate.": _wrong_branch,
            "Both branches are bent: X @ W_up passes as it is.": _both_branches,
            "The activation is missing: the gate is SiLU(X @ W_gate).": _bilinear,
            "The gate is a sigmoid (the GLU of 2016): SiLU is x times its "
            "sigmoid.": _sigmoid_gate,
            "The gate is ReLU: asked for was SiLU.": _relu_gate,
            "The gate is GELU, so this is GEGLU: asked for was SiLU.": _gelu_gate,
            "The branches are added: a gate multiplies.": _added,
            "SiLU acts on the product: it belongs to the gate "
            "alone.": _bent_after_the_product,
            "W_up is not used: what does the gate let through?": _gate_alone,
            "SiLU acts on the output: it belongs to the gate.": _gate_on_the_way_out,
        },
        _swiglu_cases,
    ),
    *counting.EXERCISES,
]
