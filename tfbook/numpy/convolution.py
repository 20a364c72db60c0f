"""Convolution over time: every position sees its neighbours, through the same
weights.
"""

import numpy as np

from tfbook.numpy.checks import expect_kernel, shapes


@shapes(
    X="... T d_in",
    W="k d_in d_out",
    b="d_out",
    causal="flag",
    returns="... T d_out",
)
def conv1d(X, W, b=None, causal=False):
    r"""Weigh each position and its neighbours: :math:`y_t = \sum_i x_{t+i-\ell}\,W_i`,
    zeros standing outside the sequence.

    Parameters
    ----------
    X
        Tokens.
    W
        One matrix for each of the k neighbours, from left to right; the kernel is not
        flipped (cross-correlation).
    b
    causal
        See the position itself and the k − 1 before it (ℓ = k − 1), not as many on
        either side (ℓ = (k − 1) / 2).

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        Where the shapes do not fit together, or k is even without causal, or causal is
        not a boolean.

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
    expect_kernel(W, causal)
    T, k = X.shape[-2], len(W)
    left = k - 1 if causal else k // 2
    padded = np.pad(
        X, [(0, 0)] * (X.ndim - 2) + [(left, k - 1 - left), (0, 0)]
    )
    Y = sum(padded[..., i : i + T, :] @ W[i] for i in range(k))
    return Y if b is None else Y + b
