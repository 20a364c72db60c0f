"""Exercises of chapter 09, the quadratic cost: counting a layer; writing and streaming
attention have files of their own.
"""

from tfbook.exercises import chapter_09_streaming as streaming
from tfbook.exercises import chapter_09_writing as writing
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
    return projections + products * 2 * pairs * width + matrices * 2 * tokens * d * d_ff


def _multiply_adds(*sizes):
    return _flops(*sizes) // 2


def _output_forgotten(*sizes):
    return _flops(*sizes, output=0)


def _nothing_shared(T, d, d_ff, H, H_kv):
    return _flops(T, d, d_ff, H, H)


def _scores_alone(*sizes):
    return _flops(*sizes, products=1)


def _no_attention(*sizes):
    return _flops(*sizes, products=0)


def _whole_width(T, d, d_ff, H, H_kv):
    return _flops(T, d, d_ff, H, H_kv, width=H * d)


def _one_head(T, d, d_ff, H, H_kv):
    return _flops(T, d, d_ff, H, H_kv, width=d // H)


def _linear(T, d, d_ff, H, H_kv):
    return _flops(T, d, d_ff, H, H_kv, pairs=T)


def _causal(T, d, d_ff, H, H_kv):
    return _flops(T, d, d_ff, H, H_kv, pairs=T * (T + 1) // 2)


def _fewer_scores(T, d, d_ff, H, H_kv):
    return _flops(T, d, d_ff, H, H_kv, width=H_kv * (d // H))


def _one_matrix(*sizes):
    return _flops(*sizes, matrices=1)


def _no_network(*sizes):
    return _flops(*sizes, matrices=0)


def _one_token(*sizes):
    return _flops(*sizes, tokens=1)


def _flops_cases(rng):
    return [
        (7, 12, 20, 3, 1),
        (64, 30, 121, 5, 5),
        (300, 24, 96, 4, 2),
        (1024, 768, 3072, 12, 4),
    ]


# ---- the length at which the quadratic part is half of the layer ----


def crossing(d, d_ff, H, H_kv):
    others = 2 * d * (d + 2 * H_kv * (d // H) + d) + 4 * d * d_ff  # FLOPs of a token
    # FLOPs of a token with one other
    pairs = 4 * d
    return others / pairs


def _against_projections(d, d_ff, H, H_kv):
    return d + H_kv * (d // H)


def _against_network(d, d_ff, H, H_kv):
    return 1.0 * d_ff


def _unshared(d, d_ff, H, H_kv):
    return 2 * d + d_ff


def _no_output(d, d_ff, H, H_kv):
    return crossing(d, d_ff, H, H_kv) - d / 2


def _scores_for_all(d, d_ff, H, H_kv):
    return 2 * crossing(d, d_ff, H, H_kv)


def _half_a_network(d, d_ff, H, H_kv):
    return crossing(d, d_ff, H, H_kv) - d_ff / 2


def _shared_scores(d, d_ff, H, H_kv):
    return crossing(d, d_ff, H, H_kv) * H / H_kv


def _multiplied_as_one(d, d_ff, H, H_kv):
    return crossing(d, d_ff, H, H_kv) / 2


def _root(d, d_ff, H, H_kv):
    return (crossing(d, d_ff, H, H_kv) * 4 * d) ** 0.5


def _crossing_cases(rng):
    return [(12, 20, 3, 1), (512, 2048, 8, 8), (60, 7, 6, 2), (4096, 14336, 32, 8)]


EXERCISES = [
    Exercise(
        "layer-flops",
        "09",
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
            "FLOPs.": _multiply_adds,
            "W_O is forgotten: the heads are brought together by a d × d "
            "matrix.": _output_forgotten,
            "Keys and values have H_kv heads, not H: their matrices are d × "
            "H_kv·d_k.": _nothing_shared,
            "The mix is forgotten: the weights times the values cost as much as the "
            "scores.": _scores_alone,
            "Scores and mix are forgotten: T² dot products each, in every "
            "head.": _no_attention,
            "Each head is counted with full width d: a head has d_k = d / H "
            "channels.": _whole_width,
            "Scores and mix are those of one head: there are H.": _one_head,
            "Every query meets every key: T² pairs, not T.": _linear,
            "Half of the pairs are counted: without a mask every query meets all T "
            "keys.": _causal,
            "Sharing makes no score less: each of the H query heads has T² of its "
            "own.": _fewer_scores,
            "The network has two matrices, one that widens and one that "
            "narrows.": _one_matrix,
            "The network is forgotten.": _no_network,
            "Projections and network are counted for one token: all T go through "
            "them.": _one_token,
        },
        _flops_cases,
    ),
    Exercise(
        "crossing-length",
        "09",
        3,
        r"Write <code>crossing(d, d_ff, H, H_kv)</code>: the length T at which scores "
        r"and mix together cost as many FLOPs as all the rest of the layer. \(d_k = "
        r"d_v = d / H\); the answer may be a fraction.",
        "Both sides have a factor T. With d_ff = 4·d and nothing shared the answer is "
        "6·d.",
        crossing,
        {
            "The network is left out: this is the length at which they equal the "
            "projections.": _against_projections,
            "The projections are left out: this is the length at which they equal the "
            "network.": _against_network,
            "Keys and values have H_kv heads, not H: their projections cost "
            "less.": _unshared,
            "W_O is forgotten: it belongs to the projections.": _no_output,
            "The mix is forgotten: it costs as much as the scores, so the length is "
            "half of this.": _scores_for_all,
            "The network has two matrices.": _half_a_network,
            "Sharing makes no score less: each query head has T² of its own, whatever "
            "H_kv.": _shared_scores,
            "A multiply-add counts as two on both sides, or as one on "
            "both.": _multiplied_as_one,
            "No root: the other parts grow with T too, so one factor T falls "
            "out.": _root,
        },
        _crossing_cases,
    ),
    *writing.EXERCISES,
    *streaming.EXERCISES,
]
