"""Attention without the attention matrix: one block of scores at a time, an online
softmax between them.
"""

from functools import partial

import numpy as np

from tfbook.numpy.attention import (
    nonfinite_scores,
    weighted_mean,
    zero_nonfinite,
)
from tfbook.numpy.checks import scale_factor, shapes


@shapes(
    Q="... T d_k",
    K="...H T_k d_k",
    mask="... T T_k",
    V="...H T_k d_v",
    causal="flag",
    scale="number",
    block="size",
    returns="... T d_v",
)
def streaming_attention(
    Q, K, V, mask=None, causal=False, scale=None, block=256
):
    r"""Compute scaled dot-product attention exactly, in extra memory O(T·d) rather than
    O(T²).

    A softmax needs its whole row only for two numbers, the largest score m and the sum
    Z of the exponentials. Both can be kept while the keys stream by: where a block
    raises m, what was summed so far shrinks by :math:`e^{m_{old} - m}`.

    Parameters
    ----------
    Q
        Queries.
    K
        Keys.
    V
        Values.
    mask
        True where the query may attend to the key.
    causal
        Apply :func:`causal_mask` as well, without ever storing it whole.
    scale
        Factor of the dot products; default: :math:`1/\sqrt{d_k}`.
    block
        Queries and keys taken at a time. Any gives the same answer.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        Where the shapes do not fit together, the mask or causal is not boolean, or the
        block is less than 1.

    Notes
    -----
    Source: Milakov and Gimelshein, arXiv 1805.02867 (online softmax); Rabe and
    Staats, arXiv 2112.05682; Dao et al., arXiv 2205.14135 (flash attention).

    Examples
    --------
    >>> Q, K, V = np.eye(3), np.eye(3), np.arange(6.0).reshape(3, 2)
    >>> from tfbook.numpy import scaled_dot_product_attention
    >>> bool(
    ...     np.allclose(
    ...         streaming_attention(Q, K, V, block=2),
    ...         scaled_dot_product_attention(Q, K, V),
    ...     )
    ... )
    True
    """
    T, T_k = Q.shape[-2], K.shape[-2]
    leading = np.broadcast_shapes(Q.shape[:-2], K.shape[:-2])
    if mask is not None:
        leading = np.broadcast_shapes(leading, mask.shape[:-2])
        mask = np.broadcast_to(mask, (*leading, T, T_k))
    dtype = np.result_type(Q, K, V)
    # half precision would lose the small terms of a long sum
    wide = np.promote_types(dtype, np.float32)
    scale = scale_factor(scale, Q.shape[-1])
    scores = partial(
        _scores,
        Q.astype(wide) * scale,
        zero_nonfinite(K).astype(wide, copy=False),
        nonfinite_scores(K),
        mask,
        causal,
    )
    # what is summed up of the ones is Z
    V = np.concatenate([V, np.ones((*V.shape[:-1], 1))], axis=-1, dtype=wide)
    Y = np.empty(
        (*np.broadcast_shapes(leading, V.shape[:-2]), T, V.shape[-1] - 1),
        dtype,
    )
    for rows, blocks in _tiles(T, T_k, causal, block):
        # largest score so far
        m = np.full((*leading, rows.stop - rows.start, 1), -np.inf, wide)
        # sum of exp(score - m) · [value, 1] so far
        y = np.zeros(
            (*Y.shape[:-2], rows.stop - rows.start, V.shape[-1]), wide
        )
        for keys in blocks:
            S, allowed = scores(rows, keys)
            m_new = np.maximum(m, S.max(axis=-1, keepdims=True))
            # no key so far: -inf - -inf is not a number
            shift = np.where(np.isneginf(m_new), wide.type(0), m_new)
            S -= shift
            E = np.exp(S, out=S)  # in place: a tile is the largest array here
            y *= np.exp(m - shift)
            y += weighted_mean(E, V[..., keys, :], allowed)
            m = m_new
        Z = y[..., -1:]
        Y[..., rows, :] = y[..., :-1] / np.where(Z == 0, wide.type(1), Z)
    return Y


def _tiles(T, T_k, causal, block):
    """Blocks of queries, each with the blocks of keys that some query of it may attend
    to.
    """
    for start in range(0, T, block):
        rows = slice(start, min(start + block, T))
        last = rows.stop + T_k - T if causal else T_k
        yield (
            rows,
            [slice(k, min(k + block, last)) for k in range(0, last, block)],
        )


def _scores(Q, K, beyond, mask, causal, rows, keys):
    """One tile of masked scores, and where it may attend (None: everywhere)."""
    S = Q[..., rows, :] @ np.swapaxes(K[..., keys, :], -1, -2)
    if beyond is not None:
        S += beyond[..., keys]
    allowed = None if mask is None else mask[..., rows, keys]
    # how far the first query stands behind the first key
    ahead = rows.start + K.shape[-2] - Q.shape[-2] - keys.start
    if causal and ahead < S.shape[-1] - 1:
        band = np.tri(*S.shape[-2:], k=ahead, dtype=bool)
        allowed = band if allowed is None else allowed & band
    return (
        S if allowed is None else np.where(allowed, S, S.dtype.type(-np.inf))
    ), allowed
