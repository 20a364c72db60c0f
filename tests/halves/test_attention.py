import math
import re

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal

import tfbook.torch

B, H, T, T_k, d_k, d_v = 2, 3, 5, 7, 11, 13


@pytest.fixture
def qkv(rng):
    return (
        rng.normal(size=(B, H, T, d_k)),
        rng.normal(size=(B, H, T_k, d_k)),
        rng.normal(size=(B, H, T_k, d_v)),
    )


def by_loops(Q, K, V, mask):
    """Attention of one head, one query and one key at a time."""
    Y = np.zeros((len(Q), V.shape[1]))
    for i, q in enumerate(Q):
        e = [
            math.exp(sum(q * k) / math.sqrt(len(q))) if may else 0.0
            for k, may in zip(K, mask[i])
        ]
        for weight, v in zip(e, V):
            Y[i] += weight / (sum(e) or 1) * v
    return Y


def test_attention_equals_loops(half, rng, qkv):
    mask = rng.random((B, H, T, T_k)) < 0.6
    mask[0, 0, 0] = False
    Y = half.scaled_dot_product_attention(*qkv, mask=mask)
    for b in range(B):
        for h in range(H):
            assert_allclose(
                Y[b, h], by_loops(*(X[b, h] for X in qkv), mask[b, h]), atol=1e-12
            )


def test_scores_are_scaled_dot_products(half, qkv):
    Q, K, _ = qkv
    assert_allclose(
        half.attention_scores(Q, K), np.einsum("bhid,bhjd->bhij", Q, K) / math.sqrt(d_k)
    )
    assert_allclose(
        half.attention_scores(Q, K, scale=0.25), np.einsum("bhid,bhjd->bhij", Q, K) / 4
    )


def test_bias_is_added_after_the_scale(half, rng, qkv):
    Q, K, _ = qkv
    bias = rng.normal(size=(H, T, T_k))
    assert_allclose(
        half.attention_scores(Q, K, bias=bias, scale=3.0),
        half.attention_scores(Q, K, scale=3.0) + bias,
    )


def test_scale_keeps_the_variance_of_scores(half, rng):
    Q, K = rng.normal(size=(2, 300, 256))
    assert 0.9 < half.attention_scores(Q, K).var() < 1.1


def test_rows_of_weights_sum_to_one_or_to_nothing(half, rng, qkv):
    mask = rng.random((T, T_k)) < 0.5
    mask[2] = False
    A = half.attention_weights(*qkv[:2], mask=mask)
    assert_allclose(A.sum(-1), np.broadcast_to([1, 1, 0, 1, 1], (B, H, T)))
    assert_array_equal(A[..., ~mask], 0)


@pytest.mark.parametrize(
    "shape", [(), (T_k,), (T, 1), (T, T_k), (B, 1, 1, T_k), (H, 1, 1), (B, H, T, T_k)]
)
def test_masks_broadcast(half, rng, qkv, shape):
    mask = np.asarray(rng.random(shape) < 0.7)
    full = np.broadcast_to(mask, (B, H, T, T_k)).copy()
    assert_array_equal(
        half.scaled_dot_product_attention(*qkv, mask=mask),
        half.scaled_dot_product_attention(*qkv, mask=full),
    )


def test_true_means_may_attend(half, qkv):
    mask = np.zeros((T, T_k), bool)
    mask[:, 4] = True
    assert_allclose(
        half.scaled_dot_product_attention(*qkv, mask=mask),
        np.repeat(qkv[2][..., 4:5, :], T, axis=-2),
    )


def test_a_mask_is_a_smaller_set_of_keys(half, qkv):
    Q, K, V = qkv
    mask = half.padding_mask(np.array([3] * B), T_k)[:, None]
    Y = half.scaled_dot_product_attention(Q, K, V, mask=mask)
    assert_allclose(
        Y, half.scaled_dot_product_attention(Q, K[..., :3, :], V[..., :3, :])
    )


@pytest.mark.parametrize("leading", [(), (2,), (2, 3), (2, 3, 2)])
def test_any_number_of_leading_axes(half, rng, leading):
    Q, K, V = (
        rng.normal(size=(*leading, T, d_k)),
        rng.normal(size=(*leading, T_k, d_k)),
        rng.normal(size=(*leading, T_k, d_v)),
    )
    Y = half.scaled_dot_product_attention(Q, K, V)
    assert Y.shape == (*leading, T, d_v)
    first = (0,) * len(leading)
    assert_allclose(
        Y[first], half.scaled_dot_product_attention(Q[first], K[first], V[first])
    )


def test_keys_may_be_shared_by_broadcasting(half, qkv):
    Q, K, V = qkv[0], qkv[1][:, :1], qkv[2][:, :1]
    same = half.scaled_dot_product_attention(
        Q, np.repeat(K, H, axis=1), np.repeat(V, H, axis=1)
    )
    assert_allclose(half.scaled_dot_product_attention(Q, K, V), same)


def test_weights_are_linear_over_values(half, rng, qkv):
    A, V, W = half.attention_weights(*qkv[:2]), qkv[2], rng.normal(size=qkv[2].shape)
    assert_allclose(
        half.weighted_mean(A, 2 * V + W),
        2 * half.weighted_mean(A, V) + half.weighted_mean(A, W),
    )


