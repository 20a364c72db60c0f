"""Exercises of chapter 10 on streaming attention: one row, block by block, and two
halves that become one.
"""

import numpy as np

from tfbook.exercises.exercise import Exercise

# ---- one query, block by block ----


def stream(q, K, V, block):
    m, Z, y = -np.inf, 0.0, np.zeros(V.shape[1])
    outputs = []
    for start in range(0, len(K), block):
        s = K[start : start + block] @ q / np.sqrt(len(q))
        m_new = max(m, s.max())
        shrink = np.exp(m - m_new)
        e = np.exp(s - m_new)
        Z = Z * shrink + e.sum()
        y = y * shrink + e @ V[start : start + block]
        m = m_new
        outputs.append(y / Z)
    return np.array(outputs)


def _stream(
    q,
    K,
    V,
    block,
    scale=None,
    top=max,
    shrink_Z=True,
    shrink_y=True,
    divide=True,
    least=1,
):
    scale = len(q) ** -0.5 if scale is None else scale
    m, Z, y, outputs = -np.inf, 0.0, np.zeros(V.shape[1]), []
    for start in range(0, len(K) - least + 1, block):
        s = K[start : start + block] @ q * scale
        m_new = top(m, s.max())
        shrink, e = np.exp(m - m_new), np.exp(s - m_new)
        Z = Z * (shrink if shrink_Z else 1) + e.sum()
        y = y * (shrink if shrink_y else 1) + e @ V[start : start + block]
        m = m_new
        outputs.append(y / Z if divide else y.copy())
    return np.array(outputs)


def _each_block_alone(q, K, V, block):
    return np.array(
        [
            _stream(q, K[i : i + block], V[i : i + block], block)[0]
            for i in range(0, len(K), block)
        ]
    )


def _means_averaged(q, K, V, block):
    alone = _each_block_alone(q, K, V, block)
    return np.cumsum(alone, axis=0) / np.arange(1, len(alone) + 1)[:, None]


def _the_end_each_time(q, K, V, block):
    rows = _stream(q, K, V, block)
    return np.tile(rows[-1], (len(rows), 1))


def _row_cases(rng):
    cases = [
        (
            rng.standard_normal(d),
            rng.standard_normal((T, d)),
            rng.standard_normal((T, d_v)),
            block,
        )
        for T, d, d_v, block in (
            (12, 5, 2, 4),
            (11, 3, 7, 4),
            (6, 4, 3, 1),
            (5, 2, 3, 5),
        )
    ]
    q, (_, K, V, block) = np.eye(5)[0], cases[0]
    # scores too large for exp
    cases.append((q, 2000 * np.sign(K), V, block))
    # the largest comes first
    cases.append((q, -2000 * np.arange(12.0)[:, None] * np.ones(5), V, block))
    return cases


# ---- two halves of the keys ----


def merge(m_1, Z_1, y_1, m_2, Z_2, y_2):
    m = max(m_1, m_2)
    Z_1 = Z_1 * np.exp(m_1 - m)
    Z_2 = Z_2 * np.exp(m_2 - m)
    Z = Z_1 + Z_2
    y = (Z_1 * y_1 + Z_2 * y_2) / Z
    return np.array([m, Z, *y])


def _never_shrunk(m_1, Z_1, y_1, m_2, Z_2, y_2):
    Z = Z_1 + Z_2
    return np.array([max(m_1, m_2), Z, *((Z_1 * y_1 + Z_2 * y_2) / Z)])


def _wrong_mean(mean):
    """The right m and Z, with a mean of the reader's own of the two halves."""

    def answer(m_1, Z_1, y_1, m_2, Z_2, y_2):
        m, Z, *_ = merge(m_1, Z_1, y_1, m_2, Z_2, y_2)
        return np.array([m, Z, *mean(m_1 - m, Z_1, y_1, m_2 - m, Z_2, y_2)])

    return answer


def _half_and_half(m_1, Z_1, y_1, m_2, Z_2, y_2):
    return (y_1 + y_2) / 2


