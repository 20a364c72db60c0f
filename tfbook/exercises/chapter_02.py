"""Exercises of chapter 02, attention as a soft lookup."""

import numpy as np

from tfbook.exercises.exercise import Exercise

# ---- soft lookup ----


def soft_lookup(q, K, V, temperature):
    s = K @ q / temperature
    e = np.exp(s - s.max())
    return e / e.sum() @ V


def _softmax(s, axis=-1):
    e = np.exp(s - s.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def _multiplied(q, K, V, temperature):
    return _softmax(K @ q * temperature) @ V


def _no_temperature(q, K, V, temperature):
    return _softmax(K @ q) @ V


def _divided_after(q, K, V, temperature):
    return _softmax(K @ q) / temperature @ V


def _root_of_temperature(q, K, V, temperature):
    return _softmax(K @ q / np.sqrt(temperature)) @ V


def _root_of_width(q, K, V, temperature):
    return _softmax(K @ q / (temperature * np.sqrt(len(q)))) @ V


def _not_normalised(q, K, V, temperature):
    return np.exp(K @ q / temperature) @ V


def _overflows(q, K, V, temperature):
    e = np.exp(K @ q / temperature)
    return e / e.sum() @ V


def _by_distance(q, K, V, temperature):
    return _softmax(-((K - q) ** 2).sum(axis=-1) / (2 * temperature)) @ V


def _scores_mix(q, K, V, temperature):
    return K @ q / temperature @ V


def _keys_mixed(q, K, V, temperature):
    return soft_lookup(q, K, K, temperature)


def _hard(q, K, V, temperature):
    return V[np.argmax(K @ q)]


def _lookup_cases(rng):
    cases = [tuple(rng.standard_normal(axes) for axes in ((d_k,), (n, d_k), (n, d_v))) + (temperature,)
             for d_k, n, d_v, temperature in ((3, 5, 2, 2.0), (5, 7, 11, 0.5), (2, 3, 2, 7.0))]
    q, K, V, _ = cases[0]
    return [*cases, (q, np.round(K, 2) * 100 + 1000 * q, V, 0.5)]  # scores far too large for exp


# ---- kernel regression ----


def kernel_regression(x, X, y, h):
    distance = ((x[:, None] - X) ** 2).sum(axis=-1)  # (T, n)
    return _softmax(-distance / (2 * h**2)) @ y


def _distances(x, X):
    return ((x[:, None] - X) ** 2).sum(axis=-1)


def _not_squared(x, X, y, h):
    return _softmax(-np.sqrt(_distances(x, X)) / (2 * h**2)) @ y


def _width_not_squared(x, X, y, h):
    return _softmax(-_distances(x, X) / (2 * h)) @ y


def _no_half(x, X, y, h):
    return _softmax(-_distances(x, X) / h**2) @ y


def _far_first(x, X, y, h):
    return _softmax(_distances(x, X) / (2 * h**2)) @ y


def _over_queries(x, X, y, h):
    return _softmax(-_distances(x, X) / (2 * h**2), axis=0) @ y


def _no_bias(x, X, y, h):
    return _softmax(x @ X.T / h**2) @ y


def _sum_of_kernels(x, X, y, h):
    return np.exp(-_distances(x, X) / (2 * h**2)) @ y


def _mean_of_kernels(x, X, y, h):
    return np.exp(-_distances(x, X) / (2 * h**2)) @ y / len(X)


def _underflows(x, X, y, h):
    k = np.exp(-_distances(x, X) / (2 * h**2))
    return k @ y / k.sum(axis=-1)


def _nearest(x, X, y, h):
    return y[_distances(x, X).argmin(axis=-1)]


def _regression_cases(rng):
    cases = [(rng.standard_normal((T, d)), rng.standard_normal((n, d)), rng.standard_normal(n), h)
             for T, n, d, h in ((5, 7, 2, 0.6), (3, 11, 5, 1.7), (7, 3, 1, 0.4))]
    x, X, y, h = cases[0]
    return [*cases, (x + 100, X, y, h)]  # every kernel underflows to 0


# ---- cross-attention ----


def cross_attention(X, context, W_Q, W_K, W_V):
    Q, K, V = X @ W_Q, context @ W_K, context @ W_V
    return _softmax(Q @ K.T / np.sqrt(K.shape[-1])) @ V


def _attend(Q, K, V, width):
    return _softmax(Q @ K.T / np.sqrt(width)) @ V


def _sides_exchanged(X, context, W_Q, W_K, W_V):
    return cross_attention(context, X, W_Q, W_K, W_V)


def _self_attention(X, context, W_Q, W_K, W_V):
    return cross_attention(X, X, W_Q, W_K, W_V)


def _only_context(X, context, W_Q, W_K, W_V):
    return cross_attention(context, context, W_Q, W_K, W_V)


def _keys_from_here(X, context, W_Q, W_K, W_V):
    return _attend(X @ W_Q, X @ W_K, context @ W_V, W_K.shape[-1])


def _values_from_here(X, context, W_Q, W_K, W_V):
    return _attend(X @ W_Q, context @ W_K, X @ W_V, W_K.shape[-1])


def _projections_exchanged(X, context, W_Q, W_K, W_V):
    return _attend(X @ W_K, context @ W_Q, context @ W_V, W_K.shape[-1])


def _no_values(X, context, W_Q, W_K, W_V):
    return _attend(X @ W_Q, context @ W_K, context @ W_K, W_K.shape[-1])


def _no_scale(X, context, W_Q, W_K, W_V):
    return _attend(X @ W_Q, context @ W_K, context @ W_V, 1)


def _root_of_d(X, context, W_Q, W_K, W_V):
    return _attend(X @ W_Q, context @ W_K, context @ W_V, X.shape[-1])


def _over_the_queries(X, context, W_Q, W_K, W_V):
    S = X @ W_Q @ (context @ W_K).T / np.sqrt(W_K.shape[-1])
    return _softmax(S, axis=0) @ (context @ W_V)


def _cross_cases(rng):
    return [
        (rng.standard_normal((T, d)), rng.standard_normal((T_k, d)), *rng.standard_normal((2, d, d_k)), rng.standard_normal((d, d_v)))
        for T, T_k, d, d_k, d_v in ((3, 5, 7, 2, 11), (5, 5, 3, 2, 7), (11, 2, 5, 3, 7))
    ]


# ---- the gradient of the answer ----


def query_gradient(q, K, v, temperature):
    a = _softmax(K @ q / temperature)
    y = a @ v
    return (a * (v - y)) @ K / temperature


def _times_temperature(q, K, v, temperature):
    return query_gradient(q, K, v, temperature) * temperature**2


def _temperature_forgotten(q, K, v, temperature):
    return query_gradient(q, K, v, temperature) * temperature


def _numerator_alone(q, K, v, temperature):
    return (_softmax(K @ q / temperature) * v) @ K / temperature


def _plain_mean(q, K, v, temperature):
    return (_softmax(K @ q / temperature) * (v - v.mean())) @ K / temperature


def _own_score_alone(q, K, v, temperature):
    a = _softmax(K @ q / temperature)
    return (a * (1 - a) * v) @ K / temperature


def _weights_constant(q, K, v, temperature):
    return np.zeros_like(q)


def _downhill(q, K, v, temperature):
    return -query_gradient(q, K, v, temperature)


def _of_the_scores(q, K, v, temperature):
    a = _softmax(K @ q / temperature)
    return a * (v - a @ v) / temperature


def _gradient_cases(rng):
    return [(rng.standard_normal(d_k), rng.standard_normal((n, d_k)), rng.standard_normal(n) + 2, temperature)
            for d_k, n, temperature in ((2, 5, 2.0), (3, 7, 0.5), (5, 3, 3.0))]


EXERCISES = [
    Exercise(
        "soft-lookup", "02", 1,
        r"Write <code>soft_lookup(q, K, V, temperature)</code>: one query \(q\) <code>(d_k,)</code>, keys \(K\) <code>(T_k, d_k)</code>, "
        r"values \(V\) <code>(T_k, d_v)</code>. The score of a key is its dot product with the query, divided by the temperature and by "
        "nothing else. It must survive scores of a thousand.",
        "<code>K @ q</code> gives all scores at once. Subtract the largest before you exponentiate; divide by the sum; mix the rows of "
        "<code>V</code>.",
        soft_lookup,
        {
            "The scores are multiplied by the temperature: divide, so that a high temperature makes them more alike.": _multiplied,
            "The temperature is not used.": _no_temperature,
            "The weights are divided by the temperature, and no longer sum to one: divide the scores.": _divided_after,
            "The scores are divided by the root of the temperature: divide by the temperature itself.": _root_of_temperature,
            "The scores are divided by √d_k too: here the temperature is the only divisor.": _root_of_width,
            "The weights do not sum to one: divide by the sum of the exponentials.": _not_normalised,
            "exp overflows on large scores: subtract the largest first.": _overflows,
            "The score is a distance here: the dot product of query and key was asked for.": _by_distance,
            "The scores themselves mix the values: take their softmax first.": _scores_mix,
            "The weights mix the keys: they should mix the values.": _keys_mixed,
            "This is the hard lookup, one value alone: mix all of them.": _hard,
        },
        _lookup_cases,
    ),
    Exercise(
        "kernel-regression", "02", 2,
        r"Write <code>kernel_regression(x, X, y, h)</code>, the estimate of Nadaraya and Watson with a Gaussian kernel "
        r"\(e^{-\|x - x_j\|^2 / 2h^2}\): places <code>x (T, d)</code>, data at <code>X (n, d)</code> with numbers <code>y (n,)</code>; "
        "the answer is <code>(T,)</code>. It must survive a place so far from all data that every kernel rounds to 0.",
        "All differences at once: <code>x[:, None] - X</code> has shape <code>(T, n, d)</code>. The exponents are scores; a softmax "
        "of them divides each kernel by their sum.",
        kernel_regression,
        {
            "The distance is not squared.": _not_squared,
            "The width h is not squared: the exponent is −‖x − x_j‖² / 2h².": _width_not_squared,
            "The ½ is missing: the exponent is −‖x − x_j‖² / 2h².": _no_half,
            "The sign is missing: the farthest point weighs most.": _far_first,
            "The weights of each data point sum to one: those of each place must (axis=-1).": _over_queries,
            "This is the dot product alone: the bias −‖x_j‖² / 2h² of each data point is missing.": _no_bias,
            "The kernels are not divided by their sum.": _sum_of_kernels,
            "The kernels are divided by n: divide by their sum at each place.": _mean_of_kernels,
            "Far from all data every kernel is 0, and 0 / 0 is nan: subtract the largest exponent of each place first.": _underflows,
            "This is the nearest neighbour alone: mix all of them.": _nearest,
        },
        _regression_cases,
    ),
    Exercise(
        "cross-attention", "02", 2,
        r"Write <code>cross_attention(X, context, W_Q, W_K, W_V)</code>, one head: the tokens \(X\) <code>(T, d)</code> ask, the tokens of "
        r"<code>context (T_k, d)</code> answer. Scale by \(\sqrt{d_k}\).",
        "Which of the three needs one row for each token that asks, and which two need one row for each token that answers?",
        cross_attention,
        {
            "Queries come from the context, keys and values from X: it is X that asks.": _sides_exchanged,
            "All three come from X: that is self-attention; the context is not used.": _self_attention,
            "All three come from the context: the queries must come from X.": _only_context,
            "The keys come from X: weights then have a column for each token of X, not of the context.": _keys_from_here,
            "The values come from X: what is looked up stands in the context.": _values_from_here,
            "W_Q and W_K are exchanged: X @ W_Q asks, context @ W_K is found.": _projections_exchanged,
            "The weights mix the keys: mix context @ W_V.": _no_values,
            "The scale is missing: divide the scores by √d_k.": _no_scale,
            "The scale is √d: it belongs to the axis that the dot product sums over, d_k.": _root_of_d,
            "The softmax runs over the queries: each query's weights over the context must sum to one (axis=-1).": _over_the_queries,
        },
        _cross_cases,
    ),
    Exercise(
        "lookup-gradient", "02", 4,
        r"The values are now plain numbers \(v\) <code>(T_k,)</code>, and \(y = \sum_j a_j v_j\) with "
        r"\(a = \operatorname{softmax}(K q / \tau)\), where \(\tau\) is the temperature. Write "
        r"<code>query_gradient(q, K, v, temperature)</code>: \(\partial y / \partial q\), shape <code>(d_k,)</code>, without automatic "
        "differentiation. In which direction does it point?",
        r"By the chain rule it is \(\sum_j (\partial y / \partial s_j)\, k_j / \tau\), where \(s_j\) is the score of key \(j\). Raising it "
        r"raises \(a_j\) and lowers all others: show that \(\partial y / \partial s_j = a_j (v_j - y)\).",
        query_gradient,
        {
            "The gradient is multiplied by the temperature: a score is K q / τ, so its derivative is k_j / τ.": _times_temperature,
            "The temperature is missing: a score is K q / τ, so its derivative is k_j / τ.": _temperature_forgotten,
            "Raising one score lowers the other weights too: subtract the answer y from each value.": _numerator_alone,
            "The plain mean of the values is subtracted: subtract their weighted mean, the answer y.": _plain_mean,
            "Only a weight's own score counts here: the other weights move as well.": _own_score_alone,
            "The weights are taken as constant, but the query moves them.": _weights_constant,
            "The sign is the wrong way round.": _downhill,
            "This is the gradient with respect to the scores, one number a key: multiply by the keys.": _of_the_scores,
        },
        _gradient_cases,
    ),
]
