"""Exercises of chapter 03 on scaled dot-product attention and its causal mask."""

import numpy as np

from tfbook.exercises.exercise import Exercise
from tfbook.numpy import softmax

# ---- scaled dot-product attention ----


def attention(Q, K, V, mask):
    d_k = Q.shape[-1]
    S = Q @ K.swapaxes(-1, -2) / np.sqrt(d_k)
    S = np.where(mask, S, -np.inf)
    return softmax(S) @ V


def _variant(Q, K, V, mask, scale=None, normalise=softmax, hidden=-np.inf):
    scale = 1 / np.sqrt(Q.shape[-1]) if scale is None else scale
    return (
        normalise(np.where(mask, Q @ K.swapaxes(-1, -2) * scale, hidden)) @ V
    )


def _over_queries(S):
    return softmax(S.swapaxes(-1, -2)).swapaxes(-1, -2)


def _over_everything(S):
    return softmax(S.reshape(*S.shape[:-2], -1)).reshape(S.shape)


def _weights_transposed(Q, K, V, mask):
    S = np.where(mask, Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1]), -np.inf)
    return softmax(S).swapaxes(-1, -2) @ V


def _attention_cases(rng):
    cases = []
    for leading, T, T_k, d_k, d_v in (
        ((), 5, 7, 3, 2),
        ((2,), 5, 5, 3, 11),
        ((2, 3), 7, 5, 11, 13),
    ):
        Q, K, V = (
            rng.standard_normal((*leading, *axes))
            for axes in ((T, d_k), (T_k, d_k), (T_k, d_v))
        )
        mask = rng.random((T, T_k)) < 0.6
        # each row and each column has both: nothing is empty, the mask flipped or the
        # axes exchanged either
        for i in range(max(T, T_k)):
            mask[i % T, i % T_k], mask[i % T, (i + 1) % T_k] = True, False
        cases.append((Q, K, V, mask))
    return cases


# ---- causal mask ----


def causal_mask(T, T_k):
    # the last query stands at the last key
    query = np.arange(T_k - T, T_k)[:, None]
    key = np.arange(T_k)
    return key <= query


def _causal_cases(rng):
    return [(5, 5), (3, 7), (1, 11), (7, 7), (7, 3)]


EXERCISES = [
    Exercise(
        "scaled-dot-product-attention",
        "03",
        2,
        r"Write <code>attention(Q, K, V, mask)</code> for \(Q\) <code>(..., T, "
        r"d_k)</code>, \(K\) <code>(..., T_k, d_k)</code>, \(V\) <code>(..., T_k, "
        r"d_v)</code> and a boolean mask <code>(T, T_k)</code>, True where a query may "
        r"attend. <code>softmax</code> of <code>tfbook.numpy</code> is yours to use.",
        "Four lines: scores, scale, mask, softmax and mean. The mask must act while "
        "the numbers are still scores. <code>K.swapaxes(-1, -2)</code> transposes the "
        "last two axes whatever stands before them.",
        attention,
        {
            r"The scale is missing: divide the scores by √d_k.": lambda Q, K, V, mask: (
                _variant(Q, K, V, mask, scale=1.0)
            ),
            r"The scores are divided by d_k: take its square "
            r"root.": lambda Q, K, V, mask: _variant(
                Q, K, V, mask, scale=1 / Q.shape[-1]
            ),
            r"The scale is √d_v: it belongs to the axis that the dot product sums "
            r"over, d_k.": lambda Q, K, V, mask: _variant(
                Q, K, V, mask, scale=1 / np.sqrt(V.shape[-1])
            ),
            r"The scale is √T_k: it belongs to the axis that the dot product sums "
            r"over, d_k.": lambda Q, K, V, mask: _variant(
                Q, K, V, mask, scale=1 / np.sqrt(K.shape[-2])
            ),
            r"The scores are multiplied by √d_k: divide.": lambda Q, K, V, mask: (
                _variant(Q, K, V, mask, scale=np.sqrt(Q.shape[-1]))
            ),
            "The softmax runs over the queries: each query's weights over the keys "
            "must sum to one (axis=-1).": lambda Q, K, V, mask: _variant(
                Q, K, V, mask, normalise=_over_queries
            ),
            "The softmax runs over the whole matrix: each row must sum to one "
            "(axis=-1).": lambda Q, K, V, mask: _variant(
                Q, K, V, mask, normalise=_over_everything
            ),
            "The mask comes after the softmax: what is left no longer sums to one. Set "
            "masked scores to −∞ first.": lambda Q, K, V, mask: (
                np.where(
                    mask,
                    softmax(Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1])),
                    0,
                )
                @ V
            ),
            "The mask is the wrong way round: True means that the query may "
            "attend.": lambda Q, K, V, mask: _variant(Q, K, V, ~mask),
            "The mask is not used.": lambda Q, K, V, mask: _variant(
                Q, K, V, np.ones_like(mask)
            ),
            "Masked scores are set to 0, and exp(0) = 1 is a weight like any other: "
            "set them to −∞.": lambda Q, K, V, mask: _variant(
                Q, K, V, mask, hidden=0.0
            ),
            "The weights mix the keys: they should mix the "
            "values.": lambda Q, K, V, mask: _variant(Q, K, K, mask),
            "The weights are transposed: row t of the weights makes row t of the "
            "output, A @ V.": _weights_transposed,
            "The softmax is missing: the scores themselves mix the "
            "values.": lambda Q, K, V, mask: (
                np.where(
                    mask, Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1]), 0
                )
                @ V
            ),
        },
        _attention_cases,
    ),
    Exercise(
        "causal-mask",
        "03",
        3,
        "Write <code>causal_mask(T, T_k)</code>: boolean, shape <code>(T, T_k)</code>, "
        "True where a query may attend. With T new tokens behind a cache there are "
        "more keys than queries; the <em>last</em> query stands at the last key.",
        "Give every query its position among the keys: with 3 queries and 7 keys they "
        "stand at 4, 5 and 6. Then compare positions.",
        causal_mask,
        {
            "The first query is aligned with the first key: with T_k > T the last "
            "query must see all keys.": lambda T, T_k: (
                np.arange(T_k) <= np.arange(T)[:, None]
            ),
            "The mask is the wrong way round: True means that the query may "
            "attend.": lambda T, T_k: ~causal_mask(T, T_k),
            "A token may attend to itself: use ≤, not <.": lambda T, T_k: (
                np.arange(T_k) < np.arange(T_k - T, T_k)[:, None]
            ),
            "Queries see what comes after them, not what came before.": lambda T, T_k: (
                np.arange(T_k) >= np.arange(T_k - T, T_k)[:, None]
            ),
            "Every query sees one token too far.": lambda T, T_k: (
                np.arange(T_k) <= np.arange(T_k - T, T_k)[:, None] + 1
            ),
            "Rows and columns are exchanged: the shape is (T, T_k), a row for each "
            "query.": lambda T, T_k: causal_mask(T, T_k).T,
            "The mask holds numbers, not booleans: compare, or use "
            "dtype=bool.": lambda T, T_k: causal_mask(T, T_k).astype(float),
            "This is a bias of 0 and −∞ to be added to the scores: return "
            "booleans.": lambda T, T_k: np.where(
                causal_mask(T, T_k), 0.0, -np.inf
            ),
        },
        _causal_cases,
    ),
]
