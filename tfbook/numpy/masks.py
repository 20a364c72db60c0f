"""Masks: True where a query may attend to a key."""

import numpy as np

from tfbook.numpy.checks import expect_lengths, shapes


@shapes(T="count", T_k="count", returns="T T_k")
def causal_mask(T, T_k=None):
    """Let every query attend to its own position and to what came before.

    The last query stands at the last key. So the mask is right with a cache too, where
    T new queries meet T_k > T keys.

    Parameters
    ----------
    T
        Queries.
    T_k
        Keys; default: as many as queries.

    Returns
    -------
    ndarray of bool, shape (T, T_k)
        True where the query may attend to the key.

    Raises
    ------
    ValueError
        Where a size is not a whole number, or is negative.

    Examples
    --------
    >>> causal_mask(3).astype(int)
    array([[1, 0, 0],
           [1, 1, 0],
           [1, 1, 1]])
    >>> causal_mask(2, 4).astype(int)
    array([[1, 1, 1, 0],
           [1, 1, 1, 1]])
    """
    T_k = T if T_k is None else T_k
    return np.tri(T, T_k, k=T_k - T, dtype=bool)


@shapes(lengths="int *", T_k="count")
def padding_mask(lengths, T_k):
    """Hide the padding behind the end of each sequence of a batch.

    Parameters
    ----------
    lengths
        Tokens of each sequence, at most ``T_k``.
    T_k
        Keys, padding included.

    Returns
    -------
    ndarray of bool, shape (..., 1, T_k)
        True where the key is a token; the axis of size 1 stands for every query.

    Raises
    ------
    ValueError
        Where a length is not a whole number from 0 to ``T_k``.

    Examples
    --------
    >>> padding_mask([3, 1], 4).astype(int)
    array([[[1, 1, 1, 0]],
    <BLANKLINE>
           [[1, 0, 0, 0]]])
    """
    expect_lengths(lengths, T_k)
    return np.arange(T_k) < lengths[..., None, None]
