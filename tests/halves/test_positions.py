"""Embedding and positions: laws that define them, and the faults that readers meet
elsewhere.
"""

import numpy as np
import pytest
import torch
from calls import says
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import tfbook.torch

B, T, d, vocab, T_max = 2, 5, 7, 11, 13
some = settings(max_examples=25, deadline=None, derandomize=True, database=None)
offsets = st.integers(0, 10**5)


def dtype_of(half, name):
    return getattr(np if half.name == "numpy" else torch, name)


@pytest.fixture
def E(rng):
    return rng.normal(size=(vocab, d))


def test_each_position_gets_a_vector_of_its_own(half, E):
    tokens, P = np.full((B, T), 3), half.sinusoidal_positions(T, d)
    X = half.embed(tokens, E, P)  # one token everywhere
    assert len(np.unique(X[0].round(9), axis=0)) == T
    assert_array_equal(X[0], X[1])
    assert_allclose(X[1], E[3] + P, atol=1e-12)


def test_embed_is_a_product_with_one_hot_rows(half, E, rng):
    tokens = rng.integers(vocab, size=(B, T))
    assert_allclose(half.embed(tokens, E), np.eye(vocab)[tokens] @ E, atol=1e-12)


@pytest.mark.parametrize("rows", [1, T - 1, T + 1])
def test_a_table_of_another_length_is_refused(half, E, rows):
    with says(f"P: expected (T, d) = (5, 7), got ({rows}, 7)"):
        half.embed(np.zeros((B, T), int), E, np.ones((rows, d)))


def test_a_batch_of_tables_is_refused(half, E):
    with says("P: expected (T, d) = (5, 7), got (2, 5, 7)"):
        half.embed(np.zeros((B, T), int), E, np.ones((B, T, d)))


@pytest.mark.parametrize("token", [-1, vocab])
def test_a_token_out_of_the_vocabulary_is_an_index_error(half, E, token):
    with says("tokens: expected 0 to 10, got", IndexError):
        half.embed(np.array([[3, token]]), E)


@pytest.mark.parametrize("tokens", [np.ones(3), np.ones(3, bool)])
def test_tokens_that_are_not_whole_numbers_are_refused(half, E, tokens):
    with says("tokens: expected whole numbers, got dtype"):
        half.embed(tokens, E)


def test_one_token_without_an_axis_is_refused(half, E):
    with says("tokens: expected (..., T), got ()"):
        half.embed(np.array(3), E)


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_a_wide_table_does_not_widen_the_tokens(half, E, dtype):
    assert (
        half.embed(
            np.zeros((B, T), np.int32), E.astype(dtype), half.sinusoidal_positions(T, d)
        ).dtype
        == dtype
    )


@pytest.mark.parametrize("name", ["float16", "float32", "float64"])
def test_tables_have_the_dtype_that_is_asked_for(half, name):
    dtype = dtype_of(half, name)
    assert half.sinusoidal_positions(T, d, dtype=dtype).dtype == name
    assert half.alibi_bias(3, T, dtype=dtype).dtype == name
    assert (
        half.sinusoidal_positions(T, d).dtype
        == half.alibi_bias(3, T).dtype
        == np.float64
    )


