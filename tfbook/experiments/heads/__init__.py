"""Small causal models that must look at five places at once, one trained for each d and
H: the task, the model, its scores.

A sequence is a block of different tokens, repeated. At every place the model answers
five questions: which token stood one and three back, which came first and third, and
which came next the last time that this token was seen (induction). Two layers of
attention alone, with residuals: what is not attended to cannot be known, so that each
question wants a head.
"""

from pathlib import Path

import numpy as np

from tfbook.experiments import stored
from tfbook.numpy import (
    causal_mask,
    embed,
    multi_head_attention,
    multi_head_weights,
    softmax,
)

QUESTIONS = ("previous", "three back", "first", "third", "induction")
WIDTHS, HEADS, LAYERS = (16, 32, 64, 128), (1, 2, 4, 8), 2
LETTERS, T = "abcdefghij", 16
FILE = Path(__file__).parent / "heads.npz"


def sequences(rng, n):
    """n sequences of T tokens: eight letters in one order, then the same in another."""
    first = rng.random((n, len(LETTERS))).argsort(axis=-1)[:, : T // 2]
    return np.concatenate([first, rng.permuted(first, axis=-1)], axis=-1)


def answer_positions(tokens):
    """Where the answer to each question stands: bool (..., questions, T, T), a row for
    each place that asks.
    """
    i, j = np.indices((T, T))
    # after an earlier place with the same token
    seen = np.zeros((*tokens.shape, T), bool)
    seen[..., 1:] = tokens[..., :, None] == tokens[..., None, :-1]
    fixed = np.stack(
        [i - j == 1, i - j == 3, (j == 0) & (i > 3), (j == 2) & (i > 5)]
    )
    fixed = np.broadcast_to(fixed, (*tokens.shape[:-1], *fixed.shape))
    return np.concatenate(
        [fixed, (seen & (j <= i))[..., None, :, :]], axis=-3
    )


def answers(tokens):
    """The token that answers each question at each place, (..., questions, T), and −1
    where there is none.
    """
    at = answer_positions(tokens)
    found = np.take_along_axis(
        np.broadcast_to(tokens[..., None, None, :], at.shape),
        at.argmax(axis=-1)[..., None],
        axis=-1,
    )[..., 0]
    return np.where(at.any(axis=-1), found, -1)


def start(d, H, seed=0):
    """The untrained model: random parameters, the same each time."""
    rng = np.random.default_rng([d, H, seed])
    Q, V = len(QUESTIONS), len(LETTERS)
    P = {
        "E": rng.standard_normal((V, d)),
        "P": rng.standard_normal((T, d)) / 5,
        "W": rng.standard_normal((d, Q * V)) / d,
    }
    for l in range(LAYERS):
        P |= {
            f"layers.{l}.{name}": rng.standard_normal((d, d)) * d**-0.5
            for name in ("W_Q", "W_K", "W_V", "W_O")
        }
    return {name: p.astype(np.float32) for name, p in P.items()}


def read(tokens, P, H):
    """Return the weights of every layer, (LAYERS, ..., H, T, T), and the logits of
    every answer, (..., questions, T, letters).
    """
    X, mask, A = embed(tokens, P["E"], P["P"]), causal_mask(T), []
    for l in range(LAYERS):
        W_Q, W_K, W_V, W_O = (
            P[f"layers.{l}.{name}"] for name in ("W_Q", "W_K", "W_V", "W_O")
        )
        A.append(multi_head_weights(X, W_Q, W_K, H, mask=mask))
        X = X + multi_head_attention(X, W_Q, W_K, W_V, W_O, H, mask=mask)
    logits = (X @ P["W"]).reshape(*X.shape[:-1], len(QUESTIONS), len(LETTERS))
    return np.stack(A), np.swapaxes(logits, -2, -3)


def measure(tokens, P, H):
    """Score every head, and the answers.

    Returns
    -------
    dict
        ``scores`` (LAYERS, H, questions), the mean weight that a head gives to where an
        answer stands; ``accuracy`` (questions,); ``loss``, in nats.
    """
    (A, logits), at, right = (
        read(tokens, P, H),
        answer_positions(tokens),
        answers(tokens),
    )
    # (n, questions, T)
    asked = right >= 0
    given = np.einsum("lnhij,nqij->lhq", A, at) / asked.sum(axis=(0, -1))
    hit = (logits.argmax(axis=-1) == right) & asked
    sure = np.take_along_axis(
        softmax(logits), np.maximum(right, 0)[..., None], axis=-1
    )[..., 0]
    return {
        "scores": given,
        "accuracy": hit.sum(axis=(0, -1)) / asked.sum(axis=(0, -1)),
        "loss": -np.log(sure[asked]).mean(),
    }


def without(P, H, layer, h):
    """The parameters of a model with one head removed; layers and heads from 0."""
    name, d_k = f"layers.{layer}.W_O", P["E"].shape[1] // H
    W_O = P[name].copy()  # (H · d_k, d)
    W_O[h * d_k : (h + 1) * d_k] = 0
    return P | {name: W_O}


def each_removed(tokens, P, H):
    """The measures of a model without each of its heads in turn, layer by layer."""
    return [
        measure(tokens, without(P, H, layer, h), H)
        for layer in range(LAYERS)
        for h in range(H)
    ]


def held_out(n=200):
    """Sequences that no model was trained on."""
    return sequences(np.random.default_rng(2**32), n)


def load(d, H):
    """A trained model: its parameters."""
    return stored.parameters(FILE, f"{d}.{H}")


def record():
    """What the script wrote down: the command, the seed, and of each model, untrained
    and trained, the measures.
    """
    return stored.record(FILE)
