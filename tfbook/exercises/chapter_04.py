"""Exercises of chapter 04, many heads."""

import numpy as np

from tfbook.exercises.chapter_03 import softmax
from tfbook.exercises.exercise import Exercise

# ---- split heads ----


def split_heads(X, H):
    T, channels = X.shape
    X = X.reshape(T, H, channels // H)  # a run of channels for each head
    return X.swapaxes(0, 1)             # (H, T, d_k)


def _reshaped_at_once(X, H):
    return X.reshape(H, X.shape[0], X.shape[1] // H)


def _every_hth_channel(X, H):
    return np.stack([X[:, h::H] for h in range(H)])


def _heads_in_the_middle(X, H):
    return X.reshape(X.shape[0], H, -1)


def _tokens_last(X, H):
    return split_heads(X, H).swapaxes(-1, -2)


def _runs_of_tokens(X, H):
    return X.T.reshape(H, X.shape[0], -1)


def _runs_of_H(X, H):
    return X.reshape(X.shape[0], -1, H).swapaxes(0, 1)


def _split_cases(rng):
    return [(rng.standard_normal(shape), H) for shape, H in (((5, 6), 2), ((7, 15), 3), ((4, 10), 5), ((3, 7), 7))]


# ---- repeat heads ----


def repeat_heads(X, n):
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
    return [(rng.standard_normal(shape), n) for shape, n in (((2, 5, 3), 2), ((3, 4, 7), 5), ((2, 4, 3, 5), 3), ((1, 3, 2), 4))]


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


def _one_token(T, L, d, H, H_kv, size):
    return 2 * L * H_kv * (d // H) * size


def _cache_cases(rng):
    return [(7, 3, 24, 4, 2, 5), (1000, 12, 768, 12, 3, 2), (4096, 80, 8192, 64, 8, 2), (11, 5, 42, 6, 1, 4)]


# ---- remove a head ----


def without_head(heads, W_O, h):
    H, _, d_v = heads.shape
    parts = [heads[i] @ W_O[i * d_v : (i + 1) * d_v] for i in range(H) if i != h]
    return sum(parts)


def _without(heads, W_O, keep):
    """MultiHead with a number for each row of W_O."""
    merged = heads.swapaxes(0, 1).reshape(heads.shape[1], -1)
    return (merged * keep) @ W_O


def _keep(heads, h, others=1.0):
    return np.repeat(np.where(np.arange(len(heads)) == h, 0.0, others), heads.shape[-1])


def _that_head_alone(heads, W_O, h):
    return _without(heads, W_O, 1 - _keep(heads, h))


def _counted_from_one(heads, W_O, h):
    return _without(heads, W_O, _keep(heads, h - 1))


def _every_hth_row(heads, W_O, h):
    keep = np.ones(len(W_O))
    keep[h :: len(heads)] = 0
    return _without(heads, W_O, keep)


def _columns(heads, W_O, h):
    d_v, W_O = heads.shape[-1], W_O.copy()
    W_O[:, h * d_v : (h + 1) * d_v] = 0
    return _without(heads, W_O, 1.0)


def _one_row(heads, W_O, h):
    keep = np.ones(len(W_O))
    keep[h] = 0
    return _without(heads, W_O, keep)


def _made_up_for(heads, W_O, h):
    return _without(heads, W_O, _keep(heads, h, len(heads) / (len(heads) - 1)))


def _nothing_removed(heads, W_O, h):
    return _without(heads, W_O, 1.0)


def _first_rows_of_W_O(heads, W_O, h):
    rest = np.delete(heads, h, axis=0)
    return rest.swapaxes(0, 1).reshape(heads.shape[1], -1) @ W_O[: rest.shape[0] * rest.shape[2]]


def _merged_by_reshape(heads, W_O, h):
    heads = heads.copy()
    heads[h] = 0
    return heads.reshape(heads.shape[1], -1) @ W_O


def _remove_cases(rng):
    sizes = ((3, 5, 2, 7, 1), (4, 3, 5, 11, 2), (2, 7, 3, 5, 1), (5, 3, 4, 2, 3))
    return [(rng.standard_normal((H, T, d_v)), rng.standard_normal((H * d_v, d)), h) for H, T, d_v, d, h in sizes]


# ---- multi-head attention ----


def multi_head_attention(X, W_Q, W_K, W_V, W_O, H):
    Q, K, V = (split_heads(X @ W, H) for W in (W_Q, W_K, W_V))
    A = softmax(Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1]))
    Y = A @ V                                        # (H, T, d_v)
    return Y.swapaxes(0, 1).reshape(len(X), -1) @ W_O


def _multi_head(X, W_Q, W_K, W_V, W_O, H, split=split_heads, scale=None, merge=None):
    Q, K, V = (split(X @ W, H) for W in (W_Q, W_K, W_V))
    A = softmax(Q @ K.swapaxes(-1, -2) / (np.sqrt(Q.shape[-1]) if scale is None else scale))
    Y = A @ V
    return merge(Y) if merge else Y.swapaxes(0, 1).reshape(len(X), -1) @ W_O


def _scaled_by_all(X, W_Q, W_K, W_V, W_O, H):
    return _multi_head(X, W_Q, W_K, W_V, W_O, H, scale=np.sqrt(W_Q.shape[1]))


def _scaled_by_d(X, W_Q, W_K, W_V, W_O, H):
    return _multi_head(X, W_Q, W_K, W_V, W_O, H, scale=np.sqrt(X.shape[1]))


def _not_scaled(X, W_Q, W_K, W_V, W_O, H):
    return _multi_head(X, W_Q, W_K, W_V, W_O, H, scale=1.0)


def _one_head(X, W_Q, W_K, W_V, W_O, H):
    return _multi_head(X, W_Q, W_K, W_V, W_O, 1)


def _split_by_reshape(X, W_Q, W_K, W_V, W_O, H):
    return _multi_head(X, W_Q, W_K, W_V, W_O, H, split=_reshaped_at_once)


def _interleaved(X, W_Q, W_K, W_V, W_O, H):
    return _multi_head(X, W_Q, W_K, W_V, W_O, H, split=_every_hth_channel)


def _merged_at_once(X, W_Q, W_K, W_V, W_O, H):
    return _multi_head(X, W_Q, W_K, W_V, W_O, H, merge=lambda Y: Y.reshape(len(X), -1) @ W_O)


def _no_output_matrix(X, W_Q, W_K, W_V, W_O, H):
    return _multi_head(X, W_Q, W_K, W_V, W_O, H, merge=lambda Y: Y.swapaxes(0, 1).reshape(len(X), -1))


def _heads_averaged(X, W_Q, W_K, W_V, W_O, H):
    return multi_head_attention(X, W_Q, W_K, W_V, W_O, H) / H


def _heads_attend_to_heads(X, W_Q, W_K, W_V, W_O, H):
    Q, K, V = ((X @ W).reshape(len(X), H, -1) for W in (W_Q, W_K, W_V))
    Y = softmax(Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1])) @ V  # (T, H, d_v)
    return Y.reshape(len(X), -1) @ W_O


