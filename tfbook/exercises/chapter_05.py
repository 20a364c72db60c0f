"""Exercises of chapter 05, tokens and positions."""

import numpy as np

from tfbook.exercises import chapter_05_rotary as turned
from tfbook.exercises.exercise import Exercise
from tfbook.numpy import softmax

# ---- equivariance ----


def gap(X, order, f):
    return np.abs(f(X[order]) - f(X)[order]).max()


def _channels(X, order, f):
    order = np.argsort(np.argsort(order[: X.shape[-1]]))
    return np.abs(f(X[:, order]) - f(X)[:, order]).max()


def _inverse(X, order, f):
    back = np.argsort(order)
    return np.abs(f(X[back]) - f(X)[back]).max()


def _attend(X):
    return softmax(X @ X.T) @ X


def _attend_with_positions(X):
    return _attend(X + np.arange(len(X))[:, None] / len(X))


def _weigh_rows(X):
    return -np.exp(X) * np.arange(len(X))[:, None]


def _add_up(X):
    return np.cumsum(X, axis=0)


def _gap_cases(rng):
    X, order = rng.standard_normal((7, 5)), np.array([3, 0, 4, 2, 6, 1, 5])
    return [
        (X, order, f)
        for f in (_attend, _attend_with_positions, _weigh_rows, _add_up)
    ]


# ---- sinusoidal positions ----


def sinusoidal_positions(T, d):
    channel = np.arange(d)
    # channels 2i and 2i + 1 share one
    frequency = 10000.0 ** (-(channel - channel % 2) / d)
    angle = np.arange(T)[:, None] * frequency
    return np.where(channel % 2 == 0, np.sin(angle), np.cos(angle))


def _sinusoids(
    T,
    d,
    base=10000.0,
    first=0,
    even=np.sin,
    odd=np.cos,
    paired=True,
    pairs=None,
    sign=-1,
):
    c = np.arange(d)
    angle = (np.arange(T) + first)[:, None] * base ** (
        sign * (c - c % 2 if paired else c) / (pairs or d)
    )
    return np.where(c % 2 == 0, even(angle), odd(angle))


def _in_halves(T, d):
    P = _sinusoids(T, d)
    return np.concatenate([P[:, 0::2], P[:, 1::2]], axis=-1)


def _even_only(T, d):
    P = np.zeros((T, d))
    angle = np.arange(T)[:, None] / 10000.0 ** (np.arange(0, d, 2) / d)
    P[:, 0::2], P[:, 1::2] = np.sin(angle), np.cos(angle)
    return P


