"""Exercises of chapter 13, beyond text: the loss of words among vectors, and sound as
frames of frequencies.
"""

import numpy as np

from tfbook.exercises.exercise import Exercise

# ---- the loss of words among vectors ----


def word_loss(logits, words):
    target = words[1:]  # what comes after each place
    guess = logits[:-1]
    guess = guess - guess.max(axis=-1, keepdims=True)
    log_p = guess - np.log(np.exp(guess).sum(axis=-1, keepdims=True))
    at = np.flatnonzero(target >= 0)  # where that is a word
    return -log_p[at, target[at]].mean()


def _log_p(logits):
    logits = logits - logits.max(axis=-1, keepdims=True)
    return logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))


def _not_shifted(logits, words):
    at = np.flatnonzero(words >= 0)
    return -_log_p(logits)[at, words[at]].mean()


def _shifted_back(logits, words):
    at = np.flatnonzero(words[:-1] >= 0)
    return -_log_p(logits)[at + 1, words[at]].mean()


def _minus_one_is_last(logits, words):
    target = words[1:]
    return -_log_p(logits)[:-1][np.arange(len(target)), target].mean()


def _minus_one_is_first(logits, words):
    target = np.maximum(words[1:], 0)
    return -_log_p(logits)[:-1][np.arange(len(target)), target].mean()


def _words_after_words(logits, words):
    at = np.flatnonzero((words[1:] >= 0) & (words[:-1] >= 0))
    return -_log_p(logits)[at, words[1:][at]].mean()


def _probability(logits, words):
    at = np.flatnonzero(words[1:] >= 0)
    return -np.exp(_log_p(logits))[at, words[1:][at]].mean()


def _logits_alone(logits, words):
    at = np.flatnonzero(words[1:] >= 0)
    return -logits[at, words[1:][at]].mean()


def _vectors_dropped_first(logits, words):
    at = np.flatnonzero(words >= 0)
    return -_log_p(logits)[at[:-1], words[at[1:]]].mean()


def _overflow(logits, words):
    at = np.flatnonzero(words[1:] >= 0)
    return -(logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True)))[
        at, words[1:][at]
    ].mean()


def _log_of_zero(logits, words):
    at, p = np.flatnonzero(words[1:] >= 0), np.exp(_log_p(logits))
    return -np.log(p[at, words[1:][at]]).mean()


def _word_cases(rng):
    cases = []
    for words, vocab, scale in (
        ([2, -1, -1, -1, 0, 4, 1], 5, 1),
        ([-1, -1, 3, 1, 6, -1, 0, 0, -1], 7, 3),
        ([1, 1, 2, 0, -1, -1], 3, 1),
        ([4, -1, 2, -1, 5, 3], 6, 900),
    ):
        cases.append(
            (
                scale * rng.standard_normal((len(words), vocab)),
                np.array(words),
            )
        )
    return [
        *cases,
        (1000 + rng.standard_normal((5, 4)), np.array([0, 3, -1, 1, 2])),
    ]


# ---- frames of frequencies ----


def loudness(wave, size, hop):
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(size) / size)
    starts = range(0, len(wave) - size + 1, hop)
    framed = np.stack([wave[start : start + size] for start in starts])
    return 4 / size * np.abs(np.fft.rfft(framed * window))


def _loudness(
    wave, size, hop, window=None, measure=np.abs, scale=None, last=0
):
    window = (
        0.5 - 0.5 * np.cos(2 * np.pi * np.arange(size) / size)
        if window is None
        else window
    )
    framed = np.stack(
        [
            wave[start : start + size]
            for start in range(0, len(wave) - size + 1 - last, hop)
        ]
    )
    return (4 / size if scale is None else scale) * measure(
        np.fft.rfft(framed * window)
    )


def _all_channels(wave, size, hop):
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(size) / size)
    framed = np.stack(
        [
            wave[start : start + size]
            for start in range(0, len(wave) - size + 1, hop)
        ]
    )
    return 4 / size * np.abs(np.fft.fft(framed * window))


def _across_frames(wave, size, hop):
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(size) / size)
    framed = np.stack(
        [
            wave[start : start + size]
            for start in range(0, len(wave) - size + 1, hop)
        ]
    )
    return 4 / size * np.abs(np.fft.rfft(framed * window, axis=0))


def _filled_up(wave, size, hop):
    missing = -(len(wave) - size) % hop
    return loudness(
        np.concatenate([wave, np.zeros(missing or hop)]), size, hop
    )


def _wave_cases(rng):
    sizes = (20, 8, 3), (30, 10, 5), (17, 6, 4), (24, 16, 8), (40, 8, 2)
    return [
        (rng.standard_normal(samples), size, hop)
        for samples, size, hop in sizes
    ]


