"""Exercises of chapter 05 on rotary attention and on the shift of positions."""

import numpy as np

from tfbook.exercises.exercise import Exercise
from tfbook.numpy import (
    rotary,
    scaled_dot_product_attention,
    sinusoidal_positions,
    softmax,
)

# ---- the shift as a matrix ----


def shift(k, d):
    R = np.zeros((d, d))
    for i in range(0, d, 2):
        angle = k / 10000.0 ** (i / d)
        R[i, i], R[i, i + 1] = np.cos(angle), np.sin(angle)
        R[i + 1, i], R[i + 1, i + 1] = -np.sin(angle), np.cos(angle)
    return R


def _blocks(angle, lower=-1):
    R, i = (
        np.zeros((2 * len(angle), 2 * len(angle))),
        np.arange(0, 2 * len(angle), 2),
    )
    R[i, i] = R[i + 1, i + 1] = np.cos(angle)
    R[i, i + 1], R[i + 1, i] = np.sin(angle), lower * np.sin(angle)
    return R


def _angles(k, d):
    return k / 10000.0 ** (np.arange(0, d, 2) / d)


def _halves(k, d):
    cos, sin = np.diag(np.cos(_angles(k, d))), np.diag(np.sin(_angles(k, d)))
    return np.block([[cos, sin], [-sin, cos]])


# ---- rotary attention ----


def rotary_attention(Q, K, V):
    T, T_k = len(Q), len(K)
    # the last query stands at the last key
    Q = rotary(Q, np.arange(T_k - T, T_k))
    K = rotary(K, np.arange(T_k))
    S = Q @ K.T / np.sqrt(Q.shape[-1])
    return softmax(S) @ V


def _positions(Q, K):
    return np.arange(len(K) - len(Q), len(K)), np.arange(len(K))


def _pairs_apart(Q, K, V):
    def turn(X, p):
        halves = np.concatenate(
            [np.arange(0, X.shape[-1], 2), np.arange(1, X.shape[-1], 2)]
        )
        return rotary(X[:, np.argsort(halves)], p)[:, halves]

    q, k = _positions(Q, K)
    return scaled_dot_product_attention(turn(Q, q), turn(K, k), V)


def _opposite(Q, K, V):
    q, k = _positions(Q, K)
    return scaled_dot_product_attention(rotary(Q, q), rotary(K, -k), V)


def _added(Q, K, V):
    P = sinusoidal_positions(len(K), K.shape[-1])
    return scaled_dot_product_attention(Q + P[-len(Q) :], K + P, V)


def _causal(Q, K, V):
    q, k = _positions(Q, K)
    return scaled_dot_product_attention(
        rotary(Q, q), rotary(K, k), V, mask=k <= q[:, None]
    )


def _over_the_queries(Q, K, V):
    q, k = _positions(Q, K)
    return (
        softmax(rotary(Q, q) @ rotary(K, k).T / np.sqrt(Q.shape[-1]), axis=0)
        @ V
    )


def _all_at_the_end(Q, K, V):
    q, k = _positions(Q, K)
    return scaled_dot_product_attention(
        rotary(Q, 0 * q + k[-1]), rotary(K, k), V
    )