def _multi_head_cases(rng):
    sizes = ((5, 7, 2, 3, 4), (4, 11, 3, 5, 2), (6, 10, 5, 2, 3))
    return [(rng.standard_normal((T, d)), *(rng.standard_normal((d, H * n)) for n in (d_k, d_k, d_v)), rng.standard_normal((H * d_v, d)), H)
            for T, d, H, d_k, d_v in sizes]


EXERCISES = [
    Exercise(
        "split-heads", "04", 2,
        r"Write <code>split(X, H)</code> for \(X\) of shape <code>(T, H·d_k)</code>: an array <code>(H, T, d_k)</code> in which "
        r"head \(h\) holds the "
        r"\(h\)-th run of \(d_k\) channels of every token.",
        "A reshape may only cut the last axis, since a token's channels lie side by side in memory. Where does the new axis "
        "stand then, and where should it?",
        split_heads,
        {
            "The reshape runs across tokens: head 1 gets all channels of the first tokens. Cut the last axis, then move the heads forward.":
                _reshaped_at_once,
            "Head h gets every H-th channel: it should get d_k channels in a row.": _every_hth_channel,
            "The channels are cut rightly, but the head axis stands behind the tokens: swap the first two axes.": _heads_in_the_middle,
            "The last two axes are exchanged: each head is (T, d_k), a row for each token.": _tokens_last,
            "The channels of a head are laid out as if they were tokens: do not transpose before the cut.": _runs_of_tokens,
            "The channels are cut into runs of H: cut them into H runs of d_k.": _runs_of_H,
        },
        _split_cases,
    ),
    Exercise(
        "repeat-heads", "04", 2,
        r"Write <code>repeat(X, n)</code> for keys or values \(X\) of shape <code>(..., H_kv, T, d_k)</code>: give each head to "
        r"\(n\) query heads in a row, "
        "<code>(..., H_kv·n, T, d_k)</code>.",
        "With two key/value heads and n = 3 the order is 0 0 0 1 1 1. NumPy has one function that gives 0 0 0 1 1 1 and one "
        "that gives 0 1 0 1 0 1.",
        repeat_heads,
        {
            "The heads are tiled, 0 1 0 1: query heads in a row share one, 0 0 1 1. The shapes agree; nothing else will tell you.": _tiled,
            "The tokens are repeated: repeat along the head axis, the third from the end.": _tokens_repeated,
            "The channels are repeated: repeat along the head axis, the third from the end.": _channels_repeated,
            "Every query head gets the first key/value head: that is right for H_kv = 1 alone.": _first_for_all,
            "Nothing is repeated: there are still H_kv heads.": _as_they_are,
            "The copies stand on an axis of their own: merge it with the head axis.": _a_new_axis,
        },
        _repeat_cases,
    ),
    Exercise(
        "cache-bytes", "04", 2,
        r"Write <code>cache_bytes(T, L, d, H, H_kv, size)</code>: the bytes of the key/value cache of one sequence of \(T\) "
        r"tokens in a model of \(L\) layers, "
        r"whose \(H\) query heads are \(d / H\) wide and share \(H_{kv}\) key/value heads. A number takes <code>size</code> bytes.",
        "For each token and each layer, count the numbers that later tokens will ask for. Are queries among them? Is the attention matrix?",
        cache_bytes,
        {
            "Values are kept as well as keys: twice as much.": _keys_alone,
            "This is the cache without sharing: there are H_kv heads in it, not H.": _not_shared,
            "A head is d / H wide, not d.": _d_a_head,
            "A head keeps its width d / H when it is shared, and H_kv of them are kept.": _d_over_H_kv,
            "Every layer has a cache of its own: times L.": _one_layer,
            "These are numbers, not bytes: times size.": _numbers_not_bytes,
            "This is the attention matrix: it is made anew for each token, and not kept.": _the_matrix,
            "This is one token's share: times T.": _one_token,
        },
        _cache_cases,
    ),
    Exercise(
        "remove-head", "04", 3,
        r"Write <code>without(heads, W_O, h)</code>: what multi-head attention gives when head \(h\) (from 0 on) is taken out "
        r"and nothing else changes. "
        r"<code>heads</code> is <code>(H, T, d_v)</code>, \(W_O\) is <code>(H·d_v, d)</code>.",
        r"\(\mathrm{MultiHead}(X) = \sum_h \mathrm{head}_h W_O^{(h)}\). Which rows of \(W_O\) belong to head \(h\)?",
        without_head,
        {
            "This is head h alone: keep all the others.": _that_head_alone,
            "The heads are counted from 0 here: this is the one before.": _counted_from_one,
            "Every H-th row of W_O is taken out: a head has d_v rows in a row.": _every_hth_row,
            "Columns of W_O are taken out: a head stands in its rows, a column is an output channel.": _columns,
            "A single row of W_O is taken out: a head has d_v of them.": _one_row,
            "The other heads are made larger, by H / (H − 1): nothing else was to change.": _made_up_for,
            "Nothing is taken out.": _nothing_removed,
            "The heads behind h meet the wrong rows of W_O: each keeps its own.": _first_rows_of_W_O,
            "The heads are merged by a reshape alone: move the head axis behind the tokens first.": _merged_by_reshape,
        },
        _remove_cases,
    ),
    Exercise(
        "multi-head-attention", "04", 4,
        r"Write <code>multi_head(X, W_Q, W_K, W_V, W_O, H)</code> without a mask: \(X\) is <code>(T, d)</code>, \(W_Q\) and \(W_K\) are "
        r"<code>(d, H·d_k)</code>, \(W_V\) is <code>(d, H·d_v)</code>, \(W_O\) is <code>(H·d_v, d)</code>. NumPy only.",
        r"Split, attend, merge, mix. The width that the dot products sum over is that of <em>one</em> head.",
        multi_head_attention,
        {
            "The scores are divided by √(H·d_k): each head sums over its own d_k channels only.": _scaled_by_all,
            "The scores are divided by √d: each head sums over its own d_k channels only.": _scaled_by_d,
            "The scale is missing: divide the scores by √d_k.": _not_scaled,
            "This is one head on all channels: split Q, K and V.": _one_head,
            "The split is a reshape across tokens: cut the channels, then move the head axis forward.": _split_by_reshape,
            "Head h gets every H-th channel: it should get d_k channels in a row.": _interleaved,
            "The merge is a reshape alone: move the head axis behind the tokens first.": _merged_at_once,
            "W_O is missing: nothing mixes the heads.": _no_output_matrix,
            "The heads are averaged: put them side by side, W_O sums them.": _heads_averaged,
            "Heads attend to heads of the same token: the head axis has to stand before the tokens.": _heads_attend_to_heads,
        },
        _multi_head_cases,
    ),
]
