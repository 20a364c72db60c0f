"""Exercises of chapter 02 on cross-attention and on the gradient of a lookup."""

import numpy as np

from tfbook.exercises.exercise import Exercise
from tfbook.numpy import softmax

# ---- cross-attention ----


def cross_attention(X, context, W_Q, W_K, W_V):
    Q, K, V = X @ W_Q, context @ W_K, context @ W_V
    return softmax(Q @ K.T / np.sqrt(K.shape[-1])) @ V


def _attend(Q, K, V, width):
    return softmax(Q @ K.T / np.sqrt(width)) @ V


def _over_the_queries(X, context, W_Q, W_K, W_V):
    S = X @ W_Q @ (context @ W_K).T / np.sqrt(W_K.shape[-1])
    return softmax(S, axis=0) @ (context @ W_V)


def _cross_cases(rng):
    return [
        (
            rng.standard_normal((T, d)),
            rng.standard_normal((T_k, d)),
            *rng.standard_normal((2, d, d_k)),
            rng.standard_normal((d, d_v)),
        )
        for T, T_k, d, d_k, d_v in (
            (3, 5, 7, 2, 11),
            (5, 5, 3, 2, 7),
            (11, 2, 5, 3, 7),
        )
    ]


# ---- the gradient of the answer ----


def key_gradient(q, K, v, temperature):
    a = softmax(K @ q / temperature)
    y = a @ v
    of_scores = a * (v - y)  # (T_k,)
    return of_scores[:, None] * q / temperature  # (T_k, d_k)


def _temperature_of_the_weights(q, K, v, temperature):
    a = softmax(K @ q)
    return np.outer(a * (v - a @ v), q) / temperature


def _own_score_alone(q, K, v, temperature):
    a = softmax(K @ q / temperature)
    return np.outer(a * (1 - a) * v, q) / temperature


def _of_the_query(q, K, v, temperature):
    a = softmax(K @ q / temperature)
    return (a * (v - a @ v)) @ K / temperature


def _by_the_keys(q, K, v, temperature):
    a = softmax(K @ q / temperature)
    return (a * (v - a @ v))[:, None] * K / temperature


def _of_the_scores(q, K, v, temperature):
    a = softmax(K @ q / temperature)
    return a * (v - a @ v) / temperature


def _gradient_cases(rng):
    return [
        (
            rng.standard_normal(d_k),
            rng.standard_normal((n, d_k)),
            rng.standard_normal(n) + 2,
            temperature,
        )
        for d_k, n, temperature in ((2, 5, 2.0), (3, 7, 0.5), (5, 3, 3.0))
    ]


