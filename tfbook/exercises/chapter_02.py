"""Exercises of chapter 02, attention as a soft lookup."""

import numpy as np

from tfbook.exercises import chapter_02_cross as cross
from tfbook.exercises.exercise import Exercise
from tfbook.numpy import softmax

# ---- soft lookup ----


def soft_lookup(q, K, V, temperature):
    s = K @ q / temperature
    e = np.exp(s - s.max())
    return e / e.sum() @ V


def _overflows(q, K, V, temperature):
    e = np.exp(K @ q / temperature)
    return e / e.sum() @ V


def _lookup_cases(rng):
    cases = [
        tuple(
            rng.standard_normal(axes) for axes in ((d_k,), (n, d_k), (n, d_v))
        )
        + (temperature,)
        for d_k, n, d_v, temperature in (
            (3, 5, 2, 2.0),
            (5, 7, 11, 0.5),
            (2, 3, 2, 7.0),
        )
    ]
    q, K = (
        np.array([1.0, -2.0, 1.0]),
        np.array([[0.0, 0, 1], [2, 1, 1], [1, 1, 0], [0, -1, 0], [3, 0, -1]]),
    )
    # scores far too large for exp, their differences not
    return [*cases, (q, K + 1000 * q, cases[0][2], 4.0)]


# ---- kernel regression ----


def kernel_regression(x, X, y, h):
    distance = ((x[:, None] - X) ** 2).sum(axis=-1)  # (T, n)
    return softmax(-distance / (2 * h**2)) @ y


def _distances(x, X):
    return ((x[:, None] - X) ** 2).sum(axis=-1)


def _underflows(x, X, y, h):
    k = np.exp(-_distances(x, X) / (2 * h**2))
    return k @ y / k.sum(axis=-1)


def _regression_cases(rng):
    cases = [
        (
            rng.standard_normal((T, d)),
            rng.standard_normal((n, d)),
            rng.standard_normal(n),
            h,
        )
        for T, n, d, h in ((5, 7, 2, 0.6), (3, 11, 5, 1.7), (7, 3, 1, 0.4))
    ]
    x, X, y, h = cases[0]
    # here several points have a say
    far = (np.round(x) + 30, np.round(X) / 32, y, 0.5)
    return [*cases, (x + 100, X, y, h), far]  # every kernel underflows to 0


