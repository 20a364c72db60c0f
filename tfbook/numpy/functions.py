"""Elementwise functions, softmax and the loss."""

import math

import numpy as np

from tfbook.numpy.checks import expect_targets, shapes


@shapes(S="... _")
def softmax(S, axis=-1):
    r"""Turn scores into a distribution: positive numbers that sum to one along an axis.

    Parameters
    ----------
    S
        Scores. A score of −∞ gets no weight, and a slice of nothing but −∞ gets zeros:
        nothing to choose from.
    axis : int
        The axis that sums to one.

    Returns
    -------
    ndarray, shape of ``S``
        Same dtype as ``S`` (float64 for integers).

    Notes
    -----
    :math:`\operatorname{softmax}(s)_j = e^{s_j} / \sum_k e^{s_k}`. Adding a
    constant to every score changes nothing, so the largest is subtracted first and no
    exponential can overflow.

    Source: the row-wise softmax of Attention(Q, K, V).

    Examples
    --------
    >>> softmax([0, 0, 0, 0])
    array([0.25, 0.25, 0.25, 0.25])
    >>> softmax([1000.0, 1000.0, -np.inf])
    array([0.5, 0.5, 0. ])
    """
    top = np.max(S, axis=axis, keepdims=True, initial=-np.inf)
    top[np.isneginf(top)] = 0  # -inf - -inf is not a number
    E = np.exp(S - top)
    Z = E.sum(
        axis=axis, keepdims=True, dtype=np.promote_types(S.dtype, np.float32)
    )
    Z[Z == 0] = 1  # nothing to choose from: 0 / 1
    return (E / Z).astype(S.dtype, copy=False)


def softmax_in_place(S, axis=-1):
    """Write :func:`softmax` of an array over the array itself, for whoever needs its
    scores no more.

    The scores of a long sequence are the largest array there is: a second and a third
    of them cost more time than the exponentials.

    Parameters
    ----------
    S : ndarray of floating-point numbers, any shape
        Scores, and afterwards their softmax.
    axis : int
        The axis that sums to one.

    Returns
    -------
    ndarray
        ``S``.

    Examples
    --------
    >>> S = np.array([0.0, 0.0, -np.inf])
    >>> softmax_in_place(S) is S
    True
    >>> S
    array([0.5, 0.5, 0. ])
    """
    top = np.max(S, axis=axis, keepdims=True, initial=-np.inf)
    top[np.isneginf(top)] = 0
    S -= top
    np.exp(S, out=S)
    Z = S.sum(
        axis=axis, keepdims=True, dtype=np.promote_types(S.dtype, np.float32)
    )
    Z[Z == 0] = 1
    S /= Z
    return S


@shapes(x="...")
def relu(x):
    """Keep what is positive: max(x, 0).

    Parameters
    ----------
    x

    Returns
    -------
    ndarray, shape of ``x``

    Notes
    -----
    Source: FFN formula.

    Examples
    --------
    >>> relu([-1.0, 0.0, 2.0])
    array([0., 0., 2.])
    """
    return np.maximum(x, 0)


@shapes(x="...", approximate="flag")
def gelu(x, approximate=False):
    r"""Weigh x by the chance that a standard normal number is below it:
    :math:`x\,\Phi(x)`, exact (erf).

    Parameters
    ----------
    x
    approximate
        Use :math:`\tfrac12 x\,(1 + \tanh(\sqrt{2/\pi}\,(x + 0.044715\,x^3)))`, as
        GPT-2 does.

    Returns
    -------
    ndarray, shape of ``x``

    Notes
    -----
    Source: Hendrycks and Gimpel, arXiv 1606.08415.

    Examples
    --------
    >>> gelu([-1.0, 0.0, 1.0]).round(4)
    array([-0.1587,  0.    ,  0.8413])
    """
    x, dtype = bounded(x)
    if approximate:
        z = np.minimum(x, 1000)  # whose cube does not overflow
        u = math.sqrt(2 / math.pi) * (z + 0.044715 * z**3)
        return (x * (0.5 * (1 + np.tanh(u)))).astype(dtype)
    return (x * (0.5 * erfc(x * -math.sqrt(0.5)))).astype(dtype)


erfc = np.vectorize(math.erfc, otypes=[np.float64])  # NumPy has no erf


@shapes(x="...")
def silu(x):
    r"""Weigh x by its logistic function: :math:`x / (1 + e^{-x})`, also called swish.

    Parameters
    ----------
    x

    Returns
    -------
    ndarray, shape of ``x``

    Notes
    -----
    Source: Elfwing et al., arXiv 1702.03118.

    Examples
    --------
    >>> silu([-1.0, 0.0, 1.0]).round(4)
    array([-0.2689,  0.    ,  0.7311])
    """
    x, dtype = bounded(x)
    # 1 / (1 + e^-x), with no exponential to overflow
    return (x * np.exp(-np.logaddexp(0, -x))).astype(dtype)


def bounded(x, above=np.inf):
    """x in float32 or wider, from −1000 on, and its own dtype: there Φ and the logistic
    function are 0, and −∞ · 0 is not a number.

    Examples
    --------
    >>> bounded(np.array([-np.inf, 2], np.float16))
    (array([-1000.,     2.], dtype=float32), dtype('float16'))
    """
    wide = x.astype(np.promote_types(x.dtype, np.float32), copy=False)
    return np.clip(wide, -1000, above), x.dtype


@shapes(logits="... vocab", targets="int *")
def cross_entropy(logits, targets):
    r"""Mean surprise at the right answers, :math:`-\log
    \operatorname{softmax}(\text{logits})_{\text{target}}`, in nats.

    Parameters
    ----------
    logits
        Scores of every class.
    targets
        The right class of each, from 0 to vocab − 1.

    Returns
    -------
    float of the dtype of ``logits``
        In nats per target: log(vocab) for a guess among all.

    Raises
    ------
    ValueError
        Where ``targets`` is not whole numbers of the leading shape of ``logits``, or is
        empty.
    IndexError
        Where a target is not a class.

    Examples
    --------
    >>> float(cross_entropy([[0, 0, 0, 0]], [2]) - math.log(4))
    0.0
    """
    expect_targets(targets, logits)
    shifted = logits - logits.max(axis=-1, keepdims=True)
    right = np.take_along_axis(shifted, targets[..., None], axis=-1)[..., 0]
    wide = np.promote_types(logits.dtype, np.float32)
    log_Z = np.log(np.exp(shifted).sum(axis=-1, dtype=wide))
    return (log_Z - right).mean().astype(logits.dtype)