@pytest.mark.parametrize("mask", [None, "causal", "random"])
def test_torch_half_equals_torch_fused(qkv, rng, mask):
    Q, K, V = map(torch.tensor, qkv)
    mask = {
        None: None,
        "causal": tfbook.torch.causal_mask(T, T_k),
        "random": torch.tensor(rng.random((T, T_k)) < 0.5),
    }[mask]
    fused = torch.nn.functional.scaled_dot_product_attention(Q, K, V, attn_mask=mask)
    torch.testing.assert_close(
        tfbook.torch.scaled_dot_product_attention(Q, K, V, mask=mask), fused
    )


@pytest.mark.parametrize(
    "form", ["scaled_dot_product_attention", "streaming_attention"]
)
@pytest.mark.parametrize(
    ("Q", "K", "V", "words"),
    [
        ((4,), (T_k, 4), (T_k, 2), "Q: expected (..., T, d_k), got (4,)"),
        (
            (T, 4),
            (T_k, 3),
            (T_k, 2),
            "K: expected (..., T_k, d_k) = (..., T_k, 4), got (7, 3)",
        ),
        (
            (T, 4),
            (T_k, 4),
            (T, 2),
            "V: expected (..., T_k, d_v) = (..., 7, d_v), got (5, 2)",
        ),
        (
            (2, T, 4),
            (3, T_k, 4),
            (3, T_k, 2),
            (
                "K: expected a shape that broadcasts to the leading axes of Q = (2,), "
                "got (3,)"
            ),
        ),
        (
            (2, T, 4),
            (2, T_k, 4),
            (3, T_k, 2),
            (
                "V: expected a shape that broadcasts to the leading axes of Q and K = "
                "(2,), got (3,)"
            ),
        ),
    ],
)
def test_errors_name_the_argument_what_was_expected_and_what_came(
    half, form, Q, K, V, words
):
    with pytest.raises(ValueError, match=f"^{re.escape(words)}$"):
        getattr(half, form)(np.zeros(Q), np.zeros(K), np.zeros(V))


@pytest.mark.parametrize(
    "form", ["scaled_dot_product_attention", "streaming_attention"]
)
@pytest.mark.parametrize("shape", [(T_k, T), (T + 1, T_k), (4, 1, T, T_k), (2, T)])
def test_a_mask_that_does_not_fit_is_refused(half, qkv, form, shape):
    words = (
        "mask: expected a shape that broadcasts to (..., T, T_k) = (2, 3, 5, 7), got"
        f" {shape}"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(words)}$"):
        getattr(half, form)(*qkv, mask=np.ones(shape, bool))


@pytest.mark.parametrize(
    "form", ["scaled_dot_product_attention", "streaming_attention"]
)
def test_a_mask_may_not_make_queries_or_keys(half, qkv, form):
    Q, K, V = qkv
    with pytest.raises(ValueError, match=r"mask: .* got \(5, 7\)"):
        getattr(half, form)(Q[..., :1, :], K, V, mask=np.ones((T, T_k), bool))
    with pytest.raises(ValueError, match=r"mask: .* got \(5, 7\)"):
        getattr(half, form)(
            Q, K[..., :1, :], V[..., :1, :], mask=np.ones((T, T_k), bool)
        )


def test_a_bias_may_not_make_queries(half, qkv):
    with pytest.raises(ValueError, match=r"bias: .* got \(5, 7\)"):
        half.attention_scores(qkv[0][..., :1, :], qkv[1], bias=np.zeros((T, T_k)))


@pytest.mark.parametrize(
    "form", ["scaled_dot_product_attention", "streaming_attention"]
)
@pytest.mark.parametrize("dtype", [int, float, np.uint8])
def test_a_mask_that_is_not_boolean_is_refused_with_advice(half, qkv, form, dtype):
    with pytest.raises(
        ValueError,
        match=(
            r"mask: expected booleans, True where a query may attend, got dtype .*; "
            r"pass mask != 0"
        ),
    ):
        getattr(half, form)(*qkv, mask=np.ones((T, T_k), dtype))


@pytest.mark.parametrize(
    "form", ["scaled_dot_product_attention", "streaming_attention"]
)
def test_complex_numbers_are_refused(half, qkv, form):
    with pytest.raises(
        ValueError, match=r"K: expected real numbers, got dtype .*complex128"
    ):
        getattr(half, form)(qkv[0], qkv[1] * 1j, qkv[2])


@pytest.mark.parametrize("broken", [False, True])
def test_weighted_mean_looks_at_its_mask_whatever_the_values(half, rng, broken):
    A, V = rng.random((T, T_k)), np.full((T_k, 3), np.nan if broken else 1.0)
    for mask, words in [
        (np.ones((T, T_k)), "mask: expected booleans"),
        (np.ones((T_k, T), bool), "mask: expected a shape that broadcasts to"),
        (np.ones((2, T, T_k), bool), "mask: expected a shape that broadcasts to"),
    ]:
        with pytest.raises(ValueError, match=words):
            half.weighted_mean(A, V, mask)
    with pytest.raises(
        ValueError, match=re.escape("A: expected (..., T, T_k), got (7,)")
    ):
        half.weighted_mean(A[0], V)