@pytest.mark.parametrize("d", [1, 2, 7, 8])
def test_sinusoids_number_by_number(half, d):
    table = half.sinusoidal_positions(T, d, 100.0)
    for p in range(T):
        for c in range(d):
            angle = p / 100.0 ** (2 * (c // 2) / d)
            assert table[p, c] == pytest.approx(
                np.cos(angle) if c % 2 else np.sin(angle), abs=1e-12
            )


@some
@given(st.integers(1, 50))
def test_sinusoids_a_distance_apart_have_one_product(half, distance):
    table = half.sinusoidal_positions(60, 8)
    products = (table[:-distance] * table[distance:]).sum(axis=-1)
    assert_allclose(products, products[0], atol=1e-9)


def test_a_long_table_begins_like_a_short_one(half):
    assert_array_equal(
        half.sinusoidal_positions(1000, d)[:T], half.sinusoidal_positions(T, d)
    )


def test_a_learned_table_ends(half, rng):
    P = rng.normal(size=(T_max, d))
    assert_array_equal(half.learned_positions(P, T), P[:T])
    assert_array_equal(half.learned_positions(P, T_max), P)
    with says("T: expected at most T_max = 13, the rows of the table P, got 14"):
        half.learned_positions(P, T_max + 1)


@pytest.mark.parametrize("H", [1, 2, 3, 5, 7, 8, 12, 16])
def test_alibi_slopes_are_distinct_for_every_number_of_heads(half, H):
    slopes = -half.alibi_bias(H, 2)[:, 1, 0]
    assert len(set(slopes)) == H
    assert ((slopes > 0) & (slopes <= 1)).all()
    assert_allclose(slopes, 2.0 ** (-8 * np.arange(1, H + 1) / H), rtol=1e-12)


def test_alibi_is_a_distance_and_knows_a_cache(half):
    bias = half.alibi_bias(3, T)
    assert_array_equal(bias, bias.transpose(0, 2, 1))
    assert_array_equal(np.diagonal(bias, axis1=1, axis2=2), 0)
    # the last two queries of five
    assert_array_equal(half.alibi_bias(3, 2, T), bias[:, -2:])
    assert_allclose(
        bias[0] / bias[0, 0, 1], abs(np.subtract.outer(np.arange(T), np.arange(T)))
    )


@some
@given(offsets, offsets, st.integers(-1000, 1000))
def test_rotary_scores_know_distance_alone(half, p, q, shift):
    x, y = np.random.default_rng(0).normal(size=(2, 1, 6))

    def score(p, q):
        return (
            half.rotary(x, np.array([float(p)]))
            @ half.rotary(y, np.array([float(q)])).T
        ).item()

    assert score(p + shift, q + shift) == pytest.approx(score(p, q), abs=1e-9)
    assert score(0, q - p) == pytest.approx(score(p, q), abs=1e-9)


def test_rotary_keeps_lengths_and_the_first_position(half, rng):
    X = rng.normal(size=(B, T, 6))
    assert_allclose(
        np.linalg.norm(half.rotary(X), axis=-1), np.linalg.norm(X, axis=-1), rtol=1e-12
    )
    assert_array_equal(half.rotary(X)[:, 0], X[:, 0])
    assert_allclose(half.rotary(half.rotary(X), -np.arange(T)), X, atol=1e-12)


def test_rotary_pairs_neighbours(half):
    X = np.zeros((2, 6))
    X[:, 2] = 1
    (moved,) = np.nonzero(half.rotary(X)[1])
    assert_array_equal(moved, [2, 3])


def test_rotary_takes_positions_of_each_sequence(half, rng):
    X, positions = rng.normal(size=(B, 3, T, 6)), rng.integers(0, 99, (B, 1, T))
    Y = half.rotary(X, positions)
    for b in range(B):
        assert_allclose(Y[b], half.rotary(X[b], positions[b, 0]), atol=1e-12)


def test_rotary_refuses_what_does_not_turn(half, rng):
    with says("X: expected an even d_k, channels turn in pairs, got (5, 7)"):
        half.rotary(rng.normal(size=(T, 7)))
    with says("positions: expected (..., T) = (..., 5), got (4,)"):
        half.rotary(rng.normal(size=(T, 6)), np.arange(4))
    with says("positions: expected (..., T) = (..., 5), got (1,)"):
        half.rotary(rng.normal(size=(T, 6)), np.arange(1))
    with says("base: expected a number above 0, got 0.0"):
        half.rotary(rng.normal(size=(T, 6)), base=0.0)
    with says("base: expected a number above 0, got -1"):
        half.sinusoidal_positions(T, d, -1)


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_rotary_keeps_the_dtype_far_out(half, rng, dtype):
    X, far = rng.normal(size=(T, 6)).astype(dtype), np.arange(10**6, 10**6 + T)
    Y = half.rotary(X, far)
    assert Y.dtype == dtype
    assert_allclose(
        Y, half.rotary(X.astype(float), far), atol=5e-3 if dtype == np.float16 else 1e-6
    )


def test_rotary_attention_knows_a_cache(half, rng):
    Q, K, V = rng.normal(size=(T, 6)), rng.normal(size=(T, 6)), rng.normal(size=(T, d))
    whole = half.rotary_attention(Q, K, V, half.causal_mask(T))
    assert_allclose(
        half.rotary_attention(Q[-2:], K, V, half.causal_mask(2, T)),
        whole[-2:],
        atol=1e-12,
    )
    turned = half.scaled_dot_product_attention(
        half.rotary(Q), half.rotary(K), V, half.causal_mask(T)
    )
    assert_allclose(whole, turned, atol=1e-12)


@pytest.mark.parametrize("name", ["sinusoidal_positions", "alibi_bias"])
def test_sizes_are_whole_numbers(half, name):
    with says("T: expected a whole number, at least 0, got -1"):
        getattr(half, name)(**{"T": -1, "d" if name.startswith("s") else "H": 4})
    with says("T: expected a whole number, at least 0, got 2.5"):
        getattr(half, name)(**{"T": 2.5, "d" if name.startswith("s") else "H": 4})


def test_no_tokens_no_positions(half, E):
    assert half.embed(
        np.zeros((B, 0), int), E, half.sinusoidal_positions(0, d)
    ).shape == (B, 0, d)
    assert half.alibi_bias(3, 0).shape == (3, 0, 0)
    assert half.rotary(np.zeros((0, 6))).shape == (0, 6)


def test_the_gradient_of_a_table_counts_its_tokens():
    E = torch.zeros(vocab, d, dtype=torch.float64, requires_grad=True)
    tfbook.torch.embed(torch.tensor([3, 3, 5]), E).sum().backward()
    assert E.grad[:, 0].tolist() == [0, 0, 0, 2, 0, 1, 0, 0, 0, 0, 0]


def test_rotary_attention_turns_from_the_first_position_on(half, rng):
    """One call cannot tell: queries and keys turn alike. Keys that travel can."""
    Q, K, V = rng.normal(size=(3, 5, 4))
    passed = []

    def attention(Q, K, V, **options):
        passed.extend([np.asarray(Q), np.asarray(K)])
        return V

    half.rotary_attention(Q[-2:], K, V, attention=attention, first=7)
    assert_allclose(passed[0], half.rotary(Q[-2:], np.array([10, 11])), atol=1e-12)
    assert_allclose(passed[1], half.rotary(K, np.arange(7, 12)), atol=1e-12)
