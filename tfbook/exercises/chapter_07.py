"""Exercises of chapter 07, residuals and normalisation."""

import numpy as np

from tfbook.exercises.exercise import Exercise

# ---- layer normalisation ----


def layer_norm(X, gamma, beta, eps):
    centred = X - X.mean(axis=-1, keepdims=True)
    variance = (centred**2).mean(axis=-1, keepdims=True)
    return centred / np.sqrt(variance + eps) * gamma + beta


def _norm(X, gamma, beta, eps, axis=-1, ddof=0):
    centred = X - X.mean(axis=axis, keepdims=True)
    return centred / np.sqrt(X.var(axis=axis, ddof=ddof, keepdims=True) + eps) * gamma + beta


def _divided_by_d_less_one(X, gamma, beta, eps):
    return _norm(X, gamma, beta, eps, ddof=1)


def _over_the_tokens(X, gamma, beta, eps):
    return _norm(X, gamma, beta, eps, axis=-2)


def _over_everything(X, gamma, beta, eps):
    return _norm(X, gamma, beta, eps, axis=None)


def _eps_outside(X, gamma, beta, eps):
    return (X - X.mean(axis=-1, keepdims=True)) / (X.std(axis=-1, keepdims=True) + eps) * gamma + beta


def _eps_left_out(X, gamma, beta, eps):
    return _norm(X, gamma, beta, 0)


def _no_root(X, gamma, beta, eps):
    return (X - X.mean(axis=-1, keepdims=True)) / (X.var(axis=-1, keepdims=True) + eps) * gamma + beta


def _mean_kept(X, gamma, beta, eps):
    return X / np.sqrt(X.var(axis=-1, keepdims=True) + eps) * gamma + beta


def _root_mean_square(X, gamma, beta, eps):
    return X / np.sqrt((X**2).mean(axis=-1, keepdims=True) + eps) * gamma + beta


def _shifted_before_scaled(X, gamma, beta, eps):
    return (layer_norm(X, 1, 0, eps) + beta) * gamma


def _neither_scaled_nor_shifted(X, gamma, beta, eps):
    return layer_norm(X, 1, 0, eps)


def _layer_norm_cases(rng):
    def case(*shape, size=1.0, at=0.0, eps=1e-5):
        gamma, beta = rng.standard_normal((2, shape[-1]))
        return at + size * rng.standard_normal(shape), gamma, beta, eps

    return [case(3, 5), case(2, 5, 7, at=3.0), case(5, 2), case(5, 7, size=1e-3), case(3, 11, size=10.0, eps=0.1)]


# ---- a pre-norm layer ----


def normalised(X):
    """Layer normalisation with gamma = 1 and beta = 0."""
    return layer_norm(X, 1, 0, 1e-5)


def pre_norm(X, A, W):
    def norm(X):
        centred = X - X.mean(axis=-1, keepdims=True)
        return centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-5)

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


def _no_residual(X, A, W):
    return np.tanh(normalised(A @ normalised(X)) @ W)


def _last_norm_too(X, A, W):
    return normalised(pre_norm(X, A, W))


def _pre_norm_cases(rng):
    return [
        (at + rng.standard_normal((*leading, T, d)), rng.standard_normal((T, T)) / T, rng.standard_normal((d, d)))
        for leading, T, d, at in (((), 3, 5, 0), ((2,), 5, 7, 2), ((2, 3), 2, 11, -1))
    ]


# ---- back through a stack ----


def residual_gradients(g, J):
    sent = [g]
    for J_l in J[::-1]:                    # from the top down
        sent.append(sent[-1] + J_l.T @ sent[-1])
    return np.array(sent[::-1])


def _walk(g, J, step):
    sent = [g]
    for J_l in J[::-1]:
        sent.append(step(sent[-1], J_l))
    return np.array(sent[::-1])


def _no_direct_path(g, J):
    return _walk(g, J, lambda g, J_l: J_l.T @ g)


def _direct_path_alone(g, J):
    return _walk(g, J, lambda g, J_l: g)


def _not_transposed(g, J):
    return _walk(g, J, lambda g, J_l: g + J_l @ g)


def _from_the_bottom_up(g, J):
    return _walk(g, J[::-1], lambda g, J_l: g + J_l.T @ g)


