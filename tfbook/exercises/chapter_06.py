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


def _feed_forward_cases(rng):
    return [
        tuple(
            rng.standard_normal(axes)
            for axes in (
                (*leading, T, d),
                (d, d_ff),
                (d_ff,),
                (d_ff, d),
                (d,),
            )
        )
        for leading, T, d, d_ff in (
            ((), 5, 3, 7),
            ((2,), 3, 5, 11),
            ((2, 3), 7, 2, 13),
        )
    ]


# ---- a gated network ----


def swiglu(X, W_gate, W_up, W_down):
    gate = X @ W_gate
    gate = gate / (1 + np.exp(-gate))  # SiLU
    return (gate * (X @ W_up)) @ W_down


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def _swiglu_cases(rng):
    return [
        tuple(
            rng.standard_normal(axes)
            for axes in ((*leading, T, d), (d, d_ff), (d, d_ff), (d_ff, d))
        )
        for leading, T, d, d_ff in (
            ((), 5, 3, 7),
            ((2,), 3, 5, 11),
            ((2, 3), 7, 2, 13),
        )
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
            "Nothing bends: without ReLU the two matrices are "
            "one.": lambda X, W_1, b_1, W_2, b_2: (X @ W_1 + b_1) @ W_2 + b_2,
            "ReLU comes after the second matrix: it belongs between the "
            "two.": lambda X, W_1, b_1, W_2, b_2: relu(
                (X @ W_1 + b_1) @ W_2 + b_2
            ),
            "ReLU acts twice: the output must be free to be "
            "negative.": lambda X, W_1, b_1, W_2, b_2: relu(
                feed_forward(X, W_1, b_1, W_2, b_2)
            ),
            "b_1 is added after ReLU: it sets where a unit begins, so it belongs "
            "inside.": lambda X, W_1, b_1, W_2, b_2: (
                (relu(X @ W_1) + b_1) @ W_2 + b_2
            ),
            "b_1 is not used.": lambda X, W_1, b_1, W_2, b_2: (
                relu(X @ W_1) @ W_2 + b_2
            ),
            "b_2 is not used.": lambda X, W_1, b_1, W_2, b_2: (
                relu(X @ W_1 + b_1) @ W_2
            ),
            "Neither bias is used.": lambda X, W_1, b_1, W_2, b_2: (
                relu(X @ W_1) @ W_2
            ),
            "The negative part is kept: ReLU keeps the positive "
            "one.": lambda X, W_1, b_1, W_2, b_2: (
                np.minimum(X @ W_1 + b_1, 0) @ W_2 + b_2
            ),
            "This is the absolute value: ReLU makes negative numbers "
            "0.": lambda X, W_1, b_1, W_2, b_2: (
                abs(X @ W_1 + b_1) @ W_2 + b_2
            ),
            "The hidden units are 0 or 1: ReLU lets positive numbers through as they "
            "are.": lambda X, W_1, b_1, W_2, b_2: (
                (X @ W_1 + b_1 > 0) @ W_2 + b_2
            ),
            "The input is added: the residual is the layer's, not the "
            "network's.": lambda X, W_1, b_1, W_2, b_2: (
                X + feed_forward(X, W_1, b_1, W_2, b_2)
            ),
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
            "The wrong branch is bent: SiLU belongs to X @ "
            "W_gate.": lambda X, W_gate, W_up, W_down: (
                ((X @ W_gate) * silu(X @ W_up)) @ W_down
            ),
            "Both branches are bent: X @ W_up passes as it "
            "is.": lambda X, W_gate, W_up, W_down: (
                (silu(X @ W_gate) * silu(X @ W_up)) @ W_down
            ),
            "The activation is missing: the gate is SiLU(X @ "
            "W_gate).": lambda X, W_gate, W_up, W_down: (
                ((X @ W_gate) * (X @ W_up)) @ W_down
            ),
            "The gate is a sigmoid (the GLU of 2016): SiLU is x times its "
            "sigmoid.": lambda X, W_gate, W_up, W_down: (
                (_sigmoid(X @ W_gate) * (X @ W_up)) @ W_down
            ),
            "The gate is ReLU: asked for was SiLU.": lambda X, W_gate, W_up, W_down: (
                (relu(X @ W_gate) * (X @ W_up)) @ W_down
            ),
            "The gate is GELU, so this is GEGLU: asked for was "
            "SiLU.": lambda X, W_gate, W_up, W_down: (
                (gelu(X @ W_gate) * (X @ W_up)) @ W_down
            ),
            "The branches are added: a gate "
            "multiplies.": lambda X, W_gate, W_up, W_down: (
                (silu(X @ W_gate) + X @ W_up) @ W_down
            ),
            "SiLU acts on the product: it belongs to the gate "
            "alone.": lambda X, W_gate, W_up, W_down: (
                silu((X @ W_gate) * (X @ W_up)) @ W_down
            ),
            "W_up is not used: what does the gate let "
            "through?": lambda X, W_gate, W_up, W_down: (
                silu(X @ W_gate) @ W_down
            ),
            "SiLU acts on the output: it belongs to the "
            "gate.": lambda X, W_gate, W_up, W_down: silu(
                ((X @ W_gate) * (X @ W_up)) @ W_down
            ),
        },
        _swiglu_cases,
    ),
    *counting.EXERCISES,
]
