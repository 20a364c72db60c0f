"""Gradients by hand, held to PyTorch's automatic ones and to central differences; and a
model that learns with them.
"""

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal

import tfbook.numpy as tn
import tfbook.torch as tt

d, d_ff, T, T_k = 6, 11, 5, 7
LEADING = pytest.mark.parametrize("leading", [(), (2,), (2, 3)])


@pytest.fixture
def draw(rng):
    return lambda *shape: rng.normal(size=shape)


def check(f, vjp, *arrays):
    """Hold vjp(dY, *arrays), gradients of f(half, *arrays), to autograd on the torch
    half and to central differences.
    """
    rng = np.random.default_rng(1)
    Y = f(tn, *arrays)
    dY = rng.normal(size=np.shape(Y))
    hand = vjp(dY, *arrays)
    hand = hand if isinstance(hand, tuple) else (hand,)
    assert [X.shape for X in hand] == [X.shape for X in arrays]

    leaves = [torch.tensor(X, requires_grad=True) for X in arrays]
    for one, other in zip(
        hand, torch.autograd.grad(f(tt, *leaves), leaves, torch.tensor(dY))
    ):
        assert_allclose(one, other.numpy(), atol=1e-10)

    for i, X in enumerate(arrays):
        step = 1e-5 * rng.normal(size=X.shape)
        up, down = (
            (dY * f(tn, *arrays[:i], X + way, *arrays[i + 1 :])).sum()
            for way in (step, -step)
        )
        assert_allclose((hand[i] * step).sum(), (up - down) / 2, rtol=1e-4, atol=1e-9)


def of(half, X):
    return torch.tensor(X) if half is tt and isinstance(X, np.ndarray) else X


@pytest.mark.parametrize("f", ["relu", "gelu", "silu"])
def test_activations(draw, f):
    check(lambda half, x: getattr(half, f)(x), getattr(tn, f"{f}_vjp"), 3 * draw(3, 7))


def test_approximate_gelu(draw):
    check(
        lambda half, x: half.gelu(x, approximate=True),
        lambda dY, x: tn.gelu_vjp(dY, x, approximate=True),
        3 * draw(3, 7),
    )


@pytest.mark.parametrize("f", ["relu", "gelu", "silu"])
def test_activations_far_out(f):
    assert_array_equal(
        getattr(tn, f"{f}_vjp")(np.ones(4), [-1e200, -1000.0, 1000.0, 1e200]),
        [0, 0, 1, 1],
    )


@pytest.mark.parametrize("axis", [-1, 0, 1])
def test_softmax(draw, axis):
    check(
        lambda half, S: half.softmax(S, axis),
        lambda dA, S: tn.softmax_vjp(dA, S, axis),
        draw(3, 5, 7),
    )


def test_softmax_of_nothing_but_minus_infinity():
    assert_array_equal(
        tn.softmax_vjp(np.ones((2, 2)), [[-np.inf, -np.inf], [0.0, -np.inf]]), 0
    )


@LEADING
def test_cross_entropy(draw, rng, leading):
    targets = rng.integers(0, 7, leading)
    check(
        lambda half, logits: half.cross_entropy(logits, of(half, targets)),
        lambda dL, logits: tn.cross_entropy_vjp(dL, logits, targets),
        draw(*leading, 7),
    )


@LEADING
def test_linear(draw, leading):
    check(lambda half, X, W: X @ W, tn.linear_vjp, draw(*leading, T, d), draw(d, 3))


@LEADING
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("scale", [None, 2.0])
def test_scaled_dot_product_attention(draw, leading, masked, scale):
    mask = tn.causal_mask(T, T_k) if masked else None
    bias = draw(T, T_k) if masked else None
    check(
        lambda half, Q, K, V: half.scaled_dot_product_attention(
            Q, K, V, mask, of(half, bias), scale
        ),
        lambda dY, Q, K, V: tn.scaled_dot_product_attention_vjp(
            dY, Q, K, V, mask, bias, scale
        ),
        draw(*leading, T, 3),
        draw(*leading, T_k, 3),
        draw(*leading, T_k, 4),
    )


@pytest.mark.parametrize("mask", [None, (2, 1, T, T_k)])
def test_keys_and_values_that_are_broadcast_sum_their_gradients(draw, rng, mask):
    mask = None if mask is None else rng.random(mask) < 0.5
    check(
        lambda half, Q, K, V: half.scaled_dot_product_attention(Q, K, V, mask),
        lambda dY, Q, K, V: tn.scaled_dot_product_attention_vjp(dY, Q, K, V, mask),
        draw(2, 3, T, 3),
        draw(1, 1, T_k, 3),
        draw(T_k, 4),
    )


