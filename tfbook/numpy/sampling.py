"""Sampling: from logits to chances, from chances to a token."""

import numpy as np

from tfbook.numpy.check_model import expect_settings
from tfbook.numpy.checks import shapes
from tfbook.numpy.functions import softmax


@shapes(logits="... vocab", returns="... vocab")
def token_distribution(logits, temperature=1.0, top_k=None, top_p=None):
    r"""Turn logits into the distribution that the next token is drawn from.

    Parameters
    ----------
    logits
        What a language model gives at a position.
    temperature : float
        What logits are divided by: below 1 the likely become likelier; 0 leaves the
        likeliest alone, the first of equals.
    top_k : int, optional
        Keep the k likeliest tokens.
    top_p : float, optional
        Of those, keep the fewest likeliest whose chances sum to p or more, 0 < p ≤ 1.

    Returns
    -------
    ndarray
        Chances, summing to one.

    Raises
    ------
    ValueError
        Where a setting is out of its range, or the largest logit is not a finite
        number.

    Notes
    -----
    Source: Fan et al., arXiv 1805.04833 (top-k); Holtzman et al., arXiv
    1904.09751 (top-p).

    Examples
    --------
    >>> logits = np.log([0.1, 0.4, 0.3, 0.2])
    >>> token_distribution(logits).round(2)
    array([0.1, 0.4, 0.3, 0.2])
    >>> token_distribution(logits, top_p=0.6).round(2)
    array([0.  , 0.57, 0.43, 0.  ])
    >>> token_distribution(logits, temperature=0)
    array([0., 1., 0., 0.])
    """
    top_k = expect_settings(logits.shape[-1], temperature, top_k, top_p)
    top = logits.max(axis=-1, keepdims=True)
    if not np.isfinite(top).all():
        raise ValueError(
            "logits: expected a finite number as the largest of each row, got nan or "
            "infinity"
        )
    if temperature == 0:
        return np.equal(
            np.arange(logits.shape[-1]), logits.argmax(axis=-1)[..., None]
        ).astype(logits.dtype)

    wide = np.promote_types(logits.dtype, np.float32)
    # below it, a setting would be rounded to 0
    tiny = float(np.finfo(wide).tiny)
    with np.errstate(over="ignore"):  # -inf is what it should be
        p = softmax((logits - top).astype(wide) / max(temperature, tiny))
    order = np.argsort(-logits, axis=-1, kind="stable")  # likeliest first
    p = np.take_along_axis(p, order, axis=-1)
    if top_k is not None:
        p[..., top_k:] = 0
    if top_p is not None and top_p < 1:
        likelier = p.cumsum(axis=-1) - p
        p[likelier >= max(top_p, tiny) * p.sum(axis=-1, keepdims=True)] = 0
    # back in the order of the vocabulary
    p = np.take_along_axis(p, np.argsort(order, axis=-1), axis=-1)
    return (p / p.sum(axis=-1, keepdims=True)).astype(logits.dtype)


@shapes(p="... vocab")
def sample(p, rng):
    """Draw one token from each distribution.

    Parameters
    ----------
    p
        Chances.
    rng : numpy.random.Generator
        The same generator in the same state draws the same tokens.

    Returns
    -------
    ndarray of int64, shape (...)
        Never a token that has no chance.

    Raises
    ------
    ValueError
        Where no generator is given, or a row of ``p`` is no distribution.

    Examples
    --------
    >>> sample([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], np.random.default_rng(0))
    array([1, 2])
    """
    p = p.astype(np.float64)
    if not isinstance(rng, np.random.Generator):
        raise ValueError(
            "rng: expected a numpy.random.Generator to draw with, got"
            f" {type(rng).__name__}; or pass temperature=0"
        )
    up_to = p.cumsum(axis=-1)
    if (
        not (p >= 0).all()
        or not ((up_to[..., -1] > 0) & (up_to[..., -1] < np.inf)).all()
    ):
        raise ValueError(
            "p: expected chances, none negative and some above 0, with a finite sum"
        )
    threshold = rng.random(p.shape[:-1])[..., None] * up_to[..., -1:]
    return (up_to <= threshold).sum(axis=-1)
