"""PyTorch's fused attention, with masks that mean what they mean here."""

import math

import torch
import torch.nn.functional as F

from tfbook.numpy.checks import scale_factor
from tfbook.torch.checks import broadcast, shapes
from tfbook.torch.masks import causal_mask


@shapes(
    Q="... T d_k",
    K="...H T_k d_k",
    mask="... T T_k",
    bias="... T T_k",
    V="...H T_k d_v",
    causal="flag",
    scale="number",
    returns="... T d_v",
)
def fused_attention(Q, K, V, mask=None, bias=None, scale=None, causal=False):
    """Compute scaled dot-product attention in one kernel of PyTorch, which need not
    store the attention matrix.

    Parameters
    ----------
    Q, K, V, mask, bias, scale
        As in :func:`scaled_dot_product_attention`.
    causal
        Apply :func:`causal_mask` as well. Where nothing else is masked and T = T_k, the
        kernel never reads a mask.

    Returns
    -------
    Tensor
        Zeros, with zero gradients, for a query that may attend to nothing.

    Raises
    ------
    ValueError
        Where the shapes do not fit together, the dtypes differ, or the mask is not
        boolean.

    Notes
    -----
    The kernels *add* −∞ to a masked score. So a key or a value that is not a
    number spreads even where it is masked; the plain form hides it.

    Examples
    --------
    >>> Q, K, V = torch.eye(2), torch.eye(2), torch.tensor([[1.0], [3.0]])
    >>> fused_attention(
    ...     Q, K, V, mask=torch.tensor([[True, False], [False, False]])
    ... )
    tensor([[1.],
            [0.]])
    """
    T, T_k, scale = Q.shape[-2], K.shape[-2], scale_factor(scale, Q.shape[-1])
    bias = None if bias is None else bias.to(Q)
    given = [X.shape[:-2] for X in (Q, K, V, mask, bias) if X is not None]
    leading = broadcast(*given)
    Q, K, V = (X.expand(*leading, *X.shape[-2:]) for X in (Q, K, V))
    if causal and mask is None and bias is None and T_k == T:
        # aligned top-left: right for T = T_k alone
        return _fused(Q, K, V, is_causal=True, scale=scale)
    if causal:
        band = causal_mask(T, T_k).to(Q.device)
        mask = band if mask is None else mask & band
    if mask is None and bias is None:
        return _fused(Q, K, V, scale=scale)
    allowed = (
        ~bias.isneginf()
        if mask is None
        else mask
        if bias is None
        else mask & ~bias.isneginf()
    )
    # queries that may attend to nothing: let them, and take it back
    alone = ~allowed.any(dim=-1, keepdim=True)
    added = (
        allowed | alone
        if bias is None
        else torch.where(allowed, bias, -torch.inf).masked_fill(alone, 0)
    )
    added = added.expand(*added.shape[:-2], T, T_k)
    return _fused(Q, K, V, added, scale=scale).masked_fill(alone, 0)


def _fused(Q, K, V, mask=None, **options):
    """PyTorch's function on exactly four axes: with fewer or more it makes the T × T
    matrix after all.
    """
    leading = Q.shape[:-2]
    if mask is not None and math.prod(mask.shape[:-3]) > 1:
        # a mask for each, before the axes become one
        mask = mask.expand(*leading[:-1], *mask.shape[-3:])
    Q, K, V, mask = (
        X if X is None else _four_axes(X) for X in (Q, K, V, mask)
    )
    Y = F.scaled_dot_product_attention(Q, K, V, attn_mask=mask, **options)
    return Y.reshape(*leading, *Y.shape[-2:])


def _four_axes(X):
    """All leading axes but the last of them, (..., H, T, d), become one."""
    X = X[(None,) * max(0, 4 - X.dim())]
    return X.reshape(math.prod(X.shape[:-3]), *X.shape[-3:])
