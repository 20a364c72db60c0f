"""The transformer layer, and a stack of them."""

from tfbook.numpy.attention import scaled_dot_product_attention
from tfbook.numpy.check_layer import BIASES, expect_layer
from tfbook.numpy.checks import same_shape, shapes
from tfbook.numpy.feed_forward import feed_forward, gated_feed_forward
from tfbook.numpy.multi_head import multi_head_attention
from tfbook.numpy.normalization import normalized


@shapes(X="...")
def residual(X, f):
    """Add what f makes of X to X itself: f learns what to change, and gradients have a
    way around it.

    Parameters
    ----------
    X
    f : callable
        From an array to one of the same shape.

    Returns
    -------
    ndarray, shape of ``X``

    Raises
    ------
    ValueError
        Where f changes the shape.

    Notes
    -----
    Source: Residual Connection.

    Examples
    --------
    >>> residual([1.0, 2.0], lambda x: 10 * x)
    array([11., 22.])
    """
    return X + same_shape("f(X)", f(X), X)


def transformer_layer(
    X,
    P,
    H,
    H_kv=None,
    norm="post",
    activation=None,
    mask=None,
    bias=None,
    attention=scaled_dot_product_attention,
    eps=None,
):
    r"""Let the tokens exchange what they know, then let each think by itself:
    attention, then the feed-forward network.

    Parameters
    ----------
    X : array_like, shape (..., T, d)
        Tokens.
    P : dict of array_like
        ``W_Q`` (d, H·d_k), ``W_K`` (d, H_kv·d_k), ``W_V`` (d, H_kv·d_v), ``W_O``
        (H·d_v, d); ``W_1`` (d, d_ff), ``b_1`` (d_ff,), ``W_2`` (d_ff, d), ``b_2`` (d,),
        or, for a gated layer, ``W_gate`` and ``W_up`` (d, d_ff) and ``W_down`` (d_ff,
        d); ``gamma_1 beta_1 gamma_2 beta_2`` (d,), and with both norms ``gamma_3 beta_3
        gamma_4 beta_4``; with no ``beta`` at all, the norms are :func:`rms_norm`.
        ``b_Q b_K b_V b_O``, where they are given, are biases of the attention.
    H, H_kv, mask, bias, attention
        As in :func:`multi_head_attention`.
    norm : {"post", "pre", "both", "sandwich"}
        Where to normalise: after each residual sum, before each of the two functions,
        or before and after each (two names of one form).
    activation : {"relu", "gelu", "silu"} or callable, optional
        Of the feed-forward network; default: relu, or silu in a gated layer.
    eps : float, optional
        Of every norm; default: that of :func:`layer_norm` or :func:`rms_norm`.

    Returns
    -------
    ndarray, shape (..., T, d)

    Raises
    ------
    ValueError
        Where the shapes do not fit together, a parameter is missing, or no form of
        normalisation has that name.

    Notes
    -----
    Source: :math:`Z = X + \mathrm{MultiHead}(X)`, :math:`Y = Z +
    \mathrm{FFN}(Z)`; post is Vaswani et al., arXiv 1706.03762, pre is Xiong et al.,
    arXiv 2002.04745, both is Ding et al., arXiv 2105.13290.

    Examples
    --------
    >>> from tfbook.numpy import init_layer
    >>> X, P = [[1.0, 2.0, 3.0, 4.0]] * 3, init_layer(d=4, H=2, rng=0)
    >>> transformer_layer(X, P, H=2).shape
    (3, 4)
    """
    gated = expect_layer(P, norm)
    biases = {name: P[name] for name in BIASES if name in P}

    def attend(X):
        return multi_head_attention(
            X,
            P["W_Q"],
            P["W_K"],
            P["W_V"],
            P["W_O"],
            H,
            H_kv,
            mask,
            bias,
            attention=attention,
            **biases,
        )

    def mlp(X):
        if gated:
            return gated_feed_forward(
                X, P["W_gate"], P["W_up"], P["W_down"], activation or "silu"
            )
        return feed_forward(
            X, P["W_1"], P["b_1"], P["W_2"], P["b_2"], activation or "relu"
        )

    def normalize(X, n):
        return normalized(X, P[f"gamma_{n}"], P.get(f"beta_{n}"), eps)

    if norm == "post":
        Z = normalize(residual(X, attend), 1)
        return normalize(residual(Z, mlp), 2)
    if norm == "pre":
        Z = residual(X, lambda X: attend(normalize(X, 1)))
        return residual(Z, lambda Z: mlp(normalize(Z, 2)))
    Z = residual(X, lambda X: normalize(attend(normalize(X, 1)), 2))
    return residual(Z, lambda Z: normalize(mlp(normalize(Z, 3)), 4))


def transformer(X, layers, H, final_norm=None, **options):
    """Stack layers: each takes what the one before it gave.

    Parameters
    ----------
    X : array_like, shape (..., T, d)
        Tokens.
    layers : sequence of dict
        The parameters ``P`` of each :func:`transformer_layer`.
    H : int
        Heads of every layer.
    final_norm : one or two array_like, shape (d,), optional
        gamma and beta of a last :func:`layer_norm`, or gamma alone of an
        :func:`rms_norm`, which a stack needs that is not post-norm: nothing else bounds
        its sum.
    **options
        Of every layer: ``H_kv norm activation mask bias attention eps``.

    Returns
    -------
    ndarray, shape (..., T, d)

    Raises
    ------
    ValueError
        As in :func:`transformer_layer`.

    Notes
    -----
    Source: the last sentence of Step-by-step computation.

    Examples
    --------
    >>> from tfbook.numpy import init_layer
    >>> layers = [init_layer(d=4, H=2, rng=seed) for seed in range(5)]
    >>> transformer([[1.0, 2.0, 3.0, 4.0]] * 3, layers, H=2).shape
    (3, 4)
    """
    for P in layers:
        X = transformer_layer(X, P, H, **options)
    if final_norm is None:
        return X
    return normalized(X, *final_norm, eps=options.get("eps"))
