"""The position-wise feed-forward network: the same small network for each token by itself."""

from tfbook.numpy.checks import expect
from tfbook.numpy.feed_forward import activation_named, expect_network
from tfbook.torch.checks import alike
from tfbook.torch.functions import gelu, relu, silu

ACTIVATIONS = {"relu": relu, "gelu": gelu, "silu": silu}


def feed_forward(X, W_1, b_1, W_2, b_2, activation="relu"):
    r"""Widen each token, bend it, and bring it back: :math:`\mathrm{ReLU}(x W_1 + b_1) W_2 + b_2`.

    Parameters
    ----------
    X : Tensor, shape (..., d)
        Tokens.
    W_1 : Tensor, shape (d, d_ff)
    b_1 : Tensor, shape (d_ff,)
    W_2 : Tensor, shape (d_ff, d)
    b_2 : Tensor, shape (d,)
    activation : {"relu", "gelu", "silu"} or callable
        What bends: without it two products are one, and a stack of them too.

    Returns
    -------
    Tensor, shape (..., d)

    Raises
    ------
    ValueError
        Where the shapes do not fit together, or no activation has that name.

    Notes
    -----
    Source: FFN Formula.

    Examples
    --------
    >>> import torch
    >>> W_1, W_2 = torch.tensor([[1.0, -1.0]]), torch.tensor([[1.0], [1.0]])
    >>> feed_forward(torch.tensor([[3.0], [-3.0]]), W_1, torch.zeros(2), W_2, b_2=torch.tensor([0.5]))  # |x| + 0.5
    tensor([[3.5000],
            [3.5000]])
    """
    activation = activation_named(activation, ACTIVATIONS)
    X, W_1, b_1, W_2, b_2 = alike(X=X, W_1=W_1, b_1=b_1, W_2=W_2, b_2=b_2)
    d, d_ff = expect_network(X.shape, "W_1", W_1.shape, "W_2", W_2.shape)
    expect("b_1", b_1.shape, "(d_ff,)", d_ff=d_ff)
    expect("b_2", b_2.shape, "(d,)", d=d)
    return activation(X @ W_1 + b_1) @ W_2 + b_2


def gated_feed_forward(X, W_gate, W_up, W_down, activation="silu"):
    r"""Let one half of the widened channels decide how much of the other passes: :math:`(\sigma(x W_{gate}) ⊙ x W_{up}) W_{down}`.

    Parameters
    ----------
    X : Tensor, shape (..., d)
        Tokens.
    W_gate, W_up : Tensor, shape (d, d_ff)
        What opens, and what passes.
    W_down : Tensor, shape (d_ff, d)
    activation : {"silu", "gelu", "relu"} or callable
        σ: silu is SwiGLU, gelu is GEGLU.

    Returns
    -------
    Tensor, shape (..., d)

    Raises
    ------
    ValueError
        Where the shapes do not fit together, or no activation has that name.

    Notes
    -----
    Source: the SwiGLU and GELU-GLU variants of FFN Formula; Shazeer, arXiv 2002.05202, with no biases, as there.

    Examples
    --------
    >>> import torch
    >>> one = torch.ones(1, 1)
    >>> gated_feed_forward(torch.tensor([[3.0], [-3.0]]), W_gate=one, W_up=one, W_down=one, activation="relu").abs()  # x² or 0
    tensor([[9.],
            [0.]])
    """
    activation = activation_named(activation, ACTIVATIONS)
    X, W_gate, W_up, W_down = alike(X=X, W_gate=W_gate, W_up=W_up, W_down=W_down)
    d, d_ff = expect_network(X.shape, "W_gate", W_gate.shape, "W_down", W_down.shape)
    expect("W_up", W_up.shape, "(d, d_ff)", d=d, d_ff=d_ff)
    return (activation(X @ W_gate) * (X @ W_up)) @ W_down
