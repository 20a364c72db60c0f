"""Norms of constant, huge and tiny rows, and activations far out and in half precision:
the right values and gradients.
"""

import math

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal

import tfbook.numpy as tn
import tfbook.torch as tt

ROW, NORMAL, RMS = (
    np.array([1.0, 2, 3]),
    np.sqrt(1.5) * np.array([-1.0, 0, 1]),
    np.array([1.0, 2, 3]) / math.sqrt(14 / 3),
)
SIZES = [
    ("float16", 2e4),
    ("float32", 1e20),
    ("float32", 1e30),
    ("float32", 1e38),
    ("float64", 1e200),
    ("float64", 5e307),
]
TINY = [("float32", 1e-20), ("float32", 1e-38), ("float64", 1e-200)]


def ones(n, dtype):
    return np.ones(n, dtype), np.zeros(n, dtype)


def gradient(half, f, dY, X, *P, **options):
    """dX of a norm or an activation, by hand or by autograd."""
    if half.name == "numpy":
        dX = getattr(tn, f + "_vjp")(dY, X, *P, **options)
        return dX[0] if isinstance(dX, tuple) else dX
    X = torch.tensor(X, requires_grad=True)
    Y = getattr(tt, f)(X, *map(torch.tensor, P), **options)
    return torch.autograd.grad(Y, X, torch.tensor(dY))[0].numpy()


@pytest.mark.parametrize("d", [1, 191, 256, 768])
@pytest.mark.parametrize(
    ("dtype", "c"),
    [
        ("float16", 6e4),
        ("float32", 10000.1),
        ("float32", -1e30),
        ("float32", 3e38),
        ("float32", 1e-30),
        ("float64", 1e15 / 3),
        ("float64", 1e300),
    ],
)
def test_layer_norm_of_a_constant_row_is_its_shift(half, d, dtype, c):
    gamma, beta = ones(d, dtype)
    assert_array_equal(
        half.layer_norm(
            np.full((2, d), c, dtype), gamma, beta + np.arange(d).astype(dtype)
        ),
        np.tile(np.arange(d), (2, 1)),
    )


def test_layer_norm_of_a_nearly_constant_row(half, rng):
    # steps of 0.001
    X = (10000.1 + 0.01 * rng.normal(size=(4, 256))).astype(np.float32)
    wide = X.astype(float)
    exact = (wide - wide.mean(axis=-1, keepdims=True)) / wide.std(
        axis=-1, keepdims=True
    )
    assert_allclose(
        half.layer_norm(X, *ones(256, np.float32), eps=0.0), exact, atol=1e-5
    )


@pytest.mark.parametrize(("dtype", "size"), SIZES)
def test_norms_of_huge_rows_have_unit_variance(half, dtype, size):
    X = (ROW * size).astype(dtype)
    gamma, beta = ones(3, dtype)
    rtol = 4 * np.finfo(dtype).eps
    assert_allclose(half.layer_norm(X, gamma, beta), NORMAL, rtol=rtol, atol=rtol)
    assert_allclose(
        half.layer_norm(X - X[::-1], gamma, beta), NORMAL, rtol=rtol, atol=rtol
    )
    assert_allclose(half.rms_norm(X, gamma), RMS, rtol=rtol)
    assert_allclose(half.rms_norm(-X, gamma), -RMS, rtol=rtol)


def test_norms_of_huge_rows_in_bfloat16():
    X = torch.tensor(ROW * 1e30).bfloat16()
    one = torch.ones(3, dtype=torch.bfloat16)
    assert_allclose(tt.layer_norm(X, one, 0 * one).float(), NORMAL, atol=0.01)
    assert_allclose(tt.rms_norm(X, one).float(), RMS, rtol=0.01)


@pytest.mark.parametrize(("dtype", "size"), TINY)
def test_norms_of_tiny_rows_are_divided_by_the_root_of_eps(half, dtype, size):
    X = (ROW * size).astype(dtype)
    gamma, beta = ones(3, dtype)
    assert_allclose(
        half.layer_norm(X, gamma, beta),
        size * np.array([-1, 0, 1]) / math.sqrt(1e-5),
        rtol=1e-5,
        atol=1e-9 * size,
    )
    assert_allclose(half.rms_norm(X, gamma), size * ROW / 1e-3, rtol=1e-5)
    assert_allclose(
        half.layer_norm(X, gamma, beta, eps=0.0), NORMAL, rtol=1e-5, atol=1e-6
    )
    assert_allclose(half.rms_norm(X, gamma, eps=0.0), RMS, rtol=1e-5)


