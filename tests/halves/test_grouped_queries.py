"""Key/value heads go to ``attention`` as they are, and every form serves several query
heads with each.
"""

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

import tfbook.torch as tt
from tfbook.torch.kernels.fused import fused_attention

B, H, H_kv, T, T_k, d_k, d_v = 2, 6, 2, 5, 7, 4, 3


@pytest.fixture
def arrays(rng):
    shapes = (B, H, T, d_k), (B, H_kv, T_k, d_k), (B, H_kv, T_k, d_v)
    return [rng.normal(size=shape) for shape in shapes]


@pytest.fixture
def options(rng):
    mask = rng.random((B, 1, T, T_k)) < 0.6
    return {"mask": mask, "bias": rng.normal(size=(H, T, T_k))}


def whole(K):
    return np.repeat(K, H // H_kv, axis=-3)


def test_attention_gets_the_heads_as_they_are(half, rng):
    W = [rng.normal(size=(12, n)) for n in (H * d_k, H_kv * d_k, H_kv * d_v)]
    seen = {}

    def attention(Q, K, V, mask=None, bias=None):
        seen.update(Q=tuple(Q.shape), K=tuple(K.shape), V=tuple(V.shape))
        form = tt.scaled_dot_product_attention if half.name == "torch" else numpy_form
        return form(Q, K, V, mask, bias)

    from tfbook.numpy import scaled_dot_product_attention as numpy_form

    X, W_O = rng.normal(size=(B, T, 12)), rng.normal(size=(H * d_v, 12))
    half.multi_head_attention(X, *W, W_O, H, H_kv, attention=attention)
    assert seen == {"Q": (B, H, T, d_k), "K": (B, H_kv, T, d_k), "V": (B, H_kv, T, d_v)}


@pytest.mark.parametrize("name", ["attention_scores", "attention_weights"])
def test_keys_serve_several_queries(half, arrays, options, name):
    Q, K, _ = arrays
    f, options = getattr(half, name), {"bias": options["bias"]}
    assert_allclose(f(Q, K, **options), f(Q, whole(K), **options))


def test_the_plain_form_shares_heads(half, arrays, options):
    Q, K, V = arrays
    f = half.scaled_dot_product_attention
    assert_allclose(f(Q, K, V, **options), f(Q, whole(K), whole(V), **options))


def test_the_streaming_form_shares_heads(half, arrays, options):
    Q, K, V = arrays
    mask, f = options["mask"], half.streaming_attention
    right = f(Q, whole(K), whole(V), mask=mask)
    assert_allclose(f(Q, K, V, mask=mask, block=3), right)


def test_rotary_turns_before_heads_are_shared(half, arrays, options):
    Q, K, V = arrays
    f = half.rotary_attention
    assert_allclose(f(Q, K, V, **options), f(Q, whole(K), whole(V), **options))


@pytest.mark.parametrize("form", [tt.scaled_dot_product_attention, fused_attention])
def test_gradients_of_shared_heads_are_summed(arrays, options, form):
    Q, K, V = (torch.tensor(X, requires_grad=True) for X in arrays)
    options = {name: torch.tensor(X) for name, X in options.items()}
    form(Q, K, V, **options).square().sum().backward()
    leaves = [torch.tensor(X, requires_grad=True) for X in arrays]
    K_all, V_all = (tt.repeat_heads(X, H // H_kv) for X in leaves[1:])
    Y = tt.scaled_dot_product_attention(leaves[0], K_all, V_all, **options)
    Y.square().sum().backward()
    for given, right in zip((Q, K, V), leaves, strict=True):
        assert_allclose(given.grad.numpy(), right.grad.numpy(), atol=1e-12)


def test_heads_that_do_not_divide_are_refused(half, arrays):
    Q, K, V = arrays
    with pytest.raises(ValueError, match=r"K: expected a shape .* got \(2, 2\)"):
        half.scaled_dot_product_attention(Q[:, :5], K, V)  # 2 of 5
    four = [np.repeat(X, 2, axis=-3) for X in (K, V)]  # 4 of 6
    with pytest.raises(ValueError, match="K: expected a shape that broadcasts"):
        half.scaled_dot_product_attention(Q, *four)
    with pytest.raises(ValueError, match=r"K: expected \(..., T_k, d_k\).*got \(2, 2,"):
        half.scaled_dot_product_attention(Q, K[..., :3], V)


def test_more_key_heads_than_queries_are_refused(half, arrays):
    Q, K, V = arrays
    with pytest.raises(ValueError, match="expected a shape that broadcasts"):
        half.scaled_dot_product_attention(Q[:, :2], whole(K), whole(V))
