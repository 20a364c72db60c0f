"""The position-wise feed-forward network: the same small network for each token by
itself.
"""

import tfbook.numpy as reference
from tfbook.numpy.feed_forward import activation_named
from tfbook.torch.checks import twin
from tfbook.torch.functions import gelu, relu, silu

ACTIVATIONS = {"relu": relu, "gelu": gelu, "silu": silu}


@twin(reference.feed_forward)
def feed_forward(X, W_1, b_1, W_2, b_2, activation="relu"):
    """
    >>> import torch
    >>> W_1, W_2 = torch.tensor([[1.0, -1.0]]), torch.tensor([[1.0], [1.0]])
    >>> feed_forward(
    ...     torch.tensor([[3.0], [-3.0]]),
    ...     W_1,
    ...     torch.zeros(2),
    ...     W_2,
    ...     b_2=torch.tensor([0.5]),
    ... )  # |x| + 0.5
    tensor([[3.5000],
            [3.5000]])
    """
    f = activation_named(activation, ACTIVATIONS)
    return f(X @ W_1 + b_1) @ W_2 + b_2


@twin(reference.gated_feed_forward)
def gated_feed_forward(X, W_gate, W_up, W_down, activation="silu"):
    """
    >>> import torch
    >>> one = torch.ones(1, 1)
    >>> gated_feed_forward(
    ...     torch.tensor([[3.0], [-3.0]]),
    ...     W_gate=one,
    ...     W_up=one,
    ...     W_down=one,
    ...     activation="relu",
    ... ).abs()  # x² or 0
    tensor([[9.],
            [0.]])
    """
    f = activation_named(activation, ACTIVATIONS)
    return (f(X @ W_gate) * (X @ W_up)) @ W_down
