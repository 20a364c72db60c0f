"""The position-wise feed-forward network: the same small network for each token by itself."""

from tfbook.numpy.checks import expect, floats
from tfbook.numpy.functions import gelu, relu, silu

ACTIVATIONS = {"relu": relu, "gelu": gelu, "silu": silu}


def feed_forward(X, W_1, b_1, W_2, b_2, activation="relu"):
    r"""Widen each token, bend it, and bring it back: :math:`\mathrm{ReLU}(x W_1 + b_1) W_2 + b_2`.

    Parameters
    ----------
    X : array_like, shape (..., d)
        Tokens.
    W_1 : array_like, shape (d, d_ff)
    b_1 : array_like, shape (d_ff,)
    W_2 : array_like, shape (d_ff, d)
    b_2 : array_like, shape (d,)
    activation : {"relu", "gelu", "silu"} or callable
        What bends: without it two products are one, and a stack of them too.

    Returns
    -------
    ndarray, shape (..., d)

    Raises
    ------
    ValueError
        Where the shapes do not fit together, or no activation has that name.

    Notes
    -----
    Source: FFN Formula.

    Examples
    --------
    >>> feed_forward([[3.0], [-3.0]], W_1=[[1.0, -1.0]], b_1=[0.0, 0.0], W_2=[[1.0], [1.0]], b_2=[0.5])  # |x| + 0.5
    array([[3.5],
           [3.5]])
    """
    X, W_1, b_1, W_2, b_2 = floats("X", X), floats("W_1", W_1), floats("b_1", b_1), floats("W_2", W_2), floats("b_2", b_2)
    activation = activation_named(activation, ACTIVATIONS)
    d, d_ff = expect_network(X.shape, "W_1", W_1.shape, "W_2", W_2.shape)
    expect("b_1", b_1.shape, "(d_ff,)", d_ff=d_ff)
    expect("b_2", b_2.shape, "(d,)", d=d)
    return activation(X @ W_1 + b_1) @ W_2 + b_2


def gated_feed_forward(X, W_gate, W_up, W_down, activation="silu"):
    r"""Let one half of the widened channels decide how much of the other passes: :math:`(\sigma(x W_{gate}) ⊙ x W_{up}) W_{down}`.

    Parameters
    ----------
    X : array_like, shape (..., d)
        Tokens.
    W_gate, W_up : array_like, shape (d, d_ff)
        What opens, and what passes.
    W_down : array_like, shape (d_ff, d)
    activation : {"silu", "gelu", "relu"} or callable
        σ: silu is SwiGLU, gelu is GEGLU.

    Returns
    -------
    ndarray, shape (..., d)

    Raises
    ------
    ValueError
        Where the shapes do not fit together, or no activation has that name.

    Notes
    -----
    Source: the SwiGLU and GELU-GLU variants of FFN Formula; Shazeer, arXiv 2002.05202, with no biases, as there.

    Examples
    --------
    >>> gated_feed_forward([[3.0], [-3.0]], W_gate=[[1.0]], W_up=[[1.0]], W_down=[[1.0]], activation="relu")  # x² or 0
    array([[9.],
           [0.]])
    """
    X, W_gate, W_up, W_down = floats("X", X), floats("W_gate", W_gate), floats("W_up", W_up), floats("W_down", W_down)
    activation = activation_named(activation, ACTIVATIONS)
    d, d_ff = expect_network(X.shape, "W_gate", W_gate.shape, "W_down", W_down.shape)
    expect("W_up", W_up.shape, "(d, d_ff)", d=d, d_ff=d_ff)
    return (activation(X @ W_gate) * (X @ W_up)) @ W_down


def activation_named(activation, activations):
    """Return the function of that name, or the function itself."""
    if callable(activation):
        return activation
    if activation not in activations:
        raise ValueError(f"activation: expected one of {', '.join(activations)}, or a function, got {activation!r}")
    return activations[activation]


def expect_network(X, widen, W_1, narrow, W_2):
    """Return d and d_ff, or raise unless the shapes go from d channels to d_ff and back."""
    expect("X", X, "(..., d)")
    d = X[-1]
    expect(widen, W_1, "(d, d_ff)", d=d)
    d_ff = W_1[-1]
    expect(narrow, W_2, "(d_ff, d)", d_ff=d_ff, d=d)
    return d, d_ff
