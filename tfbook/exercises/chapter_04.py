"""Exercises of chapter 04, many heads."""

import numpy as np

from tfbook.exercises import chapter_04_attention as attention
from tfbook.exercises.exercise import Exercise

# ---- split heads ----


def split(X, H):
    T, channels = X.shape
    X = X.reshape(T, H, channels // H)  # a run of channels for each head
    return X.swapaxes(0, 1)  # (H, T, d_k)


def _reshaped_at_once(X, H):
    return X.reshape(H, X.shape[0], X.shape[1] // H)


def _every_hth_channel(X, H):
    return np.stack([X[:, h::H] for h in range(H)])


def _heads_in_the_middle(X, H):
    return X.reshape(X.shape[0], H, -1)


def _tokens_last(X, H):
    return split(X, H).swapaxes(-1, -2)


def _runs_of_tokens(X, H):
    return X.T.reshape(H, X.shape[0], -1)


def _runs_of_H(X, H):
    return X.reshape(X.shape[0], -1, H).swapaxes(0, 1)


def _split_cases(rng):
    return [
        (rng.standard_normal(shape), H)
        for shape, H in (((5, 6), 2), ((7, 15), 3), ((4, 10), 5), ((3, 7), 7))
    ]


# ---- repeat heads ----


def repeat(X, n):
    return np.repeat(X, n, axis=-3)


def _tiled(X, n):
    return np.concatenate([X] * n, axis=-3)


def _tokens_repeated(X, n):
    return np.repeat(X, n, axis=-2)


def _channels_repeated(X, n):
    return np.repeat(X, n, axis=-1)


def _first_for_all(X, n):
    return np.repeat(X[..., :1, :, :], n * X.shape[-3], axis=-3)


def _as_they_are(X, n):
    return X.copy()


def _a_new_axis(X, n):
    return np.repeat(X[..., None, :, :], n, axis=-3)


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


def _keys_alone(T, L, d, H, H_kv, size):
    return L * T * H_kv * (d // H) * size


def _not_shared(T, L, d, H, H_kv, size):
    return 2 * L * T * d * size


def _d_a_head(T, L, d, H, H_kv, size):
    return 2 * L * T * H_kv * d * size


def _d_over_H_kv(T, L, d, H, H_kv, size):
    return 2 * L * T * H * (d // H_kv) * size


def _one_layer(T, L, d, H, H_kv, size):
    return 2 * T * H_kv * (d // H) * size


def _numbers_not_bytes(T, L, d, H, H_kv, size):
    return 2 * L * T * H_kv * (d // H)


def _the_matrix(T, L, d, H, H_kv, size):
    return L * H * T * T * size


def _queries_too(T, L, d, H, H_kv, size):
    return L * T * (H + 2 * H_kv) * (d // H) * size


def _groups_not_heads(T, L, d, H, H_kv, size):
    return 2 * L * T * (H // H_kv) * (d // H) * size


def _one_token(T, L, d, H, H_kv, size):
    return 2 * L * H_kv * (d // H) * size


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
            "forward.": _reshaped_at_once,
            "Head h gets every H-th channel: it should get d_k channels in a "
            "row.": _every_hth_channel,
            "The channels are cut rightly, but the head axis stands behind the tokens: "
            "swap the first two axes.": _heads_in_the_middle,
            "The last two axes are exchanged: each head is (T, d_k), a row for each "
            "token.": _tokens_last,
            "The channels of a head are laid out as if they were tokens: do not "
            "transpose before the cut.": _runs_of_tokens,
            "The channels are cut into runs of H: cut them into H runs of "
            "d_k.": _runs_of_H,
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
            "The shapes agree; nothing else will tell you.": _tiled,
            "The tokens are repeated: repeat along the head axis, the third from the "
            "end.": _tokens_repeated,
            "The channels are repeated: repeat along the head axis, the third from the "
            "end.": _channels_repeated,
            "Every query head gets the first key/value head: that is right for H_kv = "
            "1 alone.": _first_for_all,
            "Nothing is repeated: there are still H_kv heads.": _as_they_are,
            "The copies stand on an axis of their own: merge it with the head "
            "axis.": _a_new_axis,
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
            "Values are kept as well as keys: twice as much.": _keys_alone,
            "This is the cache without sharing: there are H_kv heads in it, not "
            "H.": _not_shared,
            "A head is d / H wide, not d.": _d_a_head,
            "A head keeps its width d / H when it is shared, and H_kv of them are "
            "kept.": _d_over_H_kv,
            "Every layer has a cache of its own: times L.": _one_layer,
            "These are numbers, not bytes: times size.": _numbers_not_bytes,
            "This is the attention matrix: it is made anew for each token, and not "
            "kept.": _the_matrix,
            "Queries are counted too: each is used once, by its own token, and not "
            "kept.": _queries_too,
            "H / H_kv is the size of a group: H_kv heads are kept.": _groups_not_heads,
            "This is one token's share: times T.": _one_token,
        },
        _cache_cases,
    ),
    *attention.EXERCISES,
]
