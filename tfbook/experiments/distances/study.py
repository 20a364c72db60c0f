"""Six networks of one size for the look-up over a distance: their parts, their training
and their accuracy.
"""

import numpy as np
import torch
from torch import nn

from tfbook.experiments.distances import (  # noqa: F401 (whoever uses the networks needs the task)
    ASKED,
    DISTANCES,
    FILE,
    LAYERS,
    LEARNED,
    LETTERS,
    NETWORKS,
    NOTHING,
    PAIRS,
    SYMBOLS,
    record,
    sequences,
    written,
)
from tfbook.experiments.recall import random
from tfbook.experiments.study import fit
from tfbook.torch import FeedForward, LayerNorm, Transformer


class MeanPooling(nn.Module):
    """The control, without queries and keys: each token passes a feed-forward network,
    the mean of all tokens is added to the last one, and a second network follows.
    """

    def __init__(self, d, d_ff):
        super().__init__()
        self.before, self.after = FeedForward(d, d_ff), FeedForward(d, d_ff)
        self.norms = nn.ModuleList(LayerNorm(d) for _ in range(3))

    def forward(self, X):
        X = X + self.before(self.norms[0](X))
        mean = X.mean(dim=-2, keepdim=True)
        Y = X[..., -1:, :] + self.norms[1](mean)
        return Y + self.after(self.norms[2](Y))  # (..., 1, d)


class Recurrence(nn.Module):
    """A plain recurrent layer or an LSTM: torch's own, the functions ``rnn`` and
    ``lstm`` of this book in a faster form.

    At initialisation W_h is orthogonal, and an LSTM forgets little: the bias of f is 1.
    """

    def __init__(self, layer, d, d_h):
        super().__init__()
        self.layer = layer(d, d_h, batch_first=True)
        for name, p in self.layer.named_parameters():
            if name.startswith("weight_hh"):
                for gate in p.data.split(d_h):
                    nn.init.orthogonal_(gate)
            elif name.startswith("weight_ih"):
                p.data.normal_(std=d**-0.5)
            else:
                p.data.zero_()
        if layer is nn.LSTM:
            # torch's order is i f g o
            self.layer.bias_ih_l0.data[d_h : 2 * d_h] = 1.0

    def forward(self, X):
        return self.layer(X)[0]


class Convolutions(nn.Module):
    """Causal convolutions of width 2 with gates and residuals, whose dilation doubles
    from layer to layer: L of them reach 2^L − 1 positions back.

    Only what the last output depends on is computed: every second output of a layer is
    never used.
    """

    def __init__(self, d, L):
        super().__init__()
        self.W = nn.ParameterList(
            random(2, d, 2 * d, fan_in=2 * d) for _ in range(L)
        )
        self.b = nn.ParameterList(torch.zeros(2 * d) for _ in range(L))

    def forward(self, X):
        for W, b in zip(self.W, self.b, strict=True):
            # nothing comes before the first position
            X = nn.functional.pad(X, (0, 0, X.shape[-2] % 2, 0))
            older, newer = X[..., 0::2, :], X[..., 1::2, :]
            content, gate = (older @ W[0] + newer @ W[1] + b).chunk(2, dim=-1)
            X = newer + torch.tanh(content) * torch.sigmoid(gate)
        return X


class Reader(nn.Module):
    """Embed the tokens, read them with a network, answer at the last one."""

    def __init__(self, name):
        super().__init__()
        d, d_h, network = {
            "transformer": (
                32,
                32,
                lambda: Transformer(1, 32, H=2, norm="pre", fused=True),
            ),
            "rotary transformer": (
                32,
                32,
                lambda: Transformer(
                    1, 32, H=2, norm="pre", fused=True, rotary=True
                ),
            ),
            "mean pooling": (32, 32, lambda: MeanPooling(32, d_ff=96)),
            "LSTM": (32, 42, lambda: Recurrence(nn.LSTM, 32, 42)),
            "dilated convolution": (
                20,
                20,
                lambda: Convolutions(20, L=LAYERS),
            ),
            "RNN": (32, 95, lambda: Recurrence(nn.RNN, 32, 95)),
        }[name]
        self.E = nn.Parameter(torch.randn(len(SYMBOLS), d) / 2**0.5)
        self.network = network()
        self.W = random(d_h, LETTERS)

    def forward(self, tokens):
        """Tokens (B, T, 2) in, logits (B, LETTERS) out."""
        return self.network(self.E[tokens].sum(dim=-2))[:, -1] @ self.W


def parameters(name):
    """The number of parameters of a network."""
    return sum(p.numel() for p in Reader(name).parameters())


def train(name, D, rate, steps, batch=32, seed=0):
    """Return a trained reader and the loss of every step, in nats (a guess: ln 8 =
    2.08). It stops early only if it has learned the task.
    """
    torch.manual_seed(seed)
    model, rng = Reader(name), np.random.default_rng([seed, 1])

    def loss():
        tokens, _, digit = map(torch.tensor, sequences(rng, batch, D))
        return nn.functional.cross_entropy(model(tokens), digit)

    parameters = model.parameters()
    return model, fit(parameters, loss, steps, rate, clip=1.0, stop=learned)


def learned(losses):
    """Whether the mean loss of the last 50 steps is below ``LEARNED``."""
    return len(losses) >= 50 and np.mean(losses[-50:]) < LEARNED


@torch.no_grad()
def accuracy(model, D, n=1024):
    """Share of right answers on rows that no reader was trained on."""
    tokens, _, digit = sequences(np.random.default_rng(2**32), n, D)
    right = [
        model(torch.tensor(part)).argmax(dim=-1).numpy()
        for part in np.split(tokens, max(n * D // 2**16, 1))
    ]
    return float(np.mean(np.concatenate(right) == digit))
