"""The transformer layer, and a stack of them."""

from tfbook.numpy.check_layer import expect_layer
from tfbook.torch.attention import scaled_dot_product_attention
from tfbook.torch.checks import floats
from tfbook.torch.feed_forward import feed_forward, gated_feed_forward
from tfbook.torch.multi_head import multi_head_attention
from tfbook.torch.normalization import layer_norm


def residual(X, f):
    """Add what f makes of X to X itself: f learns what to change, and gradients have a way around it.

    Parameters
    ----------
    X : Tensor, any shape
    f : callable
        From an array to one of the same shape.

    Returns
    -------
    Tensor, shape of ``X``

    Raises
    ------
    ValueError
        Where f changes the shape.

    Notes
    -----
    Source: Residual Connection.

    Examples
    --------
    >>> import torch
    >>> residual(torch.tensor([1.0, 2.0]), lambda x: 10 * x)
    tensor([11., 22.])
    """
    X = floats("X", X)
    Y = floats("f(X)", f(X))
    if Y.shape != X.shape:
        raise ValueError(f"f(X): expected the shape of X, {tuple(X.shape)}, got {tuple(Y.shape)}")
    return X + Y


def transformer_layer(
    X, P, H, H_kv=None, norm="post", activation=None, mask=None, bias=None, attention=scaled_dot_product_attention
):
    r"""Let the tokens exchange what they know, then let each think by itself: attention, then the feed-forward network.

    Parameters
    ----------
    X : Tensor, shape (..., T, d)
        Tokens.
    P : dict of Tensor
        ``W_Q`` (d, H·d_k), ``W_K`` (d, H_kv·d_k), ``W_V`` (d, H_kv·d_v), ``W_O`` (H·d_v, d); ``W_1`` (d, d_ff),
        ``b_1`` (d_ff,), ``W_2`` (d_ff, d), ``b_2`` (d,), or, for a gated layer, ``W_gate`` and ``W_up`` (d, d_ff) and
        ``W_down`` (d_ff, d); ``gamma_1 beta_1 gamma_2 beta_2`` (d,), and with both norms ``gamma_3 beta_3 gamma_4 beta_4``.
    H, H_kv, mask, bias, attention
        As in :func:`multi_head_attention`.
    norm : {"post", "pre", "both"}
        Where to normalise: after each residual sum, before each of the two functions, or before and after each.
    activation : {"relu", "gelu", "silu"} or callable, optional
        Of the feed-forward network; relu unless told, silu in a gated layer.

    Returns
    -------
    Tensor, shape (..., T, d)

    Raises
    ------
    ValueError
        Where the shapes do not fit together, a parameter is missing, or no form of normalisation has that name.

    Notes
    -----
    Source: :math:`Z = X + \mathrm{MultiHead}(X)`, :math:`Y = Z + \mathrm{FFN}(Z)`; post is Vaswani et al., arXiv
    1706.03762, pre is Xiong et al., arXiv 2002.04745, both is Ding et al., arXiv 2105.13290.

    Examples
    --------
    >>> import torch
    >>> from tfbook.torch import TransformerLayer
    >>> P = TransformerLayer(d=4, H=2).state_dict()
    >>> transformer_layer(torch.randn(3, 4), P, H=2).shape
    torch.Size([3, 4])
    """
    gated = expect_layer(P, norm)

    def attend(X):
        return multi_head_attention(X, P["W_Q"], P["W_K"], P["W_V"], P["W_O"], H, H_kv, mask, bias, attention=attention)

    def think(X):
        if gated:
            return gated_feed_forward(X, P["W_gate"], P["W_up"], P["W_down"], activation or "silu")
        return feed_forward(X, P["W_1"], P["b_1"], P["W_2"], P["b_2"], activation or "relu")

    def normalize(X, n):
        return layer_norm(X, P[f"gamma_{n}"], P[f"beta_{n}"])

    return arrange(X, attend, think, normalize, norm)


def arrange(X, attend, think, normalize, norm):
    """Put attention and network together: each within a residual, with a normalisation after, before, or on both sides."""
    if norm == "post":
        Z = normalize(residual(X, attend), 1)
        return normalize(residual(Z, think), 2)
    if norm == "pre":
        Z = residual(X, lambda X: attend(normalize(X, 1)))
        return residual(Z, lambda Z: think(normalize(Z, 2)))
    Z = residual(X, lambda X: normalize(attend(normalize(X, 1)), 2))
    return residual(Z, lambda Z: normalize(think(normalize(Z, 3)), 4))


def transformer(X, layers, H, final_norm=None, **options):
    """Stack layers: each takes what the one before it gave.

    Parameters
    ----------
    X : Tensor, shape (..., T, d)
        Tokens.
    layers : sequence of dict
        The parameters ``P`` of each :func:`transformer_layer`.
    H : int
        Heads of every layer.
    final_norm : pair of Tensor, shape (d,), optional
        gamma and beta of a last :func:`layer_norm`, which a stack of pre-norm layers needs: nothing else bounds its sum.
    **options
        Of every layer: ``H_kv norm activation mask bias attention``.

    Returns
    -------
    Tensor, shape (..., T, d)

    Raises
    ------
    ValueError
        As in :func:`transformer_layer`.

    Notes
    -----
    Source: the last sentence of Step-by-step computation.

    Examples
    --------
    >>> import torch
    >>> from tfbook.torch import TransformerLayer
    >>> layers = [TransformerLayer(d=4, H=2).state_dict() for _ in range(5)]
    >>> transformer(torch.randn(3, 4), layers, H=2).shape
    torch.Size([3, 4])
    """
    X = floats("X", X)
    for P in layers:
        X = transformer_layer(X, P, H, **options)
    return X if final_norm is None else layer_norm(X, *final_norm)
