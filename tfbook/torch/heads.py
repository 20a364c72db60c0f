"""Heads: the channels of every token cut into runs, and put together again."""

from tfbook.numpy.check_heads import per_head
from tfbook.numpy.checks import expect, whole
from tfbook.torch.checks import floats


def split_heads(X, H):
    """Cut the channels into H heads: head h gets the h-th run of d_k channels of every token.

    Parameters
    ----------
    X : Tensor, shape (..., T, H·d_k)
        Channels of all heads, one head after the other.
    H : int
        Heads.

    Returns
    -------
    Tensor, shape (..., H, T, d_k)
        A view where torch can make one.

    Raises
    ------
    ValueError
        Where H does not divide the channels.

    Examples
    --------
    >>> import torch
    >>> split_heads(torch.tensor([[1.0, 2, 3, 4], [5, 6, 7, 8]]), 2)
    tensor([[[1., 2.],
             [5., 6.]],
    <BLANKLINE>
            [[3., 4.],
             [7., 8.]]])
    """
    X = floats("X", X)
    expect("X", X.shape, "(..., T, H*d_k)")
    d_k = per_head("X", X.shape[-1], H)
    X = X.reshape(*X.shape[:-1], H, d_k)  # (..., T, H, d_k)
    return X.transpose(-2, -3)


def merge_heads(X):
    """Put the channels of all heads side by side again: what :func:`split_heads` cut.

    Parameters
    ----------
    X : Tensor, shape (..., H, T, d_v)

    Returns
    -------
    Tensor, shape (..., T, H·d_v)

    Raises
    ------
    ValueError
        Where there are fewer than three axes.

    Notes
    -----
    Source: :math:`[head_1 ‖ ⋯ ‖ head_H]`.

    Examples
    --------
    >>> import torch
    >>> merge_heads(torch.tensor([[[1.0, 2], [5, 6]], [[3, 4], [7, 8]]]))
    tensor([[1., 2., 3., 4.],
            [5., 6., 7., 8.]])
    """
    X = floats("X", X)
    expect("X", X.shape, "(..., H, T, d_v)")
    H, T, d_v = X.shape[-3:]
    X = X.transpose(-2, -3)  # (..., T, H, d_v)
    return X.reshape(*X.shape[:-3], T, H * d_v)


def repeat_heads(X, n):
    """Give each key/value head to n query heads in a row, as grouped-query attention does: 0 0 1 1, not 0 1 0 1.

    Parameters
    ----------
    X : Tensor, shape (..., H_kv, T, d_k)
        Keys or values of the shared heads.
    n : int
        Query heads that share one: H / H_kv.

    Returns
    -------
    Tensor, shape (..., H_kv·n, T, d_k)

    Raises
    ------
    ValueError
        Where there are fewer than three axes, or n is less than 1.

    Notes
    -----
    Source: Ainslie et al., arXiv 2305.13245 (grouped-query attention).

    Examples
    --------
    >>> import torch
    >>> repeat_heads(torch.tensor([[[1.0]], [[2.0]]]), 2).ravel()
    tensor([1., 1., 2., 2.])
    """
    X = floats("X", X)
    expect("X", X.shape, "(..., H_kv, T, d_k)")
    return X.repeat_interleave(whole("n", n, least=1), dim=-3)
