"""Bytes that a computation moves to and from main memory, counted exactly, and the
FLOPs that it does with them.

A *kernel* is one program that a device runs: it reads its inputs from main memory,
keeps what it works on in small memory on the chip, and writes its result back. So each
kernel reads every input once and writes every output once, and what one kernel hands to
the next goes out and comes back. FLOPs are those of matrix products, a multiply-add
being 2, as everywhere in :mod:`tfbook.cost`; whole matrices are counted even where a
mask hides a part.
"""

from dataclasses import dataclass
from math import isqrt

from tfbook.cost.row import whole


@dataclass(frozen=True)
class Traffic:
    """What a computation reads and writes, and what it computes.

    Attributes
    ----------
    read, written : int
        Bytes from and to main memory.
    flops : int
        FLOPs of matrix products.

    Examples
    --------
    >>> both = Traffic(read=6, written=2, flops=16) + Traffic(
    ...     read=4, written=4, flops=0
    ... )
    >>> both.bytes, both.intensity
    (16, 1.0)
    """

    read: int
    written: int
    flops: int

    @property
    def bytes(self):
        """Bytes moved, both ways together."""
        return self.read + self.written

    @property
    def intensity(self):
        """Arithmetic intensity: FLOPs for each byte moved."""
        return self.flops / self.bytes

    def __add__(self, other):
        return Traffic(
            self.read + other.read,
            self.written + other.written,
            self.flops + other.flops,
        )


def product(a, b, c, size=2, n=1):
    """Count n products of an (a × b) with a (b × c) matrix, in one kernel.

    Parameters
    ----------
    a, b, c : int
        Sizes of the matrices.
    size : int
        Bytes of a number.
    n : int
        Products, each with matrices of its own.

    Returns
    -------
    Traffic

    Raises
    ------
    ValueError
        Where a size is not a whole number from 1 on.

    Examples
    --------
    >>> product(1, 4096, 4096).intensity < 1 < 500 < product(
    ...     4096, 4096, 4096
    ... ).intensity
    True
    """
    a, b, c, size, n = (
        whole(name, x)
        for name, x in dict(a=a, b=b, c=c, size=size, n=n).items()
    )
    return Traffic(
        n * size * (a * b + b * c), n * size * a * c, 2 * n * a * b * c
    )


def plain_attention(T, d_k, d_v=None, T_k=None, H=1, H_kv=None, size=2):
    """Count attention in three kernels: scores, softmax, mix. Four times the whole T ×
    T_k matrix passes through main memory.

    Parameters
    ----------
    T : int
        Queries.
    d_k, d_v : int
        Channels of a head's queries and keys, and of its values; default: d_v = d_k.
    T_k : int, optional
        Keys; default: as many as queries.
    H, H_kv : int
        Query heads, and key/value heads that they share, each read once by all heads
        that share it; default: H.
    size : int
        Bytes of a number.

    Returns
    -------
    dict of str to Traffic
        Of each kernel, in order.

    Raises
    ------
    ValueError
        Where a size is not a whole number from 1 on, or H_kv does not divide H.

    Notes
    -----
    Source: Dao et al., arXiv 2205.14135, algorithm 0. A row is taken to fit on
    the chip, so that the softmax is one kernel.

    Examples
    --------
    >>> kernels = plain_attention(T=1024, d_k=64)
    >>> {name: kernel.bytes for name, kernel in kernels.items()}
    {'scores': 2359296, 'softmax': 4194304, 'mix': 2359296}
    """
    T, T_k, d_k, d_v, H, H_kv, size = _sizes(T, T_k, d_k, d_v, H, H_kv, size)
    group, pairs = H // H_kv, H * T * T_k
    return {
        "scores": product(group * T, d_k, T_k, size, H_kv),
        "softmax": Traffic(size * pairs, size * pairs, 0),
        "mix": product(group * T, T_k, d_v, size, H_kv),
    }


def fused_attention(
    T, d_k, d_v=None, T_k=None, H=1, H_kv=None, size=2, chip=2**17
):
    """Count attention in one kernel that streams keys and values past blocks of queries
    and stores no score.

    Parameters
    ----------
    T, d_k, d_v, T_k, H, H_kv, size
        As in :func:`plain_attention`.
    chip : int
        Bytes of memory on the chip that one block may use: they decide how many queries
        a block has.

    Returns
    -------
    Traffic
        Every query is read once, every answer written once; keys and values are read
        once for each block of queries.

    Raises
    ------
    ValueError
        Where :func:`plain_attention` does, or not even a block of one query fits.

    Notes
    -----
    The queries of all heads that share a key/value head pass in the same blocks.
    Caches between the chip and main memory are not counted: they can only save reading.

    Source: Dao et al., arXiv 2205.14135, with the loops exchanged as in Dao, arXiv
    2307.08691: queries outside, keys inside.

    Examples
    --------
    >>> (
    ...     fused_attention(T=1024, d_k=64).bytes,
    ...     sum(
    ...         kernel.bytes
    ...         for kernel in plain_attention(T=1024, d_k=64).values()
    ...     ),
    ... )
    (2097152, 8912896)
    """
    T, T_k, d_k, d_v, H, H_kv, size = _sizes(T, T_k, d_k, d_v, H, H_kv, size)
    block = block_of(d_k, d_v, size, chip)
    # queries that share one key/value head
    rows = H // H_kv * T
    passes = -(-rows // block)
    read = H * T * d_k + passes * H_kv * T_k * (d_k + d_v)
    return Traffic(
        size * read, size * H * T * d_v, 2 * H * T * T_k * (d_k + d_v)
    )


def block_of(d_k, d_v=None, size=2, chip=2**17):
    """Queries, and as many keys, that fit on the chip with their values, their answers
    and their scores.

    Parameters
    ----------
    d_k, d_v, size, chip
        As in :func:`fused_attention`.

    Returns
    -------
    int
        The largest B with ``B² + 2·B·(d_k + d_v)`` numbers in ``chip`` bytes.

    Raises
    ------
    ValueError
        Where not even B = 1 fits.

    Examples
    --------
    >>> block_of(d_k=64)
    158
    """
    d_k, size, chip = (
        whole("d_k", d_k),
        whole("size", size),
        whole("chip", chip),
    )
    d_v = d_k if d_v is None else whole("d_v", d_v)
    wide = d_k + d_v
    block = isqrt(wide * wide + chip // size) - wide
    if block < 1:
        raise ValueError(
            f"chip: expected at least {size * (1 + 2 * wide)} bytes, for one query and"
            f" one key, got {chip}"
        )
    return block


def _sizes(T, T_k, d_k, d_v, H, H_kv, size):
    T, d_k, H, size = (
        whole("T", T),
        whole("d_k", d_k),
        whole("H", H),
        whole("size", size),
    )
    T_k = T if T_k is None else whole("T_k", T_k)
    d_v = d_k if d_v is None else whole("d_v", d_v)
    H_kv = H if H_kv is None else whole("H_kv", H_kv)
    if H % H_kv:
        raise ValueError(
            f"H_kv: expected a divisor of H = {H}, so that each serves equally many"
            f" heads, got {H_kv}"
        )
    return T, T_k, d_k, d_v, H, H_kv, size
