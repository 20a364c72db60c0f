"""Recurrent layers: a state that is carried from one position to the next."""

import numpy as np

from tfbook.numpy.attention import scaled_dot_product_attention
from tfbook.numpy.checks import shapes


@shapes(
    X="... T d",
    W_h="d_h d_h",
    W_x="d d_h",
    b="d_h",
    h_0="... d_h",
    returns="... T d_h",
)
def rnn(X, W_x, W_h, b, h_0=None):
    r"""Read a sequence from left to right with a plain recurrent layer: :math:`h_t =
    \tanh(x_t W_x + h_{t-1} W_h + b)`.

    Parameters
    ----------
    X
        Tokens.
    W_x
        From token to state.
    W_h
        From state to state.
    b
    h_0
        The state before the first token; default: zeros.

    Returns
    -------
    ndarray
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
    >>> rnn([[1.0], [0.0], [0.0]], W_x=[[1.0]], W_h=[[1.0]], b=[0.0]).round(
    ...     2
    ... )  # the first token fades
    array([[0.76],
           [0.64],
           [0.57]])
    """
    U = X @ W_x + b
    h, states = start(h_0, U, len(W_h)), []
    for t in range(U.shape[-2]):
        h = np.tanh(U[..., t, :] + h @ W_h)
        states.append(h)
    return _stack(states, h)


def lstm(X, P, h_0=None, c_0=None):
    r"""Read a sequence with a long short-term memory: gates decide what its cell keeps,
    takes in and shows.

    .. math::
        c_t = f \odot c_{t-1} + i \odot g, \qquad h_t = o \odot \tanh(c_t)

    Parameters
    ----------
    X
        Tokens.
    P : dict of array_like
        ``W_x`` (d, 4·d_h), ``W_h`` (d_h, 4·d_h) and ``b`` (4·d_h,); the gates stand in
        the order i f g o.
    h_0, c_0 : array_like, shape (..., d_h), optional
        State and cell before the first token; default: zeros.

    Returns
    -------
    ndarray
        The state after each token.

    Raises
    ------
    ValueError
        Where the shapes do not fit together, or a parameter is missing.

    Notes
    -----
    The cell is changed by a sum, so with f near 1 its gradient passes through any
    number of steps, as through a residual.

    Source: Residual Connection (the cell state highway); Hochreiter and Schmidhuber
    1997; Gers et al. 2000 (f).

    Examples
    --------
    >>> open_, shut = 100.0, -100.0  # before the logistic function
    >>> P = {
    ...     "W_x": [[0, 0, 1, 0]],
    ...     "W_h": [[0, 0, 0, 0]],
    ...     "b": [open_, open_, 0, open_],
    ... }
    >>> lstm([[1.0], [0.0], [0.0]], P).round(2)  # nothing forgotten
    array([[0.64],
           [0.64],
           [0.64]])
    """
    U, W_h, h, c = _begin(X, **lstm_parameters(P), h_0=h_0, c_0=c_0)
    states = []
    for t in range(U.shape[-2]):
        i, f, g, o = np.split(U[..., t, :] + h @ W_h, 4, axis=-1)
        c = _sigmoid(f) * c + _sigmoid(i) * np.tanh(g)
        h = _sigmoid(o) * np.tanh(c)
        states.append(h)
    return _stack(states, h)


@shapes(
    X="... T d",
    W_h="d_h d_h",
    W_x="d d_h",
    b="d_h",
    h_0="... d_h",
    context="... T_k d_h",
    mask="... T T_k",
    returns="... T d_h",
)
def recurrent_attention(X, context, W_x, W_h, b, h_0=None, mask=None):
    """Let a recurrent decoder look back at its encoder: queries are its states, keys
    and values are the encoder's.

    Parameters
    ----------
    X
        Tokens that the decoder reads.
    context
        States of the encoder.
    W_x, W_h, b, h_0
        The decoder, as in :func:`rnn`; ``h_0`` is often the encoder's last state.
    mask
        True where the decoder may look.

    Returns
    -------
    ndarray
        For each step of the decoder, a weighted mean of the encoder's states.

    Raises
    ------
    ValueError
        Where the shapes do not fit together, or the mask is not boolean.

    Notes
    -----
    In self-attention all three come from the same sequence; nothing else differs.

    Source: Intuition (seq2seq); Luong et al., arXiv 1508.04025, global attention with
    dot products, here scaled.

    Examples
    --------
    >>> context = [[99.0, 0.0], [0.0, 99.0]]
    >>> one, zero = np.eye(2), np.zeros((2, 2))
    >>> recurrent_attention(
    ...     [[0.0, 9.0], [9.0, 0.0]], context, W_x=one, W_h=zero, b=[0, 0]
    ... ).round(4)
    array([[ 0., 99.],
           [99.,  0.]])
    """
    Q = rnn(X, W_x, W_h, b, h_0)
    return scaled_dot_product_attention(Q, context, context, mask)


@shapes(
    X="... T d",
    W_h="d_h 4*d_h",
    W_x="d 4*d_h",
    b="4*d_h",
    h_0="... d_h",
    c_0="... d_h",
)
def _begin(X, W_x, W_h, b, h_0=None, c_0=None):
    """What an LSTM adds at each step, its recurrent matrix, and its two states."""
    U, d_h = X @ W_x + b, len(W_h)
    return U, W_h, start(h_0, U, d_h), start(c_0, U, d_h)


def lstm_parameters(P):
    """W_x, W_h and b of an LSTM, or a ValueError that names what is missing."""
    if missing := {"W_x", "W_h", "b"} - set(P):
        raise ValueError(
            f"P: expected W_x, W_h and b, got no {', '.join(sorted(missing))}"
        )
    return {name: P[name] for name in ("W_x", "W_h", "b")}


def start(h, U, d_h):
    """The state before the first step, by default zeros; its axes are those of U."""
    leading = U.shape[:-2]
    if h is None:
        return np.zeros((*leading, d_h), U.dtype)
    leading = np.broadcast_shapes(h.shape[:-1], leading)
    return np.broadcast_to(h, (*leading, d_h)).astype(U.dtype)


def _stack(states, h):
    """One axis of time for all states; empty where no token came."""
    return (
        np.stack(states, axis=-2)
        if states
        else np.empty((*h.shape[:-1], 0, h.shape[-1]), h.dtype)
    )


def _sigmoid(x):
    # 1 / (1 + e^-x), with no exponential to overflow
    return 0.5 * np.tanh(0.5 * x) + 0.5
