"""Chapter 10: answers as a reader might write them."""

import numpy as np
from answers import soft

from tfbook import cost


def by_prefixes(q, K, V, block):
    ends = [min(i + block, len(K)) for i in range(0, len(K), block)]
    return np.stack([soft(K[:n] @ q / len(q) ** 0.5) @ V[:n] for n in ends])


def with_running_mean(q, K, V, block):
    """The mean itself is carried, as the figure does."""
    s, m, Z, y, rows = K @ q / len(q) ** 0.5, -np.inf, 0.0, 0.0, []
    for i in range(0, len(K), block):
        old, m = m, max(m, *s[i : i + block])
        e, before = np.exp(s[i : i + block] - m), Z * np.exp(old - m)
        Z = before + e.sum()
        y = (before * y + e @ V[i : i + block]) / Z
        rows.append(y)
    return np.stack(rows)


def forgets_to_shrink(q, K, V, block):
    s, Z, y, rows = K @ q / len(q) ** 0.5, 0.0, 0.0, []
    for i in range(0, len(K), block):
        e = np.exp(s[i : i + block] - s[: i + block].max())
        Z, y = Z + e.sum(), y + e @ V[i : i + block]
        rows.append(y / Z)
    return np.stack(rows)


def without_maximum(q, K, V, block):
    e = np.exp(K @ q / len(q) ** 0.5)
    ends = [min(i + block, len(K)) for i in range(0, len(K), block)]
    return np.stack([e[:n] @ V[:n] / e[:n].sum() for n in ends])


def blocks_alone(q, K, V, block):
    parts = [slice(i, i + block) for i in range(0, len(K), block)]
    return np.stack([soft(K[p] @ q / len(q) ** 0.5) @ V[p] for p in parts])


def by_logarithms(m_1, Z_1, y_1, m_2, Z_2, y_2):
    with np.errstate(divide="ignore"):
        a, b = m_1 + np.log(Z_1), m_2 + np.log(Z_2)
    w, m = soft(np.array([a, b])), max(m_1, m_2)
    return np.concatenate(
        [[m, np.exp(np.logaddexp(a, b) - m)], w[0] * y_1 + w[1] * y_2]
    )


def only_one_shrinks(m_1, Z_1, y_1, m_2, Z_2, y_2):
    r = np.exp(m_1 - m_2)
    return np.concatenate(
        [[m_2, r * Z_1 + Z_2], (r * Z_1 * y_1 + Z_2 * y_2) / (r * Z_1 + Z_2)]
    )


def nothing_shrunk(m_1, Z_1, y_1, m_2, Z_2, y_2):
    return np.concatenate(
        [[max(m_1, m_2), Z_1 + Z_2], (Z_1 * y_1 + Z_2 * y_2) / (Z_1 + Z_2)]
    )


def all_shrunk(m_1, Z_1, y_1, m_2, Z_2, y_2, mean):
    m = max(m_1, m_2)
    Z = Z_1 * np.exp(m_1 - m) + Z_2 * np.exp(m_2 - m)
    return np.concatenate([[m, Z], mean])


def forward_of(layer, T):
    return sum(layer.flops.values()) / T


