"""Exercises of chapter 08, one layer, step by step."""

import numpy as np

from tfbook.exercises.exercise import Exercise

# ---- the layer ----


def layer(X, W_Q, W_K, W_V, W_1, b_1, W_2, b_2):
    def layer_norm(x):
        mean = x.mean(axis=-1, keepdims=True)
        variance = x.var(axis=-1, keepdims=True)
        return (x - mean) / np.sqrt(variance + 1e-5)

    Q, K, V = X @ W_Q, X @ W_K, X @ W_V
    S = Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1])
    E = np.exp(S - S.max(axis=-1, keepdims=True))
    A = E / E.sum(axis=-1, keepdims=True) @ V
    Z = layer_norm(X + A)
    F = np.maximum(Z @ W_1 + b_1, 0) @ W_2 + b_2
    return layer_norm(Z + F)


def _norm(x, axis=-1, ddof=0):
    return (x - x.mean(axis=axis, keepdims=True)) / np.sqrt(
        x.var(axis=axis, keepdims=True, ddof=ddof) + 1e-5
    )


def _attend(X, W_Q, W_K, W_V, axis=-1, scale=None):
    Q, K, V = X @ W_Q, X @ W_K, X @ W_V
    S = (
        Q
        @ K.swapaxes(-1, -2)
        * (Q.shape[-1] ** -0.5 if scale is None else scale)
    )
    E = np.exp(S - S.max(axis=axis, keepdims=True))
    return E / E.sum(axis=axis, keepdims=True) @ V


def _network(Z, W_1, b_1, W_2, b_2):
    return np.maximum(Z @ W_1 + b_1, 0) @ W_2 + b_2


def _layer(steps):
    """A wrong layer: steps(X, attend, mlp) gives Y."""

    def answer(X, W_Q, W_K, W_V, W_1, b_1, W_2, b_2):
        return steps(
            X,
            lambda X: _attend(X, W_Q, W_K, W_V),
            lambda Z: _network(Z, W_1, b_1, W_2, b_2),
        )

    return answer


def _post(X, attend, mlp, norm=_norm):
    Z = norm(X + attend(X))
    return norm(Z + mlp(Z))


def _pre(X, attend, mlp):
    Z = X + attend(_norm(X))
    return Z + mlp(_norm(Z))


def _sandwich(X, attend, mlp):
    Z = X + _norm(attend(X))
    return Z + _norm(mlp(Z))


def _no_residual(X, attend, mlp):
    return _norm(mlp(_norm(attend(X))))


def _no_first_residual(X, attend, mlp):
    Z = _norm(attend(X))
    return _norm(Z + mlp(Z))


def _no_second_residual(X, attend, mlp):
    return _norm(mlp(_norm(X + attend(X))))


def _no_norm(X, attend, mlp):
    Z = X + attend(X)
    return Z + mlp(Z)


def _no_first_norm(X, attend, mlp):
    Z = X + attend(X)
    return _norm(Z + mlp(Z))


def _no_second_norm(X, attend, mlp):
    Z = _norm(X + attend(X))
    return Z + mlp(Z)


def _adds_the_input_again(X, attend, mlp):
    Z = _norm(X + attend(X))
    return _norm(X + mlp(Z))


def _side_by_side(X, attend, mlp):
    return _norm(_norm(X + attend(X)) + mlp(X))


def _norm_over_tokens(X, attend, mlp):
    return _post(X, attend, mlp, lambda x: _norm(x, axis=-2))


def _norm_over_everything(X, attend, mlp):
    return _post(X, attend, mlp, lambda x: _norm(x, axis=(-2, -1)))


def _unbiased(X, attend, mlp):
    return _post(X, attend, mlp, lambda x: _norm(x, ddof=1))


def _divided_by_the_variance(X, attend, mlp):
    return _post(
        X,
        attend,
        mlp,
        lambda x: (
            (x - x.mean(-1, keepdims=True))
            / (x.var(-1, keepdims=True) + 1e-5)
        ),
    )


def _mean_left_in(X, attend, mlp):
    return _post(
        X, attend, mlp, lambda x: x / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
    )


def _epsilon_outside(X, attend, mlp):
    return _post(
        X,
        attend,
        mlp,
        lambda x: (
            (x - x.mean(-1, keepdims=True))
            / (x.std(-1, keepdims=True) + 1e-5)
        ),
    )


