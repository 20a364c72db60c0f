"""What published models need beside the source's layer: tanh GELU, rotary positions of
two kinds at any frequencies, biases of the attention, RMS norms, a head of its own.
"""

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal

import tfbook.numpy as tn
from tfbook.numpy.training import loss_and_gradients
from tfbook.torch.distributed.tensor_parallel import split_parameters


def test_approximate_gelu_is_pytorch_s(half):
    x = np.linspace(-8, 8, 101)
    wanted = torch.nn.functional.gelu(torch.from_numpy(x), approximate="tanh")
    assert_allclose(half.gelu(x, True), wanted.numpy(), atol=1e-12)
    far = half.gelu(np.array([-np.inf, -1e300, 1e300, np.inf]), approximate=True)
    assert_array_equal(far, [0, 0, 1e300, np.inf])


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_approximate_gelu_does_not_overflow(half, dtype):
    x = np.array([-60000, -300, 300, 60000], dtype)
    assert_array_equal(half.gelu(x, True), [0, 0, 300, 60000])


def test_halves_are_adjacent_pairs_in_another_order(half, rng):
    X, d_k = rng.normal(size=(2, 5, 8)), 8
    order = np.arange(d_k).reshape(2, -1).T.ravel()  # 0 4 1 5 2 6 3 7
    turned = half.rotary(X, pairs="halves")
    assert_allclose(turned[..., order], half.rotary(X[..., order]), atol=1e-12)
    assert abs(turned - half.rotary(X)).max() > 0.1


def test_frequencies_take_the_place_of_a_base(half, rng):
    X = rng.normal(size=(3, 5, 8))
    frequencies = half.rotary_frequencies(8, 500.0)
    assert_array_equal(
        half.rotary(X, frequencies=frequencies), half.rotary(X, base=500.0)
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pairs": "both"}, "pairs: expected 'adjacent' or 'halves', got 'both'"),
        ({"frequencies": [1.0]}, r"frequencies: expected \(n,\) = \(2,\), got \(1,\)"),
        ({"frequencies": [1.0, 1.0], "base": 500.0}, "base: expected none beside"),
    ],
)
def test_rotary_refuses_what_has_no_effect(half, options, message):
    with pytest.raises(ValueError, match=message):
        half.rotary(np.zeros((3, 4)), **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"d_k": 7}, "d_k: expected an even number, got 7"),
        (
            {"scaling": "dynamic"},
            "scaling: expected one of None, linear, ntk, yarn, ll",
        ),
        ({"factor": 2.0}, "factor: expected 1 without a scaling"),
        ({"scaling": "linear", "factor": 0.5}, "factor: expected .* got 0.5"),
        (
            {"scaling": "yarn", "factor": 2.0},
            "trained: expected the positions of train",
        ),
        (
            {"scaling": "linear", "trained": 64},
            "trained: expected none with scaling='li",
        ),
    ],
)
def test_frequencies_refuse_what_has_no_effect(half, options, message):
    with pytest.raises(ValueError, match=message):
        half.rotary_frequencies(**{"d_k": 8} | options)


@pytest.mark.parametrize("scaling", ["linear", "ntk", "yarn", "llama3"])
def test_a_factor_of_one_scales_nothing(half, scaling):
    trained = 512 if scaling == "yarn" else None
    assert_allclose(
        half.rotary_frequencies(64, 10000.0, scaling, 1.0, trained),
        half.rotary_frequencies(64),
        rtol=1e-12,
    )


@pytest.mark.parametrize("scaling", ["ntk", "yarn", "llama3"])
def test_fast_pairs_keep_their_speed_and_slow_ones_lose_the_factor(half, scaling):
    trained = 512 if scaling == "yarn" else None
    scaled = half.rotary_frequencies(64, 1e6, scaling, 8.0, trained)
    slower = half.rotary_frequencies(64, 1e6) / scaled
    assert_allclose(slower[[0, -1]], [1, 8], rtol=1e-6)
    assert (np.diff(slower) >= -1e-9).all()


def test_a_bias_of_the_keys_changes_no_weight(half, rng):
    X, W_Q, W_K = rng.normal(size=(5, 6)), rng.normal(size=(6, 6)), np.eye(6)
    b_Q, b_K = rng.normal(size=(2, 6))
    plain = half.multi_head_weights(X, W_Q, W_K, 2, b_Q=b_Q)
    assert_allclose(
        half.multi_head_weights(X, W_Q, W_K, 2, b_Q=b_Q, b_K=b_K), plain, atol=1e-12
    )
    assert abs(plain - half.multi_head_weights(X, W_Q, W_K, 2)).max() > 0.01


def test_a_bias_of_another_size_is_refused(half):
    X, I = np.zeros((5, 6)), np.eye(6)
    with pytest.raises(ValueError, match=r"b_K: expected .* = \(6,\), got \(3,\)"):
        half.multi_head_attention(X, I, I, I, I, 2, b_K=np.zeros(3))


def native(half, P):
    return {name: half.native(p) for name, p in P.items()}


def test_a_layer_without_any_shift_has_rms_norms(half, rng):
    P = tn.init_layer(6, 2, norm="pre", rng=0)
    X = rng.normal(size=(5, 6))
    rms = {name: p for name, p in P.items() if not name.startswith("beta")}
    silent = rms | {"W_O": 0 * P["W_O"], "W_2": 0 * P["W_2"]}
    layer = lambda P, **eps: half.transformer_layer(
        X, native(half, P), 2, norm="pre", **eps
    )
    assert_allclose(layer(silent), X)
    Y = layer(rms | {"W_O": 0 * P["W_O"]}, eps=0.3)
    normal = half.rms_norm(X, P["gamma_2"], 0.3)
    network = half.feed_forward(normal, P["W_1"], P["b_1"], P["W_2"], P["b_2"])
    assert_allclose(Y, X + network, atol=1e-12)
    with pytest.raises(ValueError, match="got no beta_1"):
        layer(rms | {"beta_2": P["beta_2"]})


def test_a_head_of_its_own_scores_the_tokens(half, rng):
    P = {"E": rng.normal(size=(7, 4)), "gamma_f": np.ones(4)}
    P |= {f"layers.0.{name}": p for name, p in tn.init_layer(4, 2, rng=0).items()}
    W_out = rng.normal(size=(4, 7))
    ask = lambda **more: half.language_model(
        [[1, 2]], native(half, P | more), 2, positions="none"
    )
    assert_array_equal(ask(W_out=P["E"].T), ask())
    assert_allclose(ask(W_out=2 * W_out), 2 * ask(W_out=W_out))
    with pytest.raises(ValueError, match=r"W_out: expected \(d, vocab\) = \(4, 7\)"):
        ask(W_out=W_out.T)


def test_what_cannot_honour_a_parameter_refuses_it(rng):
    P = {"E": np.eye(4), "P": np.zeros((3, 4)), "W_out": np.eye(4)}
    P |= {f"layers.0.{name}": p for name, p in tn.init_layer(4, 2, rng=0).items()}
    with pytest.raises(ValueError, match="P: expected no W_out"):
        loss_and_gradients(P, [[1, 2]], [[2, 3]], 2)
    with pytest.raises(
        ValueError, match="without biases of the attention, got b_Q b_O"
    ):
        split_parameters({"b_Q": 0, "b_O": 0}, None, 2)
    with pytest.raises(ValueError, match=r"with layer norms .* got no beta_1"):
        split_parameters({"gamma_1": 0}, None, 2)