def test_rows_do_not_feel_each_other(half, rng):
    X = rng.normal(size=(3, 16)).astype(np.float32)
    X[1] *= 1e30
    gamma, beta = ones(16, np.float32)
    for norm, P in (("layer_norm", (gamma, beta)), ("rms_norm", (gamma,))):
        assert_array_equal(
            getattr(half, norm)(X, *P), [getattr(half, norm)(x, *P) for x in X]
        )


@pytest.mark.parametrize(
    ("dtype", "size"), [("float32", 1e20), ("float32", 1e30), ("float64", 1e200)]
)
@pytest.mark.parametrize("norm", ["layer_norm", "rms_norm"])
def test_gradients_of_norms_of_huge_rows(half, norm, dtype, size):
    """A row s times as large has a gradient 1/s as large, where ε is nothing
    beside it.
    """
    dY, X, P = (
        np.array([1.0, -2, 4], dtype),
        ROW.astype(dtype),
        ones(3, dtype)[: 2 if norm == "layer_norm" else 1],
    )
    X = X * X
    of_row = gradient(
        half,
        norm,
        dY.astype(float),
        X.astype(float),
        *(p.astype(float) for p in P),
        eps=0.0,
    )
    assert_allclose(
        gradient(half, norm, dY, (X * size).astype(dtype), *P) * size,
        of_row,
        rtol=1e-4,
        atol=1e-6,
    )


@pytest.mark.parametrize(
    ("dtype", "c"), [("float32", 10000.1), ("float32", 1e30), ("float64", 1e300)]
)
def test_gradients_of_a_constant_row(half, dtype, c):
    """z = 0 and σ = √ε: what is left is dz less its mean, over √ε."""
    dY = np.array([1.0, 0, 0, -5], dtype)
    dX = gradient(half, "layer_norm", dY, np.full(4, c, dtype), *ones(4, dtype))
    assert_allclose(dX, np.array([2, 1, 1, -4]) / math.sqrt(1e-5), rtol=1e-5)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("f", ["gelu", "silu"])
def test_activations_at_infinity(half, f, dtype):
    x = np.array(
        [-np.inf, np.inf, np.nan, np.finfo(dtype).min, np.finfo(dtype).max], dtype
    )
    with np.errstate(invalid="ignore"):  # of the nan
        assert_array_equal(
            getattr(half, f)(x),
            np.array([0, np.inf, np.nan, 0, np.finfo(dtype).max], dtype),
        )
        assert_array_equal(
            gradient(half, f, np.ones(5, dtype), x), [0, 1, np.nan, 0, 1]
        )


def exact(f, x):
    return x * (
        0.5 * math.erfc(-x / math.sqrt(2)) if f == "gelu" else 1 / (1 + math.exp(-x))
    )


def slope(f, x):
    if f == "gelu":
        return 0.5 * math.erfc(-x / math.sqrt(2)) + x * math.exp(
            -x * x / 2
        ) / math.sqrt(2 * math.pi)
    sigma = 1 / (1 + math.exp(-x))
    return sigma * (1 + x * (1 - sigma))


@pytest.mark.parametrize("f", ["gelu", "silu"])
def test_activations_of_float16_are_right_to_its_last_digit(half, f):
    x = np.linspace(-5.5, 5.5, 500).astype(np.float16)
    assert_array_equal(
        getattr(half, f)(x),
        np.array([exact(f, v) for v in x.astype(float)]).astype(np.float16),
    )
    of_slope = np.array([slope(f, v) for v in x.astype(float)])
    assert_allclose(
        gradient(half, f, np.ones(500, np.float16), x),
        of_slope,
        rtol=2e-3,
        atol=2e-3 if half.name == "torch" else 1e-6,
    )


@pytest.mark.parametrize("f", ["gelu", "silu"])
def test_activations_of_bfloat16_are_right_to_its_last_digit(f):
    x = torch.linspace(-5.5, 5.5, 500).bfloat16()
    assert_array_equal(
        getattr(tt, f)(x).float(),
        torch.tensor([exact(f, v) for v in x.double().tolist()]).bfloat16().float(),
    )


def test_gelu_of_bfloat16_in_its_left_tail():
    assert tt.gelu(torch.tensor(-3.92).bfloat16()).item() == pytest.approx(
        -1.72e-4, rel=0.01
    )
