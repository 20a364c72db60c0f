"""Exercises of chapter 03, scaled dot-product attention."""

import numpy as np

from tfbook.exercises.exercise import Exercise

# ---- softmax ----


def softmax(S):
    E = np.exp(S - S.max(axis=-1, keepdims=True))
    return E / E.sum(axis=-1, keepdims=True)


def _overflows(S):
    E = np.exp(S)
    return E / E.sum(axis=-1, keepdims=True)


def _one_maximum_for_all(S):
    E = np.exp(S - S.max())
    return E / E.sum(axis=-1, keepdims=True)


def _minimum_subtracted(S):
    E = np.exp(S - S.min(axis=-1, keepdims=True))
    return E / E.sum(axis=-1, keepdims=True)


def _mean_subtracted(S):
    E = np.exp(S - S.mean(axis=-1, keepdims=True))
    return E / E.sum(axis=-1, keepdims=True)


def _over_columns(S):
    E = np.exp(S - S.max(axis=-2, keepdims=True))
    return E / E.sum(axis=-2, keepdims=True)


def _over_everything(S):
    E = np.exp(S - S.max())
    return E / E.sum()


def _largest_is_one(S):
    return np.exp(S - S.max(axis=-1, keepdims=True))


def _no_exponential(S):
    return S / S.sum(axis=-1, keepdims=True)


def _softmax_cases(rng):
    def sixty_fourths(*shape):  # float32 holds them exactly, with thousands added too
        return np.round(rng.standard_normal(shape) * 64) / 64

    apart = np.array([1000.0, 999, 0, -1000, -999, 3, 2, 1, 5, -7, 11])
    return [
        (rng.standard_normal((5, 7)),),
        (rng.standard_normal((2, 3, 5)),),
        (sixty_fourths(5, 7) + np.array([[1000.0], [-1000.0], [0.0], [50.0], [-3000.0]]),),
        (sixty_fourths(2, 3, 7) + np.array([[1000.0], [-1000.0], [-3000.0]]),),  # one maximum a matrix is not enough
        (np.stack([apart, *(rng.permutation(apart) for _ in range(2))]),),  # far apart within a row
    ]


# ---- scaled dot-product attention ----


def scaled_dot_product_attention(Q, K, V, mask):
    d_k = Q.shape[-1]
    S = Q @ K.swapaxes(-1, -2) / np.sqrt(d_k)
    S = np.where(mask, S, -np.inf)
    return softmax(S) @ V


def _attention(Q, K, V, mask, scale=None, normalise=softmax, hidden=-np.inf):
    scale = 1 / np.sqrt(Q.shape[-1]) if scale is None else scale
    return normalise(np.where(mask, Q @ K.swapaxes(-1, -2) * scale, hidden)) @ V


def _no_scale(Q, K, V, mask):
    return _attention(Q, K, V, mask, scale=1.0)


def _divided_by_d_k(Q, K, V, mask):
    return _attention(Q, K, V, mask, scale=1 / Q.shape[-1])


def _divided_by_root_of_values(Q, K, V, mask):
    return _attention(Q, K, V, mask, scale=1 / np.sqrt(V.shape[-1]))


def _divided_by_root_of_keys(Q, K, V, mask):
    return _attention(Q, K, V, mask, scale=1 / np.sqrt(K.shape[-2]))


def _multiplied(Q, K, V, mask):
    return _attention(Q, K, V, mask, scale=np.sqrt(Q.shape[-1]))


def _softmax_over_queries(Q, K, V, mask):
    return _attention(Q, K, V, mask, normalise=_over_columns)


def _softmax_over_all(Q, K, V, mask):
    return _attention(Q, K, V, mask, normalise=_over_everything)


def _mask_after(Q, K, V, mask):
    return np.where(mask, softmax(Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1])), 0) @ V


def _mask_flipped(Q, K, V, mask):
    return _attention(Q, K, V, ~mask)


def _mask_ignored(Q, K, V, mask):
    return _attention(Q, K, V, np.ones_like(mask))


