"""Exercises of chapter 06 that count: a gated network of equal size, and the share of
the FLOPs.
"""

from tfbook.exercises.exercise import Exercise

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
    looking = 4 * T * T * d  # scores, and the mix of values
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
    return [
        (2048, 12288, 49152),
        (1024, 768, 3072),
        (512, 512, 1365),
        (4096, 256, 2048),
        (7, 5, 11),
    ]


EXERCISES = [
    Exercise(
        "gated-width",
        "06",
        2,
        r"A network without a gate has two matrices, \(d \times d_{\text{ff}}\) and "
        r"back. Write <code>gated_width(d, d_ff)</code>: the largest hidden width, a "
        r"whole number, at which a gated network has no more weights than it. Biases "
        r"aside.",
        r"Three matrices of width \(w\) have \(3 d w\) weights, two of width "
        r"\(d_{\text{ff}}\) have \(2 d\, d_{\text{ff}}\).",
        gated_width,
        {
            "The same width: three matrices then have half as many weights again as "
            "two.": _same_width,
            "Half: that would be right if the third matrix did not get narrower as "
            "well.": _half,
            "Upside down: more matrices must be narrower, not wider.": _the_wrong_way,
            "This takes d_ff for 4·d: start from the d_ff that is given.": _of_four_d,
            "Two thirds of d: it is the hidden width that shrinks.": _two_thirds_of_d,
            "Rounded up: that is more weights than the network without a gate "
            "has.": _rounded_up,
            "Not a whole number: round down, with // in place of /.": _not_whole,
            "This is the number of weights: asked for was the width.": _parameters,
        },
        _gated_width_cases,
    ),
    Exercise(
        "ffn-share",
        "06",
        3,
        r"Write <code>ffn_share(T, d, d_ff)</code>: the share, from 0 to 1, of one "
        r"layer's FLOPs that its feed-forward network has. No gate, as many key and "
        r"value heads as query heads, \(d_k = d_v = d / H\), no mask; matrix products "
        r"alone.",
        r"A product of an \(a \times b\) and a \(b \times c\) matrix is \(2abc\) "
        r"FLOPs. There are four projections with \(W_O\), then \(Q K^\top\) and \(A "
        r"V\), whose heads add up to \(d\) channels, and the two matrices of the "
        r"network.",
        ffn_share,
        {
            "This is the ratio to the rest: asked for was the share of the "
            "whole.": _to_all_others,
            "This is in per cent: asked for was a number from 0 to 1.": _per_cent,
            "This is the share of the parameters: scores and mix have none, but they "
            "do take FLOPs.": _of_the_parameters,
            "The output matrix W_O is left out.": _output_left_out,
            "The mix of values, A V, is left out.": _mix_left_out,
            "The projections are left out: Q, K, V and the output each take "
            "2·T·d².": _looking_alone,
            "Only one of the network's two matrices is counted.": _one_matrix,
            "Only one of the four projections is counted.": _one_projection,
            "This takes d_ff for 4·d.": _four_d,
            "The projections are half of what they are: count a multiplication and an "
            "addition in every part.": _additions_in_one_part,
            "Each token looks at T tokens: scores and mix grow with T².": _one_token,
        },
        _share_cases,
    ),
]
