"""Exercises of chapter 09, the quadratic cost: counting; those of streaming attention stand in a file of their own."""

from tfbook.exercises import chapter_09_streaming as streaming
from tfbook.exercises.exercise import Exercise

# ---- FLOPs of a layer ----


def flops(T, d, d_ff, H, H_kv):
    d_k = d // H
    projections = 2 * T * d * (d + 2 * H_kv * d_k + d)   # Q, K and V, then W_O
    attention = 2 * H * T * T * d_k + 2 * H * T * T * d_k  # scores, mix
    network = 2 * T * d * d_ff + 2 * T * d_ff * d
    return projections + attention + network


def _flops(T, d, d_ff, H, H_kv, output=1, products=2, matrices=2, pairs=None, width=None, tokens=None):
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
    return [(7, 12, 20, 3, 1), (64, 30, 121, 5, 5), (300, 24, 96, 4, 2), (1024, 768, 3072, 12, 4)]


# ---- the length at which the quadratic part is half of the layer ----


def crossing(d, d_ff, H, H_kv):
    others = 2 * d * (d + 2 * H_kv * (d // H) + d) + 4 * d * d_ff  # FLOPs of a token
    pairs = 4 * d                                                  # FLOPs of a token with one other
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


# ---- FLOPs of writing with a cache ----


def writing_flops(T, n, d):
    met = sum(range(T + 1, T + n + 1))  # keys that the n queries meet, their own included
    return 24 * n * d * d + 4 * d * met


def _written(T, n, d, met=None, linear=24, pairs=4):
    met = n * T + n * (n + 1) // 2 if met is None else met
    return linear * n * d * d + pairs * d * met


def _own_key_missed(T, n, d):
    return _written(T, n, d, met=n * T + n * (n - 1) // 2)


def _old_keys_alone(T, n, d):
    return _written(T, n, d, met=n * T)


def _new_keys_alone(T, n, d):
    return _written(T, n, d, met=n * (n + 1) // 2)


def _all_keys_at_once(T, n, d):
    return _written(T, n, d, met=n * (T + n))


def _no_cache(T, n, d):
    return sum(24 * t * d * d + 4 * t * t * d for t in range(T + 1, T + n + 1))


def _square_for_each(T, n, d):
    return _written(T, n, d, met=sum(t * t for t in range(T + 1, T + n + 1)))


def _read_again_at_the_end(T, n, d):
    return 24 * (T + n) * d * d + 4 * (T + n) ** 2 * d


def _scores_without_mix(T, n, d):
    return _written(T, n, d, pairs=2)


def _without_network(T, n, d):
    return _written(T, n, d, linear=8)


def _without_projections(T, n, d):
    return _written(T, n, d, linear=16)


def _pairs_alone(T, n, d):
    return _written(T, n, d, linear=0)


def _one_for_two(T, n, d):
    return _written(T, n, d) // 2


def _one_of_n(T, n, d):
    return _written(T, 1, d)


def _writing_cases(rng):
    return [(7, 3, 4), (100, 12, 6), (5, 50, 8), (2048, 256, 768)]


EXERCISES = [
    Exercise(
        "layer-flops", "09", 2,
        r"Write <code>flops(T, d, d_ff, H, H_kv)</code>: the FLOPs of one layer that reads T tokens, matrix products alone, a "
        r"multiplication and an addition counted as two. \(d_k = d_v = d / H\), H query heads share H_kv key/value heads, and the "
        r"network has two matrices. No mask.",
        "A product of (a × b) with (b × c) takes 2·a·b·c. Write down the shapes of all eight products: Q, K, V, scores, mix, output, "
        "and two of the network.",
        flops,
        {
            "A multiplication and an addition count as two: this is half of the FLOPs.": _multiply_adds,
            "W_O is forgotten: the heads are brought together by a d × d matrix.": _output_forgotten,
            "Keys and values have H_kv heads, not H: their matrices are d × H_kv·d_k.": _nothing_shared,
            "The mix is forgotten: the weights times the values cost as much as the scores.": _scores_alone,
            "Scores and mix are forgotten: T² dot products each, in every head.": _no_attention,
            "Each head is counted with full width d: a head has d_k = d / H channels.": _whole_width,
            "Scores and mix are those of one head: there are H.": _one_head,
            "Every query meets every key: T² pairs, not T.": _linear,
            "Half of the pairs are counted: without a mask every query meets all T keys.": _causal,
            "Sharing makes no score less: each of the H query heads has T² of its own.": _fewer_scores,
            "The network has two matrices, one that widens and one that narrows.": _one_matrix,
            "The network is forgotten.": _no_network,
            "Projections and network are counted for one token: all T go through them.": _one_token,
        },
        _flops_cases,
    ),
    Exercise(
        "crossing-length", "09", 3,
        r"Write <code>crossing(d, d_ff, H, H_kv)</code>: the length T at which scores and mix together cost as many FLOPs as all the "
        r"rest of the layer. \(d_k = d_v = d / H\); the answer may be a fraction.",
        "Both sides have a factor T. With d_ff = 4·d and nothing shared the answer is 6·d.",
        crossing,
        {
            "The network is left out: this is the length at which they equal the projections.": _against_projections,
            "The projections are left out: this is the length at which they equal the network.": _against_network,
            "Keys and values have H_kv heads, not H: their projections cost less.": _unshared,
            "W_O is forgotten: it belongs to the projections.": _no_output,
            "The mix is forgotten: it costs as much as the scores, so the length is half of this.": _scores_for_all,
            "The network has two matrices.": _half_a_network,
            "Sharing makes no score less: each query head has T² of its own, whatever H_kv.": _shared_scores,
            "A multiply-add counts as two on both sides, or as one on both.": _multiplied_as_one,
            "No root: the other parts grow with T too, so one factor T falls out.": _root,
        },
        _crossing_cases,
    ),
    Exercise(
        "writing-flops", "09", 2,
        r"Write <code>writing_flops(T, n, d)</code>: the FLOPs of one layer that writes n tokens with a key/value cache. It holds "
        r"T tokens already. Token t is read by itself, and its query meets t keys, its own included. "
        r"\(d_{\text{ff}} = 4d\), no heads are shared.",
        "The first of the new tokens is token T + 1. What does a token cost by itself, and what for each key that it meets?",
        writing_flops,
        {
            "A token also attends to itself: the first of the new ones meets T + 1 keys.": _own_key_missed,
            "New tokens enter the cache too: each meets one key more than the one before it.": _old_keys_alone,
            "The T tokens of the cache are met by every new one.": _new_keys_alone,
            "A token cannot meet those that are written after it.": _all_keys_at_once,
            "This is without a cache: here only the new token is projected, and only its query asks.": _no_cache,
            "One query meets t keys: t pairs, not t².": _square_for_each,
            "This is one pass over all T + n tokens: the T of the cache have been read, and a new token sees none after it.":
                _read_again_at_the_end,
            "The mix is forgotten: the weights times the values cost as much as the scores.": _scores_without_mix,
            "The network is forgotten: 16·d² for each new token.": _without_network,
            "The four projections are forgotten: 8·d² for each new token.": _without_projections,
            "Projections and network are forgotten: 24·d² for each new token.": _pairs_alone,
            "A multiplication and an addition count as two: this is half of the FLOPs.": _one_for_two,
            "This is the first new token alone: there are n.": _one_of_n,
        },
        _writing_cases,
    ),
    *streaming.EXERCISES,
]
