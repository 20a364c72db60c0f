"""Attention that was told something and dropped it, and attention in half precision:
the right values, in every form.
"""

from functools import partial

import numpy as np
import pytest
import torch
from calls import HALVES, native
from numpy.testing import assert_allclose, assert_array_equal

import tfbook.numpy as tn
import tfbook.torch as tt

T, T_k, d_k, d_v = 3, 5, 4, 2
FORMS = [(tn, "scaled_dot_product_attention"), (tn, "rotary_attention")]
FORMS += [
    (tt, "scaled_dot_product_attention"),
    (tt, "rotary_attention"),
    (tt, "fused_attention"),
]
STREAMING = [(tn, "streaming_attention"), (tt, "streaming_attention")]


@pytest.fixture
def qkv(rng):
    return (
        rng.normal(size=(T, d_k)),
        rng.normal(size=(T_k, d_k)),
        rng.normal(size=(T_k, d_v)),
    )


@pytest.mark.parametrize(("half", "form"), FORMS + STREAMING)
def test_a_mask_and_a_scale_are_honoured(half, form, qkv):
    attend, (Q, K, V) = getattr(half, form), (native(half, X) for X in qkv)
    third = np.arange(T_k) == 2
    assert_allclose(
        attend(Q, K, V, mask=native(half, np.tile(third, (T, 1)))),
        np.tile(qkv[2][2], (T, 1)),
        rtol=1e-12,
    )
    assert_allclose(
        attend(Q, K, V, scale=0), np.tile(qkv[2].mean(axis=0), (T, 1)), rtol=1e-12
    )


@pytest.mark.parametrize(("half", "form"), FORMS)
def test_a_bias_is_honoured(half, form, qkv):
    odds, (Q, K, V) = np.array([1.0, 2, 3, 4, 0]), (native(half, X) for X in qkv)
    with np.errstate(divide="ignore"):
        bias = np.log(odds) + np.zeros((T, 1))
    assert_allclose(
        getattr(half, form)(Q, K, V, bias=native(half, bias), scale=0),
        np.tile(odds @ qkv[2] / 10, (T, 1)),
        rtol=1e-12,
    )


@HALVES
@pytest.mark.parametrize(
    "given", [{"mask": np.ones((2, 2), bool)}, {"bias": np.zeros((2, 2, 2))}]
)
def test_cached_attention_refuses_a_mask_of_the_new_tokens_alone(half, given):
    P = {name: native(half, p) for name, p in tn.init_layer(d=4, H=2, rng=0).items()}
    cache, X = half.KeyValueCache(), native(half, np.eye(4)[:2])
    given = {name: native(half, x) for name, x in given.items()}
    (name,) = given
    with pytest.raises(
        ValueError,
        match=(
            f"{name}: expected none for the new tokens alone; pass cached_attention a"
            " mask or bias over all"
        ),
    ):
        half.transformer_layer(X, P, 2, attention=half.cached_attention(cache), **given)
    assert len(cache) == 0


@HALVES
def test_a_turn_goes_inside_a_cache_not_around_it(half):
    """Around it, each new token would count as the first."""
    X, I, cache = native(half, np.eye(4)), native(half, np.eye(4)), half.KeyValueCache()
    around = partial(half.rotary_attention, attention=half.cached_attention(cache))
    with pytest.raises(
        ValueError,
        match=(
            r"scale: expected none for the new tokens alone; .*a scale or a turn, an "
            r"attention of your own"
        ),
    ):
        half.multi_head_attention(X[:1], I, I, I, I, H=2, attention=around)
    inside = half.cached_attention(cache, attention=half.rotary_attention)
    parts = [
        half.multi_head_attention(X[t : t + 1], I, I, I, I, H=2, attention=inside)
        for t in range(4)
    ]
    whole = half.multi_head_attention(
        X, I, I, I, I, H=2, mask=half.causal_mask(4), attention=half.rotary_attention
    )
    assert_allclose(np.concatenate(parts), whole, rtol=1e-12)


