"""Convolution over time: every position sees its neighbours, through the same weights."""

import numpy as np

from tfbook.numpy.checks import expect, flag, floats, whole


def conv1d(X, W, b=None, causal=False):
    r"""Weigh each position and its neighbours: :math:`y_t = \sum_i x_{t+i-\ell}\,W_i`, zeros standing outside the sequence.

    Parameters
    ----------
    X : array_like, shape (..., T, d_in)
        Tokens.
    W : array_like, shape (k, d_in, d_out)
        One matrix for each of the k neighbours, from left to right; the kernel is not flipped (cross-correlation).
    b : array_like, shape (d_out,), optional
    causal : bool
        See the position itself and the k − 1 before it (ℓ = k − 1), not as many on either side (ℓ = (k − 1) / 2).

    Returns
    -------
    ndarray, shape (..., T, d_out)

    Raises
    ------
    ValueError
        Where the shapes do not fit together, or k is even without causal, or causal is not a boolean.

    Notes
    -----
    One layer reaches k − 1 positions far, where attention reaches all.

    Source: local receptive fields (introduction).

    Examples
    --------
    >>> X, W = [[1], [2], [3], [4]], [[[1]], [[1]], [[1]]]
    >>> conv1d(X, W)[:, 0]
    array([3., 6., 9., 7.])
    >>> conv1d(X, W, causal=True)[:, 0]
    array([1., 3., 6., 9.])
    """
    X, W = floats("X", X), floats("W", W)
    expect("X", X.shape, "(..., T, d_in)")
    expect("W", W.shape, "(k, d_in, d_out)", d_in=X.shape[-1])
    T, k, causal = X.shape[-2], whole("k", W.shape[0], least=1), flag("causal", causal)
    if k % 2 == 0 and not causal:
        raise ValueError(f"W: expected an odd k, for as many neighbours on either side, got k = {k}; pass causal=True for any k")
    left = k - 1 if causal else k // 2
    padded = np.pad(X, [(0, 0)] * (X.ndim - 2) + [(left, k - 1 - left), (0, 0)])
    Y = sum(padded[..., i:i + T, :] @ W[i] for i in range(k))
    if b is None:
        return Y
    b = floats("b", b)
    expect("b", b.shape, "(d_out,)", d_out=W.shape[-1])
    return Y + b