def _by_plain_sums(m_1, Z_1, y_1, m_2, Z_2, y_2):
    return (Z_1 * y_1 + Z_2 * y_2) / (Z_1 + Z_2)


def _by_maxima(m_1, Z_1, y_1, m_2, Z_2, y_2):
    return (np.exp(m_1) * y_1 + np.exp(m_2) * y_2) / (
        np.exp(m_1) + np.exp(m_2)
    )


def _not_divided(m_1, Z_1, y_1, m_2, Z_2, y_2):
    return Z_1 * np.exp(m_1) * y_1 + Z_2 * np.exp(m_2) * y_2


def _taken_for_sums(m_1, Z_1, y_1, m_2, Z_2, y_2):
    return (np.exp(m_1) * y_1 + np.exp(m_2) * y_2) / (
        Z_1 * np.exp(m_1) + Z_2 * np.exp(m_2)
    )


def _second_is_larger(m_1, Z_1, y_1, m_2, Z_2, y_2):
    shrunk = Z_1 * np.exp(m_1 - m_2)
    Z = shrunk + Z_2
    return np.array([m_2, Z, *((shrunk * y_1 + Z_2 * y_2) / Z)])


def _smaller_maximum(m_1, Z_1, y_1, m_2, Z_2, y_2):
    m = min(m_1, m_2)
    Z_1, Z_2 = Z_1 * np.exp(m_1 - m), Z_2 * np.exp(m_2 - m)
    return np.array([m, Z_1 + Z_2, *((Z_1 * y_1 + Z_2 * y_2) / (Z_1 + Z_2))])


def _sign(m_1, Z_1, y_1, m_2, Z_2, y_2):
    m = max(m_1, m_2)
    Z_1, Z_2 = Z_1 * np.exp(m - m_1), Z_2 * np.exp(m - m_2)
    return np.array([m, Z_1 + Z_2, *((Z_1 * y_1 + Z_2 * y_2) / (Z_1 + Z_2))])


def _exponentials_outright(m_1, Z_1, y_1, m_2, Z_2, y_2):
    m, Z_1, Z_2 = max(m_1, m_2), Z_1 * np.exp(m_1), Z_2 * np.exp(m_2)
    return np.array(
        [
            m,
            (Z_1 + Z_2) * np.exp(-m),
            *((Z_1 * y_1 + Z_2 * y_2) / (Z_1 + Z_2)),
        ]
    )


def _unshifted(m_1, Z_1, y_1, m_2, Z_2, y_2):
    m, Z_1, Z_2 = max(m_1, m_2), Z_1 * np.exp(m_1), Z_2 * np.exp(m_2)
    return np.array([m, Z_1 + Z_2, *((Z_1 * y_1 + Z_2 * y_2) / (Z_1 + Z_2))])


def _half(rng, T, d_v, shift=0.0):
    s, V = rng.standard_normal(T) + shift, rng.standard_normal((T, d_v))
    e = np.exp(s - s.max())
    return s.max(), e.sum(), e @ V / e.sum()


def _merge_cases(rng):
    cases = [
        (*_half(rng, 5, 3, low), *_half(rng, 7, 3, high))
        for low, high in (
            (0, 0),
            (2, 0),
            (0, 3),
            (1000, 1001),
            (-1500, -1500),
        )
    ]
    # no key in the second half
    cases.append((*_half(rng, 4, 2), -np.inf, 0.0, np.zeros(2)))
    cases.append((-np.inf, 0.0, np.zeros(2), *_half(rng, 4, 2)))
    return cases


