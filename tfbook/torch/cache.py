"""The key/value cache: what a layer has to remember of the tokens that it has read."""

from collections import defaultdict
from functools import partial

import torch

import tfbook.numpy as reference
from tfbook.numpy.cache import all_or_nothing  # noqa: F401 (of either half)
from tfbook.numpy.check_heads import expect_none_of_new_tokens
from tfbook.torch.attention import scaled_dot_product_attention
from tfbook.torch.checks import floats, twin


class KeyValueCache(reference.KeyValueCache):
    """Keys and values of one layer, in the order in which its tokens came.

    Parameters
    ----------
    block : int
        Tokens for which memory is taken at a time.

    Notes
    -----
    It is ``tfbook.numpy.KeyValueCache`` for tensors. They are written to in place:
    read under ``torch.no_grad()``.

    Examples
    --------
    >>> cache = KeyValueCache()
    >>> first, then = torch.tensor([[[1.0], [2.0]]]), torch.tensor([[[3.0]]])
    >>> K, V = cache.extend(K=first, V=first)
    >>> K, V = cache.extend(K=then, V=then)
    >>> K[0, :, 0], len(cache), cache.elements
    (tensor([1., 2., 3.]), 3, 6)
    """

    _floats = staticmethod(floats)

    def _zeros(self, X, shape):
        return X.new_zeros(shape)


@twin(reference.key_value_caches)
def key_value_caches(block=128):
    """
    >>> caches = key_value_caches()
    >>> len(caches[0])
    0
    """
    return defaultdict(partial(KeyValueCache, block))


@twin(reference.cached_attention)
def cached_attention(
    cache, mask=None, bias=None, attention=scaled_dot_product_attention
):
    """
    >>> from tfbook.torch import multi_head_attention
    >>> X, I, cache = torch.eye(4), torch.eye(4), KeyValueCache()
    >>> attention = cached_attention(cache)
    >>> for x in X[:3, None]:
    ...     Y = multi_head_attention(x, I, I, I, I, H=2, attention=attention)
    >>> Y.shape, len(cache)
    (torch.Size([1, 4]), 3)
    """
    mask = None if mask is None else torch.as_tensor(mask)
    mask = mask if mask is None or mask.ndim < 3 else mask[..., None, :, :]

    def attend(Q, K, V, **of_new_tokens):
        expect_none_of_new_tokens(**of_new_tokens)
        K, V = cache.extend(K, V)
        return attention(Q, K, V, mask=mask, bias=bias)

    return attend
