"""The transformer layer, and a stack of them."""

import tfbook.numpy as reference
from tfbook.numpy.check_layer import BIASES, expect_layer
from tfbook.torch.attention import scaled_dot_product_attention
from tfbook.torch.checks import same_shape, twin
from tfbook.torch.feed_forward import feed_forward, gated_feed_forward
from tfbook.torch.multi_head import multi_head_attention
from tfbook.torch.normalization import normalized


@twin(reference.residual)
def residual(X, f):
    """
    >>> import torch
    >>> residual(torch.tensor([1.0, 2.0]), lambda x: 10 * x)
    tensor([11., 22.])
    """
    return X + same_shape("f(X)", f(X), X)


@twin(reference.transformer_layer)
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
    """
    >>> import torch
    >>> from tfbook.torch import TransformerLayer
    >>> P = TransformerLayer(d=4, H=2).state_dict()
    >>> transformer_layer(torch.randn(3, 4), P, H=2).shape
    torch.Size([3, 4])
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

    return arrange(X, attend, mlp, normalize, norm)


def arrange(X, attend, mlp, normalize, norm):
    """Put attention and network together: each within a residual, with a normalisation
    after, before, or on both sides.
    """
    if norm == "post":
        Z = normalize(residual(X, attend), 1)
        return normalize(residual(Z, mlp), 2)
    if norm == "pre":
        Z = residual(X, lambda X: attend(normalize(X, 1)))
        return residual(Z, lambda Z: mlp(normalize(Z, 2)))
    Z = residual(X, lambda X: normalize(attend(normalize(X, 1)), 2))
    return residual(Z, lambda Z: normalize(mlp(normalize(Z, 3)), 4))


@twin(reference.transformer)
def transformer(X, layers, H, final_norm=None, **options):
    """
    >>> import torch
    >>> from tfbook.torch import TransformerLayer
    >>> layers = [TransformerLayer(d=4, H=2).state_dict() for _ in range(5)]
    >>> transformer(torch.randn(3, 4), layers, H=2).shape
    torch.Size([3, 4])
    """
    for P in layers:
        X = transformer_layer(X, P, H, **options)
    if final_norm is None:
        return X
    return normalized(X, *final_norm, eps=options.get("eps"))
