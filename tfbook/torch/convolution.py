"""Convolution over time: every position sees its neighbours, through the same weights."""

import torch

from tfbook.numpy.checks import expect, flag, whole
from tfbook.torch.checks import alike


def conv1d(X, W, b=None, causal=False):
    r"""Weigh each position and its neighbours: :math:`y_t = \sum_i x_{t+i-\ell}\,W_i`, zeros standing outside the sequence.

    Parameters
    ----------
    X : Tensor, shape (..., T, d_in)
        Tokens.
    W : Tensor, shape (k, d_in, d_out)
        One matrix for each of the k neighbours, from left to right; the kernel is not flipped (cross-correlation).
    b : Tensor, shape (d_out,), optional
    causal : bool
        See the position itself and the k − 1 before it (ℓ = k − 1), not as many on either side (ℓ = (k − 1) / 2).

    Returns
    -------
    Tensor, shape (..., T, d_out)

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
    >>> X, W = torch.tensor([[1.0], [2], [3], [4]]), torch.ones(3, 1, 1)
    >>> conv1d(X, W)[:, 0]
    tensor([3., 6., 9., 7.])
    >>> conv1d(X, W, causal=True)[:, 0]
    tensor([1., 3., 6., 9.])
    """
    X, W = alike(X=X, W=W)
    expect("X", X.shape, "(..., T, d_in)")
    expect("W", W.shape, "(k, d_in, d_out)", d_in=X.shape[-1])
    T, k, causal = X.shape[-2], whole("k", W.shape[0], least=1), flag("causal", causal)
    if k % 2 == 0 and not causal:
        raise ValueError(f"W: expected an odd k, for as many neighbours on either side, got k = {k}; pass causal=True for any k")
    left = k - 1 if causal else k // 2
    padded = torch.nn.functional.pad(X, (0, 0, left, k - 1 - left))  # from the last axis on
    Y = sum(padded[..., i:i + T, :] @ W[i] for i in range(k))
    if b is None:
        return Y
    _, b = alike(X=X, b=b)
    expect("b", b.shape, "(d_out,)", d_out=W.shape[-1])
    return Y + b
