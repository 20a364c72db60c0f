"""The position-wise feed-forward network: the same small network for each token by
itself.
"""

from tfbook.numpy.checks import shapes
from tfbook.numpy.functions import gelu, relu, silu

ACTIVATIONS = {"relu": relu, "gelu": gelu, "silu": silu}


@shapes(
    X="... d",
    W_1="d d_ff",
    b_1="d_ff",
    W_2="d_ff d",
    b_2="d",
    returns="... d",
)
def feed_forward(X, W_1, b_1, W_2, b_2, activation="relu"):
    r"""Widen each token, bend it, and bring it back: :math:`\mathrm{ReLU}(x W_1 + b_1)
    W_2 + b_2`.

    Parameters
    ----------
    X
        Tokens.
    W_1
    b_1
    W_2
    b_2
    activation : {"relu", "gelu", "silu"} or callable
        What bends: without it two products are one, and a stack of them too.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        Where the shapes do not fit together, or no activation has that name.

    Notes
    -----
    Source: FFN Formula.

    Examples
    --------
    >>> feed_forward(
    ...     [[3.0], [-3.0]],
    ...     W_1=[[1.0, -1.0]],
    ...     b_1=[0.0, 0.0],
    ...     W_2=[[1.0], [1.0]],
    ...     b_2=[0.5],
    ... )  # |x| + 0.5
    array([[3.5],
           [3.5]])
    """
    f = activation_named(activation, ACTIVATIONS)
    return f(X @ W_1 + b_1) @ W_2 + b_2


@shapes(
    X="... d",
    W_gate="d d_ff",
    W_up="d d_ff",
    W_down="d_ff d",
    returns="... d",
)
def gated_feed_forward(X, W_gate, W_up, W_down, activation="silu"):
    r"""Let one half of the widened channels decide how much of the other passes:
    :math:`(\sigma(x W_{gate}) ⊙ x W_{up}) W_{down}`.

    Parameters
    ----------
    X
        Tokens.
    W_gate, W_up : array_like, shape (d, d_ff)
        What opens, and what passes.
    W_down
    activation : {"silu", "gelu", "relu"} or callable
        σ: silu is SwiGLU, gelu is GEGLU.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        Where the shapes do not fit together, or no activation has that name.

    Notes
    -----
    Source: the SwiGLU and GELU-GLU variants of FFN Formula; Shazeer, arXiv
    2002.05202, with no biases, as there.

    Examples
    --------
    >>> gated_feed_forward(
    ...     [[3.0], [-3.0]],
    ...     W_gate=[[1.0]],
    ...     W_up=[[1.0]],
    ...     W_down=[[1.0]],
    ...     activation="relu",
    ... )  # x² or 0
    array([[9.],
           [0.]])
    """
    f = activation_named(activation, ACTIVATIONS)
    return (f(X @ W_gate) * (X @ W_up)) @ W_down


def activation_named(activation, activations):
    """Return the function of that name, or the function itself."""
    if callable(activation):
        return activation
    if activation not in activations:
        raise ValueError(
            f"activation: expected one of {', '.join(activations)}, or a function, got"
            f" {activation!r}"
        )
    return activations[activation]
