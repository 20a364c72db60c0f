"""Guesses from counts: what a model of text has to beat."""

import math

import numpy as np

from tfbook.numpy.checks import expect, expect_tokens, integers, whole


def uniform_loss(vocab):
    """The loss of a guess among all tokens alike, in nats: log(vocab)."""
    return math.log(whole("vocab", vocab, least=1))


def ngram_loss(tokens, held_out, n, vocab, smoothing=0.1):
    r"""Count which token follows each n − 1 tokens, guess by these counts elsewhere,
    and take the mean surprise.

    Parameters
    ----------
    tokens, held_out : array_like of int, shape (N,)
        Text to count in, and text to guess.
    n : int
        1 for the frequencies alone (unigram), 2 for those after one token (bigram), and
        so on; vocabⁿ counts are kept.
    vocab : int
        Tokens there are.
    smoothing : float
        Added to every count, so that what was never seen is not held impossible.

    Returns
    -------
    float
        Cross-entropy in nats a token, over the tokens of ``held_out`` that have n − 1
        before them.

    Raises
    ------
    ValueError
        Where a text is too short.
    IndexError
        Where a token is not in the vocabulary.

    Notes
    -----
    The chance of token x after c is :math:`(N_{cx} + s) / (N_c + s\,V)`, with s
    the smoothing and V the size of the vocabulary.

    Examples
    --------
    >>> round(
    ...     ngram_loss([0, 1] * 50, [1, 0, 1, 0], n=1, vocab=2), 3
    ... )  # a coin
    0.693
    >>> round(
    ...     ngram_loss([0, 1] * 50, [1, 0, 1, 0], n=2, vocab=2), 3
    ... )  # no surprise
    0.002
    """
    n, vocab = whole("n", n, least=1), whole("vocab", vocab, least=1)
    # (contexts, vocab)
    counts = np.bincount(
        grams("tokens", tokens, n, vocab), minlength=vocab**n
    ).reshape(-1, vocab)
    p = (counts + smoothing) / (
        counts.sum(axis=-1, keepdims=True) + smoothing * vocab
    )
    return float(
        -np.log(p.ravel()[grams("held_out", held_out, n, vocab)]).mean()
    )


def grams(name, tokens, n, vocab):
    """Every n tokens in a row as one number, with the digits of base vocab."""
    tokens = integers(name, tokens)
    expect(name, tokens.shape, "(N,)")
    expect_tokens(name, tokens, vocab)
    if len(tokens) < n:
        raise ValueError(
            f"{name}: expected at least n = {n} tokens, got {len(tokens)}"
        )
    return np.lib.stride_tricks.sliding_window_view(
        tokens, n
    ) @ vocab ** np.arange(n - 1, -1, -1)
