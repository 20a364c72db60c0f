"""The task of a value from far back, and how each network did by distance; its networks
stand in ``distances.py``, which needs PyTorch.

Two cards lie somewhere in the first half of a row, a capital and a digit on each; small
letters fill the rest. The last position names a capital again, and the network says its
digit: *a D7 c f G2 b … e h D?* asks for *7*. So the answer stands between D/2 and D
places back, and what was asked is known at the end alone.
"""

from pathlib import Path

import numpy as np

from tfbook.experiments import stored

LETTERS, PAIRS = 8, 2
# a token is a letter, and a digit, nothing or the question mark
SYMBOLS = "abcdefghABCDEFGH01234567 ?"
NOTHING, ASKED = 24, 25
DISTANCES = (8, 16, 32, 64, 128, 256, 512)
NETWORKS = ("transformer", "LSTM", "dilated convolution", "RNN")
# of the dilated convolutions: they reach 1023 places back
LAYERS = 10
# nats, mean of 50 steps: training stops where it is learned, or nothing is at half time
LEARNED, GUESSING = 0.01, 2.0
FILE = Path(__file__).parent / "distances.json"


def sequences(rng, n, D):
    """Return n rows of D + 1 tokens, (n, D + 1, 2), two symbols each; where the asked
    card lies; its digit.
    """
    tokens = np.full((n, D + 1, 2), NOTHING)
    tokens[..., 0] = rng.integers(LETTERS, size=(n, D + 1))
    rows = np.arange(n)[:, None]
    position = rng.random((n, D // 2)).argsort(axis=-1)[:, :PAIRS]
    capital = LETTERS + rng.random((n, LETTERS)).argsort(axis=-1)[:, :PAIRS]
    digit = rng.integers(LETTERS, size=(n, PAIRS))
    tokens[rows, position] = np.stack([capital, 2 * LETTERS + digit], axis=-1)
    # places are drawn: the first of the two is either
    tokens[:, -1] = np.stack([capital[:, 0], np.full(n, ASKED)], axis=-1)
    return tokens, position[:, 0], digit[:, 0]


def written(tokens):
    """A row of tokens as text."""
    return " ".join(
        (SYMBOLS[letter] + SYMBOLS[second]).strip()
        for letter, second in tokens
    )


def record():
    """What the script wrote down: the command, the seeds, the rates tried, and of each
    network its size, accuracies and steps.
    """
    return stored.record(FILE)