EXERCISES = [
    Exercise(
        "soft-lookup",
        "02",
        1,
        r"Write <code>soft_lookup(q, K, V, temperature)</code>: one query \(q\) "
        r"<code>(d_k,)</code>, keys \(K\) <code>(T_k, d_k)</code>, values \(V\) "
        r"<code>(T_k, d_v)</code>; the answer is <code>(d_v,)</code>. The score of a "
        r"key is its dot product with the query, divided by the temperature and by "
        r"nothing else; the weights are the softmax of the scores. Write that out too, "
        r"with NumPy alone. It must survive scores of a thousand.",
        "One product gives all scores at once. What may be subtracted from all of them "
        "without changing a weight, and which choice keeps <code>np.exp</code> from "
        "growing past 1?",
        soft_lookup,
        {
            "The scores are multiplied by the temperature: divide, so that a high "
            "temperature makes them more alike.": lambda q, K, V, temperature: (
                softmax(K @ q * temperature) @ V
            ),
            "The temperature is not used.": lambda q, K, V, temperature: (
                softmax(K @ q) @ V
            ),
            "The weights are divided by the temperature, and no longer sum to one: "
            "divide the scores.": lambda q, K, V, temperature: (
                softmax(K @ q) / temperature @ V
            ),
            "The scores are divided by the root of the temperature: divide by the "
            "temperature itself.": lambda q, K, V, temperature: (
                softmax(K @ q / np.sqrt(temperature)) @ V
            ),
            "The scores are divided by √d_k too: here the temperature is the only "
            "divisor.": lambda q, K, V, temperature: (
                softmax(K @ q / (temperature * np.sqrt(len(q)))) @ V
            ),
            "The weights do not sum to one: divide by the sum of the "
            "exponentials.": lambda q, K, V, temperature: (
                np.exp(K @ q / temperature) @ V
            ),
            "exp overflows on large scores: subtract the largest first.": _overflows,
            "The score is a distance here: the dot product of query and key was asked "
            "for.": lambda q, K, V, temperature: (
                softmax(-((K - q) ** 2).sum(axis=-1) / (2 * temperature)) @ V
            ),
            "The scores themselves mix the values: take their softmax "
            "first.": lambda q, K, V, temperature: K @ q / temperature @ V,
            "The weights mix the keys: they should mix the "
            "values.": lambda q, K, V, temperature: soft_lookup(
                q, K, K, temperature
            ),
            "The score is the cosine: do not divide by the lengths of query and "
            "key.": lambda q, K, V, temperature: (
                softmax(
                    K
                    @ q
                    / (
                        np.linalg.norm(K, axis=-1)
                        * np.linalg.norm(q)
                        * temperature
                    )
                )
                @ V
            ),
            "The scores are divided by the square of the temperature: divide by the "
            "temperature itself.": lambda q, K, V, temperature: (
                softmax(K @ q / temperature**2) @ V
            ),
            "This is the hard lookup, one value alone: mix all of "
            "them.": lambda q, K, V, temperature: V[np.argmax(K @ q)],
        },
        _lookup_cases,
    ),
    Exercise(
        "kernel-regression",
        "02",
        2,
        r"Write <code>kernel_regression(x, X, y, h)</code>, the estimate of Nadaraya "
        r"and Watson with a Gaussian kernel \(e^{-\|x - x_j\|^2 / 2h^2}\): places "
        r"<code>x (T, d)</code>, data at <code>X (n, d)</code> with numbers <code>y "
        r"(n,)</code>; the answer is <code>(T,)</code>. <code>softmax</code> of "
        r"<code>tfbook.numpy</code> is yours to use. It must survive a place so far "
        r"from all data that every kernel rounds to 0.",
        "All differences at once: <code>x[:, None] - X</code> has shape <code>(T, n, "
        "d)</code>. What divides every kernel by the sum of all, and does not mind how "
        "small they are?",
        kernel_regression,
        {
            "The distance is not squared.": lambda x, X, y, h: (
                softmax(-np.sqrt(_distances(x, X)) / (2 * h**2)) @ y
            ),
            "The width h is not squared: the exponent is −‖x − x_j‖² / "
            "2h².": lambda x, X, y, h: (
                softmax(-_distances(x, X) / (2 * h)) @ y
            ),
            "The ½ is missing: the exponent is −‖x − x_j‖² / 2h².": lambda x, X, y, h: (
                softmax(-_distances(x, X) / h**2) @ y
            ),
            "The sign is missing: the farthest point weighs most.": lambda x, X, y, h: (
                softmax(_distances(x, X) / (2 * h**2)) @ y
            ),
            "The weights of each data point sum to one: those of each place must "
            "(axis=-1).": lambda x, X, y, h: (
                softmax(-_distances(x, X) / (2 * h**2), axis=0) @ y
            ),
            "This is the dot product alone: the bias −‖x_j‖² / 2h² of each data point "
            "is missing.": lambda x, X, y, h: softmax(x @ X.T / h**2) @ y,
            "The kernels are not divided by their sum.": lambda x, X, y, h: (
                np.exp(-_distances(x, X) / (2 * h**2)) @ y
            ),
            "The kernels are divided by n: divide by their sum at each "
            "place.": lambda x, X, y, h: (
                np.exp(-_distances(x, X) / (2 * h**2)) @ y / len(X)
            ),
            "Far from all data every kernel is 0, and 0 / 0 is nan: subtract the "
            "largest exponent of each place first.": _underflows,
            "Far from all data the answer is 0: subtract the largest exponent of each "
            "place first.": lambda x, X, y, h: np.nan_to_num(
                _underflows(x, X, y, h)
            ),
            "This is the nearest neighbour alone: mix all of "
            "them.": lambda x, X, y, h: y[_distances(x, X).argmin(axis=-1)],
        },
        _regression_cases,
    ),
    *cross.EXERCISES,
]
