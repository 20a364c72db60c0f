"""Recurrent layers: a state that is carried from one position to the next."""

import torch

import tfbook.numpy as reference
from tfbook.numpy.recurrent import _begin as _numpy_begin
from tfbook.numpy.recurrent import lstm_parameters
from tfbook.torch.attention import scaled_dot_product_attention
from tfbook.torch.checks import broadcast, shapes, twin


@twin(reference.rnn)
def rnn(X, W_x, W_h, b, h_0=None):
    """
    >>> rnn(
    ...     torch.tensor([[1.0], [0], [0]]),
    ...     W_x=torch.eye(1),
    ...     W_h=torch.eye(1),
    ...     b=torch.zeros(1),
    ... )  # the first token fades
    tensor([[0.7616],
            [0.6420],
            [0.5663]])
    """
    U = X @ W_x + b
    h, states = start(h_0, U, len(W_h)), []
    for u in U.unbind(-2):
        h = torch.tanh(u + h @ W_h)
        states.append(h)
    return _stack(states, h)


@twin(reference.lstm)
def lstm(X, P, h_0=None, c_0=None):
    """
    >>> open_, shut = 100.0, -100.0  # before the logistic function
    >>> P = {
    ...     "W_x": torch.tensor([[0.0, 0, 1, 0]]),
    ...     "W_h": torch.zeros(1, 4),
    ...     "b": torch.tensor([open_, open_, 0, open_]),
    ... }
    >>> lstm(torch.tensor([[1.0], [0], [0]]), P)  # nothing forgotten
    tensor([[0.6420],
            [0.6420],
            [0.6420]])
    """
    U, W_h, h, c = _begin(X, **lstm_parameters(P), h_0=h_0, c_0=c_0)
    states = []
    # one cut: backwards, a slice for each t would be as long as all of U
    for u in U.unbind(-2):
        i, f, g, o = (u + h @ W_h).chunk(4, dim=-1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
        states.append(h)
    return _stack(states, h)


@twin(reference.recurrent_attention)
def recurrent_attention(X, context, W_x, W_h, b, h_0=None, mask=None):
    """
    >>> context = torch.tensor([[99.0, 0.0], [0.0, 99.0]])
    >>> one, zero = torch.eye(2), torch.zeros(2, 2)
    >>> recurrent_attention(
    ...     torch.tensor([[0.0, 9.0], [9.0, 0.0]]),
    ...     context,
    ...     W_x=one,
    ...     W_h=zero,
    ...     b=zero[0],
    ... ).round()
    tensor([[ 0., 99.],
            [99.,  0.]])
    """
    Q = rnn(X, W_x, W_h, b, h_0)
    return scaled_dot_product_attention(Q, context, context, mask)


@shapes(**_numpy_begin.contract)
def _begin(X, W_x, W_h, b, h_0=None, c_0=None):
    """What an LSTM adds at each step, its recurrent matrix, and its two states."""
    U, d_h = X @ W_x + b, len(W_h)
    return U, W_h, start(h_0, U, d_h), start(c_0, U, d_h)


def start(h, U, d_h):
    """The state before the first step, by default zeros; its axes are those of U."""
    leading = U.shape[:-2]
    if h is None:
        return U.new_zeros(*leading, d_h)
    return h.to(U).expand(*broadcast(h.shape[:-1], leading), d_h)


def _stack(states, h):
    """One axis of time for all states; empty where no token came."""
    return (
        torch.stack(states, dim=-2)
        if states
        else h.new_empty(*h.shape[:-1], 0, h.shape[-1])
    )