def test_no_gradient_where_there_is_nothing_to_attend(draw):
    Q, K, V = draw(T, 3), draw(T_k, 3), draw(T_k, 4)
    V[2] = np.nan
    mask = np.ones((T, T_k), bool)
    mask[:, 2] = mask[1] = False
    dQ, dK, dV = tn.scaled_dot_product_attention_vjp(draw(T, 4), Q, K, V, mask)
    assert_array_equal(dQ[1], 0)
    assert_array_equal(dK[2], 0)
    assert_array_equal(dV[2], 0)
    assert all(np.isfinite(X).all() for X in (dQ, dK, dV))


@LEADING
@pytest.mark.parametrize(
    ("H", "H_kv", "d_k", "d_v"),
    [(1, 1, 6, 6), (3, None, 2, 2), (4, 2, 3, 5), (4, 1, 3, 5)],
)
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("crossed", [False, True])
def test_multi_head_attention(draw, rng, leading, H, H_kv, d_k, d_v, masked, crossed):
    n, H_kv, mask, bias = T_k if crossed else T, H_kv or H, None, None
    if masked:
        mask, bias = (
            rng.random((*leading[:1], *(1 for _ in leading[1:]), T, n)) < 0.5,
            draw(H, T, n),
        )
        mask[..., 2, :] = False  # a query with nothing to attend

    def attend(half, X, W_Q, W_K, W_V, W_O, *context):
        return half.multi_head_attention(
            X, W_Q, W_K, W_V, W_O, H, H_kv, mask, of(half, bias), *context
        )

    def vjp(dY, X, W_Q, W_K, W_V, W_O, *context):
        return tn.multi_head_attention_vjp(
            dY, X, W_Q, W_K, W_V, W_O, H, H_kv, mask, bias, *context
        )

    weights = (
        draw(d, H * d_k),
        draw(d, H_kv * d_k),
        draw(d, H_kv * d_v),
        draw(H * d_v, d),
    )
    check(
        attend, vjp, draw(*leading, T, d), *weights, *[draw(*leading, T_k, d)] * crossed
    )


@LEADING
@pytest.mark.parametrize("crossed", [False, True])
@pytest.mark.parametrize("names", ["b_Q b_K b_V b_O", "b_V"])
def test_biases_of_attention(draw, leading, crossed, names):
    H, H_kv, d_k, d_v, names = 4, 2, 3, 5, names.split()
    sizes = {"b_Q": H * d_k, "b_K": H_kv * d_k, "b_V": H_kv * d_v, "b_O": d}

    def unpacked(rest):
        context = rest[0] if crossed else None
        return {"context": context} | dict(zip(names, rest[crossed:]))

    check(
        lambda half, X, W_Q, W_K, W_V, W_O, *rest: half.multi_head_attention(
            X, W_Q, W_K, W_V, W_O, H, H_kv, **unpacked(rest)
        ),
        lambda dY, X, W_Q, W_K, W_V, W_O, *rest: tn.multi_head_attention_vjp(
            dY, X, W_Q, W_K, W_V, W_O, H, H_kv, **unpacked(rest)
        ),
        draw(*leading, T, d),
        draw(d, H * d_k),
        draw(d, H_kv * d_k),
        draw(d, H_kv * d_v),
        draw(H * d_v, d),
        *[draw(*leading, T_k, d)] * crossed,
        *(draw(sizes[name]) for name in names),
    )


@LEADING
@pytest.mark.parametrize("eps", [1e-5, 0.5])
def test_norms(draw, leading, eps):
    X, gamma, beta = draw(*leading, d), draw(d), draw(d)
    check(
        lambda half, *args: half.layer_norm(*args, eps),
        lambda *args: tn.layer_norm_vjp(*args, eps),
        X,
        gamma,
        beta,
    )
    check(
        lambda half, *args: half.rms_norm(*args, eps),
        lambda *args: tn.rms_norm_vjp(*args, eps),
        X,
        gamma,
    )


@LEADING
@pytest.mark.parametrize("activation", ["relu", "gelu", "silu"])
def test_feed_forward(draw, leading, activation):
    X = draw(*leading, d)
    check(
        lambda half, *args: half.feed_forward(*args, activation),
        lambda *args: tn.feed_forward_vjp(*args, activation),
        X,
        draw(d, d_ff),
        draw(d_ff),
        draw(d_ff, d),
        draw(d),
    )
    check(
        lambda half, *args: half.gated_feed_forward(*args, activation),
        lambda *args: tn.gated_feed_forward_vjp(*args, activation),
        X,
        draw(d, d_ff),
        draw(d, d_ff),
        draw(d_ff, d),
    )


