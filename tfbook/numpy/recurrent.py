"""Recurrent layers: a state that is carried from one position to the next."""

import numpy as np

from tfbook.numpy.attention import scaled_dot_product_attention
from tfbook.numpy.checks import expect, expect_broadcast, floats


def rnn(X, W_x, W_h, b, h_0=None):
    r"""Read a sequence from left to right with a plain recurrent layer: :math:`h_t = \tanh(x_t W_x + h_{t-1} W_h + b)`.

    Parameters
    ----------
    X : array_like, shape (..., T, d)
        Tokens.
    W_x : array_like, shape (d, d_h)
        From token to state.
    W_h : array_like, shape (d_h, d_h)
        From state to state.
    b : array_like, shape (d_h,)
    h_0 : array_like, shape (..., d_h), optional
        The state before the first token; zeros unless told.

    Returns
    -------
    ndarray, shape (..., T, d_h)
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
    >>> rnn([[1.0], [0.0], [0.0]], W_x=[[1.0]], W_h=[[1.0]], b=[0.0]).round(2)  # the first token fades
    array([[0.76],
           [0.64],
           [0.57]])
    """
    U, W_h = _inputs(X, W_x, W_h, b, gates=1)
    h, states = _start("h_0", h_0, U, W_h), []
    for t in range(U.shape[-2]):
        h = np.tanh(U[..., t, :] + h @ W_h)
        states.append(h)
    return _stack(states, h)


def lstm(X, P, h_0=None, c_0=None):
    r"""Read a sequence with a long short-term memory: gates decide what its cell keeps, takes in and shows.

    .. math::
        c_t = f \odot c_{t-1} + i \odot g, \qquad h_t = o \odot \tanh(c_t)

    Parameters
    ----------
    X : array_like, shape (..., T, d)
        Tokens.
    P : dict of array_like
        ``W_x`` (d, 4·d_h), ``W_h`` (d_h, 4·d_h) and ``b`` (4·d_h,); the gates stand in the order i f g o.
    h_0, c_0 : array_like, shape (..., d_h), optional
        State and cell before the first token; zeros unless told.

    Returns
    -------
    ndarray, shape (..., T, d_h)
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
    >>> P = {"W_x": [[0, 0, 1, 0]], "W_h": [[0, 0, 0, 0]], "b": [open_, open_, 0, open_]}
    >>> lstm([[1.0], [0.0], [0.0]], P).round(2)  # nothing forgotten
    array([[0.64],
           [0.64],
           [0.64]])
    """
    if missing := {"W_x", "W_h", "b"} - set(P):
        raise ValueError(f"P: expected W_x, W_h and b, got no {', '.join(sorted(missing))}")
    U, W_h = _inputs(X, P["W_x"], P["W_h"], P["b"], gates=4)
    h, c, states = _start("h_0", h_0, U, W_h), _start("c_0", c_0, U, W_h), []
    for t in range(U.shape[-2]):
        i, f, g, o = np.split(U[..., t, :] + h @ W_h, 4, axis=-1)
        c = _sigmoid(f) * c + _sigmoid(i) * np.tanh(g)
        h = _sigmoid(o) * np.tanh(c)
        states.append(h)
    return _stack(states, h)


def recurrent_attention(X, context, W_x, W_h, b, h_0=None, mask=None):
    """Let a recurrent decoder look back at its encoder: queries are its states, keys and values are the encoder's.

    Parameters
    ----------
    X : array_like, shape (..., T, d)
        Tokens that the decoder reads.
    context : array_like, shape (..., T_k, d_h)
        States of the encoder.
    W_x, W_h, b, h_0
        The decoder, as in :func:`rnn`; ``h_0`` is often the encoder's last state.
    mask : array_like of bool, broadcasts to (..., T, T_k), optional
        True where the decoder may look.

    Returns
    -------
    ndarray, shape (..., T, d_h)
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
    >>> context = [[99.0, 0.0], [0.0, 99.0]]
    >>> one, zero = np.eye(2), np.zeros((2, 2))
    >>> recurrent_attention([[0.0, 9.0], [9.0, 0.0]], context, W_x=one, W_h=zero, b=[0, 0]).round(4)
    array([[ 0., 99.],
           [99.,  0.]])
    """
    Q, context = rnn(X, W_x, W_h, b, h_0), floats("context", context)
    expect("context", context.shape, "(..., T_k, d_h)", d_h=Q.shape[-1])
    return scaled_dot_product_attention(Q, context, context, mask)


def _inputs(X, W_x, W_h, b, gates):
    """What the tokens bring to every step, X W_x + b, which waits for nothing; and W_h."""
    X, W_x, W_h, b = floats("X", X), floats("W_x", W_x), floats("W_h", W_h), floats("b", b)
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
        return np.zeros((*U.shape[:-2], d_h), U.dtype)
    h = floats(name, h)
    expect(name, h.shape, "(..., d_h)", d_h=d_h)
    expect_broadcast(name, h.shape[:-1], U.shape[:-2], "the leading axes of X")
    return np.broadcast_to(h, (*np.broadcast_shapes(h.shape[:-1], U.shape[:-2]), d_h)).astype(U.dtype)


def _stack(states, h):
    """One axis of time for all states; empty where no token came."""
    return np.stack(states, axis=-2) if states else np.empty((*h.shape[:-1], 0, h.shape[-1]), h.dtype)


def _sigmoid(x):
    return 0.5 * np.tanh(0.5 * x) + 0.5  # 1 / (1 + e^-x), with no exponential to overflow