def _top_first(g, J):
    return residual_gradients(g, J)[::-1]


def _one_branch_only(g, J):
    return np.array([g + sum((J_l.T @ g for J_l in J[l:]), 0 * g) for l in range(len(J) + 1)])


def _top_left_out(g, J):
    return residual_gradients(g, J)[:-1]


def _bottom_alone(g, J):
    return residual_gradients(g, J)[0]


def _residual_cases(rng):
    return [(rng.standard_normal(d), rng.standard_normal((L, d, d)) / d) for L, d in ((2, 3), (5, 2), (7, 4))]


# ---- the gradient of layer normalisation ----


def layer_norm_gradient(dY, X, eps):
    centred = X - X.mean(axis=-1, keepdims=True)
    sigma = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + eps)
    normal = centred / sigma
    along = (dY * normal).mean(axis=-1, keepdims=True)
    return (dY - dY.mean(axis=-1, keepdims=True) - normal * along) / sigma


def _parts(dY, X, eps):
    """The normalised tokens, their deviation, the mean of dY, and how much of dY points along them."""
    sigma = np.sqrt(X.var(axis=-1, keepdims=True) + eps)
    normal = (X - X.mean(axis=-1, keepdims=True)) / sigma
    return normal, sigma, dY.mean(axis=-1, keepdims=True), (dY * normal).mean(axis=-1, keepdims=True)


def _mean_and_deviation_fixed(dY, X, eps):
    return dY / _parts(dY, X, eps)[1]


def _deviation_fixed(dY, X, eps):
    _, sigma, mean, _ = _parts(dY, X, eps)
    return (dY - mean) / sigma


def _mean_fixed(dY, X, eps):
    normal, sigma, _, along = _parts(dY, X, eps)
    return (dY - normal * along) / sigma


def _sigma_left_out(dY, X, eps):
    normal, _, mean, along = _parts(dY, X, eps)
    return dY - mean - normal * along


def _summed(dY, X, eps):
    normal, sigma, mean, along = _parts(dY, X, eps)
    return (dY - X.shape[-1] * (mean + normal * along)) / sigma


def _along_the_raw_tokens(dY, X, eps):
    _, sigma, mean, _ = _parts(dY, X, eps)
    return (dY - mean - X * (dY * X).mean(axis=-1, keepdims=True)) / sigma


def _forward(dY, X, eps):
    return _parts(dY, X, eps)[0]


def _gradient_cases(rng):
    return [(rng.standard_normal(shape), at + size * rng.standard_normal(shape), eps)
            for shape, size, at, eps in (((3, 5), 1, 0, 1e-5), ((2, 5, 7), 3, 2, 1e-5), ((5, 2), 0.5, 1, 0.1), ((2, 11), 2, -1, 1e-3))]


