"""Exercises of chapter 05, tokens and positions."""

import numpy as np

from tfbook.exercises.exercise import Exercise
from tfbook.numpy import rotary, scaled_dot_product_attention, softmax

# ---- equivariance ----


def equivariance_gap(X, order, f):
    return np.abs(f(X[order]) - f(X)[order]).max()


def _invariance(X, order, f):
    return np.abs(f(X[order]) - f(X)).max()


def _undone(X, order, f):
    return np.abs(f(X[order]) - f(X)[np.argsort(order)]).max()


def _output_alone(X, order, f):
    return np.abs(f(X) - f(X)[order]).max()


def _channels(X, order, f):
    order = np.argsort(np.argsort(order[: X.shape[-1]]))
    return np.abs(f(X[:, order]) - f(X)[:, order]).max()


def _as_a_set(X, order, f):
    return np.abs(np.sort(f(X[order]), axis=0) - np.sort(f(X), axis=0)).max()


def _signed(X, order, f):
    return (f(X[order]) - f(X)[order]).max()


def _mean(X, order, f):
    return np.abs(f(X[order]) - f(X)[order]).mean()


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
    return [(X, order, f) for f in (_attend, _attend_with_positions, _weigh_rows, _add_up)]


# ---- sinusoidal positions ----


def sinusoidal_positions(T, d):
    channel = np.arange(d)
    frequency = 10000.0 ** (-(channel - channel % 2) / d)  # channels 2i and 2i + 1 share one
    angle = np.arange(T)[:, None] * frequency
    return np.where(channel % 2 == 0, np.sin(angle), np.cos(angle))


def _waves(T, d, base=10000.0, first=0, even=np.sin, odd=np.cos, paired=True, pairs=None, sign=-1):
    c = np.arange(d)
    angle = (np.arange(T) + first)[:, None] * base ** (sign * (c - c % 2 if paired else c) / (pairs or d))
    return np.where(c % 2 == 0, even(angle), odd(angle))


def _in_halves(T, d):
    P = _waves(T, d)
    return np.concatenate([P[:, 0::2], P[:, 1::2]], axis=-1)


def _base_1000(T, d):
    return _waves(T, d, base=1000.0)


def _unpaired(T, d):
    return _waves(T, d, paired=False)


def _half_exponent(T, d):
    return _waves(T, d, pairs=2 * d)


def _double_exponent(T, d):
    return _waves(T, d, pairs=d / 2)


def _exchanged(T, d):
    return _waves(T, d, even=np.cos, odd=np.sin)


def _from_one(T, d):
    return _waves(T, d, first=1)


def _multiplied(T, d):
    return _waves(T, d, sign=1)


def _even_only(T, d):
    P = np.zeros((T, d))
    angle = np.arange(T)[:, None] / 10000.0 ** (np.arange(0, d, 2) / d)
    P[:, 0::2], P[:, 1::2] = np.sin(angle), np.cos(angle)
    return P