@HALVES
def test_a_mask_over_all_keys_reaches_a_cached_layer(half):
    P = {name: native(half, p) for name, p in tn.init_layer(d=4, H=2, rng=0).items()}
    X, mask = (
        native(half, np.random.default_rng(1).normal(size=(5, 4))),
        half.causal_mask(5),
    )
    cache = half.KeyValueCache()
    parts = [
        half.transformer_layer(
            X[rows],
            P,
            2,
            attention=half.cached_attention(cache, mask=mask[rows, : rows.stop]),
        )
        for rows in (slice(0, 3), slice(3, 5))
    ]
    assert_allclose(
        np.concatenate(parts), half.transformer_layer(X, P, 2, mask=mask), rtol=1e-10
    )


@pytest.mark.parametrize(("half", "form"), [*FORMS, *STREAMING])
def test_scores_beyond_float16_give_the_value(half, form):
    """300 · 300 · 64 / 8 = 720000, where float16 ends at 65504."""
    X = native(half, np.full((4, 64), 300, np.float16))
    Y = getattr(half, form)(X, X, X)
    assert Y.dtype == X.dtype
    assert_array_equal(Y, np.full((4, 64), 300))


def test_weights_beyond_float16_are_a_distribution(half):
    Q, K = (
        np.full((1, 64), 300, np.float16),
        np.full((4, 64), [[300], [300], [-300], [300]], np.float16),
    )
    A = half.attention_weights(Q, K)
    assert A.dtype == np.float16
    assert_allclose(A, [[1 / 3, 1 / 3, 0, 1 / 3]], rtol=1e-3)


@pytest.mark.parametrize(
    "form", ["scaled_dot_product_attention", "streaming_attention", "fused_attention"]
)
def test_gradients_of_scores_beyond_float16_are_finite(form):
    leaves = [
        torch.full((4, 64), 300.0, dtype=torch.float16, requires_grad=True)
        for _ in range(3)
    ]
    dQ, dK, dV = torch.autograd.grad(getattr(tt, form)(*leaves).sum(), leaves)
    assert_array_equal(dQ, 0)
    assert_array_equal(dK, 0)
    assert_allclose(dV, 1, rtol=0.04)  # 720000 + log 4 is rounded to a sixteenth


@pytest.mark.parametrize(
    "form", ["scaled_dot_product_attention", "streaming_attention", "fused_attention"]
)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_autocast_gives_half_precision_in_every_form(form, dtype, rng):
    leaves = [
        torch.tensor(
            rng.normal(size=(2, 6, 8)), dtype=torch.float32, requires_grad=True
        )
        for _ in range(3)
    ]
    exact = tn.scaled_dot_product_attention(
        *(X.detach().double().numpy() for X in leaves)
    )
    with torch.autocast("cpu", dtype):
        Y = getattr(tt, form)(*leaves)
        far = getattr(tt, form)(*(torch.full((4, 64), 300.0) for _ in range(3)))
    assert Y.dtype == far.dtype == dtype
    assert_allclose(Y.detach().float(), exact, atol=4 * torch.finfo(dtype).eps)
    assert_array_equal(far.float(), torch.full((4, 64), 300.0).to(dtype).float())
    wide = [X.detach().double().requires_grad_() for X in leaves]
    expected = torch.autograd.grad(
        tt.scaled_dot_product_attention(*wide).square().sum(), wide
    )
    for got, wanted in zip(
        torch.autograd.grad(Y.float().square().sum(), leaves), expected
    ):
        assert got.dtype == torch.float32
        assert_allclose(got, wanted, atol=20 * torch.finfo(dtype).eps)


def test_streaming_computes_in_float32_under_autocast():
    """4096 even keys: a sum of ones in bfloat16 stops at 256."""
    Q, K, V = torch.zeros(1, 8), torch.zeros(4096, 8), torch.ones(4096, 1)
    with torch.autocast("cpu", torch.bfloat16):
        assert tt.streaming_attention(Q, K, V, block=4096).item() == 1
        leaf = V.clone().requires_grad_()
        (dV,) = torch.autograd.grad(tt.streaming_attention(Q, K, leaf).sum(), leaf)
    assert_allclose(dV, 1 / 4096, rtol=1e-2)


def test_streaming_leaves_float64_alone_under_autocast():
    X = torch.ones(2, 3, dtype=torch.float64)
    with torch.autocast("cpu", torch.bfloat16):
        assert tt.streaming_attention(X, X, X).dtype == torch.float64
