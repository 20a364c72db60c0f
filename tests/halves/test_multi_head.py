"""Multi-head attention and its heads: what it is by definition, and the faults that
readers meet elsewhere.
"""

import numpy as np
import pytest
import torch
from calls import says
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import tfbook.torch

B, T, T_k, d, d_k, d_v, H, H_kv = 2, 5, 7, 11, 3, 13, 6, 2
some = settings(max_examples=25, deadline=None, derandomize=True, database=None)


@pytest.fixture
def X(rng):
    return rng.normal(size=(B, T, d))


@pytest.fixture
def context(rng):
    return rng.normal(size=(B, T_k, d))


@pytest.fixture
def weights(rng):
    return [
        rng.normal(size=shape)
        for shape in [(d, H * d_k), (d, H_kv * d_k), (d, H_kv * d_v), (H * d_v, d)]
    ]


def by_definition(half, X, context, weights, mask=None, bias=None):
    """Each head by itself, its columns cut out of the weights by hand."""
    W_Q, W_K, W_V, W_O = weights
    Y = 0
    for h in range(H):
        g = h // (H // H_kv)  # heads 0 1 2 share the first keys, 3 4 5 the second
        Q, K = (
            X @ W_Q[:, h * d_k : (h + 1) * d_k],
            context @ W_K[:, g * d_k : (g + 1) * d_k],
        )
        V = context @ W_V[:, g * d_v : (g + 1) * d_v]
        head = half.scaled_dot_product_attention(
            Q, K, V, mask, None if bias is None else bias[h]
        )
        Y = Y + head @ W_O[h * d_v : (h + 1) * d_v]
    return Y


def test_heads_are_what_they_are_by_themselves(half, X, context, weights, rng):
    mask, bias = rng.random((B, T, T_k)) < 0.6, rng.normal(size=(H, T, T_k))
    Y = half.multi_head_attention(X, *weights, H, H_kv, context=context)
    assert_allclose(Y, by_definition(half, X, context, weights), atol=1e-10)
    Y = half.multi_head_attention(X, *weights, H, H_kv, mask, bias, context)
    assert_allclose(Y, by_definition(half, X, context, weights, mask, bias), atol=1e-10)


def test_weights_are_those_that_attention_uses(half, X, context, weights, rng):
    mask, bias = rng.random((B, T, T_k)) < 0.6, rng.normal(size=(H, T, T_k))
    W_Q, W_K, W_V, W_O = weights
    A = half.multi_head_weights(X, W_Q, W_K, H, H_kv, mask, bias, context)
    assert A.shape == (B, H, T, T_k)
    V = half.repeat_heads(half.split_heads(context @ W_V, H_kv), H // H_kv)
    Y = half.merge_heads(A @ V) @ W_O
    assert_allclose(
        half.multi_head_attention(X, *weights, H, H_kv, mask, bias, context),
        Y,
        atol=1e-10,
    )


def test_context_is_x_unless_told(half, X, weights):
    assert_array_equal(
        half.multi_head_attention(X, *weights, H, H_kv),
        half.multi_head_attention(X, *weights, H, H_kv, context=X),
    )


def test_heads_are_runs_of_channels(half):
    heads = half.split_heads(np.arange(24.0).reshape(2, 12), 3)
    assert_array_equal(heads[:, 0], [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]])


@some
@given(st.integers(1, 5), st.integers(1, 5), st.integers(1, 5), st.integers(0, 2))
def test_merge_undoes_split(half, T, H, d_k, axes):
    X = np.random.default_rng(0).normal(size=(*(2, 3)[:axes], T, H * d_k))
    assert_array_equal(half.merge_heads(half.split_heads(X, H)), X)


def test_shared_heads_are_repeated_not_tiled(half):
    assert_array_equal(
        half.repeat_heads(np.array([[[1.0]], [[2.0]]]), 3).ravel(), [1, 1, 1, 2, 2, 2]
    )


