"""Chapter 04: answers as a reader might write them."""

import numpy as np
from answers import soft


def split(X, H):
    return np.stack(np.split(X, H, axis=1))


def attend(X, W_Q, W_K, W_V, H, width=None, cut=split):
    Q, K, V = (cut(X @ W, H) for W in (W_Q, W_K, W_V))
    return np.stack(
        [soft(q @ k.T / np.sqrt(width or q.shape[1])) @ v for q, k, v in zip(Q, K, V)]
    )


def by_head(heads, W_O, chosen):
    d_v = heads.shape[-1]
    return sum(
        (heads[i] @ W_O[i * d_v : (i + 1) * d_v] for i in chosen),
        np.zeros((heads.shape[1], W_O.shape[1])),
    )


def zeroed(heads, h):
    heads = heads.copy()
    heads[h] = 0
    return heads


def in_float32(*given):
    X, Q, K, V, O = (M.astype(np.float32) for M in given[:-1])
    return np.hstack(attend(X, Q, K, V, given[-1])).astype(np.float32) @ O


WRONG = {
    "split-heads": [
        (lambda X, H: X.reshape(H, len(X), -1), "runs across tokens"),
        (
            lambda X, H: np.moveaxis(X.reshape(len(X), -1, H), -1, 0),
            "every H-th channel",
        ),
        (
            lambda X, H: np.stack(np.split(X, H, axis=1), axis=1),
            "head axis stands behind",
        ),
        (lambda X, H: np.stack(np.split(X.T, H)), "last two axes are exchanged"),
        (
            lambda X, H: np.reshape(
                np.ascontiguousarray(X.T), (H, len(X), X.shape[1] // H)
            ),
            "laid out as if they were tokens",
        ),
    ],
    "repeat-heads": [
        (lambda X, n: np.tile(X, (n, 1, 1)), "tiled"),
        (lambda X, n: X.repeat(n, axis=-2), "tokens are repeated"),
        (lambda X, n: X.repeat(n, axis=-1), "channels are repeated"),
        (
            lambda X, n: np.stack([X[..., 0, :, :]] * (n * X.shape[-3]), axis=-3),
            "Every query head gets the first",
        ),
        (lambda X, n: np.stack([X] * n, axis=-3), "axis of their own"),
    ],
    "cache-bytes": [
        (lambda T, L, d, H, H_kv, size: T * L * d * H_kv / H * size, "Values are kept"),
        (lambda T, L, d, H, H_kv, size: T * L * d * 2 * size, "without sharing"),
        (lambda T, L, d, H, H_kv, size: 2 * T * L * d * H_kv / H, "numbers, not bytes"),
        (lambda T, L, d, H, H_kv, size: 2 * T * d * H_kv / H * size, "Every layer"),
        (lambda T, L, d, H, H_kv, size: T * T * H * L * size, "attention matrix"),
        (
            lambda T, L, d, H, H_kv, size: T * L * (d + 2 * H_kv * d / H) * size,
            "Queries are counted too",
        ),
        (
            lambda T, L, d, H, H_kv, size: 2 * T * L * (H // H_kv) * d / H * size,
            "size of a group",
        ),
        (lambda T, L, d, H, H_kv, size: 2 * d * H_kv / H * L * size, "one token"),
        (lambda T, L, d, H, H_kv, size: 2 * d * H_kv * T * L * size, "not d."),
    ],
    "remove-head": [
        (lambda heads, W_O, h: by_head(heads, W_O, [h]), "head h alone"),
        (
            lambda heads, W_O, h: by_head(heads, W_O, set(range(len(heads))) - {h - 1}),
            "counted from 0",
        ),
        (
            lambda heads, W_O, h: (
                by_head(zeroed(heads, h), W_O, range(len(heads))) / (len(heads) - 1)
            ),
            "mean of the other heads",
        ),
        (
            lambda heads, W_O, h: by_head(heads, W_O, range(len(heads))),
            "Nothing is taken out",
        ),
        (
            lambda heads, W_O, h: (
                by_head(zeroed(heads, h), W_O, range(len(heads)))
                * len(heads)
                / (len(heads) - 1)
            ),
            "made larger",
        ),
        (
            lambda heads, W_O, h: zeroed(heads, h).reshape(heads.shape[1], -1) @ W_O,
            "merged by a reshape",
        ),
    ],
    "multi-head-attention": [
        (
            lambda X, Q, K, V, O, H: (
                np.hstack(attend(X, Q, K, V, H, width=Q.shape[1])) @ O
            ),
            "divided by √(H·d_k)",
        ),
        (
            lambda X, Q, K, V, O, H: (
                np.hstack(attend(X, Q, K, V, H, width=X.shape[1])) @ O
            ),
            "divided by √d:",
        ),
        (
            lambda X, Q, K, V, O, H: np.hstack(attend(X, Q, K, V, H, width=1)) @ O,
            "scale is missing",
        ),
        (
            lambda X, Q, K, V, O, H: (
                np.hstack(attend(X, Q, K, V, H, width=(Q.shape[1] // H) ** 2)) @ O
            ),
            "divided by d_k: divide by its root",
        ),
        (
            lambda X, Q, K, V, O, H: np.hstack(attend(X, K, Q, V, H)) @ O,
            "W_Q and W_K are exchanged",
        ),
        (lambda X, Q, K, V, O, H: X + np.hstack(attend(X, Q, K, V, H)) @ O, "residual"),
        (
            lambda X, Q, K, V, O, H: np.hstack(attend(X, Q, K, V, 1)) @ O,
            "one head on all channels",
        ),
        (lambda X, Q, K, V, O, H: np.hstack(attend(X, Q, K, V, H)), "W_O is missing"),
        (lambda X, Q, K, V, O, H: np.hstack(attend(X, Q, K, V, H)) @ O / H, "averaged"),
        (
            lambda X, Q, K, V, O, H: attend(X, Q, K, V, H).reshape(len(X), -1) @ O,
            "merge is a reshape",
        ),
        (
            lambda X, Q, K, V, O, H: (
                np.hstack(
                    attend(X, Q, K, V, H, cut=lambda M, n: M.reshape(n, len(M), -1))
                )
                @ O
            ),
            "split is a reshape",
        ),
    ],
}
RIGHT = {
    "split-heads": [split, lambda X, H: X.T.reshape(H, -1, len(X)).transpose(0, 2, 1)],
    "repeat-heads": [lambda X, n: np.take(X, np.arange(n * X.shape[-3]) // n, axis=-3)],
    "cache-bytes": [lambda T, L, d, H, H_kv, size: size * T * L * 2 * d * H_kv / H],
    "remove-head": [
        lambda heads, W_O, h: by_head(zeroed(heads, h), W_O, range(len(heads)))
    ],
    "multi-head-attention": [
        lambda X, Q, K, V, O, H: by_head(attend(X, Q, K, V, H), O, range(H)),
        lambda *given: in_float32(*given),
    ],
}
