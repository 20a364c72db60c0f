"""Exercises of chapter 06, the feed-forward network."""

import numpy as np

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
        tuple(rng.standard_normal(axes) for axes in ((*leading, T, d), (d, d_ff), (d_ff,), (d_ff, d), (d,)))
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
        tuple(rng.standard_normal(axes) for axes in ((*leading, T, d), (d, d_ff), (d, d_ff), (d_ff, d)))
        for leading, T, d, d_ff in (((), 5, 3, 7), ((2,), 3, 5, 11), ((2, 3), 7, 2, 13))
    ]


# ---- equal parameters ----


def gated_width(d, d_ff):
    return 2 * d_ff // 3  # 3 · d · width ≤ 2 · d · d_ff


def _same_width(d, d_ff):
    return d_ff


def _half(d, d_ff):
    return d_ff // 2


def _the_wrong_way(d, d_ff):
    return 3 * d_ff // 2


def _of_four_d(d, d_ff):
    return 8 * d // 3


def _two_thirds_of_d(d, d_ff):
    return 2 * d // 3


def _rounded_up(d, d_ff):
    return -(-2 * d_ff // 3)


def _not_whole(d, d_ff):
    return 2 * d_ff / 3


def _parameters(d, d_ff):
    return 3 * d * (2 * d_ff // 3)


def _gated_width_cases(rng):
    return [(512, 2048), (48, 192), (7, 29), (64, 100), (11, 13), (5, 30)]


# ---- a share of the FLOPs ----


def ffn_share(T, d, d_ff):
    projections = 8 * T * d * d  # to Q, K, V, and W_O
    looking = 4 * T * T * d      # scores, and the mix of values
    ffn = 4 * T * d * d_ff
    return ffn / (projections + looking + ffn)


def _share(ffn, *others):
    return ffn / (ffn + sum(others))


def _to_all_others(T, d, d_ff):
    return d_ff / (2 * d + T)


def _per_cent(T, d, d_ff):
    return 100 * ffn_share(T, d, d_ff)


def _of_the_parameters(T, d, d_ff):
    return _share(2 * d * d_ff, 4 * d * d)


def _output_left_out(T, d, d_ff):
    return _share(4 * d_ff, 6 * d, 4 * T)


def _mix_left_out(T, d, d_ff):
    return _share(4 * d_ff, 8 * d, 2 * T)


def _looking_alone(T, d, d_ff):
    return _share(4 * d_ff, 4 * T)


def _one_matrix(T, d, d_ff):
    return _share(2 * d_ff, 8 * d, 4 * T)


def _one_projection(T, d, d_ff):
    return _share(4 * d_ff, 2 * d, 4 * T)


def _four_d(T, d, d_ff):
    return ffn_share(T, d, 4 * d)


def _additions_in_one_part(T, d, d_ff):
    return _share(4 * d_ff, 4 * d, 4 * T)


def _one_token(T, d, d_ff):
    return _share(4 * d_ff, 8 * d, 4)


def _share_cases(rng):
    return [(2048, 12288, 49152), (1024, 768, 3072), (512, 512, 1365), (4096, 256, 2048), (7, 5, 11)]


EXERCISES = [
    Exercise(
        "feed-forward", "06", 1,
        r"Write <code>feed_forward(X, W_1, b_1, W_2, b_2)</code> with ReLU for \(X\) <code>(..., T, d)</code>: \(W_1\) is "
        r"<code>(d, d_ff)</code>, \(W_2\) is <code>(d_ff, d)</code>. NumPy only, and no loop.",
        "A matrix product acts on the last axis and leaves all others alone, so that one line serves a token, a sequence and a batch. "
        "Biases stretch over the leading axes by themselves.",
        feed_forward,
        {
            "Nothing bends: without ReLU the two matrices are one.": _nothing_bends,
            "ReLU comes after the second matrix: it belongs between the two.": _bends_at_the_end,
            "ReLU acts twice: the output must be free to be negative.": _bends_twice,
            "b_1 is added after ReLU: it sets where a unit begins, so it belongs inside.": _bias_after_the_bend,
            "b_1 is not used.": _no_first_bias,
            "b_2 is not used.": _no_second_bias,
            "Neither bias is used.": _no_bias,
            "The negative part is kept: ReLU keeps the positive one.": _negative_kept,
            "This is the absolute value: ReLU makes negative numbers 0.": _absolute,
            "The hidden units are 0 or 1: ReLU lets positive numbers through as they are.": _one_if_positive,
            "The input is added: the residual is the layer's, not the network's.": _residual_added,
        },
        _feed_forward_cases,
    ),
    Exercise(
        "swiglu", "06", 2,
        r"Write SwiGLU, <code>swiglu(X, W_gate, W_up, W_down)</code>, with \(\mathrm{SiLU}(x) = x / (1 + e^{-x})\). "
        r"\(X\) is <code>(..., T, d)</code>, the first two matrices are <code>(d, d_ff)</code>, the third <code>(d_ff, d)</code>; no "
        "biases.",
        "Two products widen the token, and one of the two is bent: which? A gate says how much of each hidden channel passes, so what "
        "joins them?",
        swiglu,
        {
            "The wrong branch is bent: SiLU belongs to X @ W_gate.": _wrong_branch,
            "Both branches are bent: X @ W_up passes as it is.": _both_branches,
            "The activation is missing: the gate is SiLU(X @ W_gate).": _bilinear,
            "The gate is a sigmoid (the GLU of 2016): SiLU is x times its sigmoid.": _sigmoid_gate,
            "The gate is ReLU: asked for was SiLU.": _relu_gate,
            "The gate is GELU, so this is GEGLU: asked for was SiLU.": _gelu_gate,
            "The branches are added: a gate multiplies.": _added,
            "SiLU acts on the product: it belongs to the gate alone.": _bent_after_the_product,
            "W_up is not used: what does the gate let through?": _gate_alone,
            "SiLU acts on the output: it belongs to the gate.": _gate_on_the_way_out,
        },
        _swiglu_cases,
    ),
    Exercise(
        "gated-width", "06", 2,
        r"A network without a gate has two matrices, \(d \times d_{\text{ff}}\) and back. Write <code>gated_width(d, d_ff)</code>: the "
        "largest hidden width, a whole number, at which a gated network has no more weights than it. Biases aside.",
        r"Three matrices of width \(w\) have \(3 d w\) weights, two of width \(d_{\text{ff}}\) have \(2 d\, d_{\text{ff}}\).",
        gated_width,
        {
            "The same width: three matrices then have half as many weights again as two.": _same_width,
            "Half: that would be right if the third matrix did not get narrower as well.": _half,
            "Upside down: more matrices must be narrower, not wider.": _the_wrong_way,
            "This takes d_ff for 4·d: start from the d_ff that is given.": _of_four_d,
            "Two thirds of d: it is the hidden width that shrinks.": _two_thirds_of_d,
            "Rounded up: that is more weights than the network without a gate has.": _rounded_up,
            "Not a whole number: round down, with // in place of /.": _not_whole,
            "This is the number of weights: asked for was the width.": _parameters,
        },
        _gated_width_cases,
    ),
    Exercise(
        "ffn-share", "06", 3,
        r"Write <code>ffn_share(T, d, d_ff)</code>: the share, from 0 to 1, of one layer's FLOPs that its feed-forward network has. No "
        r"gate, as many key and value heads as query heads, \(d_k = d_v = d / H\), no mask; matrix products alone.",
        r"A product of an \(a \times b\) and a \(b \times c\) matrix is \(2abc\) FLOPs. There are four projections with \(W_O\), then "
        r"\(Q K^\top\) and \(A V\), whose heads add up to \(d\) channels, and the two matrices of the network.",
        ffn_share,
        {
            "This is the ratio to the rest: asked for was the share of the whole.": _to_all_others,
            "This is in per cent: asked for was a number from 0 to 1.": _per_cent,
            "This is the share of the parameters: scores and mix have none, but they do take FLOPs.": _of_the_parameters,
            "The output matrix W_O is left out.": _output_left_out,
            "The mix of values, A V, is left out.": _mix_left_out,
            "The projections are left out: Q, K, V and the output each take 2·T·d².": _looking_alone,
            "Only one of the network's two matrices is counted.": _one_matrix,
            "Only one of the four projections is counted.": _one_projection,
            "This takes d_ff for 4·d.": _four_d,
            "The projections are half of what they are: count a multiplication and an addition in every part.": _additions_in_one_part,
            "Each token looks at T tokens: scores and mix grow with T².": _one_token,
        },
        _share_cases,
    ),
]
