"""Laws that hold for any input, tried on random ones."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

some = settings(max_examples=60, deadline=None, derandomize=True, database=None)
sizes = st.integers(1, 9)
seeds = st.integers(0, 2**32 - 1)
spreads = st.sampled_from([1e-3, 1.0, 30.0])


def draw(seed, *shapes, spread=1.0):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=shape) * spread for shape in shapes]


@some
@given(seed=seeds, T=sizes, T_k=sizes, d=sizes, spread=spreads, density=st.floats(0, 1))
def test_weights_are_distributions(half, seed, T, T_k, d, spread, density):
    Q, K = draw(seed, (2, T, d), (2, T_k, d), spread=spread)
    mask = np.random.default_rng(seed).random((T, T_k)) < density
    A = half.attention_weights(Q, K, mask=mask)
    assert (A >= 0).all()
    assert_allclose(A.sum(-1), np.broadcast_to(mask.any(-1), A.shape[:-1]), rtol=1e-12)
    assert_array_equal(A[:, ~mask], 0)


@some
@given(seed=seeds, n=sizes, spread=spreads, c=st.floats(-1e3, 1e3))
def test_softmax_does_not_feel_a_shift(half, seed, n, spread, c):
    (S,) = draw(seed, (3, n), spread=spread)
    assert_allclose(half.softmax(S + c), half.softmax(S), atol=1e-12, rtol=1e-9)


@some
@given(seed=seeds, T=sizes, d=sizes)
def test_attention_is_equivariant_to_permutations(half, seed, T, d):
    (X,) = draw(seed, (T, d))
    P = np.random.default_rng(seed).permutation(T)
    Y = half.scaled_dot_product_attention(X, X, X)
    assert_allclose(
        half.scaled_dot_product_attention(X[P], X[P], X[P]), Y[P], atol=1e-12
    )


@some
@given(seed=seeds, T=sizes, T_k=sizes)
def test_one_query_is_invariant_to_permuted_keys(half, seed, T, T_k):
    Q, K, V = draw(seed, (T, 3), (T_k, 3), (T_k, 2))
    P = np.random.default_rng(seed).permutation(T_k)
    assert_allclose(
        half.scaled_dot_product_attention(Q, K[P], V[P]),
        half.scaled_dot_product_attention(Q, K, V),
        atol=1e-12,
    )


@some
@given(seed=seeds, T=sizes, spread=spreads)
def test_answers_stay_between_the_values(half, seed, T, spread):
    Q, K, V = draw(seed, (T, 3), (T, 3), (T, 2), spread=spread)
    Y = half.scaled_dot_product_attention(Q, K, V)
    assert_allclose(Y, Y.clip(V.min(0), V.max(0)), rtol=0, atol=1e-12 * spread)


@some
@given(seed=seeds, T=sizes, more=st.integers(0, 5), data=st.data())
def test_a_causal_query_does_not_see_what_comes_after(half, seed, T, more, data):
    T_k = T + more
    Q, K, V, K_2, V_2 = draw(seed, (T, 3), (T_k, 3), (T_k, 2), (T_k, 3), (T_k, 2))
    i = data.draw(st.integers(0, T - 1))
    after = i + more + 1
    K_2[:after], V_2[:after] = K[:after], V[:after]
    mask = half.causal_mask(T, T_k)
    one, other = (
        half.scaled_dot_product_attention(Q, K, V, mask=mask),
        half.scaled_dot_product_attention(Q, K_2, V_2, mask=mask),
    )
    assert_allclose(one[: i + 1], other[: i + 1], atol=1e-12)
    if i + 1 < T:
        assert (one[i + 1] != other[i + 1]).any()


@some
@given(
    seed=seeds,
    T=st.integers(0, 17),
    T_k=st.integers(0, 17),
    block=st.integers(1, 20),
    causal=st.booleans(),
    spread=spreads,
    density=st.one_of(st.none(), st.floats(0, 1)),
)
def test_streaming_equals_plain(half, seed, T, T_k, block, causal, spread, density):
    Q, K, V = draw(seed, (2, T, 3), (2, T_k, 3), (2, T_k, 5), spread=spread)
    mask = (
        None
        if density is None
        else np.random.default_rng(seed).random((2, T, T_k)) < density
    )
    both = (
        half.causal_mask(T, T_k) & (True if mask is None else mask) if causal else mask
    )
    plain = half.scaled_dot_product_attention(Q, K, V, mask=both)
    assert_allclose(
        half.streaming_attention(Q, K, V, mask=mask, causal=causal, block=block),
        plain,
        atol=1e-11 * spread,
    )


@some
@given(lengths=st.lists(st.integers(0, 7), min_size=1, max_size=5))
def test_padding_mask_counts_tokens(half, lengths):
    M = half.padding_mask(np.array(lengths), 7)
    assert_array_equal(M.sum(-1)[:, 0], lengths)
    assert (np.diff(M.astype(int), axis=-1) <= 0).all()  # tokens first, padding behind
