"""Recurrent layers: a state that is carried from one position to the next."""

import torch

from tfbook.numpy.checks import expect, expect_broadcast
from tfbook.torch.attention import scaled_dot_product_attention
from tfbook.torch.checks import alike, broadcast, floats


def rnn(X, W_x, W_h, b, h_0=None):
    r"""Read a sequence from left to right with a plain recurrent layer: :math:`h_t = \tanh(x_t W_x + h_{t-1} W_h + b)`.

    Parameters
    ----------
    X : Tensor, shape (..., T, d)
        Tokens.
    W_x : Tensor, shape (d, d_h)
        From token to state.
    W_h : Tensor, shape (d_h, d_h)
        From state to state.
    b : Tensor, shape (d_h,)
    h_0 : Tensor, shape (..., d_h), optional
        The state before the first token; zeros unless told.

    Returns
    -------
    Tensor, shape (..., T, d_h)
        The state after each token.

    Raises
    ------
    ValueError
        Where the shapes do not fit together.

    Notes
    -----
    Each state waits for the one before: T steps, where attention needs one.

    Source: Parallelism; Elman 1990.

    Examples
    --------
    >>> rnn(torch.tensor([[1.0], [0], [0]]), W_x=torch.eye(1), W_h=torch.eye(1), b=torch.zeros(1))  # the first token fades
    tensor([[0.7616],
            [0.6420],
            [0.5663]])
    """
    U, W_h = _inputs(X, W_x, W_h, b, gates=1)
    h, states = _start("h_0", h_0, U, W_h), []
    for u in U.unbind(-2):
        h = torch.tanh(u + h @ W_h)
        states.append(h)
    return _stack(states, h)


def lstm(X, P, h_0=None, c_0=None):
    r"""Read a sequence with a long short-term memory: gates decide what its cell keeps, takes in and shows.

    .. math::
        c_t = f \odot c_{t-1} + i \odot g, \qquad h_t = o \odot \tanh(c_t)

    Parameters
    ----------
    X : Tensor, shape (..., T, d)
        Tokens.
    P : dict of Tensor
        ``W_x`` (d, 4·d_h), ``W_h`` (d_h, 4·d_h) and ``b`` (4·d_h,); the gates stand in the order i f g o.
    h_0, c_0 : Tensor, shape (..., d_h), optional
        State and cell before the first token; zeros unless told.

    Returns
    -------
    Tensor, shape (..., T, d_h)
        The state after each token.

    Raises
    ------
    ValueError
        Where the shapes do not fit together, or a parameter is missing.

    Notes
    -----
    The cell is changed by a sum, so with f near 1 its gradient passes through any number of steps, as through a residual.

    Source: Residual Connection (the cell state highway); Hochreiter and Schmidhuber 1997; Gers et al. 2000 (f).

    Examples
    --------
    >>> open_, shut = 100.0, -100.0  # before the logistic function
    >>> P = {"W_x": torch.tensor([[0.0, 0, 1, 0]]), "W_h": torch.zeros(1, 4), "b": torch.tensor([open_, open_, 0, open_])}
    >>> lstm(torch.tensor([[1.0], [0], [0]]), P)  # nothing forgotten
    tensor([[0.6420],
            [0.6420],
            [0.6420]])
    """
    if missing := {"W_x", "W_h", "b"} - set(P):
        raise ValueError(f"P: expected W_x, W_h and b, got no {', '.join(sorted(missing))}")
    U, W_h = _inputs(X, P["W_x"], P["W_h"], P["b"], gates=4)
    h, c, states = _start("h_0", h_0, U, W_h), _start("c_0", c_0, U, W_h), []
    for u in U.unbind(-2):  # one cut: backwards, a slice for each t would be as long as all of U
        i, f, g, o = (u + h @ W_h).chunk(4, dim=-1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
        states.append(h)
    return _stack(states, h)


def recurrent_attention(X, context, W_x, W_h, b, h_0=None, mask=None):
    """Let a recurrent decoder look back at its encoder: queries are its states, keys and values are the encoder's.

    Parameters
    ----------
    X : Tensor, shape (..., T, d)
        Tokens that the decoder reads.
    context : Tensor, shape (..., T_k, d_h)
        States of the encoder.
    W_x, W_h, b, h_0
        The decoder, as in :func:`rnn`; ``h_0`` is often the encoder's last state.
    mask : Tensor of bool, broadcasts to (..., T, T_k), optional
        True where the decoder may look.

    Returns
    -------
    Tensor, shape (..., T, d_h)
        For each step of the decoder, a weighted mean of the encoder's states.

    Raises
    ------
    ValueError
        Where the shapes do not fit together, or the mask is not boolean.

    Notes
    -----
    In self-attention all three come from the same sequence; nothing else differs.

    Source: Intuition (seq2seq); Luong et al., arXiv 1508.04025, global attention with dot products, here scaled.

    Examples
    --------
    >>> context = torch.tensor([[99.0, 0.0], [0.0, 99.0]])
    >>> one, zero = torch.eye(2), torch.zeros(2, 2)
    >>> recurrent_attention(torch.tensor([[0.0, 9.0], [9.0, 0.0]]), context, W_x=one, W_h=zero, b=zero[0]).round()
    tensor([[ 0., 99.],
            [99.,  0.]])
    """
    X, context = alike(X=X, context=context)
    Q = rnn(X, W_x, W_h, b, h_0)
    expect("context", context.shape, "(..., T_k, d_h)", d_h=Q.shape[-1])
    return scaled_dot_product_attention(Q, context, context, mask)


def _inputs(X, W_x, W_h, b, gates):
    """What the tokens bring to every step, X W_x + b, which waits for nothing; and W_h."""
    X, W_x, W_h, b = alike(X=X, W_x=W_x, W_h=W_h, b=b)
    width = "d_h" if gates == 1 else f"{gates}*d_h"
    d_h = W_h.shape[0] if W_h.ndim else None
    expect("X", X.shape, "(..., T, d)")
    expect("W_h", W_h.shape, f"(d_h, {width})", d_h=d_h)
    expect("W_x", W_x.shape, f"(d, {width})", d=X.shape[-1], d_h=d_h)
    expect("b", b.shape, f"({width},)", d_h=d_h)
    return X @ W_x + b, W_h


def _start(name, h, U, W_h):
    """The state before the first token, one for each sequence."""
    d_h = W_h.shape[0]
    if h is None:
        return U.new_zeros(*U.shape[:-2], d_h)
    h = floats(name, h)
    expect(name, h.shape, "(..., d_h)", d_h=d_h)
    expect_broadcast(name, h.shape[:-1], U.shape[:-2], "the leading axes of X")
    return h.to(U).expand(*broadcast(h.shape[:-1], U.shape[:-2]), d_h)


def _stack(states, h):
    """One axis of time for all states; empty where no token came."""
    return torch.stack(states, dim=-2) if states else h.new_empty(*h.shape[:-1], 0, h.shape[-1])
