"""Gradients by hand of a transformer layer and of a stack: the chain rule, one residual
after the other.

The convention is that of :mod:`tfbook.numpy.gradients.functions`; a dict of parameters
has a dict of gradients, under the same keys.
"""

from tfbook.numpy.check_layer import BIASES, expect_layer
from tfbook.numpy.checks import floats
from tfbook.numpy.feed_forward import feed_forward, gated_feed_forward
from tfbook.numpy.gradients.attention import multi_head_attention_vjp
from tfbook.numpy.gradients.functions import gradient_of
from tfbook.numpy.gradients.tokens import (
    feed_forward_vjp,
    gated_feed_forward_vjp,
    normalized_vjp,
)
from tfbook.numpy.layer import residual, transformer_layer
from tfbook.numpy.multi_head import multi_head_attention
from tfbook.numpy.normalization import normalized

ATTENTION = "W_Q", "W_K", "W_V", "W_O"
NETWORK = ("W_1", "b_1", "W_2", "b_2"), feed_forward, feed_forward_vjp, "relu"
GATED = (
    ("W_gate", "W_up", "W_down"),
    gated_feed_forward,
    gated_feed_forward_vjp,
    "silu",
)


def residual_vjp(dY, X, f_vjp):
    """Gradient of :func:`residual`: what comes back through f, plus dY itself, which no
    f can make vanish.

    Parameters
    ----------
    dY, X : array_like, one shape
    f_vjp : callable
        From a gradient of f's answer, and X, to that of X.

    Returns
    -------
    dX : ndarray

    Examples
    --------
    >>> residual_vjp([1.0, 1.0], [3.0, 4.0], lambda dY, X: 0 * dY)
    array([1., 1.])
    """
    X = floats("X", X)
    dY = gradient_of(dY, X.shape, X.dtype)
    return dY + gradient_of(f_vjp(dY, X), X.shape, X.dtype, "f_vjp(dY, X)")