def test_an_activation_whose_gradient_is_not_known_is_refused(draw):
    with pytest.raises(
        ValueError,
        match=(
            "activation: expected one of relu, gelu, silu, whose gradients are known, "
            "got"
        ),
    ):
        tn.feed_forward_vjp(
            draw(d),
            draw(d),
            draw(d, d_ff),
            draw(d_ff),
            draw(d_ff, d),
            draw(d),
            activation=np.tanh,
        )


@LEADING
def test_embed(draw, rng, leading):
    # fewer kinds than tokens: some come twice
    tokens = rng.integers(0, 4, (*leading, T))
    check(
        lambda half, E: half.embed(of(half, tokens), E),
        lambda dX, E: tn.embed_vjp(dX, tokens, E),
        draw(7, d),
    )
    check(
        lambda half, E, P: half.embed(of(half, tokens), E, P),
        lambda dX, E, P: tn.embed_vjp(dX, tokens, E, P),
        draw(7, d),
        draw(T, d),
    )


def check_layer(X, P, options):
    """A layer's gradients, of its tokens and of each of its parameters."""

    def vjp(dY, X, *p):
        dX, dP = tn.transformer_layer_vjp(dY, X, dict(zip(P, p)), **options)
        assert list(dP) == list(P)
        return dX, *dP.values()

    check(
        lambda half, X, *p: half.transformer_layer(X, dict(zip(P, p)), **options),
        vjp,
        X,
        *P.values(),
    )


@pytest.mark.parametrize("norm", ["post", "pre", "both"])
@pytest.mark.parametrize("gated", [False, True])
@pytest.mark.parametrize(("H", "H_kv"), [(3, None), (6, 2)])
@pytest.mark.parametrize("masked", [False, True])
def test_transformer_layer(draw, norm, gated, H, H_kv, masked):
    P = {
        name: p + 0.1 * draw(*p.shape)
        for name, p in tn.init_layer(
            d, H, d_ff, H_kv, norm=norm, gated=gated, rng=0
        ).items()
    }
    options = {
        "H": H,
        "H_kv": H_kv,
        "norm": norm,
        "activation": "gelu" if masked else None,
    }
    options["mask"] = tn.causal_mask(T) & tn.padding_mask([5, 3], T) if masked else None

    check_layer(draw(2, T, d), P, options)


@pytest.mark.parametrize("norm", ["post", "pre", "both"])
@pytest.mark.parametrize("rms", [False, True])
@pytest.mark.parametrize("eps", [None, 0.1])
def test_layer_with_biases_and_rms_norm(draw, norm, rms, eps):
    P = tn.init_layer(d, 6, d_ff, 2, norm=norm, gated=True, rng=0)
    P |= {
        "b_Q": np.zeros(6),
        "b_K": np.zeros(2),
        "b_V": np.zeros(2),
        "b_O": np.zeros(d),
    }
    P = {
        name: p + 0.1 * draw(*p.shape)
        for name, p in P.items()
        if not (rms and name.startswith("beta"))
    }
    options = {"H": 6, "H_kv": 2, "norm": norm, "eps": eps}

    check_layer(draw(2, T, d), P, options)


def test_transformer_that_ends_with_rms_norm(draw):
    P = tn.init_layer(d, 2, d_ff, norm="pre", rng=0)
    options = {"norm": "pre", "eps": 0.1}

    def vjp(dY, X, gamma_f):
        dX, _, dfinal = tn.transformer_vjp(dY, X, [P], 2, (gamma_f,), **options)
        return dX, *dfinal

    def f(half, X, gamma_f):
        layer = {name: of(half, p) for name, p in P.items()}
        return half.transformer(X, [layer], 2, (gamma_f,), **options)

    check(f, vjp, draw(2, T, d), draw(d))


@pytest.mark.parametrize("final", [False, True])
@pytest.mark.parametrize("L", [0, 1, 3])
def test_transformer(draw, final, L):
    layers = [tn.init_layer(d, 2, d_ff, norm="pre", rng=seed) for seed in range(L)]
    norms = [draw(d), draw(d)] if final else []

    def unpacked(p):
        return [dict(zip(P, p[i * len(P) :])) for i, P in enumerate(layers)], p[
            len(p) - len(norms) :
        ] or None

    def vjp(dY, X, *p):
        parts, final_norm = unpacked(p)
        dX, dlayers, *dfinal = tn.transformer_vjp(
            dY, X, parts, 2, final_norm, norm="pre"
        )
        return (
            dX,
            *(g for dP in dlayers for g in dP.values()),
            *(g for pair in dfinal for g in pair),
        )

    def f(half, X, *p):
        return half.transformer(X, *unpacked(p)[:1], 2, unpacked(p)[1], norm="pre")

    check(f, vjp, draw(2, T, d), *(p for P in layers for p in P.values()), *norms)


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
@pytest.mark.parametrize("norm", ["post", "pre", "both"])
def test_dtype_is_kept_and_nothing_is_changed(draw, dtype, norm):
    P, X, dY = (
        tn.init_layer(d, 2, d_ff, norm=norm, rng=0, dtype=dtype),
        draw(2, T, d).astype(dtype),
        draw(2, T, d),
    )
    before = [p.copy() for p in (X, dY, *P.values())]
    dX, dP = tn.transformer_layer_vjp(dY, X, P, 2, norm=norm, mask=tn.causal_mask(T))
    assert {g.dtype for g in (dX, *dP.values())} == {np.dtype(dtype)}
    for p, was in zip((X, dY, *P.values()), before):
        assert_array_equal(p, was)


