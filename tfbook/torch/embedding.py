"""Input embedding: from tokens to vectors."""

from tfbook.numpy.checks import expect, expect_tokens
from tfbook.torch.checks import floats, integers


def embed(tokens, E, P=None):
    r"""Look up the vector of every token and add that of its position: :math:`\tilde x_i = E_{x_i} + PE(i)`.

    Parameters
    ----------
    tokens : Tensor of int, shape (..., T)
        Rows of the table, from 0 to vocab − 1.
    E : Tensor, shape (vocab, d)
        One vector for each token of the vocabulary.
    P : Tensor, shape (T, d), optional
        One vector for each position: :func:`sinusoidal_positions` or :func:`learned_positions`.

    Returns
    -------
    Tensor, shape (..., T, d)
        Same dtype and device as ``E``, whatever those of ``P``.

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
    >>> import torch
    >>> E = torch.tensor([[0.0, 0.0], [1.0, 10.0], [2.0, 20.0]])
    >>> embed(torch.tensor([2, 0, 2]), E, P=torch.tensor([[0.1, 0.1], [0.2, 0.2], [0.3, 0.3]]))
    tensor([[ 2.1000, 20.1000],
            [ 0.2000,  0.2000],
            [ 2.3000, 20.3000]])
    """
    E = floats("E", E)
    tokens = integers("tokens", tokens, E.device)
    expect("E", E.shape, "(vocab, d)")
    vocab, d = E.shape
    expect("tokens", tokens.shape, "(..., T)")
    expect_tokens("tokens", tokens, vocab)
    X = E[tokens]  # (..., T, d)
    if P is None:
        return X
    P = floats("P", P)
    expect("P", P.shape, "(T, d)", T=tokens.shape[-1], d=d)
    return X + P.to(X)
