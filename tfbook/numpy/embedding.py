"""Input embedding: from tokens to vectors."""

from tfbook.numpy.checks import expect_tokens, shapes


@shapes(tokens="int ... T", E="vocab d", P="T d", returns="... T d")
def embed(tokens, E, P=None):
    r"""Look up the vector of every token and add that of its position: :math:`\tilde
    x_i = E_{x_i} + PE(i)`.

    Parameters
    ----------
    tokens
        Rows of the table, from 0 to vocab − 1.
    E
        One vector for each token of the vocabulary.
    P
        One vector for each position: :func:`sinusoidal_positions` or
        :func:`learned_positions`.

    Returns
    -------
    ndarray
        Same dtype as ``E``, whatever that of ``P``.

    Raises
    ------
    ValueError
        Where tokens are not whole numbers, or ``P`` does not have exactly T rows of d
        channels.
    IndexError
        Where a token is not in the vocabulary; a negative one does not count from the
        end.

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
    expect_tokens("tokens", tokens, len(E))
    X = E[tokens]  # (..., T, d)
    return X if P is None else X + P.astype(X.dtype, copy=False)
