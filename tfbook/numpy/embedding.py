"""Input embedding: from tokens to vectors."""

from tfbook.numpy.checks import expect, expect_tokens, floats, integers


def embed(tokens, E, P=None):
    r"""Look up the vector of every token and add that of its position: :math:`\tilde x_i = E_{x_i} + PE(i)`.

    Parameters
    ----------
    tokens : array_like of int, shape (..., T)
        Rows of the table, from 0 to vocab − 1.
    E : array_like, shape (vocab, d)
        One vector for each token of the vocabulary.
    P : array_like, shape (T, d), optional
        One vector for each position: :func:`sinusoidal_positions` or :func:`learned_positions`.

    Returns
    -------
    ndarray, shape (..., T, d)
        Same dtype as ``E``, whatever that of ``P``.

    Raises
    ------
    ValueError
        Where tokens are not whole numbers, or ``P`` does not have exactly T rows of d channels.
    IndexError
        Where a token is not in the vocabulary; a negative one does not count from the end.

    Notes
    -----
    Source: Input Embedding.

    Examples
    --------
    >>> E = [[0.0, 0.0], [1.0, 10.0], [2.0, 20.0]]
    >>> embed([2, 0, 2], E, P=[[0.1, 0.1], [0.2, 0.2], [0.3, 0.3]])
    array([[ 2.1, 20.1],
           [ 0.2,  0.2],
           [ 2.3, 20.3]])
    """
    tokens, E = integers("tokens", tokens), floats("E", E)
    expect("E", E.shape, "(vocab, d)")
    vocab, d = E.shape
    expect("tokens", tokens.shape, "(..., T)")
    expect_tokens("tokens", tokens, vocab)
    X = E[tokens]  # (..., T, d)
    if P is None:
        return X
    P = floats("P", P)
    expect("P", P.shape, "(T, d)", T=tokens.shape[-1], d=d)
    return X + P.astype(X.dtype, copy=False)
