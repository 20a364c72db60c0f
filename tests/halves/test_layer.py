"""Feed-forward networks, normalisation, residuals and the layer: laws that define them,
and faults met elsewhere.
"""

import numpy as np
import pytest
import torch
from calls import says
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import tfbook.numpy
import tfbook.torch
from tfbook.notebook.examples import LAYER
from tfbook.notebook.examples import X as X_SMALL

B, T, d, d_ff, H, H_kv, d_k, d_v = 2, 5, 11, 13, 6, 3, 2, 7
some = settings(max_examples=25, deadline=None, derandomize=True, database=None)
NORMS = ["post", "pre", "both"]


@pytest.fixture
def X(rng):
    return rng.normal(size=(B, T, d))


def some_layer(half, norm="post", gated=False, dtype=np.float64, seed=0):
    """Parameters with scales that are not 1 and shifts that are not 0, as the half
    takes them.
    """
    rng = np.random.default_rng(seed)
    P = tfbook.numpy.init_layer(d, H, d_ff, H_kv, d_k, d_v, norm, gated, rng)
    return {
        name: half.native((p + 0.3 * rng.normal(size=p.shape)).astype(dtype))
        for name, p in P.items()
    }


def arrays(P):
    return {name: np.asarray(p) for name, p in P.items()}


# --- feed-forward networks


def test_networks_work_on_each_token_by_itself(half, X, rng):
    W_1, b_1, W_2, b_2 = (
        rng.normal(size=(d, d_ff)),
        rng.normal(size=d_ff),
        rng.normal(size=(d_ff, d)),
        rng.normal(size=d),
    )
    Y = half.feed_forward(X, W_1, b_1, W_2, b_2)
    Z = half.gated_feed_forward(X, W_1, 2 * W_1, W_2)
    for b, t in np.ndindex(B, T):
        assert_allclose(
            half.feed_forward(X[b, t], W_1, b_1, W_2, b_2), Y[b, t], atol=1e-10
        )
        assert_allclose(
            half.gated_feed_forward(X[b, t], W_1, 2 * W_1, W_2), Z[b, t], atol=1e-10
        )


def test_gate_and_up_are_not_the_same(half, X, rng):
    W_gate, W_up, W_down = (
        rng.normal(size=(d, d_ff)),
        rng.normal(size=(d, d_ff)),
        rng.normal(size=(d_ff, d)),
    )
    G, U = X @ W_gate, X @ W_up
    assert_allclose(
        half.gated_feed_forward(X, W_gate, W_up, W_down),
        (G / (1 + np.exp(-G)) * U) @ W_down,
        atol=1e-10,
    )
    assert_allclose(
        half.gated_feed_forward(X, W_gate, W_up, W_down, "relu"),
        (G.clip(min=0) * U) @ W_down,
        atol=1e-10,
    )


def test_networks_refuse_what_does_not_fit(half, X, rng):
    W_1, b_1, W_2, b_2 = (
        rng.normal(size=(d, d_ff)),
        rng.normal(size=d_ff),
        rng.normal(size=(d_ff, d)),
        rng.normal(size=d),
    )
    with says("W_1: expected (d, d_ff) = (11, d_ff), got (13, 11)"):
        half.feed_forward(X, W_1.T, b_1, W_2, b_2)
    with says("W_2: expected (d_ff, d) = (13, 11), got (11, 13)"):
        half.feed_forward(X, W_1, b_1, W_2.T, b_2)
    with says("b_1: expected (d_ff,) = (13,), got (1,)"):
        half.feed_forward(X, W_1, b_1[:1], W_2, b_2)
    with says("b_2: expected (d,) = (11,), got (5, 11)"):
        half.feed_forward(X, W_1, b_1, W_2, np.ones((T, d)))
    with says("W_up: expected (d, d_ff) = (11, 13), got (11, 1)"):
        half.gated_feed_forward(X, W_1, W_1[:, :1], W_2)
    with says("W_down: expected (d_ff, d) = (13, 11), got (11, 13)"):
        half.gated_feed_forward(X, W_1, W_1, W_2.T)
    with says(
        "activation: expected one of relu, gelu, silu, or a function, got 'tanh'"
    ):
        half.feed_forward(X, W_1, b_1, W_2, b_2, "tanh")


# --- normalisation


def test_layer_norm_divides_by_d_and_adds_eps_inside_the_root(half):
    Y = half.layer_norm(np.array([[1.0, 3.0]]), np.ones(2), np.zeros(2), eps=3.0)
    # (1 - 2) / √(1 + 3); d - 1 gives 1 / √5, eps outside 1 / 4
    assert_allclose(Y, [[-0.5, 0.5]], rtol=1e-12)
    # √(25 + 11)
    assert_allclose(
        half.rms_norm(np.array([[1.0, 7.0]]), np.ones(2), eps=11.0),
        [[1 / 6, 7 / 6]],
        rtol=1e-12,
    )