EXERCISES = [
    Exercise(
        "rotary-attention",
        "05",
        3,
        r"Write <code>rotary_attention(Q, K, V)</code> for \(Q\) <code>(T, "
        r"d_k)</code>, \(K\) <code>(T_k, d_k)</code>, \(V\) <code>(T_k, d_v)</code>, "
        r"without a mask, scores divided by \(\sqrt{d_k}\). <code>rotary(X, "
        r"positions)</code> and <code>softmax(S)</code> of <code>tfbook.numpy</code> "
        r"are yours to use. The <em>last</em> query stands at the last key.",
        "What is compared is turned; what is taken home is not. Give both calls of "
        "<code>rotary</code> their positions: with 2 queries and 7 keys the queries "
        "stand at 5 and 6.",
        rotary_attention,
        {
            "The values are turned too: they are taken home as they are. Turn queries "
            "and keys only.": lambda Q, K, V: rotary_attention(
                Q, K, rotary(V)
            ),
            "Only the queries are turned: scores then depend on where the query "
            "stands. Turn the keys as well.": lambda Q, K, V: (
                scaled_dot_product_attention(
                    rotary(Q, _positions(Q, K)[0]), K, V
                )
            ),
            "Only the keys are turned: scores then depend on where the key stands. "
            "Turn the queries as well.": lambda Q, K, V: (
                scaled_dot_product_attention(Q, rotary(K), V)
            ),
            "Nothing is turned: this is attention without positions.": lambda Q, K, V: (
                scaled_dot_product_attention(Q, K, V)
            ),
            "The first query is put at the first key: with more keys than queries, the "
            "last query stands at the last key.": lambda Q, K, V: (
                scaled_dot_product_attention(rotary(Q), rotary(K), V)
            ),
            "Channels i and i + d_k/2 are turned together: the pairs here are (2i, 2i "
            "+ 1).": _pairs_apart,
            "Queries and keys turn in opposite directions: scores then depend on the "
            "sum of the positions.": _opposite,
            "Sinusoids are added: rotary turns queries and keys and adds "
            "nothing.": _added,
            "The scale is missing: divide the scores by √d_k.": lambda Q, K, V: (
                rotary_attention(Q * np.sqrt(Q.shape[-1]), K, V)
            ),
            "Later keys are hidden: no mask was asked for.": _causal,
            "The softmax runs over the queries: each query's weights must sum to one "
            "(axis=-1).": _over_the_queries,
            "All queries are put at the last key: only the last one stands "
            "there.": _all_at_the_end,
            "The answers are turned: turn queries and keys, before they are "
            "compared.": lambda Q, K, V: rotary(
                scaled_dot_product_attention(Q, K, V), _positions(Q, K)[0]
            ),
        },
        lambda rng: [
            tuple(
                rng.standard_normal(shape)
                for shape in ((T, d_k), (T_k, d_k), (T_k, d_v))
            )
            for T, T_k, d_k, d_v in (
                (5, 5, 4, 8),
                (2, 7, 8, 6),
                (3, 11, 6, 4),
            )
        ],
    ),
    Exercise(
        "shift-of-positions",
        "05",
        4,
        r"Sinusoids at position \(p + k\) are a fixed linear map of those at \(p\). "
        r"Write <code>shift(k, d)</code> for an even d: the matrix \(R_k\) of shape "
        r"<code>(d, d)</code> with \(\mathrm{PE}(p + k)^\top = R_k\, "
        r"\mathrm{PE}(p)^\top\) for every p. Sines stand on the even channels; the "
        r"base is 10000.",
        r"Write out \(\sin(a + b)\) and \(\cos(a + b)\). Each pair of channels has a "
        r"block of 2 by 2, with an angle of its own.",
        shift,
        {
            "This goes k positions back: exchange the signs of the two "
            "sines.": lambda k, d: _blocks(_angles(k, d)).T,
            "Both sines have the same sign: cos(a + b) = cos a cos b − sin a sin "
            "b.": lambda k, d: _blocks(_angles(k, d), lower=1),
            "All pairs turn by k: pair i turns by k / 10000^(2i/d).": lambda k, d: (
                _blocks(np.full(d // 2, float(k)))
            ),
            "The exponent is i/d: pair i turns by k / 10000^(2i/d).": lambda k, d: (
                _blocks(k / 10000.0 ** (np.arange(d // 2) / d))
            ),
            "This is the shift by one position, whatever k is.": lambda k, d: (
                _blocks(_angles(1, d))
            ),
            "The matrix is for all sines first, then all cosines: here they take "
            "turns.": _halves,
            "Only the diagonal is filled: a new sine needs the old cosine "
            "too.": lambda k, d: np.diag(np.cos(_angles(k, d)).repeat(2)),
        },
        lambda rng: [(1, 4), (3, 6), (7, 8), (-2, 10), (5, 2)],
    ),
]
