"""A trained language model that reads a text of the reader, in the reader's browser."""

from functools import cache
from typing import ClassVar

import numpy as np

from tfbook.experiments import language
from tfbook.numpy import cross_entropy, embed, layer_norm, token_distribution
from tfbook.text import encode
from tfbook.widgets.base import Figure, table
from tfbook.widgets.controls import Slider
from tfbook.widgets.quantized import packed, rounded

START = "The result of the exp"
VISIBLE = {"\n": "↵", " ": "␣"}


class YourText(Figure):
    """What the language model of chapter 12 makes of a text: the next character, the
    attention of each head, and the guess after each layer.

    The page computes it with language_model.js, from parameters in 8 bits, so it has
    no table. ``compute`` says the same for the tests and for the still.

    Parameters
    ----------
    temperature, top_p : float
        As in :func:`token_distribution`.

    Raises
    ------
    ValueError
        Where a value is not one that its control takes.
    """

    title = "Your own text"
    controls = (
        Slider(
            "temperature",
            "temperature",
            [0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 2],
            between=False,
        ),
        Slider(
            "top_p",
            "top-p",
            [0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1],
            between=False,
        ),
    )
    default: ClassVar = {"temperature": 1, "top_p": 1}

    def compute(self, temperature, top_p):
        return reading(START, temperature, top_p)

    def constants(self):
        record = language.record()
        return {
            "start": START,
            "vocabulary": record["vocabulary"],
            "T": record["T"],
            "H": record["H"],
            "parameters": packed(language.load()),
        }

    @classmethod
    def table(cls):
        return {}

    def still(self):
        vocabulary = language.record()["vocabulary"]
        p = self.compute(**self.state)["next"]
        rows = "".join(
            f"<tr><th scope=row>{VISIBLE.get(vocabulary[i], vocabulary[i])}</th>"
            f"<td>{100 * p[i]:.0f} %</td></tr>"
            for i in np.argsort(-p, kind="stable")[:6]
        )
        head = "<th scope=col>next</th><th scope=col>probability</th>"
        return table(f"What the model expects after “{START}”", head, rows)


def reading(text, temperature=1, top_p=1):
    """What the figure shows of a text at its last character.

    Parameters
    ----------
    text : str
        Characters that the model does not know are left out; it reads the last of the
        others, see :func:`context`.
    temperature, top_p : float
        As in :func:`token_distribution`.

    Returns
    -------
    dict
        ``next`` (vocab,), the probabilities of the next character; ``lens`` (L + 1,
        vocab), those after the embedding and after each layer, at temperature 1;
        ``weights`` (L, H, T), the attention of the last character; ``bits``, what each
        character but the first cost on average.
    """
    vocabulary = language.record()["vocabulary"]
    known = "".join(c for c in text if c in vocabulary)
    tokens = context(encode(known, vocabulary), language.record()["T"])
    lens, A = read(tuple(tokens.tolist()))
    logits, following = lens[-1], tokens[1:]
    nats = cross_entropy(logits[:-1], following) if following.size else np.nan
    return {
        "next": token_distribution(logits[-1], temperature, top_p=top_p),
        "lens": token_distribution(lens[:, -1]),
        "weights": A[:, :, -1],
        "bits": round(float(nats / np.log(2)), 6),
    }


@cache
def read(tokens):
    """Read tokens with the parameters that the page has.

    Parameters
    ----------
    tokens : tuple of int, length T

    Returns
    -------
    lens : ndarray, shape (L + 1, T, vocab)
        Logits of the model with its first 0 to L layers alone.
    A : ndarray, shape (L, H, T, T)
        Attention weights.
    """
    P, L = rounded(language.load()), language.SIZES["L"]
    X = embed(tokens, P["E"])
    lens = [layer_norm(X, P["gamma_f"], P["beta_f"]) @ P["E"].T]
    for l in range(L):
        later = tuple(f"layers.{k}." for k in range(l + 1, L))
        first = {name: P[name] for name in P if not name.startswith(later)}
        logits, A = language.read(tokens, first)
        lens.append(logits)
    return np.stack(lens), A


def context(tokens, T=64):
    """What the model reads of a sequence: all of it up to the T tokens of its
    training; of a longer one the end, which begins at a multiple of T / 2, so that
    most new tokens find their keys and values kept.

    Examples
    --------
    >>> [len(context(range(n), T=8)) for n in (3, 8, 9, 12, 13)]
    [3, 8, 5, 8, 5]
    """
    step = T // 2
    return tokens[max(0, -(-(len(tokens) - T) // step)) * step :]