@some
@given(st.floats(1e-2, 1e4), st.floats(-100, 100))
def test_layer_norm_does_not_feel_scale_and_shift(half, scale, shift):
    X, one, zero = np.random.default_rng(0).normal(size=(T, d)), np.ones(d), np.zeros(d)
    Y = half.layer_norm(X, one, zero, eps=0.0)
    assert_allclose(
        half.layer_norm(scale * X + shift, one, zero, eps=0.0), Y, atol=1e-7
    )
    assert_allclose(half.layer_norm(-scale * X, one, zero, eps=0.0), -Y, atol=1e-7)
    assert_allclose(
        half.rms_norm(scale * X, one, eps=0.0),
        half.rms_norm(X, one, eps=0.0),
        atol=1e-7,
    )


def test_normal_tokens_have_mean_0_and_variance_1(half, X):
    Y = half.layer_norm(50 * X + 7, np.ones(d), np.zeros(d))
    assert_allclose(Y.mean(axis=-1), 0, atol=1e-12)
    assert_allclose(Y.var(axis=-1), 1, rtol=1e-4)
    assert_allclose(
        (half.rms_norm(50 * X, np.ones(d)) ** 2).mean(axis=-1), 1, rtol=1e-4
    )


def test_scale_and_shift_come_last(half, X, rng):
    gamma, beta = rng.normal(size=(2, d))
    Y = half.layer_norm(X, np.ones(d), np.zeros(d))
    assert_allclose(half.layer_norm(X, gamma, beta), Y * gamma + beta, atol=1e-12)


def test_one_channel_or_a_constant_token_gives_the_shift(half):
    assert_array_equal(
        half.layer_norm(np.array([[3.0], [5.0]]), np.ones(1), np.full(1, 0.5)),
        [[0.5], [0.5]],
    )
    assert_array_equal(
        half.layer_norm(np.full((2, d), 7.0), np.ones(d), np.arange(d)), [range(d)] * 2
    )
    assert_array_equal(half.rms_norm(np.zeros((2, d)), np.ones(d)), np.zeros((2, d)))


def test_a_norm_refuses_what_would_only_broadcast(half, X):
    with says("gamma: expected (d,) = (11,), got (1,)"):
        half.layer_norm(X, np.ones(1), np.zeros(d))
    with says("beta: expected (d,) = (11,), got (1,)"):
        half.layer_norm(X, np.ones(d), np.zeros(1))
    with says("gamma: expected (d,) = (11,), got (5, 11)"):
        half.rms_norm(X, np.ones((T, d)))
    with says("X: expected (..., d), got ()"):
        half.layer_norm(np.array(3.0), np.ones(1), np.zeros(1))


@pytest.mark.parametrize("name", ["layer_norm", "rms_norm"])
def test_half_precision_does_not_overflow(half, X, name):
    parameters = [np.ones(d), np.zeros(d)][: 2 if name == "layer_norm" else 1]
    Y = getattr(half, name)(
        (2000 * X).astype(np.float16), *(p.astype(np.float16) for p in parameters)
    )
    assert Y.dtype == np.float16
    assert_allclose(Y, getattr(half, name)(2000 * X, *parameters), atol=1e-2)


# --- residual


def test_residual_adds_and_keeps_the_shape(half, X):
    assert_array_equal(half.residual(X, lambda x: 2 * x), 3 * X)
    with says("f(X): expected the shape of X, (2, 5, 11), got (2, 5, 1)"):
        half.residual(X, lambda x: x[..., :1])


def test_a_gradient_has_a_way_around():
    x = torch.ones(3, requires_grad=True)
    tfbook.torch.residual(x, lambda x: 0 * x).sum().backward()
    assert x.grad.tolist() == [1, 1, 1]


# --- the layer


def by_hand(half, X, P, norm, mlp, mask=None):
    """The three forms written out."""

    def normal(X, n):
        return half.layer_norm(X, P[f"gamma_{n}"], P[f"beta_{n}"])

    def attend(X):
        return half.multi_head_attention(
            X, P["W_Q"], P["W_K"], P["W_V"], P["W_O"], H, H_kv, mask
        )

    if norm == "post":
        Z = normal(X + attend(X), 1)
        return normal(Z + mlp(Z), 2)
    if norm == "pre":
        Z = X + attend(normal(X, 1))
        return Z + mlp(normal(Z, 2))
    Z = X + normal(attend(normal(X, 1)), 2)
    return Z + normal(mlp(normal(Z, 3)), 4)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("activation", [None, "relu", "gelu", "silu"])
