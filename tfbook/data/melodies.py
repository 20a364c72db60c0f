"""A question about melodies whose answer lies in no single note: does the last note
repeat the first?
"""

import numpy as np

from tfbook.data import sound
from tfbook.data.spectrogram import spectrogram

# samples of a frame; frequencies kept, up to 2000 Hz
FRAME, CHANNELS = (256, 64)


def melodies(n, seed=0):
    """Synthesise melodies of four notes, half of which end on the note that they began
    with.

    Parameters
    ----------
    n : int
        Melodies, an even number.
    seed : int

    Returns
    -------
    frames : ndarray of float32, shape (n, 7, 64)
        Logarithms of a :func:`spectrogram`; frames of a note's length, each half a
        frame after the one before.
    returns : ndarray of int64, shape (n,)
        1 where the last note is the first.
    notes : ndarray of int64, shape (n, 4)

    Raises
    ------
    ValueError
        Where n is odd.

    Examples
    --------
    >>> frames, returns, notes = melodies(20)
    >>> (
    ...     frames.shape,
    ...     int(returns.sum()),
    ...     int((notes[:, 0] == notes[:, 3]).sum()),
    ... )
    ((20, 7, 64), 10, 10)
    """
    if n % 2:
        raise ValueError(f"n: expected an even number, got {n}")
    # one in eight returns by chance
    waves, notes = sound(max(6 * n, 200), seed=seed)
    same = notes[:, 0] == notes[:, -1]
    kept = np.concatenate(
        [np.flatnonzero(same)[: n // 2], np.flatnonzero(~same)[: n // 2]]
    )
    kept = np.random.default_rng([seed, 1]).permutation(kept)
    frames = np.log1p(30 * spectrogram(waves[kept], FRAME))[..., :CHANNELS]
    return frames.astype(np.float32), same[kept].astype(np.int64), notes[kept]
