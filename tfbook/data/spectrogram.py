"""Sound as frames of frequencies: what a linear layer can read, where the samples
themselves say little.
"""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from tfbook.numpy.checks import expect, floats, whole


def spectrogram(waves, size, hop=None):
    r"""Cut sound into frames that overlap, and say how loud each frequency is in each:
    every frame is a token.

    Parameters
    ----------
    waves : array_like, shape (..., samples)
    size : int
        Samples of a frame, 2 at least.
    hop : int, optional
        Samples from the start of a frame to the start of the next; default: half
        a frame.

    Returns
    -------
    ndarray, shape (..., T, size // 2 + 1)
        T = 1 + (samples − size) // hop frames; samples at the end that fill no frame
        are left out. Channel i stands for i periods a frame, :math:`i \cdot rate /
        size` Hz. A pure tone of amplitude a with a whole number of periods a frame has
        the value a in its channel, a/2 in the two beside it, and 0 elsewhere.

    Raises
    ------
    ValueError
        Where a size is not a whole number, or the sound is shorter than a frame.

    Notes
    -----
    Each frame is multiplied by a Hann window, :math:`\frac{1}{2} - \frac{1}{2}
    \cos(2 \pi n / size)`, so that it begins and ends in silence; otherwise its edges
    would sound like frequencies of their own.

    Examples
    --------
    >>> wave = np.cos(
    ...     2 * np.pi * 2 * np.arange(16) / 8
    ... )  # two periods in 8 samples
    >>> spectrogram(wave, size=8).round(2)
    array([[0. , 0.5, 1. , 0.5, 0. ],
           [0. , 0.5, 1. , 0.5, 0. ],
           [0. , 0.5, 1. , 0.5, 0. ]])
    """
    waves, size = floats("waves", waves), whole("size", size, least=2)
    hop = max(size // 2, 1) if hop is None else whole("hop", hop, least=1)
    expect("waves", waves.shape, "(..., samples)")
    if waves.shape[-1] < size:
        short = waves.shape[-1]
        raise ValueError(
            f"waves: expected at least size = {size} samples, got {short}"
        )
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(size) / size)
    # (..., T, size)
    framed = sliding_window_view(waves, size, axis=-1)[..., ::hop, :]
    loud = np.abs(np.fft.rfft(framed * window.astype(waves.dtype)))
    return (4 / size * loud).astype(waves.dtype)
