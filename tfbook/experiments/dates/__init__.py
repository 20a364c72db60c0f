"""Dates written out, turned into numbers by a recurrent encoder and decoder, with
attention between them or without.

The task, the model as functions of either half of the package, its training, and what
``tfbook/experiments/dates/__main__.py`` measured.
"""

import re
from datetime import date, timedelta
from pathlib import Path

import numpy as np

import tfbook.numpy
from tfbook.experiments import stored
from tfbook.text import characters, encode

FORMS = ("{d} {B} {y}", "{B} {d}, {y}", "{y}, {B} {d}")
MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
FIRST, DAYS = date(1900, 1, 1), 73049  # to the end of 2099
# fills the source on its left, and stands before the first character
PAD = 0
VOCAB = "_" + characters(" ,-0123456789" + "".join(MONTHS))
# characters of the target and of the source
T, T_K = len("2021-05-03"), len("30 September 2021,")
# where each part stands in the source,
SPOKEN = {"year": r"\d{4}", "month": "[A-Z][a-z]+", "day": r"\b\d\d?\b"}
# and in the target
WRITTEN = {"year": slice(0, 4), "month": slice(5, 7), "day": slice(8, 10)}
FILE = Path(__file__).parent / "dates.json"


def pairs(rng, n, held_out=False):
    """Draw n dates in one of three forms, and as numbers; every tenth day is held out
    and never trained on.
    """
    day = 10 * rng.integers(0, DAYS // 10, n) + (
        0 if held_out else rng.integers(1, 10, n)
    )
    dates = [FIRST + timedelta(int(k)) for k in day]
    forms = [FORMS[form] for form in rng.integers(0, len(FORMS), n)]
    return [
        form.format(d=D.day, B=MONTHS[D.month - 1], y=D.year)
        for form, D in zip(forms, dates)
    ], [D.isoformat() for D in dates]


def tokens(texts, T):
    """Turn texts into one array, (n, T), filled up on the left."""
    return np.stack(
        [encode(text.rjust(T, VOCAB[PAD]), VOCAB) for text in texts]
    )


def spoken(texts, part):
    """Say where the year, the month or the day stands in each source: bool (n, T_k)."""
    at = np.zeros((len(texts), T_K), bool)
    for row, text in zip(at, texts):
        start, end = re.search(SPOKEN[part], text).span()
        row[T_K - len(text) :][start:end] = True
    return at


def shifted(target):
    """What the decoder reads: nothing before the first character, then each character
    before the next.
    """
    return np.concatenate(
        [np.full_like(target[..., :1], PAD), target[..., :-1]], axis=-1
    )


def start(seed, d=32, d_h=32):
    """Untrained parameters: those of the encoder, of the decoder, the table of
    characters, and the way to the logits.
    """
    rng, V = np.random.default_rng(seed), len(VOCAB)
    shapes = {
        "encoder.W_x": (d, 4 * d_h),
        "encoder.W_h": (d_h, 4 * d_h),
        "decoder.W_x": (d, d_h),
        "decoder.W_h": (d_h, d_h),
        "W_C": (d_h, V),
        "W_D": (d_h, V),
    }
    P = {
        name: rng.standard_normal(shape) / shape[0] ** 0.5
        for name, shape in shapes.items()
    }
    P |= {
        "E": rng.standard_normal((V, d)),
        "encoder.b": np.zeros(4 * d_h),
        "decoder.b": np.zeros(d_h),
    }
    return {name: p.astype(np.float32) for name, p in P.items()}


def states(source, written, P, half=tfbook.numpy):
    """Hidden states of the encoder and of the decoder, which starts from the last.

    Returns
    -------
    H_enc : array, shape (..., T_k, d_h)
    H_dec : array, shape (..., T, d_h)
    """
    names = "W_x", "W_h", "b"
    encoder, decoder = (
        {n: P[f"{part}.{n}"] for n in names}
        for part in ("encoder", "decoder")
    )
    H_enc = half.lstm(half.embed(source, P["E"]), encoder)
    h_0 = H_enc[..., -1, :]
    H_dec = half.rnn(half.embed(written, P["E"]), **decoder, h_0=h_0)
    return H_enc, H_dec


def logits(source, written, P, half=tfbook.numpy, attend=True, mask=True):
    """Guess each character of the target, with attention or without."""
    H_enc, H_dec = states(source, written, P, half)
    if attend:
        mask = (source != PAD)[..., None, :] & mask
        C = half.scaled_dot_product_attention(H_dec, H_enc, H_enc, mask)
    else:
        C = H_enc[..., -1:, :]
    return C @ P["W_C"] + H_dec @ P["W_D"]


def write(source, P, **options):
    """Let the model write: ten times the most likely next character; tokens
    (..., T).
    """
    written = np.full((*source.shape[:-1], 1), PAD)
    for _ in range(T):
        best = logits(source, written, P, **options)[..., -1:, :].argmax(
            axis=-1
        )
        written = np.concatenate([written, best], axis=-1)
    return written[..., 1:]


def train(seed, attend, steps, batch=64, learning_rate=0.01, each=None):
    """Train by gradient descent (Adam), and call ``each(step, P)`` after every step
    where it is given.
    """
    import torch  # only here: to read and to write, NumPy suffices

    import tfbook.torch
    from tfbook.experiments.study import fit, warmed_up

    rng = np.random.default_rng(seed)
    P = {
        name: torch.tensor(p, requires_grad=True)
        for name, p in start(seed).items()
    }

    def loss():
        texts = zip(pairs(rng, batch), (T_K, T))
        source, target = (tokens(text, length) for text, length in texts)
        written = torch.tensor(shifted(target))
        guesses = logits(
            torch.tensor(source), written, P, tfbook.torch, attend
        )
        return tfbook.torch.cross_entropy(guesses, torch.tensor(target))

    fit(
        P.values(),
        loss,
        steps,
        learning_rate,
        schedule=warmed_up(0),
        clip=1.0,  # a rare steep place must not throw it off
        each=each and (lambda step: each(step, arrays(P))),
    )
    return arrays(P)


def arrays(P):
    """Parameters as NumPy arrays."""
    return {name: p.detach().numpy().copy() for name, p in P.items()}


def drawn(seed, n=500, held_out=False):
    """Dates as :func:`pairs` draws them: their texts, source and target as tokens."""
    texts, targets = pairs(np.random.default_rng(seed), n, held_out)
    return texts, tokens(texts, T_K), tokens(targets, T)


def held_out(n=500):
    """Dates that no model was trained on."""
    return drawn(2**32, n, held_out=True)


def accuracy(P, **options):
    """Share of the held-out dates that a model writes without a fault."""
    _, source, target = held_out()
    return (write(source, P, **options) == target).all(axis=-1).mean()


def loss(P, of=None, **options):
    """Mean over the characters of some dates, by default the held-out ones, in nats."""
    _, source, target = of or held_out()
    return float(
        tfbook.numpy.cross_entropy(
            logits(source, shifted(target), P, **options), target
        )
    )


def record():
    """What the script wrote down: the command, the rates that were tried, the steps,
    and the accuracy at each for every seed, with and without attention.
    """
    return stored.record(FILE)
