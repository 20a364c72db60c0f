"""Arguments that were taken for something else, or failed without a word of advice:
each is honoured, or refused by name.
"""

import math

import numpy as np
import pytest
import torch
from calls import HALVES, generator, native, says
from numpy.testing import assert_allclose, assert_array_equal

import tfbook.numpy as tn
import tfbook.torch as tt
from tfbook.numpy.training import loss_and_gradients
from tfbook.torch.sequences import MixedModel, SequenceClassifier, mixed_loss

FRACTIONS = "dtype: expected one of floating-point numbers, got "


@HALVES
@pytest.mark.parametrize("dtype", ["int64", "bool", "complex128"])
def test_tables_of_positions_hold_fractions(half, dtype):
    dtype = np.dtype(dtype) if half is tn else getattr(torch, dtype)
    for make in (
        lambda: half.sinusoidal_positions(3, 4, dtype=dtype),
        lambda: half.alibi_bias(2, 3, dtype=dtype),
    ):
        with says(f"{FRACTIONS}{dtype}"):
            make()
    with says(f"{FRACTIONS}int64"):
        tn.init_layer(4, 2, dtype=int)


@HALVES
def test_tables_of_positions_keep_half_precision(half):
    dtype = np.float16 if half is tn else torch.float16
    assert_allclose(
        np.asarray(half.sinusoidal_positions(2, 2, dtype=dtype))[1],
        [math.sin(1), math.cos(1)],
        rtol=1e-3,
    )
    assert_array_equal(
        np.asarray(half.alibi_bias(1, 2, dtype=dtype))[0],
        [[0, -1 / 256], [-1 / 256, 0]],
    )


@pytest.mark.parametrize("no", ["no", 0, None, [False]])
def test_a_flag_is_a_boolean(half, no):
    X, W = np.ones((4, 1)), np.ones((3, 1, 1))
    with says(f"causal: expected True or False, got {type(no).__name__}"):
        half.module.conv1d(half.native(X), half.native(W), causal=no)
    assert_array_equal(half.conv1d(X, W, causal=np.False_)[:, 0], [2, 3, 3, 2])


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: tn.init_layer(4, 2, gated="no"), "gated"),
        (lambda: tt.TransformerLayer(4, 2, gated="no"), "gated"),
        (lambda: tt.FeedForward(4, gated="no"), "gated"),
        (lambda: tt.TransformerLayer(4, 2, fused="no"), "fused"),
        (lambda: tt.MultiHeadAttention(4, 2, rotary="no"), "rotary"),
        (lambda: SequenceClassifier(4, 2, 3, 4, 2, 1, positions="no"), "positions"),
        (lambda: tn.generate(None, [1], 1, cached="no"), "cached"),
        (lambda: tt.generate(None, torch.tensor([1]), 1, cached="no"), "cached"),
    ],
)
def test_flags_of_modules_are_booleans(make, name):
    with says(f"{name}: expected True or False, got str"):
        make()


def test_an_array_that_hides_values_is_refused():
    hidden = np.ma.masked_array([1.0, 2.0, 3.0], mask=[False, True, False])
    with says(
        "S: expected an array that hides no values, got a masked array; replace them "
        "with S.filled(value)"
    ):
        tn.softmax(hidden)
    assert_allclose(
        tn.softmax(hidden.filled(-np.inf)),
        [math.exp(-2) / (1 + math.exp(-2)), 0, 1 / (1 + math.exp(-2))],
    )
    assert_allclose(tn.softmax(np.ma.masked_array([0.0, 0.0])), [0.5, 0.5])
    with says("tokens: expected an array that hides no values"):
        tn.embed(np.ma.masked_array([1, 2], mask=[True, False]), np.eye(3))
    with says("X: expected an array that hides no values"):
        tn.rms_norm(hidden, np.ones(3))


@HALVES
@pytest.mark.parametrize(
    "p", [[np.inf, 1.0], [1.0, np.inf], [1e308, 1e308], [np.nan, 1.0]]
)
def test_chances_have_a_finite_sum(half, p):
    with (
        np.errstate(over="ignore"),
        says("p: expected chances, none negative and some above 0, with a finite sum"),
    ):
        half.sample(native(half, np.array(p)), generator(half))