EXERCISES = [
    Exercise(
        "word-loss",
        "13",
        3,
        r"A causal model has read a row in which words and vectors alternate. Write "
        r"<code>word_loss(logits, words)</code>: the mean cross-entropy, in nats, over "
        r"those places after which a <em>word</em> comes. <code>words</code> is "
        r"<code>(T,)</code>, −1 where a vector stands; row t of <code>logits</code>, "
        r"<code>(T, vocab)</code>, is the guess of what comes after place t.",
        "The word at place t + 1 is guessed at place t, whatever stands there. And "
        "beware of −1 as an index.",
        word_loss,
        {
            "Nothing is shifted: row t guesses what comes after place t, not what "
            "stands there.": _not_shifted,
            "The shift goes the wrong way: row t guesses the word at t + "
            "1.": _shifted_back,
            "−1 is taken for the last word of the vocabulary: leave out the places "
            "after which a vector comes.": _minus_one_is_last,
            "A vector is taken for word 0: leave out the places after which a vector "
            "comes.": _minus_one_is_first,
            "The sum is divided by all places: divide by those after which a word "
            "comes.": lambda logits, words: (
                word_loss(logits, words)
                * (words[1:] >= 0).sum()
                / (len(words) - 1)
            ),
            "The sum is divided by all words: one at the very beginning is guessed by "
            "nobody.": lambda logits, words: (
                word_loss(logits, words)
                * (words[1:] >= 0).sum()
                / (words >= 0).sum()
            ),
            "The sum is not divided: the mean is asked for.": lambda logits, words: (
                word_loss(logits, words) * (words[1:] >= 0).sum()
            ),
            "A word after a vector counts too: what has to be a word is the next "
            "token, not the present one.": _words_after_words,
            "The sign is wrong: a likely word has a small, positive "
            "loss.": lambda logits, words: -word_loss(logits, words),
            "This is in bits: use the natural logarithm.": lambda logits, words: (
                word_loss(logits, words) / np.log(2)
            ),
            "The logarithm is missing: this is the mean probability.": _probability,
            "The softmax is missing: a logit is no logarithm of a "
            "probability.": _logits_alone,
            "The vectors are cut out before the shift: a word is guessed at the place "
            "before it, and that may hold a vector.": _vectors_dropped_first,
            "exp overflows on large logits: subtract the maximum of each "
            "row.": _overflow,
            "A small probability becomes 0 in a float, its logarithm −∞: take a "
            "logarithm of the softmax's sum alone.": _log_of_zero,
        },
        _word_cases,
    ),
    Exercise(
        "loudness",
        "13",
        3,
        r"Write <code>loudness(wave, size, hop)</code>: cut the sound into frames of "
        r"<code>size</code> samples (even) that begin every <code>hop</code> samples, "
        r"multiply each by the window \(\frac12 - \frac12 \cos(2 \pi n / "
        r"\mathrm{size})\), n from 0 on, and give the amplitude of every frequency, "
        r"\(\frac{4}{\mathrm{size}}\) times the absolute value of "
        r"<code>np.fft.rfft</code>. A last frame that is not full is left out. Shape "
        r"<code>(T, size // 2 + 1)</code>.",
        "First an array of frames, (T, size). How many starts leave room for a whole "
        "frame?",
        loudness,
        {
            "The window is missing.": lambda wave, size, hop: _loudness(
                wave, size, hop, np.ones(size), scale=2 / size
            ),
            "The window is missing, though its factor is "
            "there.": lambda wave, size, hop: _loudness(
                wave, size, hop, np.ones(size)
            ),
            "np.hanning divides by size − 1: this window divides by "
            "size.": lambda wave, size, hop: _loudness(
                wave, size, hop, np.hanning(size)
            ),
            "The cosine is subtracted: this window is loudest at the "
            "edges.": lambda wave, size, hop: _loudness(
                wave,
                size,
                hop,
                0.5 + 0.5 * np.cos(2 * np.pi * np.arange(size) / size),
            ),
            "The frames do not overlap: they begin every hop samples, not every "
            "size.": lambda wave, size, hop: _loudness(wave, size, size),
            "The real part depends on where in its period a tone begins: take the "
            "absolute value.": lambda wave, size, hop: _loudness(
                wave, size, hop, measure=np.real
            ),
            "This is the power, the square: the amplitude is asked "
            "for.": lambda wave, size, hop: _loudness(
                wave, size, hop, measure=lambda z: np.abs(z) ** 2
            ),
            "The factor 4 / size is missing.": lambda wave, size, hop: (
                _loudness(wave, size, hop, scale=1)
            ),
            "The factor is 2 / size: the window halves a tone once more, so it is 4 / "
            "size.": lambda wave, size, hop: _loudness(
                wave, size, hop, scale=2 / size
            ),
            "The last full frame is missed: a start at len(wave) − size leaves room "
            "for one.": lambda wave, size, hop: _loudness(
                wave, size, hop, last=1
            ),
            "A real sound needs half of the channels: rfft, not fft.": _all_channels,
            "The transform runs across the frames: it belongs to the samples of "
            "each.": _across_frames,
            "Frames are rows, frequencies are columns: this is the other way "
            "round.": lambda wave, size, hop: loudness(wave, size, hop).T,
            "A frame that is not full is left out, not filled with zeros.": _filled_up,
        },
        _wave_cases,
    ),
]
