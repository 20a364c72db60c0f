"""Exercises of chapter 04 on multi-head attention as a whole."""

import numpy as np

from tfbook.exercises.exercise import Exercise
from tfbook.numpy import softmax, split_heads

# ---- remove a head ----


def without(heads, W_O, h):
    H, _, d_v = heads.shape
    parts = [
        heads[i] @ W_O[i * d_v : (i + 1) * d_v] for i in range(H) if i != h
    ]
    return sum(parts)


def _without(heads, W_O, keep):
    """MultiHead with a number for each row of W_O."""
    merged = heads.swapaxes(0, 1).reshape(heads.shape[1], -1)
    return (merged * keep) @ W_O


def _keep(heads, h, others=1.0):
    return np.repeat(
        np.where(np.arange(len(heads)) == h, 0.0, others), heads.shape[-1]
    )


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


def _not_summed(heads, W_O, h):
    d_v = heads.shape[-1]
    return np.stack(
        [
            heads[i] @ W_O[i * d_v : (i + 1) * d_v]
            for i in range(len(heads))
            if i != h
        ]
    )


def _first_rows_of_W_O(heads, W_O, h):
    rest = np.delete(heads, h, axis=0)
    return (
        rest.swapaxes(0, 1).reshape(heads.shape[1], -1)
        @ W_O[: rest.shape[0] * rest.shape[2]]
    )


def _merged_by_reshape(heads, W_O, h):
    heads = heads.copy()
    heads[h] = 0
    return heads.reshape(heads.shape[1], -1) @ W_O


def _remove_cases(rng):
    sizes = (
        (3, 5, 2, 7, 1),
        (4, 3, 5, 11, 2),
        (2, 7, 3, 5, 1),
        (5, 3, 4, 2, 3),
    )
    return [
        (
            rng.standard_normal((H, T, d_v)),
            rng.standard_normal((H * d_v, d)),
            h,
        )
        for H, T, d_v, d, h in sizes
    ]


# ---- multi-head attention ----


def multi_head(X, W_Q, W_K, W_V, W_O, H):
    Q, K, V = (split_heads(X @ W, H) for W in (W_Q, W_K, W_V))
    A = softmax(Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1]))
    Y = A @ V  # (H, T, d_v)
    return Y.swapaxes(0, 1).reshape(len(X), -1) @ W_O


def _multi_head(
    X,
    W_Q,
    W_K,
    W_V,
    W_O,
    H,
    split=split_heads,
    scale=None,
    merge=None,
    axis=-1,
):
    Q, K, V = (split(X @ W, H) for W in (W_Q, W_K, W_V))
    A = softmax(
        Q
        @ K.swapaxes(-1, -2)
        / (np.sqrt(Q.shape[-1]) if scale is None else scale),
        axis,
    )
    Y = A @ V
    return merge(Y) if merge else Y.swapaxes(0, 1).reshape(len(X), -1) @ W_O


def _interleaved(X, W_Q, W_K, W_V, W_O, H):
    return _multi_head(
        X,
        W_Q,
        W_K,
        W_V,
        W_O,
        H,
        split=lambda X, H: np.stack([X[:, h::H] for h in range(H)]),
    )


def _heads_attend_to_heads(X, W_Q, W_K, W_V, W_O, H):
    Q, K, V = ((X @ W).reshape(len(X), H, -1) for W in (W_Q, W_K, W_V))
    # (T, H, d_v)
    Y = softmax(Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1])) @ V
    return Y.reshape(len(X), -1) @ W_O


def _multi_head_cases(rng):
    sizes = ((5, 7, 2, 3, 4), (4, 11, 3, 5, 2), (6, 10, 5, 2, 3))
    return [
        (
            rng.standard_normal((T, d)),
            *(rng.standard_normal((d, H * n)) for n in (d_k, d_k, d_v)),
            rng.standard_normal((H * d_v, d)),
            H,
        )
        for T, d, H, d_k, d_v in sizes
    ]


