"""Data by their own formulas: the sound taken apart, pictures against their source,
byte pairs under any hash seed.
"""

import os
import subprocess
import sys

import numpy as np
import pytest

from tfbook import data
from tfbook import text as texts
from tfbook.data import melodies
from tfbook.data.spectrogram import spectrogram
from tfbook.numpy.checks import floats

# ---- sound: 0.9 e^(−2t) (sin + sin 2 / 2 + sin 3 / 3) / (1 + 1/2 + 1/3), and noise of
# 0.01 ----


@pytest.mark.parametrize(("rate", "samples"), [(8000, 512), (4000, 256)])
def test_sound_is_made_of_its_overtones(rate, samples):
    waves, melody = data.sound(
        40, notes=3, pitches=5, rate=rate, samples=samples, seed=4
    )
    notes, time = waves.reshape(-1, samples).astype(float), np.arange(samples) / rate
    fall, amplitudes, rest, phases = (
        np.exp(-2 * np.arange(samples) / samples),
        [],
        [],
        [],
    )
    for wave, pitch in zip(notes, melody.ravel()):
        hertz = 220 * 2 ** (pitch / 6)
        basis = np.stack(
            [
                f(2 * np.pi * hertz * k * time) * fall
                for k in (1, 2, 3)
                for f in (np.sin, np.cos)
            ],
            axis=1,
        )
        found = np.linalg.lstsq(basis, wave, rcond=None)[0]
        amplitudes.append(np.hypot(*found.reshape(3, 2).T))
        phases.append(np.arctan2(*found[1::-1]))
        rest.append(wave - basis @ found)
    np.testing.assert_allclose(
        np.mean(amplitudes, axis=0), 0.9 / np.array([1, 2, 3]) * 6 / 11, rtol=0.01
    )
    assert np.std(rest) == pytest.approx(0.01, rel=0.02)
    # each note starts anywhere: a uniform phase deviates by 1.8
    assert np.std(phases) > 1


def test_melodies_use_every_pitch_alike():
    _, melody = data.sound(2000, notes=2, pitches=8, samples=1)
    np.testing.assert_allclose(
        np.bincount(melody.ravel(), minlength=8) / melody.size, 1 / 8, rtol=0.15
    )


def test_frames_of_melodies_are_logarithms_of_a_spectrogram():
    frames, returns, notes = melodies.melodies(20, seed=6)
    waves, all_notes = data.sound(200, seed=6)
    for frame, note, same in zip(frames, notes, returns):
        wave = waves[(all_notes == note).all(axis=1)]
        expected = np.log(1 + 30 * spectrogram(wave, 256))[..., :64]
        assert abs(expected - frame).max(axis=(-1, -2)).min() < 1e-5
        assert same == (note[0] == note[-1])


def test_frames_of_a_spectrogram_are_windowed_cosines():
    wave = np.random.default_rng(0).standard_normal(40)
    S, n = spectrogram(wave, size=12, hop=7), np.arange(12)
    window = 0.5 - 0.5 * np.cos(2 * np.pi * n / 12)
    for t, i in np.ndindex(S.shape):
        part = wave[7 * t : 7 * t + 12] * window
        assert S[t, i] == pytest.approx(
            4 / 12 * abs((part * np.exp(-2j * np.pi * i * n / 12)).sum())
        )
    assert S.shape == (5, 7)


def test_pictures_are_scikit_learn_s():
    from sklearn.datasets import load_digits

    X, y = data.images()
    np.testing.assert_array_equal(16 * X, load_digits().images)
    np.testing.assert_array_equal(y, load_digits().target)


def test_text_is_every_topic_in_the_order_of_its_name():
    from pydoc_data.topics import topics

    written, names = texts.text(), sorted(topics)
    assert len(written) == sum(len(topics[name]) + 2 for name in names) - 2
    for name in names:
        assert written.startswith(topics[name])
        written = written[len(topics[name]) + 2 :]


# ---- byte pairs: the same whatever the hash seed ----

LEARN = """
import itertools
from tfbook.text.byte_pairs import learn_byte_pairs
from tfbook.text import text, characters
# words of two or three letters: many pairs stand equally often, so that any order
# of a set would show
triples = itertools.product("abcdefgh", "ijklmnop", ("", "q", "r"))
words = " ".join(map("".join, triples))
print(learn_byte_pairs(words, merges=150).merges)
print(learn_byte_pairs(text()[:30_000], merges=120).merges, characters(text()))
"""


def under_hash_seed(program, seed):
    environment = {
        **os.environ,
        "PYTHONHASHSEED": str(seed),
        "PYTHONIOENCODING": "utf-8",
    }
    return subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
        encoding="utf-8",
    ).stdout


def test_byte_pairs_are_the_same_under_any_hash_seed():
    found = {under_hash_seed(LEARN, seed) for seed in (0, 1, 2, 3)}
    assert len(found) == 1
    assert found.pop().count("(") > 250


# ---- cuts ----


@pytest.mark.parametrize("shape", [(6, 4), (2, 6, 4), (2, 3, 6, 4)])
def test_patches_can_be_put_together_again(shape):
    X = np.random.default_rng(0).standard_normal(shape)
    tokens = data.patches(X, 2)
    assert tokens.shape == (*shape[:-2], 6, 4)
    back = tokens.reshape(*shape[:-2], 3, 2, 2, 2).swapaxes(-2, -3).reshape(shape)
    np.testing.assert_array_equal(back, X)
    assert data.patches(X.astype(np.float32), 2).dtype == np.float32
    assert (
        data.patches(X.astype(np.int64), 2).dtype
        == floats("X", X.astype(np.int64)).dtype
    )
