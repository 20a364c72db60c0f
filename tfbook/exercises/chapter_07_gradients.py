"""Exercises of chapter 07 on the way back through a stack and through a norm."""

import numpy as np

from tfbook.exercises.exercise import Exercise

# ---- back through a stack ----


def gradients(g, J):
    G = [g]
    for J_l in J[::-1]:  # from the top down
        G.append(G[-1] + J_l.T @ G[-1])
    return np.array(G[::-1])


def _walk(g, J, step):
    G = [g]
    for J_l in J[::-1]:
        G.append(step(G[-1], J_l))
    return np.array(G[::-1])


def _residual_cases(rng):
    return [
        (rng.standard_normal(d), rng.standard_normal((L, d, d)) / d)
        for L, d in ((2, 3), (5, 2), (7, 4))
    ]


# ---- the gradient of layer normalisation ----


def gradient(dY, X, eps):
    centred = X - X.mean(axis=-1, keepdims=True)
    sigma = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + eps)
    normal = centred / sigma
    along = (dY * normal).mean(axis=-1, keepdims=True)
    return (dY - dY.mean(axis=-1, keepdims=True) - normal * along) / sigma


def _parts(dY, X, eps):
    """The normalised tokens, their deviation, the mean of dY, and how much of dY points
    along them.
    """
    sigma = np.sqrt(X.var(axis=-1, keepdims=True) + eps)
    normal = (X - X.mean(axis=-1, keepdims=True)) / sigma
    return (
        normal,
        sigma,
        dY.mean(axis=-1, keepdims=True),
        (dY * normal).mean(axis=-1, keepdims=True),
    )


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


def _gradient_cases(rng):
    return [
        (
            rng.standard_normal(shape),
            at + size * rng.standard_normal(shape),
            eps,
        )
        for shape, size, at, eps in (
            ((3, 5), 1, 0, 1e-5),
            ((2, 5, 7), 3, 2, 1e-5),
            ((5, 2), 0.5, 1, 0.1),
            ((2, 11), 2, -1, 1e-3),
        )
    ]


EXERCISES = [
    Exercise(
        "residual-gradients",
        "07",
        3,
        r"Layer \(l\) maps \(x\) to \(x + f_l(x)\), and <code>J[l]</code> is the "
        r"Jacobian \(\partial f_l / \partial x\), row for output, column for input; "
        r"<code>J</code> is <code>(L, d, d)</code>. Write <code>gradients(g, "
        r"J)</code>: \(\partial \mathrm{loss} / \partial x_l\) for \(l = 0, \dots, "
        r"L\), shape <code>(L + 1, d)</code>, bottom first, from its value \(g\) at "
        r"the top.",
        r"One layer first: \(x + f(x)\) has the Jacobian \(I + J\). What becomes of a "
        r"gradient on its way back through it? Then walk from the top down, and keep "
        r"what arrives at every layer.",
        gradients,
        {
            "The direct path is missing: add the gradient itself to what comes back "
            "through f.": lambda g, J: _walk(g, J, lambda g, J_l: J_l.T @ g),
            "Only the direct path: what comes back through f is "
            "missing.": lambda g, J: _walk(g, J, lambda g, J_l: g),
            "The Jacobian must be transposed on the way back: J[l].T @ "
            "g.": lambda g, J: _walk(g, J, lambda g, J_l: g + J_l @ g),
            "The layers are taken from the bottom up: a gradient meets the last layer "
            "first.": lambda g, J: _walk(
                g, J[::-1], lambda g, J_l: g + J_l.T @ g
            ),
            "The order is top first: asked for was bottom first.": lambda g, J: (
                gradients(g, J)[::-1]
            ),
            "Paths through more than one branch are missing: apply each layer to what "
            "has arrived, not to g.": lambda g, J: np.array(
                [
                    g + sum((J_l.T @ g for J_l in J[l:]), 0 * g)
                    for l in range(len(J) + 1)
                ]
            ),
            "The gradient at the top is missing: L + 1 rows, and the last is "
            "g.": lambda g, J: gradients(g, J)[:-1],
            "Only the gradient at the bottom: keep what arrives at every "
            "layer.": lambda g, J: gradients(g, J)[0],
        },
        _residual_cases,
    ),
    Exercise(
        "layer-norm-gradient",
        "07",
        4,
        r"Let \(\hat{x}\) be a normalised token, with \(\gamma = 1\) and \(\beta = "
        r"0\). Write <code>gradient(dY, X, eps)</code>: the gradient of the loss with "
        r"respect to \(X\), from <code>dY</code>, that with respect to \(\hat{X}\); "
        r"all three are <code>(..., d)</code>. Which two directions does a norm take "
        r"out of every gradient?",
        r"Adding a constant to a token changes nothing, and (but for \(\epsilon\)) nor "
        r"does scaling it. So the gradient must have no part in either direction: take "
        r"both away (since \(\hat{x}\) has mean square 1, how much of \(\hat{x}\) is "
        r"in \(g\)?). And if tokens are ten times as long, how large is the gradient?",
        gradient,
        {
            "Mean and deviation are taken for constants: both depend on "
            "x.": lambda dY, X, eps: dY / _parts(dY, X, eps)[1],
            "The deviation is taken for a constant: subtract the part along the "
            "normalised token too.": _deviation_fixed,
            "The mean is taken for a constant: subtract the mean of the gradient "
            "too.": _mean_fixed,
            "The division by the deviation is missing.": _sigma_left_out,
            "Sums where means belong: divide by d.": _summed,
            "The part along the tokens themselves: it must be along the normalised "
            "ones.": _along_the_raw_tokens,
            "This is the forward pass: asked for was the "
            "gradient.": lambda dY, X, eps: _parts(dY, X, eps)[0],
        },
        _gradient_cases,
    ),
]