def test_shared_heads_are_full_heads_with_equal_weights(half, X, weights):
    W_Q, W_K, W_V, W_O = weights
    W_K, W_V = (
        np.repeat(W.reshape(d, H_kv, -1), H // H_kv, axis=1).reshape(d, -1)
        for W in (W_K, W_V)
    )
    full = half.multi_head_attention(X, W_Q, W_K, W_V, W_O, H)
    assert_allclose(half.multi_head_attention(X, *weights, H, H_kv), full, atol=1e-10)


@pytest.mark.parametrize(
    "shape", [(T_k,), (1, T_k), (T, 1), (T, T_k), (1, 1, T_k), (B, 1, T_k), (B, T, T_k)]
)
def test_masks_have_no_axis_for_heads(half, X, context, weights, rng, shape):
    mask = rng.random(shape) < 0.5
    full = np.broadcast_to(mask, (B, T, T_k))
    Y = half.multi_head_attention(X, *weights, H, H_kv, mask, context=context)
    assert_allclose(Y, by_definition(half, X, context, weights, full), atol=1e-10)


def test_padding_differs_from_sequence_to_sequence(half, X, weights):
    mask = half.padding_mask(np.array([T, 2]), T)
    Y = half.multi_head_attention(X, *weights, H, H_kv, mask)
    assert_allclose(
        Y[0], half.multi_head_attention(X[0], *weights, H, H_kv), atol=1e-10
    )
    assert_allclose(
        Y[1, :2], half.multi_head_attention(X[1, :2], *weights, H, H_kv), atol=1e-10
    )


@pytest.mark.parametrize(
    "shape", [(B, H, T, T_k), (B, B, T, T_k), (H, T, T_k), (T_k, T), (B, T_k)]
)
def test_other_masks_are_refused(half, X, context, weights, shape):
    with says("mask: expected"):
        half.multi_head_attention(
            X, *weights, H, H_kv, np.ones(shape, bool), context=context
        )


def test_a_mask_of_heads_is_refused_without_a_batch(half, X, weights):
    with says(
        f"mask: expected (..., T, T_k) = {(T, T)}, the same for all heads, got"
        f" {(H, T, T)}"
    ):
        half.multi_head_attention(X[0], *weights, H, H_kv, np.ones((H, T, T), bool))


def test_a_mask_of_numbers_is_refused(half, X, weights):
    with says("mask: expected booleans"):
        half.multi_head_weights(X, *weights[:2], H, H_kv, np.ones((T, T)))


@pytest.mark.parametrize(
    "shape", [(T, T), (1, T, T), (H, 1, T), (B, H, T, T), (H + 1, T, T)]
)
def test_a_bias_has_one_matrix_for_each_head(half, X, weights, shape):
    with says(f"bias: expected (H, T, T_k) = {(H, T, T)}, got {shape}"):
        half.multi_head_attention(X, *weights, H, H_kv, bias=np.ones(shape))


def test_a_query_without_keys_gets_zeros(half, X, weights):
    mask = np.ones((T, T), bool)
    mask[3] = False
    Y = half.multi_head_attention(X, *weights, H, H_kv, mask)
    assert_array_equal(Y[:, 3], 0)
    assert not half.multi_head_weights(X, *weights[:2], H, H_kv, mask)[:, :, 3].any()


@pytest.mark.parametrize("broken", [np.nan, np.inf, -np.inf])
def test_a_hidden_token_may_be_broken(half, X, context, weights, broken):
    mask = np.ones((T, T_k), bool)
    mask[:, 4] = False
    clean = half.multi_head_attention(X, *weights, H, H_kv, mask, context=context)
    context[:, 4] = broken
    assert_array_equal(
        half.multi_head_attention(X, *weights, H, H_kv, mask, context=context), clean
    )


def test_no_token_sees_the_future(half, X, weights):
    mask = half.causal_mask(T)
    Y = half.multi_head_attention(X, *weights, H, H_kv, mask)
    for t in range(T):
        assert_allclose(
            half.multi_head_attention(
                X[:, : t + 1], *weights, H, H_kv, mask[: t + 1, : t + 1]
            ),
            Y[:, : t + 1],
            atol=1e-10,
        )


def test_a_late_query_sees_all_that_a_cache_keeps(half, X, weights):
    Y = half.multi_head_attention(X, *weights, H, H_kv, half.causal_mask(T))
    last = half.multi_head_attention(
        X[:, 3:], *weights, H, H_kv, half.causal_mask(2, T), context=X
    )
    assert_allclose(last, Y[:, 3:], atol=1e-10)


@some
@given(st.permutations(range(T)))
def test_an_order_of_tokens_comes_out_as_it_went_in(half, order):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(T, d))
    weights = [
        rng.normal(size=shape)
        for shape in [(d, H * d_k), (d, H_kv * d_k), (d, H_kv * d_v), (H * d_v, d)]
    ]
    Y = half.multi_head_attention(X, *weights, H, H_kv)
    assert_allclose(
        half.multi_head_attention(X[order], *weights, H, H_kv), Y[order], atol=1e-10
    )
    assert_allclose(
        half.multi_head_attention(X, *weights, H, H_kv, context=X[order]), Y, atol=1e-10
    )


