"""Heads: the channels of every token cut into runs, and put together again."""

import numpy as np

from tfbook.numpy.checks import shapes


@shapes(X="... T H*d_k", H="size", returns="... H T d_k")
def split_heads(X, H):
    """Cut the channels into H heads: head h gets the h-th run of d_k channels of every
    token.

    Parameters
    ----------
    X
        Channels of all heads, one head after the other.
    H
        Heads.

    Returns
    -------
    ndarray
        A view where NumPy can make one.

    Raises
    ------
    ValueError
        Where H does not divide the channels.

    Examples
    --------
    >>> split_heads([[1, 2, 3, 4], [5, 6, 7, 8]], 2).astype(int)
    array([[[1, 2],
            [5, 6]],
    <BLANKLINE>
           [[3, 4],
            [7, 8]]])
    """
    X = X.reshape(*X.shape[:-1], H, X.shape[-1] // H)  # (..., T, H, d_k)
    return np.swapaxes(X, -2, -3)


@shapes(X="... H T d_v", returns="... T H*d_v")
def merge_heads(X):
    """Put the channels of all heads side by side again: what :func:`split_heads` cut.

    Parameters
    ----------
    X

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        Where there are fewer than three axes.

    Notes
    -----
    Source: :math:`[head_1 ‖ ⋯ ‖ head_H]`.

    Examples
    --------
    >>> merge_heads([[[1, 2], [5, 6]], [[3, 4], [7, 8]]]).astype(int)
    array([[1, 2, 3, 4],
           [5, 6, 7, 8]])
    """
    H, T, d_v = X.shape[-3:]
    X = np.swapaxes(X, -2, -3)  # (..., T, H, d_v)
    return X.reshape(*X.shape[:-3], T, H * d_v)


@shapes(X="... H_kv T d_k", n="size", returns="... n*H_kv T d_k")
def repeat_heads(X, n):
    """Give each key/value head to n query heads in a row, as grouped-query attention
    does: 0 0 1 1, not 0 1 0 1.

    Parameters
    ----------
    X
        Keys or values of the shared heads.
    n
        Query heads that share one: H / H_kv.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        Where there are fewer than three axes, or n is less than 1.

    Notes
    -----
    Source: Ainslie et al., arXiv 2305.13245 (grouped-query attention).

    Examples
    --------
    >>> repeat_heads([[[1]], [[2]]], 2).ravel()
    array([1., 1., 2., 2.])
    """
    return np.repeat(X, n, axis=-3)
