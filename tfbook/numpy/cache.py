"""The key/value cache: what a layer has to remember of the tokens that it has read."""

import math
from collections import defaultdict
from contextlib import contextmanager
from functools import partial

import numpy as np

from tfbook.numpy.attention import scaled_dot_product_attention
from tfbook.numpy.check_heads import expect_none_of_new_tokens
from tfbook.numpy.checks import expect, floats, whole


class KeyValueCache:
    """Keys and values of one layer, in the order in which its tokens came.

    Keys and values of a token never change once later tokens cannot be seen from it. So
    a new token needs its own query, and everybody's keys and values: these are kept,
    and what attention cost for T tokens at once it costs for each alone.

    Parameters
    ----------
    block : int
        Tokens for which memory is taken at a time.

    Examples
    --------
    >>> cache = KeyValueCache()
    >>> K, V = cache.extend(K=[[[1.0], [2.0]]], V=[[[1.0], [2.0]]])
    >>> K, V = cache.extend(K=[[[3.0]]], V=[[[3.0]]])
    >>> K[0, :, 0], len(cache), cache.elements
    (array([1., 2., 3.]), 3, 6)
    """

    def __init__(self, block=128):
        self.block = whole("block", block, least=1)
        self.length = 0
        self.keys = self.values = None  # (..., H_kv, capacity, d_k or d_v)

    def __len__(self):
        return self.length

    @property
    def elements(self):
        """Numbers remembered."""
        if self.keys is None:
            return 0
        kept = (X[..., : self.length, :] for X in (self.keys, self.values))
        return sum(math.prod(X.shape) for X in kept)

    def extend(self, K, V):
        """Add keys and values, and return all that have been added.

        Parameters
        ----------
        K : array_like, shape (..., H_kv, T, d_k)
        V : array_like, shape (..., H_kv, T, d_v)

        Returns
        -------
        K : ndarray, shape (..., H_kv, T_k, d_k)
            A view of the keys of all T_k tokens so far.
        V : ndarray, shape (..., H_kv, T_k, d_v)

        Raises
        ------
        ValueError
            Where the shapes do not fit together, or dtype and shapes are not those of
            what came before but for T.
        """
        K, V = self._floats("K", K), self._floats("V", V)
        expect("K", K.shape, "(..., H_kv, T, d_k)")
        expect("V", V.shape, "(..., T, d_v)", T=K.shape[-2])
        self._expect_as_before("K", self.keys, K)
        self._expect_as_before("V", self.values, V)
        self.keys, self.values = (
            self._add(self.keys, K),
            self._add(self.values, V),
        )
        self.length += K.shape[-2]
        return self.keys[..., : self.length, :], self.values[
            ..., : self.length, :
        ]

    def shorten(self, length):
        """Forget all but the first tokens.

        Parameters
        ----------
        length : int
            Tokens to remember, as many as there are at most.

        Raises
        ------
        ValueError
            Where there are fewer.
        """
        if whole("length", length) > self.length:
            raise ValueError(
                f"length: expected at most the {self.length} tokens that are"
                f" remembered, got {length}"
            )
        self.length = whole("length", length)
        if not self.length:
            self.keys = self.values = None

    _floats = staticmethod(floats)

    def _expect_as_before(self, name, before, X):
        if before is None:
            return
        shape = tuple(before.shape)
        if shape[:-2] + shape[-1:] != tuple(X.shape[:-2] + X.shape[-1:]):
            raise ValueError(
                f"{name}: expected {(*shape[:-2], 'T', shape[-1])} as before, "
                f"got {tuple(X.shape)}"
            )
        if (before.dtype, before.device) != (X.dtype, X.device):
            raise ValueError(
                f"{name}: expected {before.dtype} on {before.device} as before, "
                f"got {X.dtype} on {X.device}"
            )

    def _add(self, before, X):
        T_k, buffer = self.length + X.shape[-2], before
        if before is None or T_k > before.shape[-2]:
            capacity = -(-T_k // self.block) * self.block
            buffer = self._zeros(X, (*X.shape[:-2], capacity, X.shape[-1]))
            if before is not None:
                buffer[..., : self.length, :] = before[..., : self.length, :]
        buffer[..., self.length : T_k, :] = X
        return buffer

    def _zeros(self, X, shape):
        return np.zeros(shape, X.dtype)


def key_value_caches(block=128):
    """Make the caches of a model, one for each layer that asks for one.

    Parameters
    ----------
    block : int
        As in :class:`KeyValueCache`.

    Returns
    -------
    mapping of int to KeyValueCache
        Empty; ``caches[l]`` makes that of layer l.

    Examples
    --------
    >>> caches = key_value_caches()
    >>> len(caches[0])
    0
    """
    return defaultdict(partial(KeyValueCache, block))


@contextmanager
def all_or_nothing(caches):
    """Within it, either every layer of a model adds its keys and values to its cache,
    or after an error none has.

    Parameters
    ----------
    caches : mapping of int to KeyValueCache, or None

    Examples
    --------
    >>> caches = key_value_caches()
    >>> with all_or_nothing(caches):
    ...     K, V = caches[0].extend([[[1.0]]], [[[1.0]]])
    ...     raise KeyError("the next layer breaks")
    Traceback (most recent call last):
    KeyError: 'the next layer breaks'
    >>> len(caches[0])
    0
    """
    lengths = {l: len(cache) for l, cache in (caches or {}).items()}
    try:
        yield
    except BaseException:
        for l, cache in (caches or {}).items():
            cache.shorten(min(len(cache), lengths.get(l, 0)))
        raise


def cached_attention(
    cache, mask=None, bias=None, attention=scaled_dot_product_attention
):
    """Make an ``attention`` for :func:`transformer_layer` whose queries meet the keys
    of a cache as well as their own.

    Parameters
    ----------
    cache : KeyValueCache
        Takes in the new keys and values.
    mask : array_like of bool, broadcasts to (..., T, T_k), optional
        True where the query may attend to the key, of all T_k so far; the same for all
        heads.
    bias : array_like, shape (H, T, T_k), optional
        Added to the scores of each head.
    attention : callable
        What each head does with its Q, K, V, mask and bias.

    Returns
    -------
    callable
        Takes Q, K and V of the new tokens and nothing else: a mask, a bias, a scale or
        a turn that its caller has for these alone, such as the ``mask`` of a layer, is
        a ValueError.

    Examples
    --------
    >>> from tfbook.numpy import init_layer, transformer_layer
    >>> X, P, cache = np.eye(4), init_layer(d=4, H=2, rng=0), KeyValueCache()
    >>> attention = cached_attention(cache)
    >>> Y = [
    ...     transformer_layer(x, P, H=2, attention=attention)
    ...     for x in X[:3, None]
    ... ]
    >>> [y.shape for y in Y], len(cache)
    ([(1, 4), (1, 4), (1, 4)], 3)
    """
    mask = None if mask is None else np.asarray(mask)
    mask = mask if mask is None or mask.ndim < 3 else mask[..., None, :, :]

    def attend(Q, K, V, **of_new_tokens):
        expect_none_of_new_tokens(**of_new_tokens)
        K, V = cache.extend(K, V)
        return attention(Q, K, V, mask=mask, bias=bias)

    return attend
