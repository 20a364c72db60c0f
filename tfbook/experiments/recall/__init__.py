"""A digit that is asked for by its name: the task, the networks that read it, and how
each did after training (``__main__.py``).

A row of 64 places holds cards, a capital and a digit on each; small letters fill the
rest. The last place names a capital, and the network says the digit on its card:
*aD7cfG2b…eD?* asks for *7*. With one card in the row there is nothing to look
up. With four, a network that knows the digits but not their names is right once in
four.
"""

from pathlib import Path

import numpy as np
import torch
from torch import nn

from tfbook.experiments import stored
from tfbook.experiments.study import fit
from tfbook.numpy import sinusoidal_positions
from tfbook.torch import MultiHeadAttention, conv1d

T, LONGER, LETTERS, CARDS = 64, 256, 8, (1, 4)
# a token is a letter, and a digit, nothing or the question mark
SYMBOLS = "abcdefghABCDEFGH01234567 ?"
NOTHING, ASKED = 24, 25
NETWORKS = (
    "attention",
    "attention, positions",
    "LSTM",
    "dilated convolution",
    "mean pooling",
)
FILE = Path(__file__).parent / "recall.json"


def sequences(rng, n, cards, T=T):
    """Draw n rows of T places.

    Returns
    -------
    tokens : ndarray, shape (n, T, 2)
        Two symbols at each place.
    distance : ndarray, shape (n,)
        How far before the end the card stands that is asked for: 1 to T − 1.
    digit : ndarray, shape (n,)
        The digit on it. The digits of a row are all different, as its capitals are.
    """
    tokens = np.full((n, T, 2), NOTHING)
    tokens[..., 0] = rng.integers(LETTERS, size=(n, T))
    position = rng.random((n, T - 1)).argsort(axis=-1)[:, :cards]
    name, digit = rng.random((2, n, LETTERS)).argsort(axis=-1)[..., :cards]
    card = np.stack([LETTERS + name, 2 * LETTERS + digit], axis=-1)
    tokens[np.arange(n)[:, None], position] = card
    tokens[:, -1, 0], tokens[:, -1, 1] = LETTERS + name[:, 0], ASKED
    return tokens, T - 1 - position[:, 0], digit[:, 0]


def written(row):
    """A row of tokens as text."""
    return "".join(SYMBOLS[a] + SYMBOLS[b] for a, b in row).replace(" ", "")


def random(*shape, fan_in=None):
    """Weights that keep the size of what they multiply."""
    return nn.Parameter(torch.randn(shape) * (fan_in or shape[0]) ** -0.5)


class Attention(nn.Module):
    """One head, and the token itself beside it; with positions or without. Only the
    last token has a query, since only the last output is read.
    """

    def __init__(self, d, positions=False):
        super().__init__()
        self.heads = MultiHeadAttention(d, H=1)
        P = sinusoidal_positions(LONGER, d) * positions
        self.register_buffer("P", torch.tensor(P, dtype=torch.float32))

    def forward(self, X):
        X = X + self.P[: X.shape[-2]]
        last = X[..., -1:, :]
        return last + self.heads(last, context=X)


class Pooling(nn.Module):
    """The control: no queries and no keys. A ReLU layer reads each token, the mean of
    all is added to each, and another ReLU layer makes something of it.
    """

    def __init__(self, d, d_ff):
        super().__init__()
        self.W_1, self.W_2 = random(d, d_ff), random(d_ff, d)
        self.W_3, self.W_4 = random(d, d_ff), random(d_ff, d)
        self.b_1, self.b_3 = nn.Parameter(torch.zeros(2, d_ff))

    def forward(self, X):
        read = torch.relu(X @ self.W_1 + self.b_1) @ self.W_2
        X = X + read.mean(dim=-2, keepdim=True)
        return X + torch.relu(X @ self.W_3 + self.b_3) @ self.W_4


class LSTM(nn.Module):
    """torch's own LSTM, a faster form of this book's ``lstm``. At first it forgets
    little: the bias of f is 1.
    """

    def __init__(self, d, d_h):
        super().__init__()
        self.layer = nn.LSTM(d, d_h, batch_first=True)
        for name, p in self.layer.named_parameters():
            p.data.normal_(std=0 if "bias" in name else p.shape[1] ** -0.5)
        self.layer.bias_ih_l0.data[d_h : 2 * d_h] = 1.0  # i f g o

    def forward(self, X):
        return self.layer(X)[0]


class Convolutions(nn.Module):
    """Causal convolutions of width 2 with residuals; the gap doubles from layer to
    layer.
    """

    def __init__(self, d, layers):
        super().__init__()
        self.W = nn.ParameterList(
            random(2, d, d, fan_in=2 * d) for _ in range(layers)
        )
        self.b = nn.ParameterList(torch.zeros(d) for _ in range(layers))

    def forward(self, X):
        for i, (W, b) in enumerate(zip(self.W, self.b, strict=True)):
            X = X + torch.relu(dilated(X, W, b, gap=2**i))
        return X


def dilated(X, W, b, gap):
    """A causal convolution over every gap-th position: conv1d on ``gap`` interleaved
    sequences; gap has to divide T.
    """
    # (..., gap, T / gap, d)
    apart = X.unflatten(-2, (-1, gap)).transpose(-2, -3)
    return conv1d(apart, W, b, causal=True).transpose(-2, -3).flatten(-3, -2)


class Reader(nn.Module):
    """Embed the tokens, read them with a network, answer at the last one."""

    def __init__(self, name):
        super().__init__()
        d, d_h, network = {
            "attention": (32, 32, lambda: Attention(32)),
            "attention, positions": (32, 32, lambda: Attention(32, True)),
            "LSTM": (32, 20, lambda: LSTM(32, 20)),
            "dilated convolution": (19, 19, lambda: Convolutions(19, 6)),
            "mean pooling": (32, 32, lambda: Pooling(32, 32)),
        }[name]
        self.E = nn.Parameter(torch.randn(len(SYMBOLS), d) / 2**0.5)
        self.network = network()
        self.W = random(d_h, LETTERS)

    def forward(self, tokens):
        """Tokens (B, T, 2) in, logits (B, LETTERS) out."""
        return self.network(self.E[tokens].sum(dim=-2))[:, -1] @ self.W


def train(name, cards, rate, steps, batch=32, seed=0, stop=None):
    """Return a trained reader and the loss of every step, in nats (a guess: ln 8 =
    2.08). ``stop`` is as in :func:`tfbook.experiments.study.fit`.
    """
    torch.manual_seed(seed)
    model, rng = Reader(name), np.random.default_rng([seed, 1])

    def loss():
        tokens, _, digit = map(torch.tensor, sequences(rng, batch, cards))
        return nn.functional.cross_entropy(model(tokens), digit)

    losses = fit(model.parameters(), loss, steps, rate, clip=1.0, stop=stop)
    return model, losses


@torch.no_grad()
def accuracy(model, cards, rows=2**32, n=8192, T=T, bins=8):
    """Share of right answers by distance: (bins,), the nearest T / bins places first.
    ``rows`` is the seed of the rows; no reader is trained on them.
    """
    rng = np.random.default_rng(rows)
    tokens, distance, digit = sequences(rng, n, cards, T)
    logits = map(model, torch.tensor(tokens).split(1024))
    right = torch.cat(list(logits)).argmax(dim=-1).numpy() == digit
    at = distance * bins // T
    return np.bincount(at, right, bins) / np.bincount(at, minlength=bins)


def record():
    """What the script wrote down: the command, the seeds, and of each network its size
    and, seed by seed, the measures.
    """
    return stored.record(FILE)