@pytest.mark.parametrize("gated", [False, True])
def test_the_three_forms_and_their_activations(half, X, norm, activation, gated):
    native, mask = some_layer(half, norm, gated), half.causal_mask(T)
    P = arrays(native)
    if gated:

        def mlp(X):
            return half.gated_feed_forward(
                X, P["W_gate"], P["W_up"], P["W_down"], activation or "silu"
            )

    else:

        def mlp(X):
            return half.feed_forward(
                X, P["W_1"], P["b_1"], P["W_2"], P["b_2"], activation or "relu"
            )

    Y = half.transformer_layer(X, native, H, H_kv, norm, activation, mask)
    assert_allclose(Y, by_hand(half, X, P, norm, mlp, mask), atol=1e-10)


@pytest.mark.parametrize("norm", NORMS)
def test_no_layer_sees_the_future_and_each_keeps_the_order(half, X, norm, rng):
    P, order = some_layer(half, norm), rng.permutation(T)
    Y = half.transformer_layer(X, P, H, H_kv, norm, mask=half.causal_mask(T))
    early = half.transformer_layer(X[:, :3], P, H, H_kv, norm, mask=half.causal_mask(3))
    assert_allclose(early, Y[:, :3], atol=1e-10)
    Y = half.transformer_layer(X, P, H, H_kv, norm)
    assert_allclose(
        half.transformer_layer(X[:, order], P, H, H_kv, norm), Y[:, order], atol=1e-10
    )


def test_a_stack_is_layer_after_layer(half, X, rng):
    layers = tuple(some_layer(half, "pre", seed=seed) for seed in range(3))
    mask, bias = half.causal_mask(T), rng.normal(size=(H, T, T))
    Y = X
    for P in layers:
        Y = half.transformer_layer(Y, P, H, H_kv, "pre", mask=mask, bias=bias)
    options = {"H_kv": H_kv, "norm": "pre", "mask": mask, "bias": bias}
    assert_allclose(half.transformer(X, layers, H, **options), Y, atol=1e-10)
    gamma, beta = rng.normal(size=(2, d))
    final_norm = half.native(gamma), half.native(beta)
    assert_allclose(
        half.transformer(X, layers, H, final_norm, **options),
        half.layer_norm(Y, gamma, beta),
        atol=1e-10,
    )
    assert_array_equal(half.transformer(X, (), H), X)


def test_one_token_in_one_sequence(half, X):
    P = some_layer(half)
    assert half.transformer_layer(X[0, :1], P, H, H_kv).shape == (1, d)


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
@pytest.mark.parametrize("norm", NORMS)
def test_a_narrow_layer_stays_narrow(half, X, dtype, norm):
    P = some_layer(half, norm, dtype=dtype)
    Y = half.transformer_layer(
        X.astype(dtype),
        P,
        H,
        H_kv,
        norm,
        mask=half.causal_mask(T),
        bias=half.alibi_bias(H, T),
    )
    assert Y.dtype == dtype
    assert np.isfinite(Y).all()


def test_a_layer_says_what_is_missing(half, X):
    P = some_layer(half)
    with says("for norm='both', got no gamma_3 beta_3 gamma_4 beta_4"):
        half.transformer_layer(X, P, H, H_kv, "both")
    with says("norm: expected one of post, pre, both, sandwich, got 'after'"):
        half.transformer_layer(X, P, H, H_kv, "after")
    del P["W_2"]
    with says(
        "P: expected W_Q W_K W_V W_O W_1 b_1 W_2 b_2 gamma_1 beta_1 gamma_2 beta_2 for "
        "norm='post', got no W_2"
    ):
        half.transformer_layer(X, P, H, H_kv)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("gated", [False, True])
def test_gradients_reach_every_parameter(norm, gated):
    P = tfbook.numpy.init_layer(d, H, d_ff, H_kv, d_k, d_v, norm, gated, rng=0)
    P = {name: torch.from_numpy(p).requires_grad_() for name, p in P.items()}
    X = torch.randn(
        B, T, d, dtype=torch.float64, generator=torch.Generator().manual_seed(0)
    )
    tfbook.torch.transformer_layer(
        X, P, H, H_kv, norm, "gelu", tfbook.torch.causal_mask(T)
    ).pow(3).sum().backward()
    assert all(p.grad.isfinite().all() and p.grad.any() for p in P.values())


# --- the source's example, step by step


