"""Exercises of chapter 09 on writing with a key/value cache."""

from tfbook.exercises.exercise import Exercise

# ---- FLOPs of writing with a cache ----


def writing_flops(T, n, d):
    # keys that the n queries meet, their own included
    met = sum(range(T + 1, T + n + 1))
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
        "writing-flops",
        "09",
        2,
        r"Write <code>writing_flops(T, n, d)</code>: the FLOPs of one layer that "
        r"writes n tokens with a key/value cache. It holds T tokens already. Token t "
        r"is read by itself, and its query meets t keys, its own included. "
        r"\(d_{\text{ff}} = 4d\), no heads are shared.",
        "The first of the new tokens is token T + 1. What does a token cost by itself, "
        "and what for each key that it meets?",
        writing_flops,
        {
            "A token also attends to itself: the first of the new ones meets T + 1 "
            "keys.": _own_key_missed,
            "New tokens enter the cache too: each meets one key more than the one "
            "before it.": _old_keys_alone,
            "The T tokens of the cache are met by every new one.": _new_keys_alone,
            "A token cannot meet those that are written after it.": _all_keys_at_once,
            "This is without a cache: here only the new token is projected, and only "
            "its query asks.": _no_cache,
            "One query meets t keys: t pairs, not t².": _square_for_each,
            "This is one pass over all T + n tokens: the T of the cache have been "
            "read, and a new token sees none after it.": _read_again_at_the_end,
            "The mix is forgotten: the weights times the values cost as much as the "
            "scores.": _scores_without_mix,
            "The network is forgotten: 16·d² for each new token.": _without_network,
            "The four projections are forgotten: 8·d² for each new "
            "token.": _without_projections,
            "Projections and network are forgotten: 24·d² for each new "
            "token.": _pairs_alone,
            "A multiplication and an addition count as two: this is half of the "
            "FLOPs.": _one_for_two,
            "This is the first new token alone: there are n.": _one_of_n,
        },
        _writing_cases,
    )
]
