"""Exercises of chapter 10, the quadratic cost: counting a layer; writing and streaming
attention have files of their own.
"""

from tfbook.exercises import chapter_10_streaming as streaming
from tfbook.exercises import chapter_10_writing as writing
from tfbook.exercises.exercise import Exercise

# ---- FLOPs of a layer ----


def flops(T, d, d_ff, H, H_kv):
    d_k = d // H
    projections = 2 * T * d * (d + 2 * H_kv * d_k + d)  # Q, K and V, then W_O
    attention = 2 * H * T * T * d_k + 2 * H * T * T * d_k  # scores, mix
    network = 2 * T * d * d_ff + 2 * T * d_ff * d
    return projections + attention + network


def _flops(
    T,
    d,
    d_ff,
    H,
    H_kv,
    output=1,
    products=2,
    matrices=2,
    pairs=None,
    width=None,
    tokens=None,
):
    pairs, width, tokens = pairs or T * T, width or d, tokens or T
    projections = 2 * tokens * d * (d + 2 * H_kv * (d // H) + output * d)
    return (
        projections
        + products * 2 * pairs * width
        + matrices * 2 * tokens * d * d_ff
    )


def _flops_cases(rng):
    return [
        (7, 12, 20, 3, 1),
        (64, 30, 121, 5, 5),
        (300, 24, 96, 4, 2),
        (1024, 768, 3072, 12, 4),
    ]


# ---- the length at which the quadratic part is half of the layer ----


def crossing(d, d_ff, H, H_kv):
    # FLOPs of a token
    others = 2 * d * (d + 2 * H_kv * (d // H) + d) + 4 * d * d_ff
    # FLOPs of a token with one other
    pairs = 4 * d
    return others / pairs


def _crossing_cases(rng):
    return [
        (12, 20, 3, 1),
        (512, 2048, 8, 8),
        (60, 7, 6, 2),
        (4096, 14336, 32, 8),
    ]


EXERCISES = [
    Exercise(
        "layer-flops",
        "10",
        2,
        r"Write <code>flops(T, d, d_ff, H, H_kv)</code>: the FLOPs of one layer that "
        r"reads T tokens, matrix products alone, a multiplication and an addition "
        r"counted as two. \(d_k = d_v = d / H\), H query heads share H_kv key/value "
        r"heads, and the network has two matrices. No mask.",
        "A product of (a × b) with (b × c) takes 2·a·b·c. Write down the shapes of all "
        "eight products: Q, K, V, scores, mix, output, and two of the network.",
        flops,
        {
            "A multiplication and an addition count as two: this is half of the "
            "FLOPs.": lambda *sizes: _flops(*sizes) // 2,
            "W_O is forgotten: the heads are brought together by a d × d "
            "matrix.": lambda *sizes: _flops(*sizes, output=0),
            "Keys and values have H_kv heads, not H: their matrices are d × "
            "H_kv·d_k.": lambda T, d, d_ff, H, H_kv: _flops(T, d, d_ff, H, H),
            "The mix is forgotten: the weights times the values cost as much as the "
            "scores.": lambda *sizes: _flops(*sizes, products=1),
            "Scores and mix are forgotten: T² dot products each, in every "
            "head.": lambda *sizes: _flops(*sizes, products=0),
            "Each head is counted with full width d: a head has d_k = d / H "
            "channels.": lambda T, d, d_ff, H, H_kv: _flops(
                T, d, d_ff, H, H_kv, width=H * d
            ),
            "Scores and mix are those of one head: there are "
            "H.": lambda T, d, d_ff, H, H_kv: _flops(
                T, d, d_ff, H, H_kv, width=d // H
            ),
            "Every query meets every key: T² pairs, not "
            "T.": lambda T, d, d_ff, H, H_kv: _flops(
                T, d, d_ff, H, H_kv, pairs=T
            ),
            "Half of the pairs are counted: without a mask every query meets all T "
            "keys.": lambda T, d, d_ff, H, H_kv: _flops(
                T, d, d_ff, H, H_kv, pairs=T * (T + 1) // 2
            ),
            "Sharing makes no score less: each of the H query heads has T² of its "
            "own.": lambda T, d, d_ff, H, H_kv: _flops(
                T, d, d_ff, H, H_kv, width=H_kv * (d // H)
            ),
            "The network has two matrices, one that widens and one that "
            "narrows.": lambda *sizes: _flops(*sizes, matrices=1),
            "The network is forgotten.": lambda *sizes: _flops(
                *sizes, matrices=0
            ),
            "Projections and network are counted for one token: all T go through "
            "them.": lambda *sizes: _flops(*sizes, tokens=1),
        },
        _flops_cases,
    ),
    Exercise(
        "crossing-length",
        "10",
        3,
        r"Write <code>crossing(d, d_ff, H, H_kv)</code>: the length T at which scores "
        r"and mix together cost as many FLOPs as all the rest of the layer. \(d_k = "
        r"d_v = d / H\); the answer may be a fraction.",
        "Both sides have a factor T. With d_ff = 4·d and nothing shared the answer is "
        "6·d.",
        crossing,
        {
            "The network is left out: this is the length at which they equal the "
            "projections.": lambda d, d_ff, H, H_kv: d + H_kv * (d // H),
            "The projections are left out: this is the length at which they equal the "
            "network.": lambda d, d_ff, H, H_kv: 1.0 * d_ff,
            "Keys and values have H_kv heads, not H: their projections cost "
            "less.": lambda d, d_ff, H, H_kv: 2 * d + d_ff,
            "W_O is forgotten: it belongs to the "
            "projections.": lambda d, d_ff, H, H_kv: (
                crossing(d, d_ff, H, H_kv) - d / 2
            ),
            "The mix is forgotten: it costs as much as the scores, so the length is "
            "half of this.": lambda d, d_ff, H, H_kv: (
                2 * crossing(d, d_ff, H, H_kv)
            ),
            "The network has two matrices.": lambda d, d_ff, H, H_kv: (
                crossing(d, d_ff, H, H_kv) - d_ff / 2
            ),
            "Sharing makes no score less: each query head has T² of its own, whatever "
            "H_kv.": lambda d, d_ff, H, H_kv: (
                crossing(d, d_ff, H, H_kv) * H / H_kv
            ),
            "A multiply-add counts as two on both sides, or as one on "
            "both.": lambda d, d_ff, H, H_kv: crossing(d, d_ff, H, H_kv) / 2,
            "No root: the other parts grow with T too, so one factor T falls "
            "out.": lambda d, d_ff, H, H_kv: (
                (crossing(d, d_ff, H, H_kv) * 4 * d) ** 0.5
            ),
        },
        _crossing_cases,
    ),
    *writing.EXERCISES,
    *streaming.EXERCISES,
]