def _layer_cases(rng):
    cases = []
    for leading, T, d, d_k, d_ff in (
        ((), 3, 4, 4, 6),
        ((2,), 5, 7, 3, 11),
        ((), 2, 13, 7, 5),
    ):
        P = [
            rng.standard_normal(shape)
            for shape in (
                (d, d_k),
                (d, d_k),
                (d, d),
                (d, d_ff),
                (d_ff,),
                (d_ff, d),
                (d,),
            )
        ]
        cases.append((rng.standard_normal((*leading, T, d)), *P))
    X, *P = cases[0]
    # small enough for ε to be seen
    cases.append((0.01 * X, P[0], P[1], 0.01 * P[2], *P[3:]))
    return cases


# ---- parameters of a layer ----


def parameters(d, d_ff, H, H_kv):
    d_k = d // H
    attention = d * d + 2 * d * (H_kv * d_k) + d * d
    network = d * d_ff + d_ff + d_ff * d + d
    norms = 2 * (d + d)
    return attention + network + norms


def _counted(
    d,
    d_ff,
    H,
    H_kv,
    queries=1,
    keys=2,
    output=1,
    matrices=2,
    biases=True,
    norms=4,
    kv=None,
):
    kv = H_kv if kv is None else kv
    attention = (queries + output) * d * d + keys * d * (kv * (d // H))
    return attention + matrices * d * d_ff + (d_ff + d) * biases + norms * d


def _parameter_cases(rng):
    return [(8, 20, 2, 1), (12, 50, 3, 3), (512, 2048, 8, 8), (60, 7, 6, 2)]


EXERCISES = [
    Exercise(
        "one-layer",
        "08",
        2,
        r"Write <code>layer(X, W_Q, W_K, W_V, W_1, b_1, W_2, b_2)</code>: the four "
        r"steps of the example, one head, normalised after each residual sum, with "
        r"\(\gamma = 1\), \(\beta = 0\), \(\epsilon = 10^{-5}\). \(X\) is <code>(..., "
        r"T, d)</code>, \(W_Q\) and \(W_K\) are <code>(d, d_k)</code>, \(W_V\) is "
        r"<code>(d, d)</code>, \(W_1\) is <code>(d, d_ff)</code>, \(W_2\) is "
        r"<code>(d_ff, d)</code>, and \(d_k\) need not be \(d\). NumPy only.",
        "Write a norm of your own first and use it twice. Each of the four steps is "
        "then one line or two. Which matrix does the second residual add?",
        layer,
        {
            "The norm stands before attention and network (pre-norm): here it comes "
            "after each residual sum.": _layer(_pre),
            "The norm is taken of what the residual adds: add first, then normalise "
            "the sum.": _layer(_sandwich),
            "Both residuals are missing: normalise X + A, and Z + F.": _layer(
                _no_residual
            ),
            "The first residual is missing: Z is the norm of X + A.": _layer(
                _no_first_residual
            ),
            "The second residual is missing: Y is the norm of Z + F.": _layer(
                _no_second_residual
            ),
            "The second residual adds X: it should add Z, what the network was "
            "given.": _layer(_adds_the_input_again),
            "The network reads X: it should read Z.": _layer(_side_by_side),
            "Nothing is normalised: the norm comes after each residual sum.": _layer(
                _no_norm
            ),
            "The first norm is missing: Z is the norm of X + A.": _layer(
                _no_first_norm
            ),
            "The second norm is missing: Y is the norm of Z + F.": _layer(
                _no_second_norm
            ),
            "The norm runs over the tokens: each token is normalised by itself, over "
            "its channels (axis=-1).": _layer(_norm_over_tokens),
            "One mean and one variance for all tokens: each token has its own "
            "(axis=-1, keepdims=True).": _layer(_norm_over_everything),
            "The variance is divided by d − 1: layer norm divides by d.": _layer(
                _unbiased
            ),
            "The norm divides by the variance: take its square root.": _layer(
                _divided_by_the_variance
            ),
            "The norm leaves the mean in: subtract it first.": _layer(
                _mean_left_in
            ),
            "ε stands outside the root: it belongs to the variance, √(variance + "
            "ε).": _layer(_epsilon_outside),
            "ReLU is forgotten: without it the two matrices of the network are "
            "one.": lambda X, W_Q, W_K, W_V, W_1, b_1, W_2, b_2: _post(
                X,
                lambda X: _attend(X, W_Q, W_K, W_V),
                lambda Z: (Z @ W_1 + b_1) @ W_2 + b_2,
            ),
            "ReLU comes last: it belongs between the two "
            "matrices.": lambda X, W_Q, W_K, W_V, W_1, b_1, W_2, b_2: _post(
                X,
                lambda X: _attend(X, W_Q, W_K, W_V),
                lambda Z: np.maximum(_network(Z, W_1, b_1, W_2, b_2), 0),
            ),
            "The biases b_1 and b_2 are not "
            "used.": lambda X, W_Q, W_K, W_V, W_1, b_1, W_2, b_2: _post(
                X,
                lambda X: _attend(X, W_Q, W_K, W_V),
                lambda Z: _network(Z, W_1, 0, W_2, 0),
            ),
            "The scores are not divided by √d_k.": lambda X, W_Q, W_K, W_V, *network: (
                _post(
                    X,
                    lambda X: _attend(X, W_Q, W_K, W_V, scale=1.0),
                    lambda Z: _network(Z, *network),
                )
            ),
            "The scores are divided by √d: the dot product sums over d_k "
            "channels.": lambda X, W_Q, W_K, W_V, *network: _post(
                X,
                lambda X: _attend(
                    X, W_Q, W_K, W_V, scale=X.shape[-1] ** -0.5
                ),
                lambda Z: _network(Z, *network),
            ),
            "The scores are divided by d_k: divide by its "
            "root.": lambda X, W_Q, W_K, W_V, *network: _post(
                X,
                lambda X: _attend(X, W_Q, W_K, W_V, scale=1 / W_K.shape[-1]),
                lambda Z: _network(Z, *network),
            ),
            "The softmax runs over the queries: each row of weights must sum to one "
            "(axis=-1).": lambda X, W_Q, W_K, W_V, *network: _post(
                X,
                lambda X: _attend(X, W_Q, W_K, W_V, axis=-2),
                lambda Z: _network(Z, *network),
            ),
        },
        _layer_cases,
    ),
    Exercise(
        "layer-parameters",
        "08",
        2,
        r"Write <code>parameters(d, d_ff, H, H_kv)</code>: how many numbers a layer "
        r"learns. As in this book, attention has no biases, \(d_k = d_v = d / H\), the "
        r"network has two matrices and two biases, and there are two norms.",
        "Write down the shape of each of the twelve parameters. Keys and values have "
        "H_kv heads, queries have H.",
        parameters,
        {
            r"W_O is forgotten: the heads are brought together by a d × d "
            r"matrix.": lambda d, d_ff, H, H_kv: _counted(
                d, d_ff, H, H_kv, output=0
            ),
            "The biases of the network are forgotten: d_ff and d "
            "more.": lambda d, d_ff, H, H_kv: _counted(
                d, d_ff, H, H_kv, biases=False
            ),
            "The norms are forgotten: each has a scale and a shift, d numbers "
            "each.": lambda d, d_ff, H, H_kv: _counted(
                d, d_ff, H, H_kv, norms=0
            ),
            "There are two norms, and each has a scale and a shift: 4·d "
            "numbers.": lambda d, d_ff, H, H_kv: _counted(
                d, d_ff, H, H_kv, norms=2
            ),
            "The biases and the norms are forgotten: only the matrices are "
            "counted.": lambda d, d_ff, H, H_kv: _counted(
                d, d_ff, H, H_kv, biases=False, norms=0
            ),
            "Keys and values have H_kv heads, not H: their matrices are d × "
            "H_kv·d_k.": lambda d, d_ff, H, H_kv: _counted(
                d, d_ff, H, H_kv, kv=H
            ),
            "Each head is counted with full width d: a head has d_k = d / H "
            "channels.": lambda d, d_ff, H, H_kv: (
                _counted(d, d_ff, H, H_kv)
                + (H - 1) * d * d
                + 2 * H_kv * d * (d - d // H)
            ),
            "Attention has no biases here.": lambda d, d_ff, H, H_kv: (
                _counted(d, d_ff, H, H_kv) + 2 * d + 2 * H_kv * (d // H)
            ),
            "The network has two matrices, one that widens and one that "
            "narrows.": lambda d, d_ff, H, H_kv: _counted(
                d, d_ff, H, H_kv, matrices=1
            ),
            "Keys and values have a matrix each.": lambda d, d_ff, H, H_kv: (
                _counted(d, d_ff, H, H_kv, keys=1)
            ),
        },
        _parameter_cases,
    ),
]
