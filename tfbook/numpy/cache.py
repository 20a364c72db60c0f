"""The key/value cache: what a layer has to remember of the tokens that it has read."""

from collections import defaultdict

import numpy as np

from tfbook.numpy.attention import scaled_dot_product_attention
from tfbook.numpy.checks import expect, floats, whole
from tfbook.numpy.heads import repeat_heads


class KeyValueCache:
    """Keys and values of one layer, in the order in which its tokens came.

    Keys and values of a token never change once later tokens cannot be seen from it. So a new token needs its own query, and
    everybody's keys and values: these are kept, and what attention cost for T tokens at once it costs for each alone.

    Parameters
    ----------
    block : int
        Tokens for which room is made at a time.

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
        self.keys = self.values = None  # (..., H_kv, room, d_k) and (..., H_kv, room, d_v)

    def __len__(self):
        return self.length

    @property
    def elements(self):
        """Numbers remembered."""
        return 0 if self.keys is None else sum(X[..., :self.length, :].size for X in (self.keys, self.values))

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
            Where the shapes do not fit together, or are not those of what came before but for T.
        """
        K, V = floats("K", K), floats("V", V)
        expect("K", K.shape, "(..., H_kv, T, d_k)")
        expect("V", V.shape, "(..., T, d_v)", T=K.shape[-2])
        self.keys = self._add("K", self.keys, K)
        self.values = self._add("V", self.values, V)
        self.length += K.shape[-2]
        return self.keys[..., :self.length, :], self.values[..., :self.length, :]

    def _add(self, name, room, X):
        T, T_k = X.shape[-2], self.length + X.shape[-2]
        room = X[..., :0, :] if room is None else room
        if room.shape[:-2] + room.shape[-1:] != X.shape[:-2] + X.shape[-1:]:
            raise ValueError(f"{name}: expected {(*room.shape[:-2], 'T', room.shape[-1])} as before, got {X.shape}")
        if T_k > room.shape[-2]:
            blocks = -(-T_k // self.block)
            grown = np.zeros((*X.shape[:-2], blocks * self.block, X.shape[-1]), X.dtype)
            grown[..., :self.length, :] = room[..., :self.length, :]
            room = grown
        room[..., T_k - T:T_k, :] = X
        return room


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
    return defaultdict(lambda: KeyValueCache(block))


def cached_attention(cache, mask=None, bias=None, shared=1, attention=scaled_dot_product_attention):
    """Make an ``attention`` for :func:`transformer_layer` whose queries meet the keys of a cache as well as their own.

    Parameters
    ----------
    cache : KeyValueCache
        Takes in the new keys and values: one of each ``shared`` equal heads.
    mask : array_like of bool, broadcasts to (..., T, T_k), optional
        True where the query may attend to the key, of all T_k so far; the same for all heads.
    bias : array_like, shape (H, T, T_k), optional
        Added to the scores of each head.
    shared : int
        Query heads that share one key/value head, H / H_kv.
    attention : callable
        What each head does with its Q, K, V, mask and bias.

    Returns
    -------
    callable

    Examples
    --------
    >>> from tfbook.numpy import init_layer, transformer_layer
    >>> X, P, cache = np.eye(4), init_layer(d=4, H=2, rng=0), KeyValueCache()
    >>> [transformer_layer(X[t:t + 1], P, H=2, attention=cached_attention(cache)).shape for t in range(3)], len(cache)
    ([(1, 4), (1, 4), (1, 4)], 3)
    """
    mask = None if mask is None else np.asarray(mask)
    mask = mask if mask is None or mask.ndim < 3 else mask[..., None, :, :]

    def attend(Q, K, V, **_):
        K, V = cache.extend(K[..., ::shared, :, :], V[..., ::shared, :, :])
        return attention(Q, repeat_heads(K, shared), repeat_heads(V, shared), mask=mask, bias=bias)

    return attend