def test_a_gradient_of_another_shape_is_refused(draw):
    with pytest.raises(
        ValueError,
        match=r"dY: expected the shape of the answer, \(5, 6\), got \(5, 1\)",
    ):
        tn.layer_norm_vjp(draw(T, 1), draw(T, d), draw(d), draw(d))


VOCAB, PERIOD, H = 11, 8, 2
OPTIONS = {
    "H": H,
    "norm": "pre",
    "activation": "silu",
    "mask": tn.causal_mask(2 * PERIOD),
}


def by_hand(P, tokens, targets):
    """Loss and gradients of a model of one layer that reads a sequence twice, and
    foretells the second time.
    """
    E, table, W, layer = (
        P["E"],
        P["P"],
        P["W"],
        {name: p for name, p in P.items() if name not in "EPW"},
    )
    X = tn.embed(tokens, E, table)
    Y = tn.transformer_layer(X, layer, **OPTIONS)
    logits = (Y @ W)[:, PERIOD:]
    dlogits = np.zeros((*tokens.shape, VOCAB))
    dlogits[:, PERIOD:] = tn.cross_entropy_vjp(1.0, logits, targets)
    dY, dW = tn.linear_vjp(dlogits, Y, W)
    dX, dlayer = tn.transformer_layer_vjp(dY, X, layer, **OPTIONS)
    dE, dtable = tn.embed_vjp(dX, tokens, E, table)
    return tn.cross_entropy(logits, targets), {"E": dE, "P": dtable, "W": dW} | dlayer


def by_autograd(P, tokens, targets):
    P = {name: torch.tensor(p, requires_grad=True) for name, p in P.items()}
    X = tt.embed(torch.tensor(tokens), P["E"], P["P"])
    logits = (tt.transformer_layer(X, P, **OPTIONS) @ P["W"])[:, PERIOD:]
    loss = tt.cross_entropy(logits, torch.tensor(targets))
    return loss.item(), {
        name: g.numpy()
        for name, g in zip(P, torch.autograd.grad(loss, list(P.values())))
    }


def learn(gradients, steps=100, d=24, rate=0.004):
    """The loss of every step of Adam."""
    rng = np.random.default_rng(0)
    P = {
        "E": rng.normal(size=(VOCAB, d)),
        "P": rng.normal(size=(2 * PERIOD, d)),
        "W": rng.normal(size=(d, VOCAB)) / d**0.5,
    }
    P |= tn.init_layer(d, H, norm="pre", rng=rng)
    mean, square, losses = {name: 0 for name in P}, {name: 0 for name in P}, []
    for step in range(1, steps + 1):
        tokens = np.tile(rng.integers(0, VOCAB, (16, PERIOD)), 3)[:, : 2 * PERIOD + 1]
        loss, dP = gradients(P, tokens[:, :-1], tokens[:, PERIOD + 1 :])
        losses.append(loss)
        for name, g in dP.items():
            mean[name] = 0.9 * mean[name] + 0.1 * g
            square[name] = 0.99 * square[name] + 0.01 * g**2
            P[name] = P[name] - rate * mean[name] / (1 - 0.9**step) / (
                np.sqrt(square[name] / (1 - 0.99**step)) + 1e-8
            )
    return losses


def test_a_transformer_learns_in_numpy_alone_as_with_autograd():
    losses = learn(by_hand)
    assert losses[0] > np.log(VOCAB)
    assert losses[-1] < 0.02
    assert_allclose(losses, learn(by_autograd), rtol=1e-6)


@pytest.mark.parametrize(
    "breaks",
    [
        lambda g: {"W_Q": -g["W_Q"]},
        lambda g: {"W_Q": 0, "W_K": 0},
        lambda g: {"W_O": -g["W_O"]},
    ],
    ids=["query's sign", "no attention", "output's sign"],
)
def test_with_a_broken_gradient_it_does_not_learn(breaks):
    def broken(P, tokens, targets):
        loss, dP = by_hand(P, tokens, targets)
        return loss, dP | breaks(dP)

    assert learn(broken)[-1] > 0.5