def transformer_layer_vjp(
    dY,
    X,
    P,
    H,
    H_kv=None,
    norm="post",
    activation=None,
    mask=None,
    bias=None,
    eps=None,
):
    """Gradients of :func:`transformer_layer`.

    Parameters
    ----------
    dY : array_like, shape (..., T, d)
        Gradient of the loss with respect to the answer.
    X, P, H, H_kv, norm, activation, mask, bias, eps
        As in :func:`transformer_layer`; the activation is relu, gelu or silu.

    Returns
    -------
    dX : ndarray, shape (..., T, d)
    dP : dict of ndarray
        Keys and shapes of ``P``.

    Raises
    ------
    ValueError
        As in :func:`transformer_layer`.

    Examples
    --------
    >>> from tfbook.numpy import init_layer
    >>> P = init_layer(d=4, H=2, rng=0)
    >>> dX, dP = transformer_layer_vjp(
    ...     [[1.0, 0.0, 0.0, 0.0]] * 3, [[1.0, 2.0, 3.0, 4.0]] * 3, P, H=2
    ... )
    >>> dX.shape, dP["W_1"].shape, dP["beta_2"]
    ((3, 4), (4, 16), array([3., 0., 0., 0.]))
    """
    gated = expect_layer(P, norm)
    biases = {name: P[name] for name in BIASES if name in P}
    dP = {}

    def attend(X):
        return multi_head_attention(
            X, *(P[name] for name in ATTENTION), H, H_kv, mask, bias, **biases
        )

    def attend_vjp(dY, X):
        dX, *gradients = multi_head_attention_vjp(
            dY,
            X,
            *(P[name] for name in ATTENTION),
            H,
            H_kv,
            mask,
            bias,
            **biases,
        )
        dP.update(zip((*ATTENTION, *biases), gradients))
        return dX

    names, f, f_vjp, usual = GATED if gated else NETWORK

    def mlp(X):
        return f(X, *(P[name] for name in names), activation or usual)

    def mlp_vjp(dY, X):
        dX, *gradients = f_vjp(
            dY, X, *(P[name] for name in names), activation or usual
        )
        dP.update(zip(names, gradients))
        return dX

    def normalize(X, n):
        return normalized(X, P[f"gamma_{n}"], P.get(f"beta_{n}"), eps)

    def normalize_vjp(dY, X, n):
        names = [s for s in (f"gamma_{n}", f"beta_{n}") if s in P]
        dX, *gradients = normalized_vjp(
            dY, X, *(P[name] for name in names), eps=eps
        )
        dP.update(zip(names, gradients))
        return dX

    if norm == "post":
        X_1 = residual(X, attend)
        Z = normalize(X_1, 1)
        Z_1 = residual(Z, mlp)
        dZ = residual_vjp(normalize_vjp(dY, Z_1, 2), Z, mlp_vjp)
        dX = residual_vjp(normalize_vjp(dZ, X_1, 1), X, attend_vjp)
    elif norm == "pre":
        Z = residual(X, lambda X: attend(normalize(X, 1)))
        dZ = residual_vjp(
            dY,
            Z,
            lambda dY, Z: normalize_vjp(mlp_vjp(dY, normalize(Z, 2)), Z, 2),
        )
        dX = residual_vjp(
            dZ,
            X,
            lambda dZ, X: normalize_vjp(
                attend_vjp(dZ, normalize(X, 1)), X, 1
            ),
        )
    else:

        def between_vjp(dY, X, f, f_vjp, n):
            A = normalize(X, n)
            return normalize_vjp(
                f_vjp(normalize_vjp(dY, f(A), n + 1), A), X, n
            )

        Z = residual(X, lambda X: normalize(attend(normalize(X, 1)), 2))
        dZ = residual_vjp(
            dY, Z, lambda dY, Z: between_vjp(dY, Z, mlp, mlp_vjp, 3)
        )
        dX = residual_vjp(
            dZ, X, lambda dZ, X: between_vjp(dZ, X, attend, attend_vjp, 1)
        )
    return dX, {name: dP[name] for name in P if name in dP}


def transformer_vjp(dY, X, layers, H, final_norm=None, **options):
    """Gradients of :func:`transformer`: forward once, keeping only what each layer was
    given, then back layer by layer.

    Parameters
    ----------
    dY : array_like, shape (..., T, d)
        Gradient of the loss with respect to the answer.
    X, layers, H, final_norm, **options
        As in :func:`transformer`.

    Returns
    -------
    dX : ndarray, shape (..., T, d)
    dlayers : list of dict
        Keys and shapes of ``layers``. Where there is a final norm, its gradients
        come third.

    Raises
    ------
    ValueError
        As in :func:`transformer`.

    Notes
    -----
    What a layer computes inside is computed again on the way back: activation
    checkpointing, as in Chen et al., arXiv 1604.06174.

    Examples
    --------
    >>> from tfbook.numpy import init_layer
    >>> layers = [init_layer(d=4, H=2, rng=seed) for seed in range(5)]
    >>> dX, dlayers = transformer_vjp(
    ...     [[1.0, 0.0, 0.0, 0.0]] * 3,
    ...     [[1.0, 2.0, 3.0, 4.0]] * 3,
    ...     layers,
    ...     H=2,
    ... )
    >>> dX.shape, len(dlayers)
    ((3, 4), 5)
    """
    given = [floats("X", X)]
    for P in layers:
        given.append(transformer_layer(given[-1], P, H, **options))
    if final_norm is not None:
        dY, *dfinal_norm = normalized_vjp(
            dY, given[-1], *final_norm, eps=options.get("eps")
        )
    dlayers = []
    for X, P in zip(given[-2::-1], reversed(layers)):
        dY, dP = transformer_layer_vjp(dY, X, P, H, **options)
        dlayers.insert(0, dP)
    return (
        (dY, dlayers)
        if final_norm is None
        else (dY, dlayers, tuple(dfinal_norm))
    )
