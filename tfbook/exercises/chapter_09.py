"""Exercises of chapter 09, gradients by hand."""

import numpy as np

from tfbook.exercises.exercise import Exercise

# ---- the network and the residual around it ----


def network_gradient(dY, Z, W_1, b_1, W_2, b_2):
    dR = dY @ W_2.T
    dU = dR * (Z @ W_1 + b_1 > 0)
    return dY + dU @ W_1.T


def _back(dY, Z, W_1, b_1, W_2, awake=None):
    awake = Z @ W_1 + b_1 > 0 if awake is None else awake
    return (dY @ W_2.T * awake) @ W_1.T


def _network_cases(rng):
    cases = []
    for leading, T, d, d_ff in (
        ((), 3, 4, 6),
        ((2,), 5, 7, 11),
        ((), 2, 13, 5),
    ):
        dY, Z = rng.standard_normal((2, *leading, T, d))
        cases.append(
            (
                dY,
                Z,
                *(
                    rng.standard_normal(shape)
                    for shape in ((d, d_ff), (d_ff,), (d_ff, d), (d,))
                ),
            )
        )
    return cases


# ---- attention, back to its queries ----


def query_gradient(dA, Q, K, V):
    d_k = Q.shape[-1]
    S = Q @ K.swapaxes(-1, -2) / np.sqrt(d_k)
    E = np.exp(S - S.max(axis=-1, keepdims=True))
    alpha = E / E.sum(axis=-1, keepdims=True)

    dalpha = dA @ V.swapaxes(-1, -2)
    mean = (alpha * dalpha).sum(axis=-1, keepdims=True)
    dS = alpha * (dalpha - mean)
    return dS @ K / np.sqrt(d_k)


def _weights(Q, K, scale=None, axis=-1):
    S = (
        Q
        @ K.swapaxes(-1, -2)
        * (Q.shape[-1] ** -0.5 if scale is None else scale)
    )
    E = np.exp(S - S.max(axis=axis, keepdims=True))
    return E / E.sum(axis=axis, keepdims=True)


def _to_queries(through_softmax, back=None, forth=None):
    """A wrong answer: through_softmax(dalpha, alpha) gives dS; back and forth are the
    scales of the two ways.
    """

    def answer(dA, Q, K, V):
        dS = through_softmax(dA @ V.swapaxes(-1, -2), _weights(Q, K, forth))
        return dS @ K * (Q.shape[-1] ** -0.5 if back is None else back)

    return answer


def _right(dalpha, alpha):
    return alpha * (dalpha - (alpha * dalpha).sum(axis=-1, keepdims=True))


def _mean_forgotten(dalpha, alpha):
    return alpha * dalpha


def _softmax_skipped(dalpha, alpha):
    return dalpha


def _own_score_alone(dalpha, alpha):
    return alpha * (1 - alpha) * dalpha


def _plain_mean(dalpha, alpha):
    return alpha * (dalpha - dalpha.mean(axis=-1, keepdims=True))


def _sum_of_all(dalpha, alpha):
    return alpha * (dalpha - dalpha.sum(axis=-1, keepdims=True))


def _over_queries(dalpha, alpha):
    return alpha * (dalpha - (alpha * dalpha).sum(axis=-2, keepdims=True))


def _not_weighted(dalpha, alpha):
    return dalpha - (alpha * dalpha).sum(axis=-1, keepdims=True)


def _sign(dalpha, alpha):
    return -_right(dalpha, alpha)


def _gradient_of_keys(dA, Q, K, V):
    dS = _right(dA @ V.swapaxes(-1, -2), _weights(Q, K))
    return dS.swapaxes(-1, -2) @ Q / np.sqrt(Q.shape[-1])


def _query_cases(rng):
    return [
        tuple(
            rng.standard_normal((*leading, *axes))
            for axes in ((T, d_v), (T, d_k), (T_k, d_k), (T_k, d_v))
        )
        for leading, T, T_k, d_k, d_v in (
            ((), 3, 5, 4, 2),
            ((2,), 7, 5, 3, 11),
            ((), 2, 3, 7, 5),
        )
    ]