EXERCISES = [
    Exercise(
        "remove-head",
        "04",
        3,
        r"Write <code>without(heads, W_O, h)</code>: what multi-head attention gives "
        r"when head \(h\) (from 0 on) is taken out and nothing else changes. "
        r"<code>heads</code> holds what each head gives, <code>(H, T, d_v)</code>; "
        r"\(W_O\) is <code>(H·d_v, d)</code>, the result <code>(T, d)</code>.",
        r"\(\mathrm{MultiHead}(X) = \sum_h \mathrm{head}_h W_O^{(h)}\). Which rows of "
        r"\(W_O\) belong to head \(h\)?",
        without,
        {
            "This is head h alone: keep all the others.": lambda heads, W_O, h: (
                _without(heads, W_O, 1 - _keep(heads, h))
            ),
            "The heads are counted from 0 here: this is the one "
            "before.": lambda heads, W_O, h: _without(
                heads, W_O, _keep(heads, h - 1)
            ),
            "Every H-th row of W_O is taken out: a head has d_v rows in a "
            "row.": _every_hth_row,
            "Columns of W_O are taken out: a head stands in its rows, a column is an "
            "output channel.": _columns,
            "A single row of W_O is taken out: a head has d_v of them.": _one_row,
            "The other heads are made larger, by H / (H − 1): nothing else was to "
            "change.": lambda heads, W_O, h: _without(
                heads, W_O, _keep(heads, h, len(heads) / (len(heads) - 1))
            ),
            "The mean of the other heads' parts: they are "
            "summed.": lambda heads, W_O, h: (
                _without(heads, W_O, _keep(heads, h)) / (len(heads) - 1)
            ),
            "The parts of the other heads lie on an axis of their own: sum "
            "them.": _not_summed,
            "Nothing is taken out.": lambda heads, W_O, h: _without(
                heads, W_O, 1.0
            ),
            "The heads behind h meet the wrong rows of W_O: each keeps its "
            "own.": _first_rows_of_W_O,
            "The heads are merged by a reshape alone: move the head axis behind the "
            "tokens first.": _merged_by_reshape,
        },
        _remove_cases,
    ),
    Exercise(
        "multi-head-attention",
        "04",
        4,
        r"Write <code>multi_head(X, W_Q, W_K, W_V, W_O, H)</code> without a mask: "
        r"\(X\) is <code>(T, d)</code>, \(W_Q\) and \(W_K\) are <code>(d, "
        r"H·d_k)</code>, \(W_V\) is <code>(d, H·d_v)</code>, \(W_O\) is <code>(H·d_v, "
        r"d)</code>; the result is <code>(T, d)</code>. <code>softmax</code> and "
        r"<code>split_heads</code> of <code>tfbook.numpy</code> are yours to use.",
        r"Split, attend, merge, mix. The width that the dot products sum over is that "
        r"of <em>one</em> head.",
        multi_head,
        {
            "The scores are divided by √(H·d_k): each head sums over its own d_k "
            "channels only.": lambda X, W_Q, W_K, W_V, W_O, H: _multi_head(
                X, W_Q, W_K, W_V, W_O, H, scale=np.sqrt(W_Q.shape[1])
            ),
            "The scores are divided by √d: each head sums over its own d_k channels "
            "only.": lambda X, W_Q, W_K, W_V, W_O, H: _multi_head(
                X, W_Q, W_K, W_V, W_O, H, scale=np.sqrt(X.shape[1])
            ),
            "The scale is missing: divide the scores by "
            "√d_k.": lambda X, W_Q, W_K, W_V, W_O, H: _multi_head(
                X, W_Q, W_K, W_V, W_O, H, scale=1.0
            ),
            "The scores are divided by d_k: divide by its "
            "root.": lambda X, W_Q, W_K, W_V, W_O, H: _multi_head(
                X, W_Q, W_K, W_V, W_O, H, scale=W_Q.shape[1] // H
            ),
            "The softmax runs over the queries: each query's weights must sum to one "
            "(axis=-1).": lambda X, W_Q, W_K, W_V, W_O, H: _multi_head(
                X, W_Q, W_K, W_V, W_O, H, axis=-2
            ),
            "The softmax runs over the heads: each head has weights of its own, over "
            "the keys (axis=-1).": lambda X, W_Q, W_K, W_V, W_O, H: (
                _multi_head(X, W_Q, W_K, W_V, W_O, H, axis=-3)
            ),
            "W_Q and W_K are exchanged: rows are queries, X @ W_Q; columns are "
            "keys.": lambda X, W_Q, W_K, W_V, W_O, H: multi_head(
                X, W_K, W_Q, W_V, W_O, H
            ),
            "X is added: that is the residual, which is no part of "
            "attention.": lambda X, W_Q, W_K, W_V, W_O, H: (
                X + multi_head(X, W_Q, W_K, W_V, W_O, H)
            ),
            "This is one head on all channels: split Q, K and "
            "V.": lambda X, W_Q, W_K, W_V, W_O, H: _multi_head(
                X, W_Q, W_K, W_V, W_O, 1
            ),
            "The split is a reshape across tokens: cut the channels, then move the "
            "head axis forward.": lambda X, W_Q, W_K, W_V, W_O, H: (
                _multi_head(
                    X,
                    W_Q,
                    W_K,
                    W_V,
                    W_O,
                    H,
                    split=lambda X, H: X.reshape(H, len(X), -1),
                )
            ),
            "Head h gets every H-th channel: it should get d_k channels in a "
            "row.": _interleaved,
            "The merge is a reshape alone: move the head axis behind the tokens "
            "first.": lambda X, W_Q, W_K, W_V, W_O, H: _multi_head(
                X,
                W_Q,
                W_K,
                W_V,
                W_O,
                H,
                merge=lambda Y: Y.reshape(len(X), -1) @ W_O,
            ),
            "W_O is missing: nothing mixes the "
            "heads.": lambda X, W_Q, W_K, W_V, W_O, H: _multi_head(
                X,
                W_Q,
                W_K,
                W_V,
                W_O,
                H,
                merge=lambda Y: Y.swapaxes(0, 1).reshape(len(X), -1),
            ),
            "The heads are averaged: put them side by side, W_O sums "
            "them.": lambda X, W_Q, W_K, W_V, W_O, H: (
                multi_head(X, W_Q, W_K, W_V, W_O, H) / H
            ),
            "Heads attend to heads of the same token: the head axis has to stand "
            "before the tokens.": _heads_attend_to_heads,
        },
        _multi_head_cases,
    ),
]
