import numpy as np
import pytest
from numpy.testing import assert_array_equal


@pytest.mark.parametrize(
    ("T", "T_k"), [(1, 1), (5, 5), (2, 5), (1, 7), (5, 2), (3, 0), (0, 3)]
)
def test_causal_mask_aligns_the_last_query_with_the_last_key(half, T, T_k):
    M = half.causal_mask(T, T_k)
    assert (M.dtype, M.shape) == (bool, (T, T_k))
    for i in range(T):
        for j in range(T_k):
            # counted from the end: the key is no later than the query
            assert M[i, j] == (T_k - j >= T - i)


def test_causal_mask_is_square_unless_told(half):
    assert_array_equal(half.causal_mask(3), [[1, 0, 0], [1, 1, 0], [1, 1, 1]])


def test_padding_mask_differs_per_sequence(half):
    assert_array_equal(
        half.padding_mask(np.array([2, 0, 3]), 3),
        [[[1, 1, 0]], [[0, 0, 0]], [[1, 1, 1]]],
    )


@pytest.mark.parametrize("shape", [(), (2,), (2, 3)])
def test_padding_mask_has_one_row_for_all_queries(half, shape):
    M = half.padding_mask(np.full(shape, 3), 5)
    assert (M.dtype, M.shape) == (bool, (*shape, 1, 5))


@pytest.mark.parametrize("size", [-1, 2.0, True, "3", None])
def test_causal_mask_refuses_sizes_that_are_not_whole(half, size):
    with pytest.raises(
        ValueError, match=f"T: expected a whole number, at least 0, got {size!r}"
    ):
        half.causal_mask(size)


@pytest.mark.parametrize("size", [np.array([3]), np.array(3.0)])
def test_causal_mask_refuses_arrays(half, size):
    with pytest.raises(
        ValueError, match=r"T: expected a whole number, at least 0, got (array|tensor)"
    ):
        half.causal_mask(size)


@pytest.mark.parametrize("lengths", [[4, 6], [-1, 2], [1.0, 2.0], [True, False]])
def test_padding_mask_refuses_lengths_that_do_not_fit(half, lengths):
    with pytest.raises(
        ValueError,
        match=(
            r"lengths: expected whole numbers(, got dtype| from 0 to T_k = 5, got \[)"
        ),
    ):
        half.padding_mask(np.array(lengths), 5)


def test_padding_mask_takes_lengths_of_a_small_dtype(half):
    assert half.padding_mask(np.array([100], np.int8), 300).sum() == 100
