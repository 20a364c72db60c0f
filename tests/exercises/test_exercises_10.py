"""Exercises of chapter 10: wrong answers written anew, as a reader might, and right
ones written another way.
"""

import numpy as np
import pytest
from answers import expect_refused

from tfbook import cost
from tfbook.exercises import catalogue, check
from tfbook.numpy import scaled_dot_product_attention, streaming_attention


def soft(s):
    e = np.exp(s - s.max())
    return e / e.sum()


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


WRONG = [
    (
        "layer-flops",
        lambda T, d, d_ff, H, H_kv: 4 * T * d * d + 2 * T * T * d + 2 * T * d * d_ff,
        "Not yet",
    ),
    (
        "layer-flops",
        lambda T, d, d_ff, H, H_kv: 8 * T * d * d + 4 * T * T * d + 4 * T * d * d_ff,
        "H_kv heads, not H",
    ),
    (
        "layer-flops",
        lambda T, d, d_ff, H, H_kv: cost.layer(T, d, H, d_ff, H_kv).total_flops // 2,
        "count as two",
    ),
    (
        "layer-flops",
        lambda T, d, d_ff, H, H_kv: (
            cost.layer(T, d, H, d_ff, H_kv).total_flops - 2 * T * T * d
        ),
        "mix is forgotten",
    ),
    (
        "layer-flops",
        lambda T, d, d_ff, H, H_kv: (
            cost.layer(T, d, H, d_ff, H_kv).total_flops - 2 * T * d * d
        ),
        "W_O is forgotten",
    ),
    (
        "layer-flops",
        lambda T, d, d_ff, H, H_kv: (
            cost.layer(T, d, H, d_ff, H_kv).total_flops - 2 * T * (T - 1) * d
        ),
        "Half of the pairs",
    ),
    (
        "layer-flops",
        lambda T, d, d_ff, H, H_kv: cost.layer(T, d, H, d_ff, H_kv).total_params,
        "Not yet",
    ),
    (
        "layer-flops",
        lambda T, d, d_ff, H, H_kv: forward_of(cost.layer(T, d, H, d_ff, H_kv), T),
        "Not yet",
    ),
    ("crossing-length", lambda d, d_ff, H, H_kv: 6 * d, "Not yet"),
    ("crossing-length", lambda d, d_ff, H, H_kv: 2 * d, "Not yet"),
    ("crossing-length", lambda d, d_ff, H, H_kv: 2 * d + d_ff, "H_kv heads, not H"),
    (
        "crossing-length",
        lambda d, d_ff, H, H_kv: d * (1 + H_kv / H),
        "network is left out",
    ),
    (
        "crossing-length",
        lambda d, d_ff, H, H_kv: 2 * (d * (1 + H_kv / H) + d_ff),
        "mix is forgotten",
    ),
    (
        "crossing-length",
        lambda d, d_ff, H, H_kv: d * (1 + H_kv / H) + d_ff / 2,
        "two matrices",
    ),
    (
        "writing-flops",
        lambda T, n, d: n * (24 * d * d + 4 * T * d),
        "New tokens enter the cache too",
    ),
    (
        "writing-flops",
        lambda T, n, d: cost.layer(T + n, d, 1).total_flops,
        "one pass over all",
    ),
    (
        "writing-flops",
        lambda T, n, d: sum(cost.layer(T + i + 1, d, 1).total_flops for i in range(n)),
        "without a cache",
    ),
    (
        "writing-flops",
        lambda T, n, d: sum(24 * d * d + 4 * d * (T + i) for i in range(n)),
        "also attends to itself",
    ),
    (
        "writing-flops",
        lambda T, n, d: sum(12 * d * d + 2 * d * (T + i + 1) for i in range(n)),
        "half of the FLOPs",
    ),
    (
        "writing-flops",
        lambda T, n, d: (
            cost.layer(T + n, d, 1).total_flops - cost.layer(T, d, 1).total_flops
        ),
        "Not yet",
    ),
    ("streaming-row", forgets_to_shrink, "Nothing shrinks"),
    ("streaming-row", without_maximum, "exp overflows"),
    ("streaming-row", blocks_alone, "Each block is read alone"),
    (
        "streaming-row",
        lambda q, K, V, block: by_prefixes(q, K, V, block)[-1],
        "not the last alone",
    ),
    (
        "streaming-row",
        lambda q, K, V, block: by_prefixes(q * len(q) ** 0.5, K, V, block),
        "not divided by √d_k",
    ),
    (
        "streaming-row",
        lambda q, K, V, block: by_prefixes(q, K, V, block)[: len(K) // block],
        "last block is left out",
    ),
    ("merge-halves", only_one_shrinks, "second maximum is taken"),
    (
        "merge-halves",
        lambda *a: all_shrunk(*a, mean=(a[2] + a[5]) / 2),
        "half and half",
    ),
    (
        "merge-halves",
        lambda *a: all_shrunk(*a, mean=(a[1] * a[2] + a[4] * a[5]) / (a[1] + a[4])),
        "common maximum there too",
    ),
    ("merge-halves", nothing_shrunk, "before you add"),
    ("merge-halves", lambda *a: by_logarithms(*a)[2:], "Not yet"),
    ("merge-halves", lambda *a: by_logarithms(*a) * 1.001, "Not yet"),
]
RIGHT = [
    (
        "layer-flops",
        lambda T, d, d_ff, H, H_kv: cost.layer(T, d, H, d_ff, H_kv).total_flops,
    ),
    ("crossing-length", lambda d, d_ff, H, H_kv: d * (1 + H_kv / H) + d_ff),
    (
        "writing-flops",
        lambda T, n, d: sum(
            cost.layer(1, d, 1).total_flops + 4 * (T + i) * d for i in range(n)
        ),
    ),
    ("streaming-row", by_prefixes),
    ("streaming-row", with_running_mean),
    ("merge-halves", by_logarithms),
]


@pytest.mark.parametrize(("name", "answer", "words"), WRONG)
def test_a_wrong_answer_written_anew_is_named(name, answer, words):
    expect_refused(name, answer, words)


@pytest.mark.parametrize(("name", "answer"), RIGHT)
def test_a_right_answer_written_another_way_passes(name, answer):
    assert check(name, answer)


def test_at_the_crossing_both_parts_are_equal():
    crossing = catalogue()["crossing-length"].solution
    for d, d_ff, H, H_kv in ((512, 2048, 8, 8), (64, 192, 4, 2), (120, 60, 6, 3)):
        flops = cost.layer(round(crossing(d, d_ff, H, H_kv)), d, H, d_ff, H_kv).flops
        quadratic = flops["scores"] + flops["mix"]
        assert quadratic == sum(flops.values()) - quadratic


def test_merged_halves_are_the_whole():
    rng = np.random.default_rng(9)
    s, V = 3 * rng.standard_normal(11), rng.standard_normal((11, 3))
    state = [
        (x.max(), np.exp(x - x.max()).sum(), soft(x) @ v)
        for x, v in ((s[:4], V[:4]), (s[4:], V[4:]), (s, V))
    ]
    np.testing.assert_allclose(
        catalogue()["merge-halves"].solution(*state[0], *state[1]),
        [state[2][0], state[2][1], *state[2][2]],
    )


@pytest.mark.parametrize("block", [1, 3, 8])
def test_the_last_row_of_the_stream_is_attention(block):
    rng = np.random.default_rng(4)
    q, K, V = (
        rng.standard_normal(5),
        rng.standard_normal((7, 5)),
        rng.standard_normal((7, 2)),
    )
    rows = catalogue()["streaming-row"].solution(q, K, V, block)
    np.testing.assert_allclose(rows[-1], scaled_dot_product_attention(q[None], K, V)[0])
    np.testing.assert_allclose(
        rows[0], streaming_attention(q[None], K[:block], V[:block])[0]
    )