def _mask_is_zero(Q, K, V, mask):
    return _attention(Q, K, V, mask, hidden=0.0)


def _keys_as_values(Q, K, V, mask):
    return _attention(Q, K, K, mask)


def _weights_transposed(Q, K, V, mask):
    S = np.where(mask, Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1]), -np.inf)
    return softmax(S).swapaxes(-1, -2) @ V


def _scores_without_softmax(Q, K, V, mask):
    return np.where(mask, Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1]), 0) @ V


def _attention_cases(rng):
    cases = []
    for leading, T, T_k, d_k, d_v in (((), 5, 7, 3, 2), ((2,), 5, 5, 3, 11), ((2, 3), 7, 5, 11, 13)):
        Q, K, V = (rng.standard_normal((*leading, *axes)) for axes in ((T, d_k), (T_k, d_k), (T_k, d_v)))
        mask = rng.random((T, T_k)) < 0.6
        mask[:, 0], mask[:, 1] = True, False  # each query may attend to something, but not to all; nor is the opposite empty
        cases.append((Q, K, V, mask))
    return cases


# ---- causal mask ----


def causal_mask(T, T_k):
    query = np.arange(T_k - T, T_k)[:, None]  # the last query stands at the last key
    key = np.arange(T_k)
    return key <= query


def _aligned_at_the_start(T, T_k):
    return np.arange(T_k) <= np.arange(T)[:, None]


def _polarity(T, T_k):
    return ~causal_mask(T, T_k)


def _blind_to_itself(T, T_k):
    return np.arange(T_k) < np.arange(T_k - T, T_k)[:, None]


def _sees_the_future(T, T_k):
    return np.arange(T_k) >= np.arange(T_k - T, T_k)[:, None]


def _one_too_far(T, T_k):
    return np.arange(T_k) <= np.arange(T_k - T, T_k)[:, None] + 1


def _transposed(T, T_k):
    return causal_mask(T, T_k).T


def _numbers(T, T_k):
    return causal_mask(T, T_k).astype(float)


def _added_to_scores(T, T_k):
    return np.where(causal_mask(T, T_k), 0.0, -np.inf)


def _causal_cases(rng):
    return [(5, 5), (3, 7), (1, 11), (7, 7), (7, 3)]


# ---- the gradient of a softmax ----


def softmax_jacobian(a):
    return np.diag(a) - np.outer(a, a)


def _own_score_alone(a):
    return np.diag(a * (1 - a))


def _without_diagonal(a):
    return -np.outer(a, a)


def _without_outer(a):
    return np.diag(a)


def _sign(a):
    return np.outer(a, a) - np.diag(a)


def _vector(a):
    return a * (1 - a)


def _jacobian_cases(rng):
    return [(softmax(rng.standard_normal(n)),) for n in (2, 5, 11)]