EXERCISES = [
    Exercise(
        "streaming-row",
        "10",
        3,
        r"Write <code>stream(q, K, V, block)</code>: one query reads its keys, "
        r"<code>block</code> at a time, and keeps no more than m, Z and y between "
        r"blocks. Give its output after every block, shape <code>(blocks, d_v)</code>: "
        r"the attention over the keys read so far. The scores are divided by "
        r"\(\sqrt{d_k}\), the last block may be shorter. q is <code>(d_k,)</code>, K "
        r"<code>(T, d_k)</code>, V <code>(T, d_v)</code>.",
        "Start with m = −∞, Z = 0, y = 0. In each block: the new maximum, what the old "
        "sums shrink by, the new sums. Divide only what you give back.",
        stream,
        {
            "Nothing shrinks: where a block raises m, both Z and y must be multiplied "
            "by exp(m − m_new).": lambda *arguments: _stream(
                *arguments, shrink_Z=False, shrink_y=False
            ),
            "Z does not shrink: it was summed with the old maximum, as y "
            "was.": lambda *arguments: _stream(*arguments, shrink_Z=False),
            "y does not shrink: it was summed with the old maximum, as Z "
            "was.": lambda *arguments: _stream(*arguments, shrink_y=False),
            "The maximum is that of the block alone: keep the larger of it and the old "
            "one.": lambda *arguments: _stream(
                *arguments, top=lambda m, new: new
            ),
            "No maximum is subtracted: exp overflows on large "
            "scores.": lambda *arguments: _stream(
                *arguments, top=lambda m, new: 0.0
            ),
            "The scores are not divided by √d_k.": lambda *arguments: _stream(
                *arguments, scale=1.0
            ),
            "y is a sum: what is given back is y / Z.": lambda *arguments: (
                _stream(*arguments, divide=False)
            ),
            "The last block is left out where it is shorter than the "
            "others.": lambda q, K, V, block: _stream(
                q, K, V, block, least=block
            ),
            "Each block is read alone: the sums of those before it are "
            "lost.": _each_block_alone,
            "The outputs of the blocks are averaged: a block counts by its Z, not by "
            "its number.": _means_averaged,
            "The output after every block is asked for, not the last "
            "alone.": lambda q, K, V, block: _stream(q, K, V, block)[-1],
            "Every row is the final output: give the one after each "
            "block.": _the_end_each_time,
        },
        _row_cases,
    ),
    Exercise(
        "merge-halves",
        "10",
        4,
        r"Two machines share the keys of one query. Each gives its largest score m, "
        r"its sum Z of \(e^{s - m}\), and its own attention output y, already divided "
        r"by Z. Write <code>merge(m_1, Z_1, y_1, m_2, Z_2, y_2)</code>: m, Z and y of "
        r"all keys together, as one array <code>np.array([m, Z, *y])</code>. A machine "
        r"without keys gives \(m = -\infty\), \(Z = 0\), \(y = 0\); one of the two "
        r"always has some.",
        "Bring both sums to the larger maximum first. How much weight has each half's "
        "output then?",
        merge,
        {
            "Z_1 and Z_2 belong to different maxima: bring them to the larger before "
            "you add.": _never_shrunk,
            "The outputs are averaged half and half: a half counts by its Z, brought "
            "to the common maximum.": _wrong_mean(_half_and_half),
            "In y the halves are weighted with Z as it came: bring it to the common "
            "maximum there too.": _wrong_mean(_by_plain_sums),
            "In y the halves are weighted with exp(m) alone: their weight is Z·exp(m − "
            "max).": _wrong_mean(_by_maxima),
            "y is not divided by the new Z.": _wrong_mean(_not_divided),
            "y_1 and y_2 are divided already: multiply each by its Z again before you "
            "add.": _wrong_mean(_taken_for_sums),
            "The second maximum is taken for the larger: it need not "
            "be.": _second_is_larger,
            "The smaller maximum is kept: with the larger no exponential is above "
            "1.": _smaller_maximum,
            "The sign in the exponent is wrong: what was summed with a smaller maximum "
            "must shrink.": _sign,
            "exp(m) overflows: only differences of maxima may be "
            "exponentiated.": _exponentials_outright,
            "Z is a sum of exp(s − m): leave the common maximum "
            "subtracted.": _unshifted,
        },
        _merge_cases,
    ),
]