EXERCISES = [
    Exercise(
        "layer-norm", "07", 2,
        r"Write <code>layer_norm(X, gamma, beta, eps)</code> for \(X\) <code>(..., d)</code>: each token by itself, with \(\epsilon\) "
        "where the formula has it. NumPy only.",
        "One mean and one variance for each token: <code>axis=-1, keepdims=True</code>. The variance is the mean of the squared distances, "
        "divided by d. What does NumPy's <code>var</code> divide by? What does PyTorch's?",
        layer_norm,
        {
            "The variance is divided by d − 1: layer normalisation divides by d.": _divided_by_d_less_one,
            "The mean runs over the tokens: each token has its own mean and variance, over its channels (axis=-1).": _over_the_tokens,
            "One mean and variance for the whole array: each token has its own (axis=-1, keepdims=True).": _over_everything,
            "eps is added to the deviation: it belongs inside the root, to the variance.": _eps_outside,
            "eps is not used: a constant token would be divided by zero.": _eps_left_out,
            "Divided by the variance: take its root.": _no_root,
            "The mean is not subtracted.": _mean_kept,
            "This is RMS normalisation: subtract the mean, and divide by the deviation from it.": _root_mean_square,
            "beta is scaled too: multiply by gamma first, then add beta.": _shifted_before_scaled,
            "gamma and beta are not used.": _neither_scaled_nor_shifted,
        },
        _layer_norm_cases,
    ),
    Exercise(
        "pre-norm", "07", 2,
        r"Write a pre-norm layer <code>pre_norm(X, A, W)</code> with stand-ins for its two functions: attention is "
        r"<code>A @ X</code>, with fixed weights \(A\); the network is <code>np.tanh(X @ W)</code>. Normalise "
        r"with \(\gamma = 1\), \(\beta = 0\), \(\epsilon = 10^{-5}\).",
        "Two residuals. What is added to is never normalised; what a function reads always is. The second residual starts from "
        "the first one's sum.",
        pre_norm,
        {
            "This is post-norm: the norm stands after each sum, on the direct path.": _post_norm,
            "The residual adds to the normalised tokens: X itself must stay on the direct path.": _from_the_normalised,
            "The second residual starts from X: it must start from Z, or attention is lost.": _residual_of_the_input,
            "Network and attention read the same tokens: the network must read norm(Z).": _network_beside_attention,
            "The network reads tokens that are not normalised: norm(Z).": _one_norm,
            "Nothing is normalised.": _no_norm,
            "This is the sandwich: in pre-norm nothing is normalised after the functions.": _sandwich,
            "The norm stands after the function: it belongs before, norm(X) goes in.": _norm_after_the_branch,
            "The residuals are missing: add X, and then Z.": _no_residual,
            "The layer's answer is normalised: that happens once, after the last layer of a stack.": _last_norm_too,
        },
        _pre_norm_cases,
    ),
    Exercise(
        "residual-gradients", "07", 3,
        r"Layer \(l\) maps \(x\) to \(x + f_l(x)\), and <code>J[l]</code> is the Jacobian \(\partial f_l / \partial x\), row for "
        r"output, column for input. Write <code>gradients(g, J)</code>: \(\partial \mathrm{loss} / \partial x_l\) for "
        r"\(l = 0, \dots, L\), shape <code>(L + 1, d)</code>, bottom first, from its value \(g\) at the top.",
        r"By the chain rule \(g_l = (I + J_l)^\top g_{l+1}\). Walk from the top down, and turn the list round at the end.",
        residual_gradients,
        {
            "The direct path is missing: add the gradient itself to what comes back through f.": _no_direct_path,
            "Only the direct path: what comes back through f is missing.": _direct_path_alone,
            "The Jacobian must be transposed on the way back: J[l].T @ g.": _not_transposed,
            "The layers are taken from the bottom up: a gradient meets the last layer first.": _from_the_bottom_up,
            "The order is top first: asked for was bottom first.": _top_first,
            "Paths through more than one branch are missing: apply each layer to what has arrived, not to g.": _one_branch_only,
            "The gradient at the top is missing: L + 1 rows, and the last is g.": _top_left_out,
            "Only the gradient at the bottom: keep what arrives at every layer.": _bottom_alone,
        },
        _residual_cases,
    ),
    Exercise(
        "layer-norm-gradient", "07", 4,
        r"Let \(\hat{x}\) be a normalised token, with \(\gamma = 1\) and \(\beta = 0\). Write <code>gradient(dY, X, eps)</code>: the "
        r"gradient of the loss with respect to \(X\), from that with respect to \(\hat{X}\). "
        "Which two directions does a norm take out of every gradient?",
        r"Adding a constant to a token changes nothing, and (but for \(\epsilon\)) nor does scaling it. So the gradient loses its mean "
        r"and its part along \(\hat{x}\): \(\frac{1}{\sigma}\left(g - \overline{g} - \hat{x}\, \overline{g \hat{x}}\right)\), "
        r"with means over the channels.",
        layer_norm_gradient,
        {
            "Mean and deviation are taken for constants: both depend on x.": _mean_and_deviation_fixed,
            "The deviation is taken for a constant: subtract the part along the normalised token too.": _deviation_fixed,
            "The mean is taken for a constant: subtract the mean of the gradient too.": _mean_fixed,
            "The division by the deviation is missing.": _sigma_left_out,
            "Sums where means belong: divide by d.": _summed,
            "The part along the tokens themselves: it must be along the normalised ones.": _along_the_raw_tokens,
            "This is the forward pass: asked for was the gradient.": _forward,
        },
        _gradient_cases,
    ),
]