EXERCISES = [
    Exercise(
        "cross-attention",
        "02",
        2,
        r"Write <code>cross_attention(X, context, W_Q, W_K, W_V)</code>, one head: the "
        r"tokens \(X\) <code>(T, d)</code> ask, the tokens of <code>context (T_k, "
        r"d)</code> answer. \(W_Q\) and \(W_K\) are <code>(d, d_k)</code>, \(W_V\) is "
        r"<code>(d, d_v)</code>; the result is <code>(T, d_v)</code>. Scores are "
        r"divided by \(\sqrt{d_k}\). <code>softmax</code> of <code>tfbook.numpy</code> "
        r"is yours to use.",
        "Which of the three needs one row for each token that asks, and which two need "
        "one row for each token that answers?",
        cross_attention,
        {
            "Queries come from the context, keys and values from X: it is X that "
            "asks.": lambda X, context, W_Q, W_K, W_V: cross_attention(
                context, X, W_Q, W_K, W_V
            ),
            "All three come from X: that is self-attention; the context is not "
            "used.": lambda X, context, W_Q, W_K, W_V: cross_attention(
                X, X, W_Q, W_K, W_V
            ),
            "All three come from the context: the queries must come from "
            "X.": lambda X, context, W_Q, W_K, W_V: cross_attention(
                context, context, W_Q, W_K, W_V
            ),
            "The keys come from X: weights then have a column for each token of X, not "
            "of the context.": lambda X, context, W_Q, W_K, W_V: _attend(
                X @ W_Q, X @ W_K, context @ W_V, W_K.shape[-1]
            ),
            "The values come from X: what is looked up stands in the "
            "context.": lambda X, context, W_Q, W_K, W_V: _attend(
                X @ W_Q, context @ W_K, X @ W_V, W_K.shape[-1]
            ),
            "W_Q and W_K are exchanged: X @ W_Q asks, context @ W_K is "
            "found.": lambda X, context, W_Q, W_K, W_V: _attend(
                X @ W_K, context @ W_Q, context @ W_V, W_K.shape[-1]
            ),
            "The weights mix the keys: mix context @ "
            "W_V.": lambda X, context, W_Q, W_K, W_V: _attend(
                X @ W_Q, context @ W_K, context @ W_K, W_K.shape[-1]
            ),
            "The scale is missing: divide the scores by "
            "√d_k.": lambda X, context, W_Q, W_K, W_V: _attend(
                X @ W_Q, context @ W_K, context @ W_V, 1
            ),
            "The scale is √d: it belongs to the axis that the dot product sums over, "
            "d_k.": lambda X, context, W_Q, W_K, W_V: _attend(
                X @ W_Q, context @ W_K, context @ W_V, X.shape[-1]
            ),
            "The softmax runs over the queries: each query's weights over the context "
            "must sum to one (axis=-1).": _over_the_queries,
        },
        _cross_cases,
    ),
    Exercise(
        "lookup-gradient",
        "02",
        4,
        r"A lookup learns its keys as well as its queries. The values are plain "
        r"numbers \(v\) <code>(T_k,)</code>, and \(y = \sum_j a_j v_j\) with \(a = "
        r"\operatorname{softmax}(K q / \tau)\), where \(\tau\) is the temperature. "
        r"Write <code>key_gradient(q, K, v, temperature)</code>: \(\partial y / "
        r"\partial K\), shape <code>(T_k, d_k)</code>, a row for each key, without "
        r"automatic differentiation. <code>softmax</code> of <code>tfbook.numpy</code> "
        r"is yours to use. To raise the answer, which keys should turn towards the "
        r"query, and which away?",
        r"Moving one key moves one score, its own. How does the answer change with "
        r"that score? Equation \(\partial y / \partial q\) of this chapter has been "
        r"made from the same derivatives, of all scores at once.",
        key_gradient,
        {
            "The gradient is multiplied by the temperature: a score is q · k_j / τ, so "
            "its derivative is q / τ.": lambda q, K, v, temperature: (
                key_gradient(q, K, v, temperature) * temperature**2
            ),
            "The temperature is missing: a score is q · k_j / τ, so its derivative is "
            "q / τ.": lambda q, K, v, temperature: (
                key_gradient(q, K, v, temperature) * temperature
            ),
            "The weights are computed at temperature 1: divide the scores by τ "
            "first.": _temperature_of_the_weights,
            "Raising one score lowers the other weights too: subtract the answer y "
            "from each value.": lambda q, K, v, temperature: (
                np.outer(softmax(K @ q / temperature) * v, q) / temperature
            ),
            "The plain mean of the values is subtracted: subtract their weighted mean, "
            "the answer y.": lambda q, K, v, temperature: (
                np.outer(softmax(K @ q / temperature) * (v - v.mean()), q)
                / temperature
            ),
            "Only a weight's own score counts here: the other weights move as "
            "well.": _own_score_alone,
            "The factor a_j is missing: a key that has no weight hardly moves the "
            "answer.": lambda q, K, v, temperature: (
                np.outer(v - softmax(K @ q / temperature) @ v, q)
                / temperature
            ),
            "The weights are taken as constant, but the keys move "
            "them.": lambda q, K, v, temperature: np.zeros_like(K),
            "The sign is the wrong way round.": lambda q, K, v, temperature: (
                -key_gradient(q, K, v, temperature)
            ),
            "This is the gradient with respect to the query: a row for each key was "
            "asked for.": _of_the_query,
            "A score q · k_j changes with its key at the rate q, not "
            "k_j.": _by_the_keys,
            "This is the gradient with respect to the dot products, one number a key: "
            "multiply by the query.": _of_the_scores,
            "Rows and columns are exchanged: a row for each "
            "key.": lambda q, K, v, temperature: (
                key_gradient(q, K, v, temperature).T
            ),
        },
        _gradient_cases,
    ),
]