@HALVES
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_the_smallest_settings_leave_the_likeliest(half, dtype):
    logits = native(half, np.array([0.0, 1.0, 0.5], dtype))
    cold, few = {"temperature": 1e-46}, {"top_p": 1e-50}
    for options in (cold, few, cold | few, {"temperature": 5e-324}, {"top_p": 5e-324}):
        p = half.token_distribution(logits, **options)
        assert p.dtype == logits.dtype
        assert_array_equal(p, [0, 1, 0])


@HALVES
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"temperature": None}, "temperature: expected a number from 0 on, got None"),
        ({"temperature": "hot"}, "temperature: expected a number from 0 on, got 'hot'"),
        ({"temperature": True}, "temperature: expected a number from 0 on, got True"),
        ({"top_p": "0.5"}, "top_p: expected a chance above 0, at most 1, got '0.5'"),
    ],
)
def test_settings_of_sampling_are_numbers(half, options, words):
    with says(words):
        half.token_distribution(native(half, np.array([0.0, 1.0])), **options)


@HALVES
@pytest.mark.parametrize("base", [None, "10000", 0, -1.0, float("nan")])
def test_a_base_is_a_number_above_zero(half, base):
    for call in (
        lambda: half.sinusoidal_positions(3, 4, base),
        lambda: half.rotary(native(half, np.ones((3, 4))), base=base),
    ):
        with says(f"base: expected a number above 0, got {base!r}"):
            call()


CALLS = {  # each with its first argument in another dtype than the rest
    "X, W_Q, W_K, W_V, W_O": lambda X, W: tt.multi_head_attention(X, W, W, W, W, H=2),
    "X, W_Q, W_K": lambda X, W: tt.multi_head_weights(X, W, W, H=2),
    "X, W_1, b_1, W_2, b_2": lambda X, W: tt.feed_forward(X, W, W[0], W, W[0]),
    "X, W_gate, W_up, W_down": lambda X, W: tt.gated_feed_forward(X, W, W, W),
    "X, gamma, beta": lambda X, W: tt.layer_norm(X, W[0], W[0]),
    "X, gamma": lambda X, W: tt.rms_norm(X, W[0]),
    "X, W": lambda X, W: tt.conv1d(X, W[None]),
    "X, W, b": lambda X, W: tt.conv1d(X, W[None].to(X), W[0]),
    "X, W_x, W_h, b": lambda X, W: tt.rnn(X, W, W, W[0]),
    "X, context, W_x, W_h, b": lambda X, W: tt.recurrent_attention(X, W, W, W, W[0]),
    "X, W_in": lambda X, W: SequenceClassifier(4, 2, 4, 4, 2, 1).to(W.dtype)(X),
    "vectors, W_in": (
        lambda X, W: MixedModel(3, 4, 4, 4, 2, 1).to(W.dtype)(
            torch.zeros(4, dtype=torch.long), X
        )
    ),
}


@pytest.mark.parametrize("names", CALLS)
def test_products_of_different_dtypes_name_their_arguments(names):
    X, W = torch.eye(4), torch.eye(4, dtype=torch.float64)
    with pytest.raises(
        ValueError,
        match=(
            rf"^{names}: expected one dtype, got torch.float32, .*torch.float64;"
            r" convert them with"
        ),
    ):
        CALLS[names](X, W)
    CALLS[names](X.double(), W)


@pytest.mark.parametrize("norm", ["post", "pre", "both"])
def test_a_layer_of_another_dtype_is_refused_and_not_promoted(norm):
    P = {
        name: torch.tensor(p)
        for name, p in tn.init_layer(4, 2, norm=norm, rng=0).items()
    }
    with pytest.raises(
        ValueError,
        match=(
            r"X, .*: expected one dtype, got torch.float32, .*torch.float64; convert "
            r"them with \.to\(dtype\)"
        ),
    ):
        tt.transformer_layer(torch.ones(3, 4), P, 2, norm=norm)


def test_a_network_of_another_dtype_is_cast_under_autocast():
    X, W = torch.eye(4), torch.eye(4).bfloat16()
    with torch.autocast("cpu", torch.bfloat16):
        assert_array_equal(
            tt.feed_forward(X, W, W[0], W, 0 * W[0]).float(), np.eye(4) + np.eye(4)[0]
        )


