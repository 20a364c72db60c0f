"""Attention without the attention matrix: one block of scores at a time, an online softmax between them."""

import numpy as np

from tfbook.numpy.attention import attention_scores, weighted_mean
from tfbook.numpy.checks import expect, expect_broadcast, expect_mask, floats, whole


def streaming_attention(Q, K, V, mask=None, causal=False, scale=None, block=128):
    r"""Compute scaled dot-product attention exactly, in extra memory O(T·d) rather than O(T²).

    A softmax needs its whole row only for two numbers, the largest score m and the sum Z of the exponentials. Both can be
    kept while the keys stream by: where a block raises m, what was summed so far shrinks by :math:`e^{m_{old} - m}`.

    Parameters
    ----------
    Q : array_like, shape (..., T, d_k)
        Queries.
    K : array_like, shape (..., T_k, d_k)
        Keys.
    V : array_like, shape (..., T_k, d_v)
        Values.
    mask : array_like of bool, broadcasts to (..., T, T_k), optional
        True where the query may attend to the key.
    causal : bool
        Apply :func:`causal_mask` as well, without ever storing it whole.
    scale : float, optional
        Factor of the dot products; :math:`1/\sqrt{d_k}` unless told.
    block : int
        Queries and keys taken at a time. Any gives the same answer.

    Returns
    -------
    ndarray, shape (..., T, d_v)

    Raises
    ------
    ValueError
        Where the shapes do not fit together, the mask is not boolean, or the block is less than 1.

    Notes
    -----
    Source: Milakov and Gimelshein, arXiv 1805.02867 (online softmax); Rabe and Staats, arXiv 2112.05682; Dao et al.,
    arXiv 2205.14135 (flash attention).

    Examples
    --------
    >>> Q, K, V = np.eye(3), np.eye(3), np.arange(6.0).reshape(3, 2)
    >>> from tfbook.numpy import scaled_dot_product_attention
    >>> bool(np.allclose(streaming_attention(Q, K, V, block=2), scaled_dot_product_attention(Q, K, V)))
    True
    """
    Q, K, V, block = floats("Q", Q), floats("K", K), floats("V", V), whole("block", block, least=1)
    expect("Q", Q.shape, "(..., T, d_k)")
    expect("K", K.shape, "(..., T_k, d_k)", d_k=Q.shape[-1])
    expect("V", V.shape, "(..., T_k, d_v)", T_k=K.shape[-2])
    T, T_k = Q.shape[-2], K.shape[-2]
    expect_broadcast("K", K.shape[:-2], Q.shape[:-2], "the leading axes of Q")
    leading = np.broadcast_shapes(Q.shape[:-2], K.shape[:-2])
    if mask is not None:
        mask = np.asarray(mask)
        expect_mask(mask.dtype, mask.shape, (*leading, T, T_k))
        leading = np.broadcast_shapes(leading, mask.shape[:-2])
    expect_broadcast("V", V.shape[:-2], leading, "the leading axes of Q and K")
    leading = np.broadcast_shapes(leading, V.shape[:-2])

    Y = np.empty((*leading, T, V.shape[-1]), np.result_type(Q, K, V))
    for start in range(0, T, block):
        rows = slice(start, min(start + block, T))
        Y[..., rows, :] = _one_block_of_queries(Q, K, V, mask, causal, scale, block, rows, leading)
    return Y


def _one_block_of_queries(Q, K, V, mask, causal, scale, block, rows, leading):
    T, T_k, n, dtype = Q.shape[-2], K.shape[-2], rows.stop - rows.start, np.result_type(Q, K, V)
    last = rows.stop + T_k - T if causal else T_k  # no query of the block may attend to a key behind it
    Q = Q[..., rows, :]
    m = np.full((*leading, n, 1), -np.inf, dtype)  # largest score so far
    Z = np.zeros((*leading, n, 1), dtype)          # sum of exp(score - m) so far
    Y = np.zeros((*leading, n, V.shape[-1]), dtype)  # sum of exp(score - m) · value so far
    for start in range(0, last, block):
        keys = slice(start, min(start + block, last))
        S = attention_scores(Q, K[..., keys, :], scale=scale)
        allowed = _block_of_mask(mask, causal, T, T_k, rows, keys)
        if allowed is not None:
            S = np.where(allowed, S, S.dtype.type(-np.inf))
        m_new = np.maximum(m, S.max(axis=-1, keepdims=True))
        shift = np.where(np.isneginf(m_new), 0, m_new).astype(S.dtype)  # no key so far: -inf - -inf is not a number
        E, shrink = np.exp(S - shift), np.exp(m - shift)
        Z = Z * shrink + E.sum(axis=-1, keepdims=True)
        Y = Y * shrink + weighted_mean(E, V[..., keys, :], allowed)
        m = m_new
    return Y / np.where(Z == 0, 1, Z).astype(Z.dtype)


def _block_of_mask(mask, causal, T, T_k, rows, keys):
    """The part of the mask that rows and keys meet in; None where all may attend."""
    allowed = None
    if mask is not None:
        mask = np.broadcast_to(mask, (*mask.shape[:-2], T, T_k)) if mask.ndim > 1 else np.broadcast_to(mask, (T, T_k))
        allowed = mask[..., rows, keys]
    if causal and keys.stop > rows.start + T_k - T + 1:
        n = rows.stop - rows.start
        band = np.tri(n, keys.stop - keys.start, k=rows.start + T_k - T - keys.start, dtype=bool)
        allowed = band if allowed is None else allowed & band
    return allowed
