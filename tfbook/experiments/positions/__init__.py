"""Small language models, one for each way to tell the order: trained on 64 tokens, read
on up to 512. Beside them an LSTM.

A token is a byte of real English, the help texts of Python. Transformers differ only in
how they are told the order, and two readers have a second start. What one held-out text
costs a reader, at each position, is stored for several seeds; the parameters for the
first.
"""

from functools import cache
from pathlib import Path

import numpy as np

from tfbook.experiments import stored
from tfbook.numpy import embed, language_model, lstm, softmax
from tfbook.numpy.check_model import model_layers
from tfbook.text import text

SCHEMES = ("learned", "sinusoidal", "rotary", "alibi", "none")
# their token vectors begin √d times as large as the others', as in the paper
SCALED = ("sinusoidal", "lstm")
READERS = (*SCHEMES, "lstm", *(f"{reader}, small start" for reader in SCALED))
VOCAB, TRAINED, READ, SEEDS = 128, 64, 512, (0, 1)
SIZE = {"d": 64, "H": 4, "L": 2, "d_ff": 128, "norm": "pre"}
FILE = Path(__file__).parent / "positions.npz"


def tokens():
    """The text as bytes: what the models learn from, and the last tenth, which they do
    not see.

    Paragraphs that come again are left out, so that the one half does not hold what the
    other asks.
    """
    once = "\n\n".join(dict.fromkeys(text().split("\n\n")))
    read = np.frombuffer(once.encode("ascii", "replace"), np.uint8).astype(
        np.int64
    )
    return np.split(read, [len(read) * 9 // 10])


def windows(held_out, T, step):
    """Sequences of T tokens and the one after each, (n, T) both; a new sequence begins
    every ``step`` tokens.
    """
    whole = np.lib.stride_tricks.sliding_window_view(held_out, T + 1)[::step]
    return whole[:, :-1], whole[:, 1:]


def recurrent_logits(tokens, P, embed=embed, lstm=lstm):
    """Logits of each next token out of a stack of LSTM layers, whose table ``E`` reads
    tokens and scores them too.
    """
    X = embed(tokens, P["E"])
    for layer in model_layers(P, positions="none"):
        X = lstm(X, layer)
    return X @ P["E"].T


def loss_by_position(P, reader, asked, right):
    """Mean loss in nats at each position, (T,), of sequences (n, T) and the token after
    each.
    """
    kind = reader.partition(",")[0]
    scheme = {"positions": kind, "norm": SIZE["norm"]}
    logits = (
        recurrent_logits(asked, P)
        if kind == "lstm"
        else language_model(asked, P, SIZE["H"], **scheme)
    )
    return -np.log(
        np.take_along_axis(softmax(logits), right[..., None], axis=-1)[..., 0]
    ).mean(axis=0)


def load(reader):
    """The trained model of the first seed: its parameters."""
    return stored.parameters(FILE, reader)


@cache
def losses():
    """Held-out loss in nats of each reader, (seeds, READ) by position; not a number
    where a model cannot read.
    """
    with np.load(FILE) as kept:
        return dict(zip(READERS, kept["losses"].astype(float), strict=True))


def record():
    """What the script wrote down: the command, seeds, steps, and of each model its last
    loss and the time it took.
    """
    return stored.record(FILE)
