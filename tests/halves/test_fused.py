"""The fused form gives what the readable one gives, gradients too, whatever is
masked.
"""

import re

import pytest
import torch
from test_streaming import Allocations

from tfbook.torch import (
    TransformerLayer,
    alibi_bias,
    causal_mask,
    fused_attention,
    multi_head_attention,
    scaled_dot_product_attention,
)

B, H, T, T_k, d_k, d_v = 2, 3, 5, 7, 11, 13


def normal(*shape, seed=0):
    return torch.randn(
        *shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)
    )


def chance(*shape, p=0.6):
    return torch.rand(shape, generator=torch.Generator().manual_seed(0)) < p


def qkv(T=T, T_k=T_k):
    return [
        normal(B, H, *shape, seed=seed).requires_grad_()
        for seed, shape in enumerate([(T, d_k), (T_k, d_k), (T_k, d_v)])
    ]


def agrees_with_plain(Q, K, V, mask=None, bias=None, scale=None, causal=False):
    band = causal_mask(Q.shape[-2], K.shape[-2])
    seen = mask if not causal else band if mask is None else mask & band
    ours, fused = (
        scaled_dot_product_attention(Q, K, V, seen, bias, scale),
        fused_attention(Q, K, V, mask, bias, scale, causal),
    )
    torch.testing.assert_close(fused, ours, rtol=1e-10, atol=1e-10)
    for f, o in zip(
        *(torch.autograd.grad(Y.sin().sum(), (Q, K, V)) for Y in (fused, ours))
    ):
        torch.testing.assert_close(f, o, rtol=1e-10, atol=1e-10)


MASKS = {
    "none": None,
    "random": chance(T, T_k),
    "a few": chance(B, 1, T, T_k, p=0.2),
    "nothing": torch.zeros(T, T_k, dtype=torch.bool),
    "keys": chance(T_k),
    "padding": chance(B, 1, 1, T_k),
    "queries": chance(T, 1),
    "one": torch.tensor(True),
}
BIASES = {
    "none": None,
    "heads": normal(H, T, T_k),
    "keys": normal(T_k),
    "minus infinity": normal(T, T_k).masked_fill(chance(T, T_k, p=0.8), -torch.inf),
    "far": alibi_bias(H, T, T_k),
}


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
@pytest.mark.parametrize("bias", BIASES.values(), ids=BIASES)
def test_fused_is_the_readable_form(mask, bias):
    agrees_with_plain(*qkv(), mask, bias)
    agrees_with_plain(*qkv(), mask, bias, scale=0.7, causal=True)


@pytest.mark.parametrize(("T", "T_k"), [(5, 5), (1, 7), (2, 7), (7, 2), (3, 0), (1, 1)])
def test_causal_aligns_the_last_query_with_the_last_key(T, T_k):
    agrees_with_plain(*qkv(T, T_k), causal=True)
    agrees_with_plain(*qkv(T, T_k), chance(T, T_k), causal=True)


def test_leading_axes_broadcast():
    Q, K, V = (
        normal(B, H, T, d_k).requires_grad_(),
        normal(H, T_k, d_k).requires_grad_(),
        normal(T_k, d_v).requires_grad_(),
    )
    agrees_with_plain(Q, K, V)
    agrees_with_plain(Q[0, 0], K[0], V)


def test_gradients_where_a_query_has_no_keys():
    Q, K, V = qkv()
    mask = torch.zeros(T, T_k, dtype=torch.bool)
    Y = fused_attention(Q, K, V, mask)
    Y.sum().backward()
    assert not any(x.any() for x in (Y, Q.grad, K.grad, V.grad))


def test_errors_are_those_of_the_readable_form():
    Q, K, V = qkv()
    two = chance(2, T, T_k)
    for arguments in [
        (Q, K[..., :3], V),
        (Q, K, V[..., :3, :]),
        (Q, K[:, :2], V),
        (Q, K, V[:, :2]),
        (Q[0, 0, 0], K, V),
        ([1.0], K, V),
        (Q, K, V, chance(T_k, T)),
        (Q, K, V, torch.ones(T, T_k)),
        (Q, K, V, None, normal(T_k, T)),
        (Q[0], K[0], V[0], two),
        (Q[0, 0], K[0, 0], V[0, 0], two, normal(H, T, T_k)),
    ]:
        with pytest.raises(ValueError, match=":") as readable:
            scaled_dot_product_attention(*arguments)
        with pytest.raises(ValueError, match=re.escape(str(readable.value))):
            fused_attention(*arguments)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_the_dtype_is_kept(dtype):
    Q, K, V = (X.detach().to(dtype) for X in qkv())
    assert fused_attention(Q, K, V, MASKS["random"], BIASES["heads"]).dtype == dtype


def test_heads_may_use_it():
    X, weights = normal(B, T, 6), [normal(6, 6, seed=seed) for seed in range(4)]
    mask, bias = chance(B, T, T), alibi_bias(H, T)
    plain = multi_head_attention(X, *weights, H, mask=mask, bias=bias)
    torch.testing.assert_close(
        multi_head_attention(
            X, *weights, H, mask=mask, bias=bias, attention=fused_attention
        ),
        plain,
    )


# PyTorch's advice on that one release
@pytest.mark.filterwarnings("ignore:Guards may run slower on Python 3.13.0")
def test_a_fused_layer_compiles_to_one_graph():
    torch._dynamo.reset()
    layer, X, mask = (
        TransformerLayer(6, H, norm="pre", fused=True).double(),
        normal(B, T, 6),
        causal_mask(T),
    )
    compiled = torch.compile(layer, backend="eager", fullgraph=True)
    torch.testing.assert_close(compiled(X, mask), layer(X, mask))


@pytest.mark.parametrize(
    "mask",
    [
        None,
        (T, T_k),
        (H, 1, T_k),
        (B, 1, T, T_k),
        (2, 1, 1, 1, T_k),
        (2, B, H, T, T_k),
        (2, 1, H, T, 1),
    ],
)
def test_five_axes(mask):
    X = normal(2, B, H, T + 2 * T_k, d_k)
    Q, K, V = (X.requires_grad_() for X in X.detach().split([T, T_k, T_k], dim=-2))
    agrees_with_plain(Q, K, V, mask if mask is None else chance(*mask))
    agrees_with_plain(
        Q,
        K,
        V,
        None,
        normal(*mask) if mask and mask[-2:] == (T, T_k) else None,
        causal=True,
    )
    agrees_with_plain(Q, K[0], V[0, 0], mask if mask is None else chance(*mask))


@pytest.mark.parametrize("leading", [(), (2,), (2, 3), (2, 1, 3), (1, 2, 1, 3)])
def test_no_matrix_of_scores_is_made(leading):
    def peak(T):
        Q, K, V = torch.randn(3, *leading, T, 16).unbind()
        with Allocations() as allocations:
            fused_attention(Q, K, V)
        return allocations.most

    assert peak(512) < 2.2 * peak(256)  # four times, if it were
