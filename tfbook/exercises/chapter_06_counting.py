"""Exercises of chapter 06 that count: a gated network of equal size, and the share of
the FLOPs.
"""

from tfbook.exercises.exercise import Exercise

# ---- equal parameters ----


def gated_width(d, d_ff):
    return 2 * d_ff // 3  # 3 · d · width ≤ 2 · d · d_ff


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
            "two.": lambda d, d_ff: d_ff,
            "Half: that would be right if the third matrix did not get narrower as "
            "well.": lambda d, d_ff: d_ff // 2,
            "Upside down: more matrices must be narrower, not wider.": lambda d, d_ff: (
                3 * d_ff // 2
            ),
            "This takes d_ff for 4·d: start from the d_ff that is "
            "given.": lambda d, d_ff: 8 * d // 3,
            "Two thirds of d: it is the hidden width that shrinks.": lambda d, d_ff: (
                2 * d // 3
            ),
            "Rounded up: that is more weights than the network without a gate "
            "has.": lambda d, d_ff: -(-2 * d_ff // 3),
            "Not a whole number: round down, with // in place of /.": lambda d, d_ff: (
                2 * d_ff / 3
            ),
            "This is the number of weights: asked for was the width.": lambda d, d_ff: (
                3 * d * (2 * d_ff // 3)
            ),
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
            "whole.": lambda T, d, d_ff: d_ff / (2 * d + T),
            "This is in per cent: asked for was a number from 0 to "
            "1.": lambda T, d, d_ff: 100 * ffn_share(T, d, d_ff),
            "This is the share of the parameters: scores and mix have none, but they "
            "do take FLOPs.": lambda T, d, d_ff: _share(
                2 * d * d_ff, 4 * d * d
            ),
            "The output matrix W_O is left out.": lambda T, d, d_ff: _share(
                4 * d_ff, 6 * d, 4 * T
            ),
            "The mix of values, A V, is left out.": lambda T, d, d_ff: _share(
                4 * d_ff, 8 * d, 2 * T
            ),
            "The projections are left out: Q, K, V and the output each take "
            "2·T·d².": lambda T, d, d_ff: _share(4 * d_ff, 4 * T),
            "Only one of the network's two matrices is counted.": lambda T, d, d_ff: (
                _share(2 * d_ff, 8 * d, 4 * T)
            ),
            "Only one of the four projections is counted.": lambda T, d, d_ff: (
                _share(4 * d_ff, 2 * d, 4 * T)
            ),
            "This takes d_ff for 4·d.": lambda T, d, d_ff: ffn_share(
                T, d, 4 * d
            ),
            "The projections are half of what they are: count a multiplication and an "
            "addition in every part.": lambda T, d, d_ff: _share(
                4 * d_ff, 4 * d, 4 * T
            ),
            "Each token looks at T tokens: scores and mix grow with "
            "T².": lambda T, d, d_ff: _share(4 * d_ff, 8 * d, 4),
        },
        _share_cases,
    ),
]
