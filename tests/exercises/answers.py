"""Answers to exercises as readers might write them.

A file ``answers_NN.py`` a chapter has two tables by the name of the exercise: ``WRONG``
with pairs of an answer and words of its diagnosis, ``RIGHT`` with answers written
another way than the solution. ``test_answers.py`` tries all of them. Below is what
several chapters' answers use.
"""

import numpy as np


def exp_rows(S, shift):
    E = np.exp(S - shift)
    return E / np.sum(E, axis=-1)[..., None]


def soft(S, axis=-1):
    E = np.exp(S - np.max(S, axis=axis, keepdims=True))
    return E / np.sum(E, axis=axis, keepdims=True)


def scores(Q, K):
    return np.einsum("...id,...jd->...ij", Q, K)


def scaled(Q, K):
    return scores(Q, K) * Q.shape[-1] ** -0.5


def look(Q, K, V):
    return soft(scaled(Q, K)) @ V


def in_float32(*arguments):
    return [x.astype(np.float32) if x.dtype == np.float64 else x for x in arguments]


def ffn(Z, W_1, b_1, W_2, b_2):
    H = Z @ W_1 + b_1
    return np.where(H > 0, H, 0) @ W_2 + b_2