EXERCISES = [
    Exercise(
        "network-gradient",
        "09",
        3,
        r"Let \(Y = Z + F\) with \(F = \mathrm{ReLU}(Z W_1 + b_1)\, W_2 + b_2\), the "
        r"network with its residual. Write <code>network_gradient(dY, Z, W_1, b_1, "
        r"W_2, b_2)</code>: from \(\partial \mathcal{L} / \partial Y\) make \(\partial "
        r"\mathcal{L} / \partial Z\).",
        "Two ways lead from Z to Y, so two gradients come back, and they add up. On "
        "the way through the network: a product, ReLU, a product, each by its rule, "
        "the last first.",
        network_gradient,
        {
            "The way around is missing: dY itself is one of the two "
            "summands.": lambda dY, Z, W_1, b_1, W_2, b_2: _back(
                dY, Z, W_1, b_1, W_2
            ),
            "Only the way around is there: add what comes back through the "
            "network.": lambda dY, Z, W_1, b_1, W_2, b_2: 1 * dY,
            "Z is added: on the way back, dY goes "
            "around.": lambda dY, Z, W_1, b_1, W_2, b_2: (
                Z + _back(dY, Z, W_1, b_1, W_2)
            ),
            "The two ways are multiplied: gradients of a sum add "
            "up.": lambda dY, Z, W_1, b_1, W_2, b_2: (
                dY * _back(dY, Z, W_1, b_1, W_2)
            ),
            "ReLU is forgotten: where it gave 0, nothing comes "
            "back.": lambda dY, Z, W_1, b_1, W_2, b_2: (
                dY + dY @ W_2.T @ W_1.T
            ),
            "ReLU is put on the gradient: what counts is where its input, Z W_1 + b_1, "
            "was positive.": lambda dY, Z, W_1, b_1, W_2, b_2: (
                dY + np.maximum(dY @ W_2.T, 0) @ W_1.T
            ),
            "Whether a channel is awake depends on b_1 too: Z W_1 + b_1 > "
            "0.": lambda dY, Z, W_1, b_1, W_2, b_2: (
                dY + _back(dY, Z, W_1, b_1, W_2, Z @ W_1 > 0)
            ),
            "The wrong channels let the gradient through: it passes where Z W_1 + b_1 "
            "was positive.": lambda dY, Z, W_1, b_1, W_2, b_2: (
                dY + _back(dY, Z, W_1, b_1, W_2, Z @ W_1 + b_1 <= 0)
            ),
            "The gradient is multiplied by what passed ReLU: its slope there is "
            "1.": lambda dY, Z, W_1, b_1, W_2, b_2: (
                dY + _back(dY, Z, W_1, b_1, W_2, np.maximum(Z @ W_1 + b_1, 0))
            ),
            "Biases are added on the way back: the gradient of a sum does not see a "
            "constant.": lambda dY, Z, W_1, b_1, W_2, b_2: (
                dY + ((dY + b_2) @ W_2.T * (Z @ W_1 + b_1 > 0) + b_1) @ W_1.T
            ),
            "This is the way forward: return a "
            "gradient.": lambda dY, Z, W_1, b_1, W_2, b_2: (
                Z + np.maximum(Z @ W_1 + b_1, 0) @ W_2 + b_2
            ),
        },
        _network_cases,
    ),
    Exercise(
        "query-gradient",
        "09",
        4,
        r"Let \(A = \alpha V\) with \(\alpha = \mathrm{softmax}(Q K^\top / "
        r"\sqrt{d_k})\). Write <code>query_gradient(dA, Q, K, V)</code>: from "
        r"\(\partial \mathcal{L} / \partial A\) make \(\partial \mathcal{L} / \partial "
        r"Q\). Q is <code>(..., T, d_k)</code>, K <code>(..., T_k, d_k)</code>, V "
        r"<code>(..., T_k, d_v)</code>.",
        "Compute the weights first, for the way back needs them. Then three rules: "
        "from A to the weights, from there to the scores, from the scores to the "
        "queries. In the middle one, each row of the result sums to zero.",
        query_gradient,
        {
            "The softmax is passed as if it were not there: its rule stands between "
            "weights and scores.": _to_queries(_softmax_skipped),
            "Raising one score lowers the other weights: take the weighted mean of dα "
            "off each row.": _to_queries(_mean_forgotten),
            "A score counts for its own weight alone here: it moves the other weights "
            "of its row too.": _to_queries(_own_score_alone),
            "The mean that is taken off is a plain one: it is weighted by "
            "α.": _to_queries(_plain_mean),
            "A sum is taken off where the mean weighted by α belongs.": _to_queries(
                _sum_of_all
            ),
            "The weighted mean runs over the queries: each query has its own row "
            "(axis=-1).": _to_queries(_over_queries),
            "The factor α before the bracket is missing: a key without weight moves "
            "little.": _to_queries(_not_weighted),
            "The sign is the wrong way round.": _to_queries(_sign),
            "The scale is missing on the way back: the scores were divided by √d_k; so "
            "is their gradient.": _to_queries(_right, back=1.0),
            "The weights are computed without the scale: divide the scores by "
            "√d_k.": _to_queries(_right, forth=1.0),
            "Both scales are missing: the scores are divided by √d_k, and so is their "
            "gradient.": _to_queries(_right, 1.0, 1.0),
            "The gradient is divided by d_k: divide by its root.": lambda dA, Q, K, V: (
                query_gradient(dA, Q, K, V) / np.sqrt(Q.shape[-1])
            ),
            "The gradient is multiplied by √d_k: divide.": lambda dA, Q, K, V: (
                query_gradient(dA, Q, K, V) * Q.shape[-1]
            ),
            "This is the gradient of the keys: for that of the queries, multiply dS by "
            "K.": _gradient_of_keys,
            "This is the gradient of the values.": lambda dA, Q, K, V: (
                _weights(Q, K).swapaxes(-1, -2) @ dA
            ),
            "This is the gradient of Q Kᵀ: one product is left, with "
            "K.": lambda dA, Q, K, V: (
                _right(dA @ V.swapaxes(-1, -2), _weights(Q, K))
                / np.sqrt(Q.shape[-1])
            ),
        },
        _query_cases,
    ),
]
