"""Exercises of chapter 07, residuals and normalisation."""

import numpy as np

from tfbook.exercises import chapter_07_gradients as back
from tfbook.exercises.exercise import Exercise

# ---- layer normalisation ----


def layer_norm(X, gamma, beta, eps):
    centred = X - X.mean(axis=-1, keepdims=True)
    variance = (centred**2).mean(axis=-1, keepdims=True)
    return centred / np.sqrt(variance + eps) * gamma + beta


def _norm(X, gamma, beta, eps, axis=-1, ddof=0):
    centred = X - X.mean(axis=axis, keepdims=True)
    return (
        centred
        / np.sqrt(X.var(axis=axis, ddof=ddof, keepdims=True) + eps)
        * gamma
        + beta
    )


def _summed_variance(X, gamma, beta, eps):
    centred = X - X.mean(axis=-1, keepdims=True)
    return (
        centred
        / np.sqrt((centred**2).sum(axis=-1, keepdims=True) + eps)
        * gamma
        + beta
    )


def _layer_norm_cases(rng):
    def case(*shape, size=1.0, at=0.0, eps=1e-5):
        gamma, beta = rng.standard_normal((2, shape[-1]))
        return at + size * rng.standard_normal(shape), gamma, beta, eps

    return [
        case(3, 5),
        case(2, 5, 7, at=3.0),
        case(5, 2),
        case(5, 7, size=1e-3),
        case(3, 11, size=10.0, eps=0.1),
    ]


# ---- a pre-norm layer ----


def normalised(X):
    """Layer normalisation with gamma = 1 and beta = 0."""
    return layer_norm(X, 1, 0, 1e-5)


def pre_norm(X, A, W):
    def norm(X):
        centred = X - X.mean(axis=-1, keepdims=True)
        return centred / np.sqrt(
            (centred**2).mean(axis=-1, keepdims=True) + 1e-5
        )

    Z = X + A @ norm(X)
    return Z + np.tanh(norm(Z) @ W)


def _post_norm(X, A, W):
    Z = normalised(X + A @ X)
    return normalised(Z + np.tanh(Z @ W))


def _from_the_normalised(X, A, W):
    N = normalised(X)
    M = normalised(N + A @ N)
    return M + np.tanh(M @ W)


def _residual_of_the_input(X, A, W):
    Z = X + A @ normalised(X)
    return X + np.tanh(normalised(Z) @ W)


def _network_beside_attention(X, A, W):
    N = normalised(X)
    return X + A @ N + np.tanh(N @ W)


def _one_norm(X, A, W):
    Z = X + A @ normalised(X)
    return Z + np.tanh(Z @ W)


def _no_norm(X, A, W):
    Z = X + A @ X
    return Z + np.tanh(Z @ W)


def _sandwich(X, A, W):
    Z = X + normalised(A @ normalised(X))
    return Z + normalised(np.tanh(normalised(Z) @ W))


def _norm_after_the_branch(X, A, W):
    Z = X + normalised(A @ X)
    return Z + normalised(np.tanh(Z @ W))


def _no_tanh(X, A, W):
    Z = X + A @ normalised(X)
    return Z + normalised(Z) @ W


def _divided_by_d_less_one_in_both(X, A, W):
    def norm(X):
        return _norm(X, 1, 0, 1e-5, ddof=1)

    Z = X + A @ norm(X)
    return Z + np.tanh(norm(Z) @ W)


def _pre_norm_cases(rng):
    return [
        (
            at + rng.standard_normal((*leading, T, d)),
            rng.standard_normal((T, T)) / T,
            rng.standard_normal((d, d)),
        )
        for leading, T, d, at in (
            ((), 3, 5, 0),
            ((2,), 5, 7, 2),
            ((2, 3), 2, 11, -1),
        )
    ]