def test_one_token(half, X, weights):
    _, _, W_V, W_O = weights
    V = np.repeat((X[0, :1] @ W_V).reshape(H_kv, d_v), H // H_kv, axis=0)
    assert_allclose(
        half.multi_head_attention(X[0, :1], *weights, H, H_kv),
        V.reshape(1, -1) @ W_O,
        atol=1e-10,
    )


def test_one_sequence_answers_a_batch(half, X, context, weights):
    Y = half.multi_head_attention(X, *weights, H, H_kv, context=context[0])
    assert_allclose(
        Y,
        half.multi_head_attention(
            X, *weights, H, H_kv, context=np.stack([context[0]] * B)
        ),
        atol=1e-10,
    )


def test_integers_are_taken_as_float64(half):
    I = np.eye(4, dtype=int)
    assert (
        half.multi_head_attention(np.arange(12).reshape(3, 4), I, I, I, I, 2).dtype
        == np.float64
    )


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_narrow_numbers_stay_narrow(half, X, weights, dtype):
    X, weights, mask = (
        X.astype(dtype),
        [W.astype(dtype) for W in weights],
        half.causal_mask(T),
    )
    mask[2] = False
    Y = half.multi_head_attention(X, *weights, H, H_kv, mask, half.alibi_bias(H, T))
    assert Y.dtype == dtype
    assert np.isfinite(Y).all()


def test_errors_name_the_argument_and_both_shapes(half, X, context, weights):
    W_Q, W_K, W_V, W_O = weights

    def attend(X=X, W_Q=W_Q, W_K=W_K, W_V=W_V, W_O=W_O, H=H, H_kv=H_kv, **options):
        return half.multi_head_attention(X, W_Q, W_K, W_V, W_O, H, H_kv, **options)

    with says("W_O: expected (H*d_v, d) = (78, 11), got (11, 78)"):
        attend(W_O=W_O.T)
    with says("W_Q: expected (d, H*d_k) = (11, H*d_k), got (18, 11)"):
        attend(W_Q=W_Q.T)
    with says("W_K: expected (d, H_kv*d_k) = (11, 6), got (11, 18)"):
        attend(W_K=W_Q)
    with says("W_V: expected (d, H_kv*d_v) = (11, H_kv*d_v), got (26, 11)"):
        attend(W_V=W_V.T)
    with says(
        "W_Q: expected channels for H = 4 heads of one size, got 18, which 4 does not "
        "divide"
    ):
        attend(H=4)
    with says(
        "W_V: expected channels for H_kv = 2 heads of one size, got 25, which 2 does "
        "not divide"
    ):
        attend(W_V=W_V[:, :25])
    with says(
        "H_kv: expected a divisor of H = 6, so that each key/value head serves equally "
        "many, got 4"
    ):
        attend(H_kv=4)
    with says("H: expected a whole number, at least 1, got 0"):
        attend(H=0)
    with says("context: expected (..., T_k, d) = (..., T_k, 11), got (2, 7, 10)"):
        attend(context=context[..., :10])
    with says("context: expected a shape that broadcasts to the leading axes of X"):
        attend(context=context[[0, 0, 0]])
    with says("X: expected (..., T, d), got (11,)"):
        attend(X=X[0, 0])
    with says(
        "X: expected channels for H = 5 heads of one size, got 11, which 5 does not "
        "divide"
    ):
        half.split_heads(X, 5)
    with says("X: expected (..., H, T, d_v), got (5, 11)"):
        half.merge_heads(X[0])
    with says("n: expected a whole number, at least 1, got 0"):
        half.repeat_heads(X, 0)


def test_gradients_are_finite_where_a_query_has_no_keys(X, weights):
    X, *weights = (torch.from_numpy(x).requires_grad_() for x in (X, *weights))
    mask = torch.zeros(T, T, dtype=torch.bool)
    mask[1, 1] = True
    tfbook.torch.multi_head_attention(X, *weights, H, H_kv, mask).sum().backward()
    assert all(x.grad.isfinite().all() for x in (X, *weights))


def test_attention_may_be_another_form(half, X, weights):
    plain = half.multi_head_attention(X, *weights, H, H_kv, half.causal_mask(T))

    def streamed(Q, K, V, mask, bias):
        return half.module.streaming_attention(Q, K, V, causal=True, block=2)

    assert_allclose(
        half.multi_head_attention(X, *weights, H, H_kv, attention=streamed),
        plain,
        atol=1e-10,
    )
