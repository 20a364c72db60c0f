"""Data that needs no download: what it is like, that it is the same every time, and
that its errors can be acted on.
"""

import builtins
import hashlib
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfbook import data
from tfbook import text as texts


def test_text_is_long_english_of_few_characters():
    text = texts.text()
    assert len(text) > 400_000
    assert 90 < len(texts.characters(text)) < 130
    assert text.count(" the ") > 3000


def test_text_is_the_same_in_every_run_of_one_python():
    code = (
        "import hashlib; from tfbook import text as texts; "
        "print(hashlib.sha256(texts.text().encode()).hexdigest())"
    )
    other = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONHASHSEED": "5"},
    )
    assert hashlib.sha256(texts.text().encode()).hexdigest() == other.stdout.strip()


@given(st.text())
def test_what_is_encoded_can_be_decoded(text):
    vocabulary = texts.characters(text)
    tokens = texts.encode(text, vocabulary)
    assert tokens.shape == (len(text),)
    assert tokens.dtype == np.int64
    assert texts.decode(tokens, vocabulary) == text
    assert len(np.unique(tokens)) == len(vocabulary)


def test_strangers_are_refused():
    with pytest.raises(
        ValueError,
        match="text: expected only characters of the vocabulary, got 'xy' too",
    ):
        texts.encode("yaxa", "ab")
    for token in (-1, 2):
        with pytest.raises(
            IndexError,
            match=f"tokens: expected 0 to 1, got {min(0, token)} to {max(0, token)}",
        ):
            texts.decode([0, token], "ab")


def test_images_are_digits():
    X, y = data.images()
    assert (X.shape, X.dtype, X.min(), X.max()) == ((1797, 8, 8), np.float32, 0, 1)
    assert (y.dtype, set(y)) == (np.int64, set(range(10)))
    mean = np.stack([X[y == digit].mean(axis=0) for digit in range(10)])
    nearest = ((X[:, None] - mean) ** 2).sum(axis=(-1, -2)).argmin(axis=-1)
    assert (nearest == y).mean() > 0.85  # each label goes with its image


def test_images_without_scikit_learn_say_what_to_install(monkeypatch):
    true_import = builtins.__import__

    def no_sklearn(name, *args, **options):
        if name.startswith("sklearn"):
            raise ModuleNotFoundError(name)
        return true_import(name, *args, **options)

    monkeypatch.setattr(builtins, "__import__", no_sklearn)
    with pytest.raises(ImportError, match="pip install scikit-learn"):
        data.images()


def test_nothing_heavy_is_imported_before_it_is_needed():
    code = (
        "import sys, tfbook.data; assert not {'sklearn', 'torch', 'pydoc_data.topics'} "
        "& set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_patches_are_squares_in_reading_order():
    X = np.random.default_rng(0).standard_normal((3, 10, 15))
    tokens = data.patches(X, 5)
    assert tokens.shape == (3, 6, 25)
    for t in range(6):
        row, column = divmod(t, 3)
        square = X[:, 5 * row : 5 * row + 5, 5 * column : 5 * column + 5]
        np.testing.assert_array_equal(tokens[:, t], square.reshape(3, 25))
    with pytest.raises(
        ValueError,
        match=r"size: expected a divisor of height and width = \(10, 15\), got 2",
    ):
        data.patches(X, 2)


def test_sound_has_the_pitch_that_its_label_says():
    waves, melody = data.sound(7, notes=3, pitches=5, samples=512)
    assert (waves.shape, waves.dtype) == ((7, 3 * 512), np.float32)
    assert (melody.shape, melody.dtype) == ((7, 3), np.int64)
    assert abs(waves).max() <= 1
    spectrum = abs(np.fft.rfft(waves.reshape(7, 3, 512), n=1 << 14))
    hertz = np.fft.rfftfreq(1 << 14, 1 / 8000)
    loudest = hertz[spectrum.argmax(axis=-1)]
    # whole tones lie 12 % apart
    np.testing.assert_allclose(loudest, 220 * 2 ** (melody / 6), rtol=0.03)


def test_sound_is_seeded():
    for same in (0, 1):
        one, another = data.sound(2, seed=5), data.sound(2, seed=5 + (1 - same))
        assert (
            np.array_equal(one[0], another[0]) and np.array_equal(one[1], another[1])
        ) == bool(same)


def test_sound_too_high_for_its_rate_is_refused():
    data.sound(1, pitches=16)
    with pytest.raises(
        ValueError,
        match="pitches: expected overtones below rate / 2 = 4000 Hz, got 4191 Hz",
    ):
        data.sound(1, pitches=17)
    with pytest.raises(
        ValueError, match="n: expected a whole number, at least 1, got 0"
    ):
        data.sound(0)


def test_frames_are_runs_of_samples():
    waves = np.random.default_rng(0).standard_normal((2, 3, 35))
    tokens = data.frames(waves, 7)
    assert tokens.shape == (2, 3, 5, 7)
    np.testing.assert_array_equal(tokens[..., 2, :], waves[..., 14:21])
    with pytest.raises(
        ValueError, match="size: expected a divisor of samples = 35, got 4"
    ):
        data.frames(waves, 4)
