"""Exercises of chapter 10 on writing with a key/value cache."""

from tfbook.exercises.exercise import Exercise

# ---- FLOPs of writing with a cache ----


def writing_flops(T, n, d):
    # keys that the n queries meet, their own included
    met = sum(range(T + 1, T + n + 1))
    return 24 * n * d * d + 4 * d * met


def _written(T, n, d, met=None, linear=24, pairs=4):
    met = n * T + n * (n + 1) // 2 if met is None else met
    return linear * n * d * d + pairs * d * met


def _writing_cases(rng):
    return [(7, 3, 4), (100, 12, 6), (5, 50, 8), (2048, 256, 768)]


EXERCISES = [
    Exercise(
        "writing-flops",
        "10",
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
            "keys.": lambda T, n, d: _written(
                T, n, d, met=n * T + n * (n - 1) // 2
            ),
            "New tokens enter the cache too: each meets one key more than the one "
            "before it.": lambda T, n, d: _written(T, n, d, met=n * T),
            "The T tokens of the cache are met by every new one.": lambda T, n, d: (
                _written(T, n, d, met=n * (n + 1) // 2)
            ),
            "A token cannot meet those that are written after it.": lambda T, n, d: (
                _written(T, n, d, met=n * (T + n))
            ),
            "This is without a cache: here only the new token is projected, and only "
            "its query asks.": lambda T, n, d: sum(
                24 * t * d * d + 4 * t * t * d
                for t in range(T + 1, T + n + 1)
            ),
            "One query meets t keys: t pairs, not t².": lambda T, n, d: (
                _written(
                    T, n, d, met=sum(t * t for t in range(T + 1, T + n + 1))
                )
            ),
            "This is one pass over all T + n tokens: the T of the cache have been "
            "read, and a new token sees none after it.": lambda T, n, d: (
                24 * (T + n) * d * d + 4 * (T + n) ** 2 * d
            ),
            "The mix is forgotten: the weights times the values cost as much as the "
            "scores.": lambda T, n, d: _written(T, n, d, pairs=2),
            "The network is forgotten: 16·d² for each new token.": lambda T, n, d: (
                _written(T, n, d, linear=8)
            ),
            "The four projections are forgotten: 8·d² for each new "
            "token.": lambda T, n, d: _written(T, n, d, linear=16),
            "Projections and network are forgotten: 24·d² for each new "
            "token.": lambda T, n, d: _written(T, n, d, linear=0),
            "A multiplication and an addition count as two: this is half of the "
            "FLOPs.": lambda T, n, d: _written(T, n, d) // 2,
            "This is the first new token alone: there are n.": lambda T, n, d: (
                _written(T, 1, d)
            ),
        },
        _writing_cases,
    )
]