def _without_last(T, d):
    return _waves(T, d)[:, : d // 2 * 2]


def _one_wider(T, d):
    return _waves(T, d + d % 2)[:, :d]


def _turned_over(T, d):
    return _waves(T, d).T


# ---- the shift as a matrix ----


def shift(k, d):
    R = np.zeros((d, d))
    for i in range(0, d, 2):
        angle = k / 10000.0 ** (i / d)
        R[i, i], R[i, i + 1] = np.cos(angle), np.sin(angle)
        R[i + 1, i], R[i + 1, i + 1] = -np.sin(angle), np.cos(angle)
    return R


def _blocks(angle, lower=-1):
    R, i = np.zeros((2 * len(angle), 2 * len(angle))), np.arange(0, 2 * len(angle), 2)
    R[i, i] = R[i + 1, i + 1] = np.cos(angle)
    R[i, i + 1], R[i + 1, i] = np.sin(angle), lower * np.sin(angle)
    return R


def _angles(k, d):
    return k / 10000.0 ** (np.arange(0, d, 2) / d)


def _turned_back(k, d):
    return _blocks(_angles(k, d)).T


def _no_minus(k, d):
    return _blocks(_angles(k, d), lower=1)


def _one_angle(k, d):
    return _blocks(np.full(d // 2, float(k)))


def _half_the_exponent(k, d):
    return _blocks(k / 10000.0 ** (np.arange(d // 2) / d))


def _one_step(k, d):
    return _blocks(_angles(1, d))


def _halves(k, d):
    cos, sin = np.diag(np.cos(_angles(k, d))), np.diag(np.sin(_angles(k, d)))
    return np.block([[cos, sin], [-sin, cos]])


def _diagonal(k, d):
    return np.diag(np.cos(_angles(k, d)).repeat(2))


# ---- rotary attention ----


def rotary_attention(Q, K, V):
    T, T_k = len(Q), len(K)
    Q = rotary(Q, np.arange(T_k - T, T_k))  # the last query stands at the last key
    K = rotary(K, np.arange(T_k))
    S = Q @ K.T / np.sqrt(Q.shape[-1])
    return softmax(S) @ V


def _places(Q, K):
    return np.arange(len(K) - len(Q), len(K)), np.arange(len(K))


def _values_turned(Q, K, V):
    return rotary_attention(Q, K, rotary(V))


def _queries_alone(Q, K, V):
    return scaled_dot_product_attention(rotary(Q, _places(Q, K)[0]), K, V)


def _keys_alone(Q, K, V):
    return scaled_dot_product_attention(Q, rotary(K), V)


def _not_turned(Q, K, V):
    return scaled_dot_product_attention(Q, K, V)


def _from_the_first_key(Q, K, V):
    return scaled_dot_product_attention(rotary(Q), rotary(K), V)


def _pairs_apart(Q, K, V):
    def turn(X, p):
        halves = np.concatenate([np.arange(0, X.shape[-1], 2), np.arange(1, X.shape[-1], 2)])
        return rotary(X[:, np.argsort(halves)], p)[:, halves]

    q, k = _places(Q, K)
    return scaled_dot_product_attention(turn(Q, q), turn(K, k), V)


def _opposite(Q, K, V):
    q, k = _places(Q, K)
    return scaled_dot_product_attention(rotary(Q, q), rotary(K, -k), V)


def _added(Q, K, V):
    P = sinusoidal_positions(len(K), K.shape[-1])
    return scaled_dot_product_attention(Q + P[-len(Q):], K + P, V)


def _no_scale(Q, K, V):
    return rotary_attention(Q * np.sqrt(Q.shape[-1]), K, V)


# ---- ALiBi ----


def alibi_bias(H, T, T_k):
    slope = 2.0 ** (-8 * np.arange(1, H + 1) / H)
    query = np.arange(T_k - T, T_k)[:, None]  # the last query stands at the last key
    distance = np.abs(query - np.arange(T_k))
    return -slope[:, None, None] * distance


def _alibi(H, T, T_k, heads=None, first=None, sign=-1, size=np.abs):
    slope = 2.0 ** (-8 * np.arange(1, H + 1) / H) if heads is None else heads
    query = np.arange(T)[:, None] + (T_k - T if first is None else first)
    return sign * slope[:, None, None] * size(query - np.arange(T_k))


def _positive(H, T, T_k):
    return _alibi(H, T, T_k, sign=1)


def _slopes_of_eight(H, T, T_k):
    return _alibi(H, T, T_k, heads=2.0 ** -np.arange(1, H + 1))


def _heads_from_zero(H, T, T_k):
    return _alibi(H, T, T_k, heads=2.0 ** (-8 * np.arange(H) / H))


def _one_slope(H, T, T_k):
    return _alibi(H, T, T_k, heads=np.full(H, 2.0 ** (-8 / H)))


def _slopes_reversed(H, T, T_k):
    return alibi_bias(H, T, T_k)[::-1]


def _aligned_at_the_start(H, T, T_k):
    return _alibi(H, T, T_k, first=0)


def _bonus(H, T, T_k):
    return _alibi(H, T, T_k, size=lambda distance: distance)


def _squared(H, T, T_k):
    return _alibi(H, T, T_k, size=np.square)


def _linear_slopes(H, T, T_k):
    return _alibi(H, T, T_k, heads=1 / np.arange(1, H + 1))


EXERCISES = [
    Exercise(
        "equivariance-gap", "05", 2,
        r"How far is a function from being equivariant? Write <code>gap(X, order, f)</code>: the largest absolute entry of "
        r"\(f(PX) - P f(X)\), for the permutation that puts row <code>order[i]</code> of a matrix at place i. <code>f</code> takes a "
        "matrix and gives one with as many rows.",
        "Permuting the rows of a matrix is one index: <code>X[order]</code>. Which sides of the equation need it?",
        equivariance_gap,
        {
            "This measures invariance, f(PX) − f(X): the right side needs the permutation too.": _invariance,
            "The right side is permuted the other way round: apply the same order to both.": _undone,
            "The input is never permuted: the left side is f(X[order]).": _output_alone,
            "The channels are permuted, not the rows: index the first axis, X[order].": _channels,
            "The rows are compared without their order: each must stand in its own place.": _as_a_set,
            "A difference below zero is one too: take the absolute value first.": _signed,
            "This is the mean of the entries: the largest is asked for.": _mean,
        },
        _gap_cases,
    ),
    Exercise(
        "sinusoidal-positions", "05", 2,
        r"Write <code>sinusoidal_positions(T, d)</code>, shape <code>(T, d)</code>, positions from 0: on channel \(2i\) the sine of "
        r"\(p / 10000^{2i/d}\), on channel \(2i+1\) the cosine of the same. It must work for an odd d as well.",
        "Two channels share one frequency: <code>channel - channel % 2</code> is 0 0 2 2 4 4 …. Then choose between sine and cosine.",
        sinusoidal_positions,
        {
            "All sines come first, then all cosines: they take turns, sine on the even channels.": _in_halves,
            "The base is 1000: use 10000.": _base_1000,
            "Every channel has a frequency of its own: a sine and the cosine after it share one, that of channel 2i.": _unpaired,
            "The exponent is i/d, as if the base were 100: that of pair i is 2i/d.": _half_exponent,
            "The exponent is 4i/d: channel 2i has exponent 2i/d, so an even channel is its own 2i.": _double_exponent,
            "Sine and cosine are exchanged: position 0 begins 0, 1, 0, 1.": _exchanged,
            "The first position is 1: count from 0.": _from_one,
            "The position is multiplied by the power: divide, so that the waves grow longer.": _multiplied,
            "It stops where d is odd: the last sine has no cosine beside it.": _even_only,
            "Where d is odd the last channel is missing.": _without_last,
            "Made for d + 1 channels and cut: the exponent is 2i/d with d itself, odd or not.": _one_wider,
            "Rows and columns are exchanged: a row for each position.": _turned_over,
        },
        lambda rng: [(5, 8), (7, 6), (11, 7), (3, 2), (13, 1)],
    ),
    Exercise(
        "alibi-bias", "05", 2,
        r"Write <code>alibi_bias(H, T, T_k)</code>, shape <code>(H, T, T_k)</code>: what is added to the scores, "
        r"\(-2^{-8h/H}\,|i - j|\) for heads \(h = 1 \dots H\), the query at position i and the key at position j. "
        "The <em>last</em> query stands at the last key.",
        "First the distances, a matrix. Then a slope for each head, and one product: <code>slope[:, None, None] * distance</code>.",
        alibi_bias,
        {
            "The sign is the wrong way round: distance is a penalty, so the bias is negative.": _positive,
            "The slopes are those of 8 heads, 2^(−h): with H heads they are 2^(−8h/H).": _slopes_of_eight,
            "Heads are counted from 0: the first slope is 2^(−8/H), not 1.": _heads_from_zero,
            "All heads have one slope: head h has 2^(−8h/H).": _one_slope,
            "The heads come in the opposite order: head 1 has the steepest slope.": _slopes_reversed,
            "The first query is aligned with the first key: the last query stands at the last key.": _aligned_at_the_start,
            "Keys after the query get a bonus: take the absolute distance.": _bonus,
            "The distance is squared: the penalty is linear.": _squared,
            "The slopes are 1/h: they fall by one factor from head to head, 2^(−8h/H).": _linear_slopes,
        },
        lambda rng: [(4, 5, 5), (3, 2, 7), (6, 1, 4), (2, 7, 3), (5, 3, 3)],
    ),
    Exercise(
        "rotary-attention", "05", 3,
        r"Write <code>rotary_attention(Q, K, V)</code> for \(Q\) <code>(T, d_k)</code>, \(K\) <code>(T_k, d_k)</code>, \(V\) "
        "<code>(T_k, d_v)</code>, without a mask. <code>rotary(X, positions)</code> and <code>softmax(S)</code> of "
        "<code>tfbook.numpy</code> are yours to use. The <em>last</em> query stands at the last key.",
        "What is compared is turned; what is taken home is not. Give both calls of <code>rotary</code> their positions: with 2 queries "
        "and 7 keys the queries stand at 5 and 6.",
        rotary_attention,
        {
            "The values are turned too: they are taken home as they are. Turn queries and keys only.": _values_turned,
            "Only the queries are turned: scores then depend on where the query stands. Turn the keys as well.": _queries_alone,
            "Only the keys are turned: scores then depend on where the key stands. Turn the queries as well.": _keys_alone,
            "Nothing is turned: this is attention without positions.": _not_turned,
            "The first query is put at the first key: with more keys than queries, the last query stands at the last key.":
                _from_the_first_key,
            "Channels i and i + d_k/2 are turned together: the pairs here are (2i, 2i + 1).": _pairs_apart,
            "Queries and keys turn in opposite directions: scores then depend on the sum of the positions.": _opposite,
            "Sinusoids are added: rotary turns queries and keys and adds nothing.": _added,
            "The scale is missing: divide the scores by √d_k.": _no_scale,
        },
        lambda rng: [
            tuple(rng.standard_normal(shape) for shape in ((T, d_k), (T_k, d_k), (T_k, d_v)))
            for T, T_k, d_k, d_v in ((5, 5, 4, 8), (2, 7, 8, 6), (3, 11, 6, 4))
        ],
    ),
    Exercise(
        "shift-of-positions", "05", 4,
        r"Sinusoids at position \(p + k\) are a fixed linear map of those at \(p\). Write <code>shift(k, d)</code> for an even d: the "
        r"matrix \(R_k\) of shape <code>(d, d)</code> with \(\mathrm{PE}(p + k)^\top = R_k\, \mathrm{PE}(p)^\top\) for every p. Sines "
        "stand on the even channels; the base is 10000.",
        r"Write out \(\sin(a + b)\) and \(\cos(a + b)\). Each pair of channels has a block of 2 by 2, with an angle of its own.",
        shift,
        {
            "This goes k positions back: exchange the signs of the two sines.": _turned_back,
            "Both sines have the same sign: cos(a + b) = cos a cos b − sin a sin b.": _no_minus,
            "All pairs turn by k: pair i turns by k / 10000^(2i/d).": _one_angle,
            "The exponent is i/d: pair i turns by k / 10000^(2i/d).": _half_the_exponent,
            "This is the shift by one position, whatever k is.": _one_step,
            "The matrix is for all sines first, then all cosines: here they take turns.": _halves,
            "Only the diagonal is filled: a new sine needs the old cosine too.": _diagonal,
        },
        lambda rng: [(1, 4), (3, 6), (7, 8), (-2, 10), (5, 2)],
    ),
]