def four_steps(X, P):
    """A single-head layer with d_k = d_v = d, as the source's example writes it, in
    NumPy alone; W_O is 1.
    """

    def layer_norm(x, gamma, beta):
        return (x - x.mean(-1, keepdims=True)) / np.sqrt(
            x.var(-1, keepdims=True) + 1e-5
        ) * gamma + beta

    Q, K, V = X @ P["W_Q"], X @ P["W_K"], X @ P["W_V"]
    E = np.exp(Q @ K.T / np.sqrt(K.shape[-1]))
    A = E / E.sum(-1, keepdims=True) @ V
    Z = layer_norm(X + A, P["gamma_1"], P["beta_1"])
    F = np.maximum(0, Z @ P["W_1"] + P["b_1"]) @ P["W_2"] + P["b_2"]
    return A, Z, F, layer_norm(Z + F, P["gamma_2"], P["beta_2"])


@pytest.mark.parametrize("seed", range(5))
def test_the_layer_is_the_source_s_four_steps(half, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(3, 4))
    P = {
        name: p + 0.3 * rng.normal(size=p.shape)
        for name, p in tfbook.numpy.init_layer(4, 1, rng=rng).items()
    }
    P["W_O"] = np.eye(4)
    Y = half.transformer_layer(X, {name: half.native(p) for name, p in P.items()}, 1)
    assert Y.shape == X.shape
    assert_allclose(Y, four_steps(X, P)[-1], atol=1e-12)


def test_the_example_comes_out_round(half):
    A, Z, F, Y = four_steps(X_SMALL, LAYER)
    assert_allclose(
        A, [[0, -0.5, 3, 0.5], [0.5, -0.5, 1, 0], [2, -0.8, -0.2, -0.6]], atol=1e-12
    )
    assert_allclose(
        Z, [[-0.2, -1.4, 1.4, 0.2], [-1, -1, 1, 1], [1.4, -1.4, 0.2, -0.2]], atol=1e-3
    )
    assert_allclose(
        F, [[-1, 1.4, -1, 1.4], [-1, 3, 0, 4], [1.2, -0.2, 0, 1]], atol=1e-3
    )
    assert_allclose(
        Y,
        [[-1.4, -0.2, 0.2, 1.4], [-1.4, 0.2, -0.2, 1.4], [1.4, -1.4, -0.2, 0.2]],
        atol=1e-3,
    )
    assert_allclose(
        half.transformer_layer(
            X_SMALL, {name: half.native(p) for name, p in LAYER.items()}, 1
        ),
        Y,
        atol=1e-12,
    )


# --- parameters to begin with


def test_init_has_the_names_shapes_and_scales_that_it_states():
    P = tfbook.numpy.init_layer(64, 4, rng=0)
    assert (
        " ".join(P) == "W_Q W_K W_V W_O W_1 b_1 W_2 b_2 gamma_1 beta_1 gamma_2 beta_2"
    )
    assert P["W_1"].shape == (64, 256)
    for name, p in P.items():
        if name.startswith("W"):
            assert p.std() * len(p) ** 0.5 == pytest.approx(1, abs=0.05)
        else:
            assert_array_equal(p, 1 if name.startswith("gamma") else 0)
    P = tfbook.numpy.init_layer(d, H, d_ff, H_kv, d_k, d_v, "both", True, 0, np.float32)
    assert {name: p.shape for name, p in P.items()} == {
        "W_Q": (11, 12),
        "W_K": (11, 6),
        "W_V": (11, 21),
        "W_O": (42, 11),
        "W_gate": (11, 13),
        "W_up": (11, 13),
        "W_down": (13, 11),
    } | {f"{name}_{n}": (11,) for name in ("gamma", "beta") for n in (1, 2, 3, 4)}
    assert {p.dtype for p in P.values()} == {np.dtype(np.float32)}


def test_init_draws_from_the_generator_that_it_is_given():
    first, again = (
        tfbook.numpy.init_layer(8, 2, rng=np.random.default_rng(3)) for _ in range(2)
    )
    assert_array_equal(first["W_Q"], again["W_Q"])
    assert_array_equal(first["W_Q"], tfbook.numpy.init_layer(8, 2, rng=3)["W_Q"])
    rng = np.random.default_rng(3)
    assert (
        tfbook.numpy.init_layer(8, 2, rng=rng)["W_Q"]
        != tfbook.numpy.init_layer(8, 2, rng=rng)["W_Q"]
    ).any()
    with says("d: expected a multiple of H = 3, got 8; or pass d_k and d_v"):
        tfbook.numpy.init_layer(8, 3)
    with says("H_kv: expected a divisor of H = 4"):
        tfbook.numpy.init_layer(8, 4, H_kv=3)
