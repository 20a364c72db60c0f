"""Chapter 13: answers as a reader might write them."""

import numpy as np
import torch

from tfbook.data.spectrogram import spectrogram


def by_torch(logits, words):
    target = torch.tensor(words[1:]).long()
    return torch.nn.functional.cross_entropy(
        torch.tensor(logits[:-1]), target, ignore_index=-1
    ).item()


def by_torch_with_vectors(logits, words):
    target = torch.tensor(words[1:] % logits.shape[1])
    return torch.nn.functional.cross_entropy(torch.tensor(logits[:-1]), target).item()


def by_probabilities(logits, words):
    at = np.flatnonzero(words[1:] >= 0)
    return -torch.tensor(logits).softmax(dim=-1)[at, words[1:][at]].log().mean().item()


def by_loop(logits, words, first=1, count=None):
    losses = []
    for t in range(first, len(words)):
        if words[t] >= 0:
            s = logits[t - 1]
            losses.append(s.max() + np.log(np.exp(s - s.max()).sum()) - s[words[t]])
    return sum(losses) / (count or len(losses))


def one_frame_at_a_time(wave, size, hop, window=True, end=1):
    rows = []
    n = np.arange(size)
    for start in range(0, len(wave) - size + end, hop):
        frame = wave[start : start + size] * (
            np.sin(np.pi * n / size) ** 2 if window else 1
        )
        waves = np.exp(-2j * np.pi * np.outer(np.arange(size // 2 + 1), n) / size)
        rows.append(4 / size * abs(waves @ frame))
    return np.array(rows)


WRONG = {
    "word-loss": [
        (
            lambda logits, words: by_loop(np.roll(logits, -1, axis=0), words, first=0),
            "Nothing is shifted",
        ),
        (
            lambda logits, words: by_loop(logits, words, count=len(words) - 1),
            "divided by all places",
        ),
        (
            lambda logits, words: by_loop(logits, words, count=(words >= 0).sum()),
            "divided by all words",
        ),
        (by_torch_with_vectors, "last word of the vocabulary"),
        (by_probabilities, "A small probability becomes 0"),
        (lambda logits, words: by_loop(logits, words) / np.log(2), "in bits"),
        (lambda logits, words: by_loop(logits, words) + 1e-3, "Not yet"),
    ],
    "loudness": [
        (
            lambda wave, size, hop: one_frame_at_a_time(wave, size, hop, window=False),
            "window is missing",
        ),
        (
            lambda wave, size, hop: one_frame_at_a_time(wave, size, hop, end=0),
            "last full frame is missed",
        ),
        (
            lambda wave, size, hop: one_frame_at_a_time(wave, size, size),
            "do not overlap",
        ),
        (lambda wave, size, hop: spectrogram(wave, size, hop) / 2, "2 / size"),
        (lambda wave, size, hop: spectrogram(wave, size, hop) ** 2, "Not yet"),
    ],
}
RIGHT = {
    "word-loss": [by_torch, by_loop],
    "loudness": [one_frame_at_a_time, spectrogram],
}
