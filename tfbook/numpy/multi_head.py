"""Multi-head attention: several attentions side by side, each on channels of
its own.
"""

import numpy as np

from tfbook.numpy.attention import (
    attention_weights,
    scaled_dot_product_attention,
)
from tfbook.numpy.check_heads import for_heads
from tfbook.numpy.checks import shapes
from tfbook.numpy.heads import merge_heads, split_heads


@shapes(
    X="... T d",
    W_Q="d H*d_k",
    W_K="d H_kv*d_k",
    W_V="d H_kv*d_v",
    W_O="H*d_v d",
    H="size",
    H_kv="divides H",
    context="... T_k d = X",
    mask="... T T_k",
    bias="H T T_k",
    b_Q="H*d_k",
    b_K="H_kv*d_k",
    b_V="H_kv*d_v",
    b_O="d",
    returns="... T d",
)
def multi_head_attention(
    X,
    W_Q,
    W_K,
    W_V,
    W_O,
    H,
    H_kv=None,
    mask=None,
    bias=None,
    context=None,
    attention=scaled_dot_product_attention,
    b_Q=None,
    b_K=None,
    b_V=None,
    b_O=None,
):
    r"""Let H heads attend side by side, each in a way of its own, and mix what they
    bring back.

    Parameters
    ----------
    X
        Tokens that ask.
    W_Q
        Projection to the queries of all heads.
    W_K
        Projection to the keys.
    W_V
        Projection to the values.
    W_O
        Projection of the merged heads back to d channels.
    H
        Heads.
    H_kv
        Key/value heads, a divisor of H: fewer than H is grouped-query attention, 1 is
        multi-query; default: H.
    mask
        True where the query may attend to the key; the same for all heads.
    bias
        Added to the scores of each head, such as :func:`alibi_bias`.
    context
        Tokens that are attended to, from another sequence; default: X itself.
    attention : callable
        What each head does with its Q, K, V, mask and bias. K and V come with H_kv
        heads, each of which serves H / H_kv query heads in a row.
    b_Q
        Bias that is added to the queries of all heads; b_K, b_V and b_O are added to
        the keys, the values and the answer.
    b_K
    b_V
    b_O

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        Where the shapes do not fit together, H or H_kv does not divide, or the mask is
        not boolean.

    Notes
    -----
    Source: MultiHead(X) = :math:`[head_1 ‖ ⋯ ‖ head_H] W_O`.

    Examples
    --------
    >>> I = np.eye(2)
    >>> multi_head_attention(
    ...     X=[[0.0, 1.0], [0.0, 3.0]], W_Q=0 * I, W_K=I, W_V=I, W_O=I, H=2
    ... )
    array([[0., 2.],
           [0., 2.]])
    """
    Q = split_heads(project(X, W_Q, b_Q), H)  # (..., H, T, d_k)
    K = split_heads(project(context, W_K, b_K), H_kv)  # (..., H_kv, T_k, d_k)
    V = split_heads(project(context, W_V, b_V), H_kv)  # (..., H_kv, T_k, d_v)
    mask = for_heads(mask, X, context)
    Y = attention(Q, K, V, mask=mask, bias=bias)  # (..., H, T, d_v)
    return project(merge_heads(Y), W_O, b_O)


@shapes(
    X="... T d",
    W_Q="d H*d_k",
    W_K="d H_kv*d_k",
    H="size",
    H_kv="divides H",
    context="... T_k d = X",
    mask="... T T_k",
    bias="H T T_k",
    b_Q="H*d_k",
    b_K="H_kv*d_k",
    returns="... H T T_k",
)
def multi_head_weights(
    X,
    W_Q,
    W_K,
    H,
    H_kv=None,
    mask=None,
    bias=None,
    context=None,
    b_Q=None,
    b_K=None,
):
    r"""Show where each head of :func:`multi_head_attention` looks.

    Parameters
    ----------
    X, W_Q, W_K, H, H_kv, mask, bias, context, b_Q, b_K
        As in :func:`multi_head_attention`.

    Returns
    -------
    ndarray
        Of each head the distribution over the keys, query by query.

    Raises
    ------
    ValueError
        As in :func:`multi_head_attention`.

    Examples
    --------
    >>> multi_head_weights(
    ...     X=np.eye(2), W_Q=np.eye(2), W_K=[[0, 2], [0, 0]], H=2
    ... ).round(3)
    array([[[0.5  , 0.5  ],
            [0.5  , 0.5  ]],
    <BLANKLINE>
           [[0.5  , 0.5  ],
            [0.881, 0.119]]])
    """
    Q = split_heads(project(X, W_Q, b_Q), H)
    K = split_heads(project(context, W_K, b_K), H_kv)
    return attention_weights(Q, K, for_heads(mask, X, context), bias)


# a token that a mask will hide may be infinite
@np.errstate(invalid="ignore")
def project(X, W, b=None):
    """X W, plus a bias where there is one."""
    return X @ W if b is None else X @ W + b
