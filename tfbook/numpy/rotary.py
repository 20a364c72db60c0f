"""Rotary positions: queries and keys turn with their position, so that scores depend on
distance alone.
"""

import math

import numpy as np

from tfbook.numpy.attention import scaled_dot_product_attention
from tfbook.numpy.checks import expect_pairs, expect_scaling, shapes


@shapes(
    X="... T d_k",
    positions="... T",
    base="positive",
    frequencies="_",
    returns="... T d_k",
)
def rotary(
    X, positions=None, base=10000.0, pairs="adjacent", frequencies=None
):
    r"""Turn each pair of channels (2i, 2i+1) by the angle :math:`p /
    \text{base}^{2i/d_k}` at position p.

    Parameters
    ----------
    X
        Queries or keys, d_k even.
    positions
        The position of each token; default: 0 to T − 1.
    base
        The slowest pair takes almost 2π·base positions for one turn.
    pairs : {"adjacent", "halves"}
        Which channels turn together: 2i and 2i+1, or i and i + d_k/2, as in Llama.
    frequencies : array_like, shape (d_k/2,), optional
        The angle that each pair turns by in one position, in radians; default:
        :func:`rotary_frequencies` of the base.

    Returns
    -------
    ndarray
        Every vector as long as before.

    Raises
    ------
    ValueError
        Where d_k is odd, positions or frequencies do not fit, the base is not positive
        or comes beside frequencies, or no pairs have that name.

    Notes
    -----
    Turning by p and by q leaves a dot product that knows only p − q.

    Source: Su et al., arXiv 2104.09864.

    Examples
    --------
    >>> rotary([[1.0, 0.0], [1.0, 0.0]], positions=[0.0, np.pi / 2]).round(3)
    array([[1., 0.],
           [0., 1.]])
    """
    expect_pairs(X, pairs, base, frequencies)
    T, d_k = X.shape[-2:]
    positions = np.arange(T) if positions is None else positions
    if frequencies is None:
        frequencies = rotary_frequencies(d_k, base)
    angle = positions[..., None] * frequencies  # (..., T, d_k / 2)
    cos, sin = np.cos(angle).astype(X.dtype), np.sin(angle).astype(X.dtype)
    if pairs == "halves":
        x, y = np.split(X, 2, axis=-1)
    else:
        x, y = X[..., 0::2], X[..., 1::2]
    turned = x * cos - y * sin, x * sin + y * cos
    turned = np.stack(turned, axis=-2 if pairs == "halves" else -1)
    return turned.reshape(*turned.shape[:-2], d_k)


@shapes(d_k="count", base="positive", factor="positive")
def rotary_frequencies(
    d_k, base=10000.0, scaling=None, factor=1.0, trained=None
):
    r"""Give the angle that each pair of :func:`rotary` turns by in one position:
    :math:`\text{base}^{-2i/d_k}`, slowed down for texts longer than those of training.

    Parameters
    ----------
    d_k
        Channels of a head, even.
    base
        As in :func:`rotary`.
    scaling : {None, "linear", "ntk", "yarn", "llama3"}
        "linear" divides every frequency by the factor. "ntk" enlarges the base, so that
        the slowest pair is slowed down by the factor and the fastest not at all. "yarn"
        divides the frequencies of pairs that turn less than once in ``trained``
        positions, keeps those of pairs that turn more than 32 times, and goes from one
        to the other linearly in the pair's index. "llama3" has 4 turns in place of 32,
        and is linear in the number of turns.
    factor
        How much longer the texts are than those of training, at least 1.
    trained : int, optional
        Positions that the model was trained with: "yarn" needs them, "llama3" takes
        8192 by default, and the others take none.

    Returns
    -------
    ndarray, shape (d_k/2,)
        Radians a position.

    Raises
    ------
    ValueError
        Where d_k is odd, no scaling has that name, the factor is below 1, or a setting
        is missing or has no effect.

    Notes
    -----
    Sources: linear is Chen et al., arXiv 2306.15595; yarn is Peng et al., arXiv
    2309.00071, which also describes ntk, without its factor of the scores; llama3 is
    Grattafiori et al., arXiv 2407.21783.

    Examples
    --------
    >>> rotary_frequencies(4)
    array([1.  , 0.01])
    >>> rotary_frequencies(4, scaling="linear", factor=4)
    array([0.25  , 0.0025])
    """
    trained = expect_scaling(d_k, scaling, factor, trained)
    if scaling == "ntk":
        base = base * factor ** (d_k / max(d_k - 2, 1))
    i = np.arange(d_k // 2)
    frequency = base ** -(2 * i / max(d_k, 1))
    if scaling in (None, "ntk"):
        return frequency
    if scaling == "linear":
        return frequency / factor
    turns = trained * frequency / (2 * np.pi)  # of each pair in training
    if scaling == "llama3":
        kept = np.clip((turns - 1) / (4 - 1), 0, 1)
    else:
        # the pair, as a fraction, that turns n times in training
        turning = lambda n: (
            d_k * math.log(trained / (2 * math.pi * n)) / (2 * math.log(base))
        )
        first = max(math.floor(turning(32)), 0)
        last = min(math.ceil(turning(1)), d_k - 1)
        past = (i - first) / max(last - first, 0.001)
        kept = 1 - np.clip(past, 0, 1)
    return kept * frequency + (1 - kept) * frequency / factor


@shapes(Q="... T d_k", K="...H_kv T_k d_k")
def rotary_attention(
    Q,
    K,
    V,
    mask=None,
    bias=None,
    scale=None,
    base=10000.0,
    attention=scaled_dot_product_attention,
    first=0,
    pairs="adjacent",
    frequencies=None,
):
    """Turn queries and keys by their positions, then attend.

    The last query stands at the last key, as in :func:`causal_mask`. Meant for the
    ``attention`` of :func:`multi_head_attention`.

    Parameters
    ----------
    Q, K, V, mask, bias, scale
        As in :func:`scaled_dot_product_attention`; d_k even.
    base, pairs, frequencies
        As in :func:`rotary`.
    attention : callable
        What comes after the turn.
    first : int
        Position of the first key; it matters where keys meet the queries of other
        calls, as in a ring.

    Returns
    -------
    ndarray, shape (..., T, d_v)

    Raises
    ------
    ValueError
        Where d_k is odd, or as in :func:`scaled_dot_product_attention`.

    Examples
    --------
    >>> K, V = [[9.0, 0.0], [9.0, 0.0]], [[1.0], [2.0]]
    >>> rotary_attention([[9.0, 0.0]], K, V).round(3)  # the near key wins
    array([[2.]])
    """
    T, T_k = Q.shape[-2], K.shape[-2]
    positions = first + np.arange(T_k)
    form = base, pairs, frequencies
    Q, K = rotary(Q, positions[T_k - T :], *form), rotary(K, positions, *form)
    return attention(Q, K, V, mask=mask, bias=bias, scale=scale)