def test_a_residual_takes_what_the_half_takes():
    assert_array_equal(tn.residual([1.0, 2.0], lambda x: [10, 20]), [11, 22])
    with says("f(X): expected the shape of X, (2,), got (1,)"):
        tn.residual([1.0, 2.0], lambda x: [10])
    with says("f(X): expected a torch.Tensor, got list; pass torch.as_tensor(f(X))"):
        tt.residual(torch.ones(2), lambda x: [10, 20])
    assert_array_equal(
        tn.residual_vjp([1.0, 2.0], [3.0, 4.0], lambda dY, X: [10, 20]), [11, 22]
    )
    with says("f_vjp(dY, X): expected the shape of the answer, (2,), got (1,)"):
        tn.residual_vjp([1.0, 2.0], [3.0, 4.0], lambda dY, X: [10])


@HALVES
def test_a_model_gives_what_the_half_takes(half):
    tokens = native(half, np.array([[1, 2]]))

    def model(tokens, pad, cache):
        return [[[0.0, 0.0, 1.0]] * tokens.shape[-1]]

    if half is tn:
        assert_array_equal(tn.generate(model, tokens, 2), [[2, 2]])
    else:
        with says("model(tokens): expected a torch.Tensor, got list"):
            tt.generate(model, tokens, 2)


def mixed():
    torch.manual_seed(0)
    return MixedModel(vocab=9, d_in=4, T_max=8, d=6, H=3, L=1)


def test_a_row_of_one_kind_has_the_loss_of_that_kind():
    model, words, vectors = mixed(), torch.tensor([[3, 1, 5]]), torch.ones(1, 3, 4)
    logits, guesses = model(words[:, :-1], vectors[:, :-1])
    loss = mixed_loss(model, (words, vectors))
    assert loss.item() == pytest.approx(
        tt.cross_entropy(logits, words[:, 1:]).item(), rel=1e-5
    )
    only_vectors = torch.full((1, 3), -1)
    _, guesses = model(only_vectors[:, :-1], vectors[:, :-1])
    assert mixed_loss(
        model, (only_vectors, vectors), share=3.0
    ).item() == pytest.approx(3 * (guesses - 1).square().mean().item(), rel=1e-5)
    loss.backward()
    assert all(p.grad is None or p.grad.isfinite().all() for p in model.parameters())
    assert_array_equal(model.W_vector.grad, 0)


def test_a_row_where_nothing_comes_next_is_refused():
    with says("T: expected a whole number, at least 2, got 1"):
        mixed_loss(mixed(), (torch.tensor([[3]]), torch.ones(1, 1, 4)))
    with says("T: expected a whole number, at least 1, got 0"):
        SequenceClassifier(4, 2, 3, 4, 2, 1)(torch.ones(2, 0, 4))


@HALVES
@pytest.mark.parametrize("positions", ["absolute", "None", None, "Rotary", ["rotary"]])
def test_an_unknown_position_scheme_is_refused(half, positions):
    P = {"E": np.eye(4), "P": np.eye(4)} | {
        f"layers.0.{name}": p for name, p in tn.init_layer(4, 2, rng=0).items()
    }
    P = {name: native(half, p) for name, p in P.items()}
    words = (
        "positions: expected one of learned, sinusoidal, rotary, alibi, none, got"
        f" {positions!r}"
    )
    with says(words):
        half.language_model(native(half, np.array([1, 2])), P, 2, positions=positions)
    with says(words):
        tt.LanguageModel(4, 4, 4, 2, 1, positions)


@pytest.mark.parametrize("norm", ["post", "pre", "both"])
@pytest.mark.parametrize("final", [False, True])
def test_loss_and_gradients_with_and_without_a_final_norm(norm, final):
    rng = np.random.default_rng(0)
    P = {"E": rng.normal(size=(7, 4)), "P": rng.normal(size=(6, 4))}
    P |= {
        f"layers.{l}.{name}": p
        for l in range(2)
        for name, p in tn.init_layer(4, 2, norm=norm, rng=rng).items()
    }
    P |= {"gamma_f": rng.normal(size=4), "beta_f": rng.normal(size=4)} if final else {}
    inputs, targets = rng.integers(7, size=(2, 3, 5))
    loss, gradients = loss_and_gradients(P, inputs, targets, 2, norm)
    leaves = {name: torch.tensor(p, requires_grad=True) for name, p in P.items()}
    exact = tt.cross_entropy(
        tt.language_model(torch.tensor(inputs), leaves, 2, norm=norm),
        torch.tensor(targets),
    )
    exact.backward()
    assert loss == pytest.approx(exact.item())
    assert set(gradients) == set(P)
    for name, p in leaves.items():
        assert_allclose(gradients[name], p.grad, rtol=1e-8, atol=1e-12, err_msg=name)
