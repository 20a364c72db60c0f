"""Exercises of chapter 04, many heads."""

import numpy as np

from tfbook.exercises import chapter_04_attention as attention
from tfbook.exercises.exercise import Exercise

# ---- split heads ----


def split(X, H):
    T, channels = X.shape
    X = X.reshape(T, H, channels // H)  # a run of channels for each head
    return X.swapaxes(0, 1)  # (H, T, d_k)


def _split_cases(rng):
    return [
        (rng.standard_normal(shape), H)
        for shape, H in (((5, 6), 2), ((7, 15), 3), ((4, 10), 5), ((3, 7), 7))
    ]


# ---- repeat heads ----


def repeat(X, n):
    return np.repeat(X, n, axis=-3)


def _repeat_cases(rng):
    return [
        (rng.standard_normal(shape), n)
        for shape, n in (
            ((2, 5, 3), 2),
            ((3, 4, 7), 5),
            ((2, 4, 3, 5), 3),
            ((1, 3, 2), 4),
        )
    ]


# ---- the cache in bytes ----


def cache_bytes(T, L, d, H, H_kv, size):
    d_k = d // H
    return 2 * L * T * H_kv * d_k * size  # 2: keys and values


def _cache_cases(rng):
    return [
        (7, 3, 24, 4, 2, 5),
        (1000, 12, 768, 12, 3, 2),
        (4096, 80, 8192, 64, 8, 2),
        (11, 5, 42, 6, 1, 4),
    ]


EXERCISES = [
    Exercise(
        "split-heads",
        "04",
        2,
        r"Write <code>split(X, H)</code> for \(X\) of shape <code>(T, H·d_k)</code>: "
        r"an array <code>(H, T, d_k)</code> in which head \(h\) holds the \(h\)-th run "
        r"of \(d_k\) channels of every token.",
        "A reshape may only cut the last axis, since a token's channels lie side by "
        "side in memory. Where does the new axis stand then, and where should it?",
        split,
        {
            "The reshape runs across tokens: head 1 gets all channels of the first "
            "tokens. Cut the last axis, then move the heads "
            "forward.": lambda X, H: X.reshape(
                H, X.shape[0], X.shape[1] // H
            ),
            "Head h gets every H-th channel: it should get d_k channels in a "
            "row.": lambda X, H: np.stack([X[:, h::H] for h in range(H)]),
            "The channels are cut rightly, but the head axis stands behind the tokens: "
            "swap the first two axes.": lambda X, H: X.reshape(
                X.shape[0], H, -1
            ),
            "The last two axes are exchanged: each head is (T, d_k), a row for each "
            "token.": lambda X, H: split(X, H).swapaxes(-1, -2),
            "The channels of a head are laid out as if they were tokens: do not "
            "transpose before the cut.": lambda X, H: X.T.reshape(
                H, X.shape[0], -1
            ),
            "The channels are cut into runs of H: cut them into H runs of "
            "d_k.": lambda X, H: X.reshape(X.shape[0], -1, H).swapaxes(0, 1),
        },
        _split_cases,
    ),
    Exercise(
        "repeat-heads",
        "04",
        2,
        r"Write <code>repeat(X, n)</code> for keys or values \(X\) of shape "
        r"<code>(..., H_kv, T, d_k)</code>: give each head to \(n\) query heads in a "
        r"row, <code>(..., H_kv·n, T, d_k)</code>.",
        "With two key/value heads and n = 3 the order is 0 0 0 1 1 1. NumPy has one "
        "function that gives 0 0 0 1 1 1 and one that gives 0 1 0 1 0 1.",
        repeat,
        {
            "The heads are tiled, 0 1 0 1: query heads in a row share one, 0 0 1 1. "
            "The shapes agree; nothing else will tell you.": lambda X, n: (
                np.concatenate([X] * n, axis=-3)
            ),
            "The tokens are repeated: repeat along the head axis, the third from the "
            "end.": lambda X, n: np.repeat(X, n, axis=-2),
            "The channels are repeated: repeat along the head axis, the third from the "
            "end.": lambda X, n: np.repeat(X, n, axis=-1),
            "Every query head gets the first key/value head: that is right for H_kv = "
            "1 alone.": lambda X, n: np.repeat(
                X[..., :1, :, :], n * X.shape[-3], axis=-3
            ),
            "Nothing is repeated: there are still H_kv heads.": lambda X, n: (
                X.copy()
            ),
            "The copies stand on an axis of their own: merge it with the head "
            "axis.": lambda X, n: np.repeat(X[..., None, :, :], n, axis=-3),
        },
        _repeat_cases,
    ),
    Exercise(
        "cache-bytes",
        "04",
        2,
        r"Write <code>cache_bytes(T, L, d, H, H_kv, size)</code>: the bytes of the "
        r"key/value cache of one sequence of \(T\) tokens in a model of \(L\) layers, "
        r"whose \(H\) query heads are \(d / H\) wide and share \(H_{kv}\) key/value "
        r"heads. A number takes <code>size</code> bytes.",
        "For each token and each layer, count the numbers that later tokens will ask "
        "for. Are queries among them? Is the attention matrix?",
        cache_bytes,
        {
            "Values are kept as well as keys: twice as "
            "much.": lambda T, L, d, H, H_kv, size: (
                L * T * H_kv * (d // H) * size
            ),
            "This is the cache without sharing: there are H_kv heads in it, not "
            "H.": lambda T, L, d, H, H_kv, size: 2 * L * T * d * size,
            "A head is d / H wide, not d.": lambda T, L, d, H, H_kv, size: (
                2 * L * T * H_kv * d * size
            ),
            "A head keeps its width d / H when it is shared, and H_kv of them are "
            "kept.": lambda T, L, d, H, H_kv, size: (
                2 * L * T * H * (d // H_kv) * size
            ),
            "Every layer has a cache of its own: times "
            "L.": lambda T, L, d, H, H_kv, size: (
                2 * T * H_kv * (d // H) * size
            ),
            "These are numbers, not bytes: times "
            "size.": lambda T, L, d, H, H_kv, size: (
                2 * L * T * H_kv * (d // H)
            ),
            "This is the attention matrix: it is made anew for each token, and not "
            "kept.": lambda T, L, d, H, H_kv, size: L * H * T * T * size,
            "Queries are counted too: each is used once, by its own token, and not "
            "kept.": lambda T, L, d, H, H_kv, size: (
                L * T * (H + 2 * H_kv) * (d // H) * size
            ),
            "H / H_kv is the size of a group: H_kv heads are "
            "kept.": lambda T, L, d, H, H_kv, size: (
                2 * L * T * (H // H_kv) * (d // H) * size
            ),
            "This is one token's share: times T.": lambda T, L, d, H, H_kv, size: (
                2 * L * H_kv * (d // H) * size
            ),
        },
        _cache_cases,
    ),
    *attention.EXERCISES,
]