EXERCISES = [
    Exercise(
        "softmax", "03", 1,
        "Write <code>softmax(S)</code> over the last axis. It must survive scores of a thousand, and rows that differ by thousands.",
        "Subtract something from every score of a row before you exponentiate. Which number makes overflow impossible, "
        "and may it be the same for all rows?",
        softmax,
        {
            "exp overflows on large scores: subtract the row's maximum first.": _overflows,
            "One maximum for all rows: a row far below it underflows to 0 / 0. Take each row's own (axis=-1, keepdims=True).":
                _one_maximum_for_all,
            "The minimum is subtracted: exp still overflows; subtract the row's maximum.": _minimum_subtracted,
            "The mean is subtracted: exp still overflows; subtract the row's maximum.": _mean_subtracted,
            "The columns sum to one, not the rows: use axis=-1.": _over_columns,
            "All entries together sum to one: sum along the last axis only.": _over_everything,
            "The largest entry of each row is one, but the rows do not sum to one: divide by the sum.": _largest_is_one,
            "Scores are divided by their sum, with no exponential: they can be negative.": _no_exponential,
        },
        _softmax_cases,
    ),
    Exercise(
        "scaled-dot-product-attention", "03", 2,
        r"Write <code>attention(Q, K, V, mask)</code> for \(Q\) <code>(..., T, d_k)</code>, \(K\) <code>(..., T_k, d_k)</code>, \(V\) "
        "<code>(..., T_k, d_v)</code> and a boolean mask <code>(T, T_k)</code>, True where a query may attend. NumPy only.",
        "Four lines: scores, scale, mask, softmax and mean. The mask must act while the numbers are still scores. "
        "<code>K.swapaxes(-1, -2)</code> transposes the last two axes whatever stands before them.",
        scaled_dot_product_attention,
        {
            r"The scale is missing: divide the scores by √d_k.": _no_scale,
            r"The scores are divided by d_k: take its square root.": _divided_by_d_k,
            r"The scale is √d_v: it belongs to the axis that the dot product sums over, d_k.": _divided_by_root_of_values,
            r"The scale is √T_k: it belongs to the axis that the dot product sums over, d_k.": _divided_by_root_of_keys,
            r"The scores are multiplied by √d_k: divide.": _multiplied,
            "The softmax runs over the queries: each query's weights over the keys must sum to one (axis=-1).": _softmax_over_queries,
            "The softmax runs over the whole matrix: each row must sum to one (axis=-1).": _softmax_over_all,
            "The mask comes after the softmax: what is left no longer sums to one. Set masked scores to −∞ first.": _mask_after,
            "The mask is the wrong way round: True means that the query may attend.": _mask_flipped,
            "The mask is not used.": _mask_ignored,
            "Masked scores are set to 0, and exp(0) = 1 is a weight like any other: set them to −∞.": _mask_is_zero,
            "The weights mix the keys: they should mix the values.": _keys_as_values,
            "The weights are transposed: row t of the weights makes row t of the output, A @ V.": _weights_transposed,
            "The softmax is missing: the scores themselves mix the values.": _scores_without_softmax,
        },
        _attention_cases,
    ),
    Exercise(
        "causal-mask", "03", 3,
        "Write <code>causal_mask(T, T_k)</code>: boolean, shape <code>(T, T_k)</code>, True where a query may attend. With T new tokens "
        "behind a cache there are more keys than queries; the <em>last</em> query stands at the last key.",
        "Give every query its position among the keys: with 3 queries and 7 keys they stand at 4, 5 and 6. Then compare positions.",
        causal_mask,
        {
            "The first query is aligned with the first key: with T_k > T the last query must see all keys.": _aligned_at_the_start,
            "The mask is the wrong way round: True means that the query may attend.": _polarity,
            "A token may attend to itself: use ≤, not <.": _blind_to_itself,
            "Queries see what comes after them, not what came before.": _sees_the_future,
            "Every query sees one token too far.": _one_too_far,
            "Rows and columns are exchanged: the shape is (T, T_k), a row for each query.": _transposed,
            "The mask holds numbers, not booleans: compare, or use dtype=bool.": _numbers,
            "This is a bias of 0 and −∞ to be added to the scores: return booleans.": _added_to_scores,
        },
        _causal_cases,
    ),
    Exercise(
        "softmax-jacobian", "03", 4,
        r"Let \(a = \operatorname{softmax}(s)\). Write <code>jacobian(a)</code>: the matrix of all "
        r"\(\partial a_i / \partial s_j\), from \(a\) alone. What becomes of it when one weight nears 1?",
        r"Start from \(\log a_i = s_i - \log \sum_k e^{s_k}\) and take the derivative with respect to \(s_j\). "
        r"The case \(i = j\) has one term more.",
        softmax_jacobian,
        {
            "Only a weight's own score counts here, but raising another score lowers it too: the rest is −a_i·a_j.": _own_score_alone,
            "The diagonal misses its own term: add a_i where i = j.": _without_diagonal,
            "The normaliser depends on every score too: subtract a_i·a_j.": _without_outer,
            "The sign is the wrong way round: raising a score raises its own weight.": _sign,
            "This is the diagonal alone, as a vector: the Jacobian is a matrix.": _vector,
        },
        _jacobian_cases,
    ),
]
