"""Images and sound that need no download, and how each becomes a sequence of
vectors.
"""

import numpy as np

from tfbook.numpy.checks import expect, floats, whole


def images():
    """Get small images of handwritten digits: those that scikit-learn brings with it.

    Returns
    -------
    X : ndarray of float32, shape (1797, 8, 8)
        Ink, from 0 to 1.
    y : ndarray of int64, shape (1797,)
        The digit, 0 to 9.

    Raises
    ------
    ImportError
        Where scikit-learn is not installed.

    Notes
    -----
    Source: Alpaydin and Kaynak, Optical Recognition of Handwritten Digits, UCI
    Machine Learning Repository.

    Examples
    --------
    >>> X, y = images()
    >>> X.shape, y[:5]
    ((1797, 8, 8), array([0, 1, 2, 3, 4]))
    """
    try:
        from sklearn.datasets import load_digits
    except ImportError as error:
        raise ImportError(
            "images() takes its digits from scikit-learn: pip install scikit-learn"
        ) from error
    digits = load_digits()
    return (digits.images / 16).astype(np.float32), digits.target.astype(
        np.int64
    )


def patches(X, size):
    """Cut images into squares, row by row: each square is a token, its pixels are the
    channels.

    Parameters
    ----------
    X : array_like, shape (..., height, width)
    size : int
        Pixels on a side; a divisor of both height and width.

    Returns
    -------
    ndarray, shape (..., T, size²)
        T = height / size · width / size.

    Raises
    ------
    ValueError
        Where squares of this size do not fill the image.

    Notes
    -----
    Source: Dosovitskiy et al., arXiv 2010.11929 (vision transformer).

    Examples
    --------
    >>> patches(np.arange(16).reshape(4, 4), 2).astype(int)
    array([[ 0,  1,  4,  5],
           [ 2,  3,  6,  7],
           [ 8,  9, 12, 13],
           [10, 11, 14, 15]])
    """
    X, size = floats("X", X), whole("size", size, least=1)
    expect("X", X.shape, "(..., height, width)")
    height, width = X.shape[-2:]
    if height % size or width % size:
        raise ValueError(
            f"size: expected a divisor of height and width = {(height, width)}, got"
            f" {size}"
        )
    X = X.reshape(*X.shape[:-2], height // size, size, width // size, size)
    X = np.swapaxes(X, -2, -3)  # (..., rows, columns, size, size)
    return X.reshape(
        *X.shape[:-4], (height // size) * (width // size), size * size
    )


def sound(n, notes=4, pitches=8, seed=0, rate=8000, samples=256):
    r"""Synthesise short melodies: each note a decaying tone with overtones, over a
    little noise. No recording is used.

    Parameters
    ----------
    n : int
        Melodies.
    notes : int
        Notes of each.
    pitches : int
        Different pitches, whole tones upward from 220 Hz; their overtones must stay
        below half the rate, 16 pitches at 8000 Hz.
    seed : int
        The same seed gives the same melodies.
    rate : int
        Samples a second.
    samples : int
        Samples of a note.

    Returns
    -------
    waves : ndarray of float32, shape (n, notes·samples)
        Sound, from −1 to 1.
    melody : ndarray of int64, shape (n, notes)
        The pitch of each note, from 0.

    Raises
    ------
    ValueError
        Where a size is not a whole number from 1 on, or the rate is too low for the
        highest overtone.

    Notes
    -----
    Pitch p sounds at :math:`220 \cdot 2^{p/6}` Hz.

    Examples
    --------
    >>> waves, melody = sound(3)
    >>> waves.shape, melody.shape
    ((3, 1024), (3, 4))
    """
    n, notes, pitches = (
        whole("n", n, least=1),
        whole("notes", notes, least=1),
        whole("pitches", pitches, least=1),
    )
    rate, samples = (
        whole("rate", rate, least=1),
        whole("samples", samples, least=1),
    )
    overtones = np.array([1, 2, 3])
    if (
        highest := 220 * 2 ** ((pitches - 1) / 6) * overtones[-1]
    ) >= rate / 2:
        raise ValueError(
            f"pitches: expected overtones below rate / 2 = {rate / 2:g} Hz, got"
            f" {highest:.0f} Hz; use fewer pitches"
        )
    rng = np.random.default_rng(seed)
    melody = rng.integers(pitches, size=(n, notes))
    time = np.arange(samples) / rate  # s
    hertz = 220 * 2 ** (melody / 6)
    phase = rng.uniform(0, 2 * np.pi, size=(n, notes))
    # (n, notes, samples)
    turns = 2 * np.pi * hertz[..., None] * time + phase[..., None]
    tone = (np.sin(turns[..., None] * overtones) / overtones).sum(axis=-1) / (
        1 / overtones
    ).sum()
    tone = 0.9 * tone * np.exp(
        -2 * time * rate / samples
    ) + 0.01 * rng.standard_normal(turns.shape)
    return tone.reshape(n, notes * samples).clip(-1, 1).astype(
        np.float32
    ), melody


def frames(waves, size):
    """Cut sound into frames: each frame is a token, its samples are the channels.

    Parameters
    ----------
    waves : array_like, shape (..., samples)
    size : int
        Samples of a frame, a divisor of all.

    Returns
    -------
    ndarray, shape (..., T, size)
        T = samples / size.

    Raises
    ------
    ValueError
        Where frames of this size do not fill the sound.

    Examples
    --------
    >>> frames([1, 2, 3, 4, 5, 6], 3).astype(int)
    array([[1, 2, 3],
           [4, 5, 6]])
    """
    waves, size = floats("waves", waves), whole("size", size, least=1)
    expect("waves", waves.shape, "(..., samples)")
    if waves.shape[-1] % size:
        raise ValueError(
            f"size: expected a divisor of samples = {waves.shape[-1]}, got {size}"
        )
    return waves.reshape(*waves.shape[:-1], waves.shape[-1] // size, size)
