"""The parts of a transformer as modules: they own parameters, named as in the text, and
call the functions.
"""

from functools import partial

import torch
from torch import nn

from tfbook.numpy.check_heads import head_counts
from tfbook.numpy.check_layer import layer_shapes
from tfbook.numpy.checks import flag, whole
from tfbook.torch.attention import scaled_dot_product_attention
from tfbook.torch.cache import cached_attention
from tfbook.torch.feed_forward import feed_forward, gated_feed_forward
from tfbook.torch.kernels.fused import fused_attention
from tfbook.torch.layer import transformer_layer
from tfbook.torch.multi_head import multi_head_attention
from tfbook.torch.normalization import layer_norm
from tfbook.torch.rotary import rotary_attention


class MultiHeadAttention(nn.Module):
    """Multi-head attention with weights of its own: ``W_Q W_K W_V W_O``.

    Parameters
    ----------
    d, H : int
        Channels of a token, and heads.
    H_kv : int, optional
        Key/value heads; default: H.
    d_k, d_v : int, optional
        Channels of a head; default: d / H.
    fused : bool
        Use :func:`fused_attention` in place of the readable form.
    rotary : bool
        Turn queries and keys by their positions, as :func:`rotary_attention` does.

    Examples
    --------
    >>> MultiHeadAttention(d=6, H=3, H_kv=1)(torch.randn(2, 5, 6)).shape
    torch.Size([2, 5, 6])
    """

    def __init__(
        self, d, H, H_kv=None, d_k=None, d_v=None, fused=False, rotary=False
    ):
        super().__init__()
        self.H, self.H_kv = head_counts(H, H_kv)
        self.attention = attention_form(fused, rotary)
        add_parameters(
            self,
            layer_shapes(d, H, None, H_kv, d_k, d_v),
            ["W_Q", "W_K", "W_V", "W_O"],
        )

    def forward(self, X, mask=None, context=None, bias=None):
        """Tokens (..., T, d) in and out; the arguments are those of
        :func:`multi_head_attention`.
        """
        W = self.W_Q, self.W_K, self.W_V, self.W_O
        return multi_head_attention(
            X, *W, self.H, self.H_kv, mask, bias, context, self.attention
        )


class FeedForward(nn.Module):
    """The feed-forward network with weights of its own: ``W_1 b_1 W_2 b_2``, or
    ``W_gate W_up W_down``.

    Parameters
    ----------
    d : int
        Channels of a token.
    d_ff : int, optional
        Channels inside; default: 4·d.
    activation : {"relu", "gelu", "silu"} or callable, optional
        default: relu, or silu where gated.
    gated : bool
        Whether one half of the channels opens the other, as in
        :func:`gated_feed_forward`.

    Examples
    --------
    >>> FeedForward(d=6)(torch.randn(2, 5, 6)).shape
    torch.Size([2, 5, 6])
    """

    def __init__(self, d, d_ff=None, activation=None, gated=False):
        super().__init__()
        self.gated = flag("gated", gated)
        self.activation = activation or ("silu" if gated else "relu")
        names = (
            ["W_gate", "W_up", "W_down"]
            if gated
            else ["W_1", "b_1", "W_2", "b_2"]
        )
        add_parameters(self, layer_shapes(d, 1, d_ff, gated=gated), names)

    def forward(self, X):
        """Tokens (..., d) in and out."""
        if self.gated:
            return gated_feed_forward(
                X, self.W_gate, self.W_up, self.W_down, self.activation
            )
        return feed_forward(
            X, self.W_1, self.b_1, self.W_2, self.b_2, self.activation
        )


class LayerNorm(nn.Module):
    """Layer normalisation with a scale and a shift of its own: ``gamma beta``.

    Parameters
    ----------
    d : int
        Channels of a token.
    eps : float
        As in :func:`layer_norm`.

    Examples
    --------
    >>> LayerNorm(2)(torch.tensor([[1.0, 3.0]])).round(decimals=3)
    tensor([[-1.,  1.]], grad_fn=<RoundBackward1>)
    """

    def __init__(self, d, eps=1e-5):
        super().__init__()
        self.eps = eps
        add_parameters(
            self, {"gamma": (whole("d", d, least=1),), "beta": (d,)}
        )

    def forward(self, X):
        """Tokens (..., d) in and out."""
        return layer_norm(X, self.gamma, self.beta, self.eps)


class TransformerLayer(nn.Module):
    """One layer with parameters of its own: the keys of ``P`` in
    :func:`transformer_layer`.

    Parameters
    ----------
    d, H, d_ff, H_kv, d_k, d_v, fused, rotary
        As in :class:`MultiHeadAttention` and :class:`FeedForward`.
    norm : {"post", "pre", "both", "sandwich"}
        Where to normalise.
    activation, gated
        As in :class:`FeedForward`.

    Examples
    --------
    >>> layer = TransformerLayer(d=6, H=3)
    >>> layer(torch.randn(2, 5, 6)).shape
    torch.Size([2, 5, 6])
    >>> " ".join(layer.state_dict())
    'W_Q W_K W_V W_O W_1 b_1 W_2 b_2 gamma_1 beta_1 gamma_2 beta_2'
    """

    def __init__(
        self,
        d,
        H,
        d_ff=None,
        H_kv=None,
        d_k=None,
        d_v=None,
        norm="post",
        activation=None,
        gated=False,
        fused=False,
        rotary=False,
    ):
        super().__init__()
        self.H, self.H_kv = head_counts(H, H_kv)
        self.norm, self.activation = norm, activation
        self.attention = attention_form(fused, rotary)
        shapes = layer_shapes(d, H, d_ff, H_kv, d_k, d_v, norm, gated)
        self.names = list(shapes)
        add_parameters(self, shapes)

    def forward(self, X, mask=None, bias=None, cache=None):
        """Tokens (..., T, d) in and out; the arguments are those of
        :func:`transformer_layer`.

        With a :class:`KeyValueCache`, the mask and the bias are over all T_k tokens so
        far.
        """
        # as hooks and parametrizations give them
        P = {name: getattr(self, name) for name in self.names}
        seen = {"mask": mask, "bias": bias, "attention": self.attention}
        if cache is not None:
            seen = {"attention": cached_attention(cache, **seen)}
        return transformer_layer(
            X, P, self.H, self.H_kv, self.norm, self.activation, **seen
        )


def add_parameters(module, shapes, names=None):
    """Give a module its parameters, random as :func:`tfbook.numpy.init_layer`
    describes, from torch's own generator.
    """
    for name in names or shapes:
        value = torch.zeros(shapes[name])
        if name.startswith("W"):
            value.normal_(std=shapes[name][0] ** -0.5)
        elif name.startswith("gamma"):
            value.fill_(1)
        module.register_parameter(name, nn.Parameter(value))


def attention_form(fused, rotary):
    """What each head does: the readable or the fused form, with or without turning."""
    attention = (
        fused_attention
        if flag("fused", fused)
        else scaled_dot_product_attention
    )
    return (
        partial(rotary_attention, attention=attention)
        if flag("rotary", rotary)
        else attention
    )
