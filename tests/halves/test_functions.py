import math
import re

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal

from tfbook.numpy.functions import softmax, softmax_in_place


def test_softmax_by_hand(half):
    assert_allclose(
        half.softmax(np.log([[1.0, 2, 5], [3, 3, 2]])),
        [[0.125, 0.25, 0.625], [0.375, 0.375, 0.25]],
    )


@pytest.mark.parametrize("axis", [-1, -2, -3, 0, 1])
def test_softmax_sums_to_one_along_its_axis_alone(half, rng, axis):
    S = rng.normal(size=(3, 5, 7))
    A = half.softmax(S, axis=axis)
    assert_allclose(A.sum(axis), 1)
    assert_allclose(A, np.exp(S) / np.exp(S).sum(axis, keepdims=True))


def test_softmax_of_a_number_is_refused(half):
    with pytest.raises(ValueError, match=re.escape("S: expected (..., n), got ()")):
        half.softmax(np.array(1.0))


def test_softmax_takes_the_last_axis_unless_told(half, rng):
    S = rng.normal(size=(3, 5))
    assert_array_equal(half.softmax(S), half.softmax(S, axis=-1))


@pytest.mark.parametrize("axis", [-1, 0, 1])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_softmax_in_place_is_softmax(rng, axis, dtype):
    S = rng.normal(size=(3, 5, 7)).astype(dtype)
    S[0, 2] = S[:, 1, 3] = S[1, :, 4] = -np.inf
    expected = softmax(S, axis)
    assert softmax_in_place(S, axis) is S
    assert_array_equal(S, expected)


def test_softmax_of_more_terms_than_half_precision_counts(half):
    S = np.zeros((1, 70000), np.float16)
    A = half.softmax(S)
    assert A.dtype == np.float16
    assert_allclose(A.sum(dtype=np.float64), 1, atol=0.01)
    assert_array_equal(softmax_in_place(S), A)


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 3)])
def test_softmax_of_nothing_is_nothing(half, shape):
    assert half.softmax(np.ones(shape)).shape == shape


@pytest.mark.parametrize(("x", "y"), [(-2.0, 0), (0.0, 0), (3.0, 3)])
def test_relu(half, x, y):
    assert half.relu(np.array(x)) == y


def test_gelu_is_exact(half, rng):
    x = rng.normal(size=50) * 3
    assert_allclose(
        half.gelu(x), [v * 0.5 * math.erfc(-v / math.sqrt(2)) for v in x], rtol=1e-12
    )
    assert (
        abs(
            half.gelu(np.array([2.0]))
            - torch.nn.functional.gelu(torch.tensor(2.0), approximate="tanh").item()
        )
        > 1e-5
    )


def test_gelu_keeps_its_small_left_tail(half):
    assert_allclose(half.gelu(np.array([-10.0])), -10 * 7.619853024160527e-24)


def test_silu_is_x_times_its_logistic(half, rng):
    x = rng.normal(size=50)
    assert_allclose(half.silu(x), x / (1 + np.exp(-x)))


@pytest.mark.parametrize("f", ["relu", "gelu", "silu"])
def test_far_out_activations_neither_overflow_nor_drift(half, f):
    assert_array_equal(
        getattr(half, f)(np.array([-1e30, -1000.0, 1000.0, 1e30])), [0, 0, 1000, 1e30]
    )


@pytest.mark.parametrize("f", ["relu", "gelu", "silu", "softmax"])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_dtype_and_shape_are_kept(half, rng, f, dtype):
    Y = getattr(half, f)(rng.normal(size=(2, 3, 5)).astype(dtype))
    assert (Y.dtype, Y.shape) == (dtype, (2, 3, 5))


def test_cross_entropy_by_hand(half):
    logits = np.log([[[0.5, 0.25, 0.25], [0.1, 0.2, 0.7]]])
    assert_allclose(
        half.cross_entropy(logits, np.array([[0, 1]])), (math.log(2) + math.log(5)) / 2
    )


def test_cross_entropy_of_a_guess_is_log_vocab(half):
    assert_allclose(
        half.cross_entropy(np.full((2, 3, 11), 7.0), np.zeros((2, 3), int)),
        math.log(11),
    )


def test_cross_entropy_does_not_overflow(half):
    logits = np.array([[1000.0, 0, -1000], [-1000, 0, 1000]])
    assert_allclose(half.cross_entropy(logits, np.array([0, 1])), 500)


def test_cross_entropy_allows_classes_that_are_ruled_out(half):
    assert_allclose(
        half.cross_entropy(np.array([[0.0, 0.0, -np.inf]]), np.array([1])), math.log(2)
    )


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_cross_entropy_keeps_dtype(half, rng, dtype):
    loss = half.cross_entropy(rng.normal(size=(5, 7)).astype(dtype), np.arange(5))
    assert (loss.dtype, loss.shape) == (dtype, ())


def test_cross_entropy_of_more_classes_than_half_precision_counts(half):
    assert_allclose(
        half.cross_entropy(np.zeros((1, 70000), np.float16), np.array([0])),
        math.log(70000),
        rtol=1e-3,
    )


@pytest.mark.parametrize("targets", [[0, 7], [-1, 0]])
def test_cross_entropy_refuses_what_is_no_class(half, targets):
    with pytest.raises(
        IndexError, match=r"targets: expected classes 0 to 6, got -?\d to \d"
    ):
        half.cross_entropy(np.zeros((2, 7)), np.array(targets))


@pytest.mark.parametrize(
    ("targets", "words"),
    [
        (np.array([0.0, 1.0]), "expected whole numbers, got dtype"),
        (np.array([True, False]), "expected whole numbers, got dtype"),
        (np.array([0]), r"shape \(2,\), got \(1,\)"),
        (np.array([[0], [1]]), r"shape \(2,\), got \(2, 1\)"),
    ],
)
def test_cross_entropy_says_what_it_expected(half, targets, words):
    with pytest.raises(ValueError, match="targets: .*" + words):
        half.cross_entropy(np.zeros((2, 7)), targets)


def test_cross_entropy_of_no_targets_is_refused(half):
    with pytest.raises(ValueError, match="targets: expected at least one"):
        half.cross_entropy(np.zeros((0, 7)), np.zeros(0, int))
