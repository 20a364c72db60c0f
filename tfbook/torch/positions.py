"""Positions: what tells a set of tokens its order. Added to the tokens, or to the scores."""

import torch

from tfbook.numpy.checks import expect, positive, whole
from tfbook.torch.checks import float_dtype, floats


def sinusoidal_positions(T, d, base=10000.0, dtype=torch.float64):
    r"""Describe each position by waves from fast to slow: sines on the even channels, cosines on the odd.

    Parameters
    ----------
    T : int
        Positions, 0 to T − 1. There is no largest.
    d : int
        Channels; where d is odd, the last sine has no cosine.
    base : float
        The slowest wave takes almost 2π·base positions.
    dtype : torch.dtype
        Of the table.

    Returns
    -------
    Tensor, shape (T, d)
        Numbers from −1 to 1.

    Raises
    ------
    ValueError
        Where a size is not a whole number, or is negative, the base is not positive, or the dtype holds no fractions.

    Notes
    -----
    :math:`PE(p)_{2i} = \sin(p / \text{base}^{2i/d})` and :math:`PE(p)_{2i+1} = \cos(p / \text{base}^{2i/d})`.

    Source: PE(i) of Input Embedding; Vaswani et al., arXiv 1706.03762, section 3.5.

    Examples
    --------
    >>> sinusoidal_positions(3, 4, dtype=torch.float32)
    tensor([[ 0.0000,  1.0000,  0.0000,  1.0000],
            [ 0.8415,  0.5403,  0.0100,  0.9999],
            [ 0.9093, -0.4161,  0.0200,  0.9998]])
    """
    T, d, base = whole("T", T), whole("d", d), positive("base", base)
    return waves(torch.arange(T), d, base).to(float_dtype(dtype))


def waves(position, d, base=10000.0):
    """Compute the rows of :func:`sinusoidal_positions` for some positions, in float64.

    Parameters
    ----------
    position : Tensor of int, shape (...), on the CPU: not every GPU has float64
    d, base
        As there.

    Returns
    -------
    Tensor, shape (..., d)
    """
    channel = torch.arange(d)
    frequency = base ** -((channel - channel % 2).double() / max(d, 1))  # 0 0 2 2 4 4 …: a sine and its cosine share one
    angle = position[..., None] * frequency
    return torch.where(channel % 2 == 0, torch.sin(angle), torch.cos(angle))


def learned_positions(P, T):
    """Take the first T rows of a learned table, and refuse to go past its end.

    Parameters
    ----------
    P : Tensor, shape (T_max, d)
        One learned vector for each position.
    T : int
        Positions, at most ``T_max``.

    Returns
    -------
    Tensor, shape (T, d)
        A view.

    Raises
    ------
    ValueError
        Where the table ends before T.

    Notes
    -----
    Source: the pre-defined maximum sequence length of Quadratic Complexity is that of such a table.

    Examples
    --------
    >>> P = torch.tensor([[0.1], [0.2], [0.3]])
    >>> learned_positions(P, 2)
    tensor([[0.1000],
            [0.2000]])
    >>> learned_positions(P, 4)
    Traceback (most recent call last):
    ValueError: T: expected at most T_max = 3, the rows of the table P, got 4
    """
    P, T = floats("P", P), whole("T", T)
    expect("P", P.shape, "(T_max, d)")
    T_max = len(P)
    if T_max < T:
        raise ValueError(f"T: expected at most T_max = {T_max}, the rows of the table P, got {T}")
    return P[:T]


def alibi_bias(H, T, T_k=None, dtype=torch.float64):
    r"""Penalise distance in the scores, in each head with a slope of its own: :math:`-2^{-8h/H}\,|i - j|`.

    The last query stands at the last key, as in :func:`causal_mask`.

    Parameters
    ----------
    H : int
        Heads, any number; head h = 1 … H.
    T : int
        Queries.
    T_k : int, optional
        Keys; as many as queries unless told.
    dtype : torch.dtype
        Of the bias.

    Returns
    -------
    Tensor, shape (H, T, T_k)
        Zero where a query meets its own position, negative elsewhere.

    Raises
    ------
    ValueError
        Where a size is not a whole number, there is no head, or the dtype holds no fractions.

    Notes
    -----
    The slopes fall from head to head by one factor, for every H. (The authors' program mixes two such rows where H is not a
    power of two; the slopes are then others, though as distinct.)

    Source: Press et al., arXiv 2108.12409.

    Examples
    --------
    >>> alibi_bias(2, 3, dtype=torch.float32)[0]
    tensor([[ 0.0000, -0.0625, -0.1250],
            [-0.0625,  0.0000, -0.0625],
            [-0.1250, -0.0625,  0.0000]])
    """
    H, T = whole("H", H, least=1), whole("T", T)
    T_k = T if T_k is None else whole("T_k", T_k)
    slope = 2.0 ** (-8 * torch.arange(1, H + 1).double() / H)
    query, key = torch.arange(T_k - T, T_k), torch.arange(T_k)
    distance = torch.abs(query[:, None] - key)
    return (slope[:, None, None] * -distance).to(float_dtype(dtype))
