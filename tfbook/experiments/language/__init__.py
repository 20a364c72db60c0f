"""The language model of chapter 12 on its way from noise to words: what a script
measured on the way, and the model at its end.
"""

from functools import partial
from pathlib import Path

import numpy as np

from tfbook.experiments import stored
from tfbook.numpy import (
    attention_weights,
    language_model,
    rotary_attention,
    weighted_mean,
)

FILE = Path(__file__).parent / "language.json"
MODEL = FILE.with_suffix(".npz")
SIZES = {
    "d": 64,
    "H": 4,
    "L": 3,
    "norm": "pre",
    "activation": "gelu",
    "positions": "rotary",
}
TARGETS = ("itself", "previous", "two back", "first", "blank", "induction")


def record():
    """What the script wrote down: command, seed, losses, baselines, and at each step
    that is shown a sample and what comes next.
    """
    return stored.record(FILE)


def load():
    """The model after its last step: its parameters."""
    return stored.parameters(MODEL, "last")


def read(tokens, P, without=()):
    """Read tokens and watch the heads.

    Parameters
    ----------
    tokens : array_like of int, shape (..., T)
    P : dict of ndarray
        The model's parameters.
    without : collection of pair of int
        Heads to silence, each as (layer, head), from 0.

    Returns
    -------
    logits : ndarray, shape (..., T, vocab)
    A : ndarray, shape (L, ..., H, T, T)
        Where each head of each layer looks.
    """
    A = []

    def watched(Q, K, V, mask=None, bias=None, scale=None):
        A.append(attention_weights(Q, K, mask, bias, scale))
        Y = weighted_mean(A[-1], V)  # (..., H, T, d_v)
        silent = [h for l, h in without if l == len(A) - 1]
        Y[..., silent, :, :] = 0
        return Y

    options = {
        name: SIZES[name] for name in ("H", "norm", "activation", "positions")
    }
    logits = language_model(
        tokens,
        P,
        attention=partial(rotary_attention, attention=watched),
        **options,
    )
    return logits, np.stack(A)


def targets(tokens, blanks, period=None):
    """Where each kind of head would look: bool (..., TARGETS, T, T), a row for each
    query; empty where there is no such place.

    Parameters
    ----------
    tokens : ndarray of int, shape (..., T)
    blanks : collection of int
        Tokens that end a word.
    period : int, optional
        Where the text repeats itself after so many tokens, what stood behind the same
        token then is the place of induction.
    """
    T = tokens.shape[-1]
    i, j = np.indices((T, T))
    # (..., T, T)
    blank = np.isin(tokens, list(blanks))[..., None, :] & (j <= i)
    last = blank & (j == np.where(blank, j, -1).max(axis=-1, keepdims=True))
    fixed = [i == j, i - j == 1, i - j == 2, (j == 0) & (i > 2)]
    again = (
        (i - j == period - 1) & (i >= period)
        if period
        else np.zeros((T, T), bool)
    )
    kinds = [*fixed[:4], last, again]
    return np.stack(
        [np.broadcast_to(kind, last.shape) for kind in kinds], axis=-3
    )


def scores(A, at):
    """The mean weight of each head on each kind of target, (L, H, TARGETS), over
    the queries that have one.
    """
    given = np.einsum("lnhij,nqij->lhq", A, at.astype(A.dtype))
    return given / np.maximum(at.any(axis=-1).sum(axis=(0, -1)), 1)


def noise(vocab, n=16, period=32, seed=0):
    """Random tokens, each sequence twice in a row: nothing but looking back can
    foretell the second half. Shape (n, 2·period).
    """
    once = np.random.default_rng(seed).integers(vocab, size=(n, period))
    return np.concatenate([once, once], axis=-1)
