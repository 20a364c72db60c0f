"""A look-up over a distance: the task, and how each network did at each distance. The
networks are in ``study.py``, which needs PyTorch; ``__main__.py`` trains them.

Two cards lie somewhere in the first half of a row, a capital and a digit on each; small
letters fill the rest. The last position names one of the capitals, and the network says
its digit: *a D7 c f G2 b … e h D?* asks for *7*. So the card is between D/2 and D
positions back, and what will be asked is known only at the end.
"""

from pathlib import Path

import numpy as np

from tfbook.experiments import stored

LETTERS, PAIRS = 8, 2
# a token is a letter, and a digit, nothing or the question mark
SYMBOLS = "abcdefghABCDEFGH01234567 ?"
NOTHING, ASKED = 24, 25
DISTANCES = (8, 16, 32, 64, 128)
NETWORKS = (
    "transformer",
    "rotary transformer",
    "mean pooling",
    "LSTM",
    "dilated convolution",
    "RNN",
)
LAYERS = 8  # of the dilated convolutions: they reach 255 positions back
LEARNED = 0.01  # nats, mean of 50 steps: training stops below it
FILE = Path(__file__).parent / "distances.json"


def sequences(rng, n, D):
    """Return n rows of D + 1 tokens, (n, D + 1, 2), two symbols each; the position of
    the card that is asked for; its digit.
    """
    tokens = np.full((n, D + 1, 2), NOTHING)
    tokens[..., 0] = rng.integers(LETTERS, size=(n, D + 1))
    rows = np.arange(n)[:, None]
    position = rng.random((n, D // 2)).argsort(axis=-1)[:, :PAIRS]
    capital = LETTERS + rng.random((n, LETTERS)).argsort(axis=-1)[:, :PAIRS]
    digit = rng.integers(LETTERS, size=(n, PAIRS))
    tokens[rows, position] = np.stack([capital, 2 * LETTERS + digit], axis=-1)
    # positions are drawn at random: the first of the two may be either
    tokens[:, -1] = np.stack([capital[:, 0], np.full(n, ASKED)], axis=-1)
    return tokens, position[:, 0], digit[:, 0]


def written(tokens):
    """A row of tokens as text."""
    return " ".join(
        (SYMBOLS[letter] + SYMBOLS[second]).strip()
        for letter, second in tokens
    )


def record():
    """What the study wrote down: the command, seeds and versions, and of each network
    its size, and by distance the rate chosen and, seed by seed, accuracy and steps.
    """
    return stored.record(FILE)