def _last_left_zero(T, d):
    P = _sinusoids(T, d)
    P[:, d // 2 * 2 :] = 0
    return P


# ---- ALiBi ----


def alibi_bias(H, T, T_k):
    slope = 2.0 ** (-8 * np.arange(1, H + 1) / H)
    # the last query stands at the last key
    query = np.arange(T_k - T, T_k)[:, None]
    distance = np.abs(query - np.arange(T_k))
    return -slope[:, None, None] * distance


def _alibi(H, T, T_k, heads=None, first=None, sign=-1, size=np.abs):
    slope = 2.0 ** (-8 * np.arange(1, H + 1) / H) if heads is None else heads
    query = np.arange(T)[:, None] + (T_k - T if first is None else first)
    return sign * slope[:, None, None] * size(query - np.arange(T_k))


def _later_keys_hidden(H, T, T_k):
    later = np.arange(T_k) > np.arange(T_k - T, T_k)[:, None]
    return np.where(later, -np.inf, alibi_bias(H, T, T_k))


EXERCISES = [
    Exercise(
        "equivariance-gap",
        "05",
        2,
        r"How far is a function from being equivariant? Write <code>gap(X, order, "
        r"f)</code>: the largest absolute entry of \(f(PX) - P f(X)\), for the "
        r"permutation that puts row <code>order[i]</code> of a matrix at place i. "
        r"<code>f</code> takes a matrix and gives one with as many rows.",
        "Permuting the rows of a matrix is one index: <code>X[order]</code>. Which "
        "sides of the equation need it?",
        gap,
        {
            "This measures invariance, f(PX) − f(X): the right side needs the "
            "permutation too.": lambda X, order, f: np.abs(
                f(X[order]) - f(X)
            ).max(),
            "The right side is permuted the other way round: apply the same order to "
            "both.": lambda X, order, f: np.abs(
                f(X[order]) - f(X)[np.argsort(order)]
            ).max(),
            "The input is never permuted: the left side is "
            "f(X[order]).": lambda X, order, f: np.abs(
                f(X) - f(X)[order]
            ).max(),
            "The channels are permuted, not the rows: index the first axis, "
            "X[order].": _channels,
            "The rows are compared without their order: each must stand in its own "
            "place.": lambda X, order, f: np.abs(
                np.sort(f(X[order]), axis=0) - np.sort(f(X), axis=0)
            ).max(),
            "A difference below zero is one too: take the absolute value "
            "first.": lambda X, order, f: (f(X[order]) - f(X)[order]).max(),
            "This is the mean of the entries: the largest is asked "
            "for.": lambda X, order, f: np.abs(
                f(X[order]) - f(X)[order]
            ).mean(),
            "This is the norm of the whole difference: its largest entry is asked "
            "for.": lambda X, order, f: np.linalg.norm(
                f(X[order]) - f(X)[order]
            ),
            "These are all entries: the largest is asked for, one "
            "number.": lambda X, order, f: np.abs(f(X[order]) - f(X)[order]),
            "The permutation is the inverse of the one asked for: row order[i] goes to "
            "place i, X[order].": _inverse,
        },
        _gap_cases,
    ),
    Exercise(
        "sinusoidal-positions",
        "05",
        2,
        r"Write <code>sinusoidal_positions(T, d)</code>, shape <code>(T, d)</code>, "
        r"positions \(p\) from 0: on channel \(2i\) the sine of \(p / 10000^{2i/d}\), "
        r"on channel \(2i+1\) the cosine of the same. It must work for an odd d as "
        r"well.",
        "Two channels share one frequency: <code>channel - channel % 2</code> is 0 0 2 "
        "2 4 4 …. Then choose between sine and cosine.",
        sinusoidal_positions,
        {
            "All sines come first, then all cosines: they take turns, sine on the even "
            "channels.": _in_halves,
            "The base is 1000: use 10000.": lambda T, d: _sinusoids(
                T, d, base=1000.0
            ),
            "Every channel has a frequency of its own: a sine and the cosine after it "
            "share one, that of channel 2i.": lambda T, d: _sinusoids(
                T, d, paired=False
            ),
            "The exponent is i/d, as if the base were 100: that of pair i is "
            "2i/d.": lambda T, d: _sinusoids(T, d, pairs=2 * d),
            "The exponent is 4i/d: channel 2i has exponent 2i/d, so an even channel is "
            "its own 2i.": lambda T, d: _sinusoids(T, d, pairs=d / 2),
            "Sine and cosine are exchanged: position 0 begins 0, 1, 0, "
            "1.": lambda T, d: _sinusoids(T, d, even=np.cos, odd=np.sin),
            "The first position is 1: count from 0.": lambda T, d: _sinusoids(
                T, d, first=1
            ),
            "The position is multiplied by the power: divide, so that the waves grow "
            "longer.": lambda T, d: _sinusoids(T, d, sign=1),
            "It stops where d is odd: the last sine has no cosine beside "
            "it.": _even_only,
            "Where d is odd the last channel stays 0: it is a sine without a cosine "
            "beside it.": _last_left_zero,
            "Where d is odd the last channel is missing.": lambda T, d: (
                _sinusoids(T, d)[:, : d // 2 * 2]
            ),
            "Made for d + 1 channels and cut: the exponent is 2i/d with d itself, odd "
            "or not.": lambda T, d: _sinusoids(T, d + d % 2)[:, :d],
            "Rows and columns are exchanged: a row for each position.": lambda T, d: (
                _sinusoids(T, d).T
            ),
        },
        lambda rng: [(5, 8), (7, 6), (11, 7), (3, 2), (13, 1)],
    ),
    Exercise(
        "alibi-bias",
        "05",
        2,
        r"Write <code>alibi_bias(H, T, T_k)</code>, shape <code>(H, T, T_k)</code>: "
        r"what is added to the scores, \(-2^{-8h/H}\,|i - j|\) for heads \(h = 1 \dots "
        r"H\), the query at position i and the key at position j. The <em>last</em> "
        r"query stands at the last key.",
        "First the distances, a matrix: if the last query stands at T_k − 1, where "
        "does the first? Then a slope for each head, on an axis of its own.",
        alibi_bias,
        {
            "The sign is the wrong way round: distance is a penalty, so the bias is "
            "negative.": lambda H, T, T_k: _alibi(H, T, T_k, sign=1),
            "The slopes are those of 8 heads, 2^(−h): with H heads they are "
            "2^(−8h/H).": lambda H, T, T_k: _alibi(
                H, T, T_k, heads=2.0 ** -np.arange(1, H + 1)
            ),
            "Heads are counted from 0: the first slope is 2^(−8/H), not "
            "1.": lambda H, T, T_k: _alibi(
                H, T, T_k, heads=2.0 ** (-8 * np.arange(H) / H)
            ),
            "All heads have one slope: head h has 2^(−8h/H).": lambda H, T, T_k: (
                _alibi(H, T, T_k, heads=np.full(H, 2.0 ** (-8 / H)))
            ),
            "The heads come in the opposite order: head 1 has the steepest "
            "slope.": lambda H, T, T_k: alibi_bias(H, T, T_k)[::-1],
            "The first query is aligned with the first key: the last query stands at "
            "the last key.": lambda H, T, T_k: _alibi(H, T, T_k, first=0),
            "Keys after the query get a bonus: take the absolute "
            "distance.": lambda H, T, T_k: _alibi(
                H, T, T_k, size=lambda distance: distance
            ),
            "The distance is squared: the penalty is linear.": lambda H, T, T_k: (
                _alibi(H, T, T_k, size=np.square)
            ),
            "Keys after the query are hidden: that is the causal mask's part, not the "
            "bias's.": _later_keys_hidden,
            "Keys after the query have no penalty: take the absolute "
            "distance.": lambda H, T, T_k: _alibi(
                H, T, T_k, size=lambda distance: np.maximum(distance, 0)
            ),
            "The slopes are powers of e: powers of 2 were asked "
            "for.": lambda H, T, T_k: _alibi(
                H, T, T_k, heads=np.exp(-8 * np.arange(1, H + 1) / H)
            ),
            "The slopes are 1/h: they fall by one factor from head to head, "
            "2^(−8h/H).": lambda H, T, T_k: _alibi(
                H, T, T_k, heads=1 / np.arange(1, H + 1)
            ),
        },
        lambda rng: [(4, 5, 5), (3, 2, 7), (6, 1, 4), (2, 7, 3), (5, 3, 3)],
    ),
    *turned.EXERCISES,
]
