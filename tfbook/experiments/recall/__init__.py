"""A letter from far back: the task, five small networks that read it, and how they did
after training .

A row of 64 small letters holds one capital. At its end the network says which: *a f c
**D** b g h … e* asks for *d*. All five have about as many parameters, and differ in how
a position learns of the others.
"""

from pathlib import Path

import numpy as np
import torch
from torch import nn

from tfbook.experiments import stored
from tfbook.experiments.study import fit
from tfbook.torch import MultiHeadAttention, conv1d, lstm, rnn

T, LETTERS = 64, 8
SMALL, CAPITAL = "abcdefgh", "ABCDEFGH"
NETWORKS = ("attention", "LSTM", "dilated convolution", "convolution", "RNN")
FILE = Path(__file__).parent / "recall.npz"


def sequences(rng, n):
    """Return n rows of T tokens (a capital is its letter + 8), how far before the end
    each capital stands, and its letter.
    """
    tokens, position = (
        rng.integers(LETTERS, size=(n, T)),
        rng.integers(T, size=n),
    )
    rows = np.arange(n)
    letter = tokens[rows, position]
    tokens[rows, position] += LETTERS
    return tokens, T - 1 - position, letter


def written(tokens):
    """A row of tokens as text."""
    return "".join((SMALL + CAPITAL)[token] for token in tokens)


class Attention(nn.Module):
    """One head, and the token itself beside it."""

    def __init__(self, d):
        super().__init__()
        self.heads = MultiHeadAttention(d, H=1)

    def forward(self, X):
        return X + self.heads(X)


class Recurrence(nn.Module):
    """A plain recurrent layer; at first, W_h turns the state without stretching it."""

    def __init__(self, d, d_h):
        super().__init__()
        self.W_x = random(d, d_h)
        self.W_h = nn.Parameter(nn.init.orthogonal_(torch.empty(d_h, d_h)))
        self.b = nn.Parameter(torch.zeros(d_h))

    def forward(self, X):
        return rnn(X, self.W_x, self.W_h, self.b)


class LSTM(nn.Module):
    """A long short-term memory that at first forgets little: the bias of f is 1."""

    def __init__(self, d, d_h):
        super().__init__()
        self.W_x, self.W_h = random(d, 4 * d_h), random(d_h, 4 * d_h)
        # i f g o
        self.b = nn.Parameter(
            torch.tensor([0.0, 1.0, 0.0, 0.0]).repeat_interleave(d_h)
        )

    def forward(self, X):
        return lstm(X, {"W_x": self.W_x, "W_h": self.W_h, "b": self.b})


class Convolutions(nn.Module):
    """Causal convolutions with residuals; layer l sees every ``gaps[l]``-th position
    before it.
    """

    def __init__(self, d, k, gaps):
        super().__init__()
        self.gaps = gaps
        self.W = nn.ParameterList(random(k, d, d, fan_in=k * d) for _ in gaps)
        self.b = nn.ParameterList(torch.zeros(d) for _ in gaps)

    def forward(self, X):
        for W, b, gap in zip(self.W, self.b, self.gaps, strict=True):
            X = X + torch.relu(dilated(X, W, b, gap))
        return X


def dilated(X, W, b, gap):
    """A causal convolution over every gap-th position: conv1d on ``gap`` interleaved
    sequences; gap has to divide T.
    """
    # (..., gap, T / gap, d)
    apart = X.unflatten(-2, (-1, gap)).transpose(-2, -3)
    return conv1d(apart, W, b, causal=True).transpose(-2, -3).flatten(-3, -2)


def random(*shape, fan_in=None):
    """Weights that keep the size of what they multiply."""
    return nn.Parameter(torch.randn(shape) * (fan_in or shape[0]) ** -0.5)


class Reader(nn.Module):
    """Embed the letters, read them with a network, answer at the last one."""

    def __init__(self, name):
        super().__init__()
        d, d_h, network = {
            "attention": (32, 32, lambda: Attention(32)),
            "LSTM": (32, 20, lambda: LSTM(32, 20)),
            "dilated convolution": (
                19,
                19,
                lambda: Convolutions(19, k=2, gaps=[1, 2, 4, 8, 16, 32]),
            ),
            "convolution": (
                19,
                19,
                lambda: Convolutions(19, k=3, gaps=[1, 1, 1, 1]),
            ),
            "RNN": (32, 48, lambda: Recurrence(32, 48)),
        }[name]
        self.E = nn.Parameter(torch.randn(2 * LETTERS, d))
        self.network = network()
        self.W = random(d_h, LETTERS)

    def forward(self, tokens):
        """Tokens (B, T) in, logits (B, LETTERS) out."""
        return self.network(self.E[tokens])[:, -1] @ self.W


def train(name, rate=0.01, steps=800, batch=32, seed=0):
    """Return a trained reader and the loss of every step, in nats (a guess: ln 8 =
    2.08).
    """
    torch.manual_seed(seed)
    model, rng = Reader(name), np.random.default_rng([seed, 1])

    def loss():
        tokens, _, letter = map(torch.tensor, sequences(rng, batch))
        return nn.functional.cross_entropy(model(tokens), letter)

    return model, fit(model.parameters(), loss, steps, rate, clip=1.0)


@torch.no_grad()
def accuracy(model, n=8192, bins=8):
    """Share of right answers on rows that no reader was trained on, by distance:
    (bins,), from the nearest 8 places on.
    """
    tokens, distance, letter = sequences(np.random.default_rng(2**32), n)
    right = model(torch.tensor(tokens)).argmax(dim=-1).numpy() == letter
    at = distance * bins // T
    return np.bincount(at, right, bins) / np.bincount(at, minlength=bins)


def record():
    """What the script wrote down: the command, the seeds, and of each network its size
    and, seed by seed, the measures.
    """
    return stored.record(FILE)