EXERCISES = [
    Exercise(
        "layer-norm",
        "07",
        2,
        r"Write <code>layer_norm(X, gamma, beta, eps)</code> for \(X\) <code>(..., "
        r"d)</code>, \(\gamma\) and \(\beta\) <code>(d,)</code>: each token by itself, "
        r"with \(\epsilon\) where the formula has it. NumPy only.",
        "One mean and one variance for each token: <code>axis=-1, "
        "keepdims=True</code>. The variance is the mean of the squared distances, "
        "divided by d. What does NumPy's <code>var</code> divide by? What does "
        "PyTorch's?",
        layer_norm,
        {
            "The variance is divided by d − 1: layer normalisation divides by "
            "d.": lambda X, gamma, beta, eps: _norm(
                X, gamma, beta, eps, ddof=1
            ),
            "The mean runs over the tokens: each token has its own mean and variance, "
            "over its channels (axis=-1).": lambda X, gamma, beta, eps: _norm(
                X, gamma, beta, eps, axis=-2
            ),
            "One mean and variance for the whole array: each token has its own "
            "(axis=-1, keepdims=True).": lambda X, gamma, beta, eps: _norm(
                X, gamma, beta, eps, axis=None
            ),
            "eps is added to the deviation: it belongs inside the root, to the "
            "variance.": lambda X, gamma, beta, eps: (
                (X - X.mean(axis=-1, keepdims=True))
                / (X.std(axis=-1, keepdims=True) + eps)
                * gamma
                + beta
            ),
            "eps is not used: a constant token would be divided by "
            "zero.": lambda X, gamma, beta, eps: _norm(X, gamma, beta, 0),
            "eps is fixed at 1e-5: use the argument.": lambda X, gamma, beta, eps: (
                _norm(X, gamma, beta, 1e-5)
            ),
            "The squared distances are summed: the variance is their "
            "mean.": _summed_variance,
            "Divided by the variance: take its root.": lambda X, gamma, beta, eps: (
                (X - X.mean(axis=-1, keepdims=True))
                / (X.var(axis=-1, keepdims=True) + eps)
                * gamma
                + beta
            ),
            "The mean is not subtracted.": lambda X, gamma, beta, eps: (
                X / np.sqrt(X.var(axis=-1, keepdims=True) + eps) * gamma
                + beta
            ),
            "This is RMS normalisation: subtract the mean, and divide by the deviation "
            "from it.": lambda X, gamma, beta, eps: (
                X / np.sqrt((X**2).mean(axis=-1, keepdims=True) + eps) * gamma
                + beta
            ),
            "beta is scaled too: multiply by gamma first, then add "
            "beta.": lambda X, gamma, beta, eps: (
                (layer_norm(X, 1, 0, eps) + beta) * gamma
            ),
            "gamma and beta are not used.": lambda X, gamma, beta, eps: (
                layer_norm(X, 1, 0, eps)
            ),
        },
        _layer_norm_cases,
    ),
    Exercise(
        "pre-norm",
        "07",
        2,
        r"Write a pre-norm layer <code>pre_norm(X, A, W)</code> for \(X\) <code>(..., "
        r"T, d)</code> with stand-ins for its two functions: attention is <code>A @ "
        r"X</code>, with fixed weights \(A\) <code>(T, T)</code>; the network is "
        r"<code>np.tanh(X @ W)</code>, with \(W\) <code>(d, d)</code>. Normalise each "
        r"token with \(\gamma = 1\), \(\beta = 0\), \(\epsilon = 10^{-5}\).",
        "Two residuals. What is added to is never normalised; what a function reads "
        "always is. The second residual starts from the first one's sum.",
        pre_norm,
        {
            "This is post-norm: the norm stands after each sum, on the direct "
            "path.": _post_norm,
            "The residual adds to the normalised tokens: X itself must stay on the "
            "direct path.": _from_the_normalised,
            "The second residual starts from X: it must start from Z, or attention is "
            "lost.": _residual_of_the_input,
            "Network and attention read the same tokens: the network must read "
            "norm(Z).": _network_beside_attention,
            "The network reads tokens that are not normalised: norm(Z).": _one_norm,
            "Nothing is normalised.": _no_norm,
            "This is the sandwich: in pre-norm nothing is normalised after the "
            "functions.": _sandwich,
            "The norm stands after the function: it belongs before, norm(X) goes "
            "in.": _norm_after_the_branch,
            "The residuals are missing: add X, and then Z.": lambda X, A, W: (
                np.tanh(normalised(A @ normalised(X)) @ W)
            ),
            "The tanh of the network is missing.": _no_tanh,
            "The variance is divided by d − 1: layer normalisation divides by "
            "d.": _divided_by_d_less_one_in_both,
            "The layer's answer is normalised: that happens once, after the last layer "
            "of a stack.": lambda X, A, W: normalised(pre_norm(X, A, W)),
        },
        _pre_norm_cases,
    ),
    *back.EXERCISES,
]
