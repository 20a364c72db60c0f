"""Input embedding: from tokens to vectors."""

import tfbook.numpy as reference
from tfbook.numpy.checks import expect_tokens
from tfbook.torch.checks import twin, where_known


@twin(reference.embed)
def embed(tokens, E, P=None):
    """
    >>> import torch
    >>> E = torch.tensor([[0.0, 0.0], [1.0, 10.0], [2.0, 20.0]])
    >>> embed(
    ...     torch.tensor([2, 0, 2]),
    ...     E,
    ...     P=torch.tensor([[0.1, 0.1], [0.2, 0.2], [0.3, 0.3]]),
    ... )
    tensor([[ 2.1000, 20.1000],
            [ 0.2000,  0.2000],
            [ 2.3000, 20.3000]])
    """
    where_known(expect_tokens, "tokens", tokens, len(E))
    X = E[tokens]  # (..., T, d)
    return X if P is None else X + P.to(X)
