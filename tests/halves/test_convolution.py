"""Convolution over time: both halves agree, torch's own agrees, and its reach is what
is claimed.
"""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import tfbook.numpy as tn
import tfbook.torch as tt
from tfbook import cost

B, T, D_IN, D_OUT = 2, 7, 3, 5


def arrays(k=3, T=T, dtype=np.float64, leading=(B,), seed=0):
    rng = np.random.default_rng(seed)
    return [
        rng.standard_normal(shape).astype(dtype)
        for shape in ((*leading, T, D_IN), (k, D_IN, D_OUT), (D_OUT,))
    ]


def oracle(X, W, b, causal):
    """torch's own: channels before time, kernel (d_out, d_in, k)."""
    X, W, b = (torch.from_numpy(a) for a in (X, W, b))
    k = len(W)
    X = torch.nn.functional.pad(
        X.transpose(-1, -2), (k - 1, 0) if causal else (k // 2, k // 2)
    )
    return (
        torch.nn.functional.conv1d(X, W.permute(2, 1, 0), b).transpose(-1, -2).numpy()
    )


@settings(deadline=None, max_examples=40)
@given(k=st.integers(1, 11), T=st.integers(1, 9), causal=st.booleans())
def test_agrees_with_torchs_own(k, T, causal):
    if k % 2 == 0 and not causal:
        k += 1
    X, W, b = arrays(k, T)
    ours = tn.conv1d(X, W, b, causal)
    assert ours.shape == (B, T, D_OUT)
    np.testing.assert_allclose(ours, oracle(X, W, b, causal), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(
        tt.conv1d(*map(torch.from_numpy, (X, W, b)), causal).numpy(),
        ours,
        rtol=1e-10,
        atol=1e-12,
    )
    np.testing.assert_allclose(
        tn.conv1d(X, W, causal=causal), ours - b, rtol=1e-8, atol=1e-10
    )


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("leading", [(), (B,), (B, 11)])
@pytest.mark.parametrize(
    ("dtype", "tolerance"),
    [(np.float64, 1e-12), (np.float32, 1e-5), (np.float16, 2e-2)],
)
def test_halves_agree_and_keep_the_dtype(leading, dtype, tolerance, causal):
    X, W, b = arrays(dtype=dtype, leading=leading)
    ours, theirs = (
        tn.conv1d(X, W, b, causal),
        tt.conv1d(*map(torch.from_numpy, (X, W, b)), causal).numpy(),
    )
    assert ours.shape == theirs.shape == (*leading, T, D_OUT)
    assert ours.dtype == theirs.dtype == dtype
    np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("half", [tn, tt])
def test_integers_and_non_contiguous_views_and_no_tokens(half):
    make = torch.from_numpy if half is tt else np.asarray
    X, W = (
        np.arange(T * D_IN).reshape(D_IN, T).T,
        np.arange(3 * D_IN * D_OUT).reshape(3, D_IN, D_OUT),
    )
    ours = np.asarray(half.conv1d(make(X), make(W)))
    assert ours.dtype == np.float64
    np.testing.assert_allclose(
        ours, oracle(X[None] * 1.0, W * 1.0, np.zeros(D_OUT), False)[0]
    )
    assert tuple(half.conv1d(make(X[:0]), make(W), causal=True).shape) == (0, D_OUT)


def test_inputs_are_left_alone():
    given_ = arrays()
    before = [a.copy() for a in given_]
    tn.conv1d(*given_)
    tt.conv1d(*map(torch.from_numpy, given_))
    for a, was in zip(given_, before):
        np.testing.assert_array_equal(a, was)


@pytest.mark.parametrize("causal", [False, True])
def test_gradients(causal):
    X, W, b = (torch.from_numpy(a).requires_grad_() for a in arrays(T=4))
    assert torch.autograd.gradcheck(lambda *parts: tt.conv1d(*parts, causal), (X, W, b))


@settings(deadline=None, max_examples=25)
@given(T=st.integers(2, 20), k=st.integers(2, 5))
def test_the_first_token_reaches_the_last_position_in_as_many_layers_as_counted(T, k):
    X, W = (
        torch.ones(T, 1, dtype=torch.float64, requires_grad=True),
        torch.ones(k, 1, 1, dtype=torch.float64),
    )
    layers, Y = cost.conv(T, 1, k).path_length, X
    for depth in range(1, layers + 1):
        Y = tt.conv1d(Y, W, causal=True)
        (reach,) = torch.autograd.grad(Y[-1, 0], X, retain_graph=True)
        assert (reach[0, 0] != 0) == (depth == layers)


@pytest.mark.parametrize("half", [tn, tt])
def test_a_causal_convolution_sees_nothing_ahead(half):
    X, W, b = arrays()
    make = torch.from_numpy if half is tt else np.asarray
    for t in range(T):
        changed = X.copy()
        changed[:, t] += 1
        before, after = (
            np.asarray(half.conv1d(make(A), make(W), make(b), causal=True))
            for A in (X, changed)
        )
        same = np.isclose(before, after)
        touched = ~same.all(axis=(0, 2))
        np.testing.assert_array_equal(
            touched, (np.arange(T) >= t) & (np.arange(T) < t + 3)
        )


@pytest.mark.parametrize("half", [tn, tt])
def test_errors_name_the_argument_and_both_shapes(half):
    X, W, b = (torch.from_numpy(a) if half is tt else a for a in arrays())
    for wrong, message in (
        ((X[0, 0], W), r"X: expected \(..., T, d_in\), got \(3,\)"),
        (
            (X, W[..., :1, :]),
            r"W: expected \(k, d_in, d_out\) = \(k, 3, d_out\), got \(3, 1, 5\)",
        ),
        ((X, W[0]), r"W: expected \(k, d_in, d_out\) = \(k, 3, d_out\), got \(3, 5\)"),
        ((X, W, b[:1]), r"b: expected \(d_out,\) = \(5,\), got \(1,\)"),
        ((X, W[:2]), "W: expected an odd k, .*got k = 2; pass causal=True"),
        ((X, W[:0]), "k: expected a whole number, at least 1, got 0"),
    ):
        with pytest.raises(ValueError, match=message):
            half.conv1d(*wrong)