WRONG = {
    "layer-flops": [
        (
            lambda T, d, d_ff, H, H_kv: (
                4 * T * d * d + 2 * T * T * d + 2 * T * d * d_ff
            ),
            "Not yet",
        ),
        (
            lambda T, d, d_ff, H, H_kv: (
                8 * T * d * d + 4 * T * T * d + 4 * T * d * d_ff
            ),
            "H_kv heads, not H",
        ),
        (
            lambda T, d, d_ff, H, H_kv: (
                cost.layer(T, d, H, d_ff, H_kv).total_flops // 2
            ),
            "count as two",
        ),
        (
            lambda T, d, d_ff, H, H_kv: (
                cost.layer(T, d, H, d_ff, H_kv).total_flops - 2 * T * T * d
            ),
            "mix is forgotten",
        ),
        (
            lambda T, d, d_ff, H, H_kv: (
                cost.layer(T, d, H, d_ff, H_kv).total_flops - 2 * T * d * d
            ),
            "W_O is forgotten",
        ),
        (
            lambda T, d, d_ff, H, H_kv: (
                cost.layer(T, d, H, d_ff, H_kv).total_flops - 2 * T * (T - 1) * d
            ),
            "Half of the pairs",
        ),
        (
            lambda T, d, d_ff, H, H_kv: cost.layer(T, d, H, d_ff, H_kv).total_params,
            "Not yet",
        ),
        (
            lambda T, d, d_ff, H, H_kv: forward_of(cost.layer(T, d, H, d_ff, H_kv), T),
            "Not yet",
        ),
    ],
    "crossing-length": [
        (lambda d, d_ff, H, H_kv: 6 * d, "Not yet"),
        (lambda d, d_ff, H, H_kv: 2 * d, "Not yet"),
        (lambda d, d_ff, H, H_kv: 2 * d + d_ff, "H_kv heads, not H"),
        (lambda d, d_ff, H, H_kv: d * (1 + H_kv / H), "network is left out"),
        (lambda d, d_ff, H, H_kv: 2 * (d * (1 + H_kv / H) + d_ff), "mix is forgotten"),
        (lambda d, d_ff, H, H_kv: d * (1 + H_kv / H) + d_ff / 2, "two matrices"),
    ],
    "writing-flops": [
        (
            lambda T, n, d: n * (24 * d * d + 4 * T * d),
            "New tokens enter the cache too",
        ),
        (lambda T, n, d: cost.layer(T + n, d, 1).total_flops, "one pass over all"),
        (
            lambda T, n, d: sum(
                cost.layer(T + i + 1, d, 1).total_flops for i in range(n)
            ),
            "without a cache",
        ),
        (
            lambda T, n, d: sum(24 * d * d + 4 * d * (T + i) for i in range(n)),
            "also attends to itself",
        ),
        (
            lambda T, n, d: sum(12 * d * d + 2 * d * (T + i + 1) for i in range(n)),
            "half of the FLOPs",
        ),
        (
            lambda T, n, d: (
                cost.layer(T + n, d, 1).total_flops - cost.layer(T, d, 1).total_flops
            ),
            "Not yet",
        ),
    ],
    "streaming-row": [
        (forgets_to_shrink, "Nothing shrinks"),
        (without_maximum, "exp overflows"),
        (blocks_alone, "Each block is read alone"),
        (lambda q, K, V, block: by_prefixes(q, K, V, block)[-1], "not the last alone"),
        (
            lambda q, K, V, block: by_prefixes(q * len(q) ** 0.5, K, V, block),
            "not divided by √d_k",
        ),
        (
            lambda q, K, V, block: by_prefixes(q, K, V, block)[: len(K) // block],
            "last block is left out",
        ),
    ],
    "merge-halves": [
        (only_one_shrinks, "second maximum is taken"),
        (lambda *a: all_shrunk(*a, mean=(a[2] + a[5]) / 2), "half and half"),
        (
            lambda *a: all_shrunk(*a, mean=(a[1] * a[2] + a[4] * a[5]) / (a[1] + a[4])),
            "common maximum there too",
        ),
        (nothing_shrunk, "before you add"),
        (lambda *a: by_logarithms(*a)[2:], "Not yet"),
        (lambda *a: by_logarithms(*a) * 1.001, "Not yet"),
    ],
}
RIGHT = {
    "layer-flops": [
        lambda T, d, d_ff, H, H_kv: cost.layer(T, d, H, d_ff, H_kv).total_flops
    ],
    "crossing-length": [lambda d, d_ff, H, H_kv: d * (1 + H_kv / H) + d_ff],
    "writing-flops": [
        lambda T, n, d: sum(
            cost.layer(1, d, 1).total_flops + 4 * (T + i) * d for i in range(n)
        )
    ],
    "streaming-row": [by_prefixes, with_running_mean],
    "merge-halves": [by_logarithms],
}
