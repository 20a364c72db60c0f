"""Positions: what tells a set of tokens its order. Added to the tokens, or to the
scores.
"""

import numpy as np

from tfbook.numpy.checks import expect_rows, float_dtype, shapes


@shapes(T="count", d="count", base="positive", returns="T d")
def sinusoidal_positions(T, d, base=10000.0, dtype=np.float64):
    r"""Describe each position by waves from fast to slow: sines on the even channels,
    cosines on the odd.

    Parameters
    ----------
    T
        Positions, 0 to T − 1. There is no largest.
    d
        Channels; where d is odd, the last sine has no cosine.
    base
        The slowest wave takes almost 2π·base positions.
    dtype : dtype
        Of the table.

    Returns
    -------
    ndarray
        Numbers from −1 to 1.

    Raises
    ------
    ValueError
        Where a size is not a whole number, or is negative, the base is not positive, or
        the dtype holds no fractions.

    Notes
    -----
    :math:`PE(p)_{2i} = \sin(p / \text{base}^{2i/d})` and :math:`PE(p)_{2i+1} =
    \cos(p / \text{base}^{2i/d})`.

    Source: PE(i) of Input Embedding; Vaswani et al., arXiv 1706.03762, section 3.5.

    Examples
    --------
    >>> sinusoidal_positions(3, 4).round(2)
    array([[ 0.  ,  1.  ,  0.  ,  1.  ],
           [ 0.84,  0.54,  0.01,  1.  ],
           [ 0.91, -0.42,  0.02,  1.  ]])
    """
    return sinusoids(np.arange(T), d, base).astype(float_dtype(dtype))


def sinusoids(position, d, base=10000.0):
    """Compute the rows of :func:`sinusoidal_positions` for some positions, in float64.

    Parameters
    ----------
    position : ndarray of int, shape (...)
    d, base
        As there.

    Returns
    -------
    ndarray, shape (..., d)
    """
    channel = np.arange(d)
    # 0 0 2 2 4 4 …: a sine and its cosine share one
    frequency = base ** -((channel - channel % 2) / max(d, 1))
    angle = position[..., None] * frequency
    return np.where(channel % 2 == 0, np.sin(angle), np.cos(angle))


@shapes(P="T_max d", T="count", returns="T d")
def learned_positions(P, T):
    """Take the first T rows of a learned table, and refuse to go past its end.

    Parameters
    ----------
    P
        One learned vector for each position.
    T
        Positions, at most ``T_max``.

    Returns
    -------
    ndarray
        A view.

    Raises
    ------
    ValueError
        Where the table ends before T.

    Notes
    -----
    Source: the pre-defined maximum sequence length of Quadratic Complexity is
    that of such a table.

    Examples
    --------
    >>> learned_positions([[0.1], [0.2], [0.3]], 2)
    array([[0.1],
           [0.2]])
    >>> learned_positions([[0.1], [0.2], [0.3]], 4)
    Traceback (most recent call last):
    ValueError: T: expected at most T_max = 3, the rows of the table P, got 4
    """
    expect_rows(P, T)
    return P[:T]


@shapes(H="size", T="count", T_k="count", returns="H T T_k")
def alibi_bias(H, T, T_k=None, dtype=np.float64):
    r"""Penalise distance in the scores, in each head with a slope of its own:
    :math:`-2^{-8h/H}\,|i - j|`.

    The last query stands at the last key, as in :func:`causal_mask`.

    Parameters
    ----------
    H
        Heads, any number; head h = 1 … H.
    T
        Queries.
    T_k
        Keys; default: as many as queries.
    dtype : dtype
        Of the bias.

    Returns
    -------
    ndarray
        Zero where a query meets its own position, negative elsewhere.

    Raises
    ------
    ValueError
        Where a size is not a whole number, there is no head, or the dtype holds no
        fractions.

    Notes
    -----
    The slopes fall from head to head by one factor, for every H. (The authors'
    program mixes two such rows where H is not a power of two; the slopes are then
    others, though as distinct.)

    Source: Press et al., arXiv 2108.12409.

    Examples
    --------
    >>> alibi_bias(2, 3)[0]
    array([[ 0.    , -0.0625, -0.125 ],
           [-0.0625,  0.    , -0.0625],
           [-0.125 , -0.0625,  0.    ]])
    """
    T_k = T if T_k is None else T_k
    slope = 2.0 ** (-8 * np.arange(1, H + 1) / H)
    query, key = np.arange(T_k - T, T_k), np.arange(T_k)
    distance = np.abs(query[:, None] - key)
    return (slope[:, None, None] * -distance).astype(float_dtype(dtype))
