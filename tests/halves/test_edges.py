"""The faults that readers meet elsewhere, one test each, in both halves."""

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal

import tfbook.numpy
import tfbook.torch

T, T_k, d_k, d_v = 5, 7, 3, 11
PLAIN, STREAMING = "scaled_dot_product_attention", "streaming_attention"
GRADIENTS = [(tfbook.numpy, PLAIN), (tfbook.torch, PLAIN), (tfbook.torch, STREAMING)]
FORMS = pytest.mark.parametrize("form", [PLAIN, STREAMING])


@pytest.fixture
def qkv(rng):
    return (
        rng.normal(size=(2, T, d_k)),
        rng.normal(size=(2, T_k, d_k)),
        rng.normal(size=(2, T_k, d_v)),
    )


def test_softmax_of_thousands(half):
    assert_allclose(
        half.softmax(np.array([[1000.0, 1001], [-1000, -1001]])),
        [[0.26894142, 0.73105858], [0.73105858, 0.26894142]],
    )


@pytest.mark.parametrize("c", [-1e6, -1000.0, 1000.0, 1e6])
def test_softmax_of_x_plus_c(half, rng, c):
    S = rng.integers(-8, 8, (3, 5)).astype(float)
    assert_array_equal(half.softmax(S + c), half.softmax(S))


def test_softmax_of_nothing_but_minus_infinity(half):
    assert_array_equal(
        half.softmax(np.array([[-np.inf, -np.inf], [0.0, -np.inf]])), [[0, 0], [1, 0]]
    )


def test_softmax_does_not_hide_what_is_not_a_number(half):
    assert_array_equal(
        half.softmax(np.array([[np.nan, 0.0], [0.0, 0.0]])),
        [[np.nan, np.nan], [0.5, 0.5]],
    )


@pytest.mark.parametrize("f", ["softmax", "relu", "gelu", "silu"])
def test_integers_are_taken_as_float64(half, f):
    X = np.array([[-2, 0, 3]])
    Y = getattr(half, f)(X)
    assert Y.dtype == np.float64
    assert_array_equal(Y, getattr(half, f)(X.astype(float)))


@FORMS
def test_integer_attention(half, rng, form):
    Q, K, V = rng.integers(-3, 3, (3, 4, 4))
    Y = getattr(half, form)(Q, K, V)
    assert Y.dtype == np.float64
    assert_array_equal(
        Y, getattr(half, form)(Q.astype(float), K.astype(float), V.astype(float))
    )


@FORMS
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("masked", [False, True])
def test_dtype_is_kept(half, qkv, form, dtype, masked):
    Q, K, V = (X.astype(dtype) for X in qkv)
    mask = half.padding_mask(np.array([4, 0]), T_k) if masked else None
    Y = getattr(half, form)(Q, K, V, mask=mask, scale=np.float64(0.5))
    exact = getattr(half, form)(
        *(X.astype(float) for X in (Q, K, V)), mask=mask, scale=0.5
    )
    assert Y.dtype == dtype
    assert_allclose(Y, exact, atol=20 * np.finfo(dtype).eps)


def test_a_wider_bias_does_not_promote(half, qkv):
    Q, K = (X.astype(np.float32) for X in qkv[:2])
    assert half.attention_weights(Q, K, bias=np.zeros((T, T_k))).dtype == np.float32


@FORMS
def test_bfloat16_is_kept(qkv, form):
    Q, K, V = (torch.tensor(X).bfloat16() for X in qkv)
    mask = tfbook.torch.causal_mask(T, T_k)
    Y = getattr(tfbook.torch, form)(Q, K, V, mask=mask)
    assert Y.dtype == torch.bfloat16
    torch.testing.assert_close(
        Y.double(),
        getattr(tfbook.torch, form)(Q.double(), K.double(), V.double(), mask=mask),
        atol=0.05,
        rtol=0,
    )


@pytest.mark.parametrize("form", [PLAIN, STREAMING, "fused_attention"])
def test_dtypes_that_differ_are_refused_by_the_torch_half_with_advice(qkv, form):
    Q, K, V = map(torch.tensor, qkv)
    words = (
        r"Q, K, V: expected one dtype, got torch.float32, torch.float64, "
        r"torch.float64; convert them with \.to\(dtype\)"
    )
    with pytest.raises(ValueError, match=words):
        getattr(tfbook.torch, form)(Q.float(), K, V)
    with pytest.raises(ValueError, match="Q, K: expected one dtype"):
        tfbook.torch.attention_scores(Q.float(), K)
    with pytest.raises(ValueError, match="A, V: expected one dtype"):
        tfbook.torch.weighted_mean(torch.ones(2, T, T_k), V)
    with torch.autocast("cpu", torch.bfloat16):
        assert (
            getattr(tfbook.torch, form)(Q.float(), K.bfloat16(), V.bfloat16())
            .isfinite()
            .all()
        )


@pytest.mark.parametrize("form", [PLAIN, STREAMING])
def test_dtypes_that_differ_are_promoted_by_the_numpy_half(qkv, form):
    Q, K, V = qkv
    assert getattr(tfbook.numpy, form)(Q.astype(np.float32), K, V).dtype == np.float64


@FORMS
@pytest.mark.parametrize(
    "scale",
    [
        True,
        "2",
        np.ones(1),
        np.array(2.0),
        np.nan,
        np.inf,
        2j,
        torch.tensor(2.0, requires_grad=True),
    ],
)
def test_a_scale_is_a_finite_number(half, qkv, form, scale):
    words = (
        "scale: expected a finite real number, got .*; to scale by an array or a "
        "tensor, multiply Q by it"
    )
    with pytest.raises(ValueError, match=words):
        getattr(half, form)(*qkv, scale=scale)
    with pytest.raises(ValueError, match=words):
        tfbook.torch.fused_attention(*map(torch.tensor, qkv), scale=scale)
    with pytest.raises(ValueError, match=words):
        tfbook.numpy.scaled_dot_product_attention_vjp(
            np.ones((2, T, d_v)), *qkv, scale=scale
        )


@FORMS
@pytest.mark.parametrize("scale", [2, 0, -1.5, np.float16(2), np.int8(3)])
def test_a_scale_may_be_any_number(half, qkv, form, scale):
    Q, K, V = qkv
    assert_allclose(
        getattr(half, form)(Q, K, V, scale=scale),
        getattr(half, form)(Q * float(scale), K, V, scale=1.0),
    )


@FORMS
def test_a_query_with_nothing_to_attend_gives_zeros(half, qkv, form):
    mask = np.ones((T, T_k), bool)
    mask[1] = False
    Y = getattr(half, form)(*qkv, mask=mask)
    assert_array_equal(Y[:, 1], 0)
    assert_allclose(Y[:, 2:], getattr(half, form)(*qkv)[:, 2:])


@FORMS
def test_a_causal_query_before_every_key_gives_zeros(half, rng, form):
    Q, K, V = rng.normal(size=(5, 3)), rng.normal(size=(2, 3)), rng.normal(size=(2, 3))
    options = (
        {"causal": True}
        if form == "streaming_attention"
        else {"mask": half.causal_mask(5, 2)}
    )
    Y = getattr(half, form)(Q, K, V, **options)
    assert_array_equal(Y[:3], 0)
    assert_allclose(Y[3], V[0])


@FORMS
def test_gradients_pass_a_row_with_nothing_to_attend(qkv, form):
    leaves = [torch.tensor(X, requires_grad=True) for X in qkv]
    mask = torch.ones(T, T_k, dtype=torch.bool)
    mask[1] = False
    dQ, dK, dV = torch.autograd.grad(
        getattr(tfbook.torch, form)(*leaves, mask=mask).square().sum(), leaves
    )
    assert all(X.isfinite().all() for X in (dQ, dK, dV))
    assert (dQ[:, 1] == 0).all()
    assert (dQ[:, 0] != 0).any()


@FORMS
@pytest.mark.parametrize("garbage", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("where", ["key", "value", "both"])
def test_garbage_behind_a_padding_mask_stays_there(half, qkv, form, garbage, where):
    Q, K, V = qkv
    mask = half.padding_mask(np.array([4, 6]), T_k)
    clean = getattr(half, form)(Q, K, V, mask=mask)
    if where != "value":
        K[0, 4:, 0] = K[1, 6:, 1] = garbage
    if where != "key":
        V[0, 4:, 0] = V[1, 6:, 1] = garbage
    assert_allclose(getattr(half, form)(Q, K, V, mask=mask), clean)


@FORMS
@pytest.mark.parametrize("garbage", [np.nan, np.inf])
@pytest.mark.parametrize("where", ["key", "value"])
def test_garbage_ahead_of_a_causal_query_stays_there(half, qkv, form, garbage, where):
    Q, K, V = qkv
    options = (
        [{"causal": True, "block": b} for b in (1, 2, 128)]
        if form == "streaming_attention"
        else [{"mask": half.causal_mask(T, T_k)}]
    )
    clean = getattr(half, form)(Q, K, V, **options[0])
    (K if where == "key" else V)[:, 5] = garbage
    for option in options:
        with np.errstate(invalid="ignore"):  # the last two queries do attend to it
            Y = getattr(half, form)(Q, K, V, **option)
        assert_allclose(Y[:, :3], clean[:, :3])
        if where == "value" or np.isnan(garbage):
            assert not np.isfinite(Y[:, 3:]).any()


def gradients(half, form, Q, K, V, mask, causal=False):
    """dQ, dK and dV of the sum of the first T - 2 answers, where NumPy has them by hand
    and torch by autograd.
    """
    streams = form == STREAMING
    options = {"causal": causal, "block": 2} if streams else {}
    if causal and not streams:
        mask = mask & tfbook.numpy.causal_mask(T, T_k)
    dY = np.ones((2, T, d_v))
    dY[:, -2:] = 0
    if half.name == "numpy":
        return tfbook.numpy.scaled_dot_product_attention_vjp(dY, Q, K, V, mask)
    leaves = [torch.tensor(X, requires_grad=True) for X in (Q, K, V)]
    return [
        X.numpy()
        for X in torch.autograd.grad(
            getattr(half.module, form)(*leaves, mask=mask, **options),
            leaves,
            torch.tensor(dY),
        )
    ]


@pytest.mark.parametrize(("half", "form"), GRADIENTS, indirect=["half"])
@pytest.mark.parametrize("garbage", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("where", ["key", "value", "both"])
@pytest.mark.parametrize("causal", [False, True])
def test_gradients_pass_garbage_behind_a_mask(half, qkv, form, garbage, where, causal):
    Q, K, V = qkv
    mask = tfbook.numpy.padding_mask(np.array([4, 3]), T_k)
    clean = gradients(half, form, Q, K, V, mask, causal)
    for X in {"key": [K], "value": [V], "both": [K, V]}[where]:
        X[0, 4:, 0] = X[1, 3:] = garbage
    for got, wanted in zip(gradients(half, form, Q, K, V, mask, causal), clean):
        assert_allclose(got, wanted)


@pytest.mark.parametrize(("half", "form"), GRADIENTS, indirect=["half"])
@pytest.mark.parametrize("garbage", [np.nan, np.inf])
def test_garbage_that_is_attended_is_not_hidden(half, qkv, form, garbage):
    Q, K, V = qkv
    K[:, 2, 0] = garbage
    mask = np.ones((T, T_k), bool)
    mask[0, 2] = False
    Y = getattr(half, form)(Q, K, V, mask=mask)
    assert np.isfinite(Y[:, 0]).all()
    assert np.isnan(Y[:, 1:]).all()
    dQ = gradients(half, form, Q, K, V, mask)[0]
    assert np.isfinite(dQ[:, 0]).all()
    assert np.isnan(dQ[:, 1:]).any(axis=-1).all()


@pytest.mark.parametrize(("half", "form"), GRADIENTS, indirect=["half"])
def test_gradients_of_causal_queries_pass_garbage_ahead(half, qkv, form):
    qkv[1][:, 5] = np.nan
    dQ = gradients(half, form, *qkv, np.ones((T, T_k), bool), causal=True)[0]
    assert np.isfinite(dQ[:, :3]).all()
    assert np.isnan(dQ[:, 3:]).any()


@FORMS
def test_a_mask_of_two_dimensions_with_batch_and_heads(half, rng, form):
    # batch 2, heads 4, and none of them T = 5
    Q, K, V = rng.normal(size=(3, 2, 4, 5, 3))
    mask = half.causal_mask(5)
    Y = getattr(half, form)(Q, K, V, mask=mask)
    for b in range(2):
        for h in range(4):
            assert_allclose(
                Y[b, h], getattr(half, form)(Q[b, h], K[b, h], V[b, h], mask=mask)
            )


@FORMS
def test_polarity_true_attends(half, qkv, form):
    mask = np.zeros((T, T_k), bool)
    mask[:, 2] = True
    assert_allclose(
        getattr(half, form)(*qkv, mask=mask), np.repeat(qkv[2][:, 2:3], T, axis=1)
    )


@FORMS
def test_padding_differs_per_sequence(half, qkv, form):
    Q, K, V = qkv
    Y = getattr(half, form)(Q, K, V, mask=half.padding_mask(np.array([4, 6]), T_k))
    assert_allclose(Y[0], getattr(half, form)(Q[0], K[0, :4], V[0, :4]))
    assert_allclose(Y[1], getattr(half, form)(Q[1], K[1, :6], V[1, :6]))


@FORMS
@pytest.mark.parametrize("n", [1, 2, 4])
def test_causal_with_a_cache_equals_the_last_rows_of_the_whole(half, rng, form, n):
    Q, K, V = rng.normal(size=(3, T_k, d_k))
    causal = (
        [{"causal": True}] * 2
        if form == "streaming_attention"
        else [{"mask": half.causal_mask(k, T_k)} for k in (T_k, n)]
    )
    whole = getattr(half, form)(Q, K, V, **causal[0])
    assert_allclose(getattr(half, form)(Q[-n:], K, V, **causal[1]), whole[-n:])


@FORMS
def test_one_token(half, rng, form):
    Q, K, V = (
        rng.normal(size=(1, d_k)),
        rng.normal(size=(1, d_k)),
        rng.normal(size=(1, d_v)),
    )
    assert_allclose(getattr(half, form)(Q, K, V, mask=half.causal_mask(1)), V)


@FORMS
def test_values_may_have_another_size_than_keys(half, qkv, form):
    assert getattr(half, form)(*qkv).shape == (2, T, d_v)


@FORMS
def test_views_that_are_not_contiguous(half, rng, form):
    # heads split, not copied
    Q, K, V = rng.normal(size=(3, 4, T, 2, 6)).transpose(0, 1, 3, 2, 4)[..., ::2]
    mask = np.ones((T, 2, T), bool).swapaxes(0, 1)[:, ::-1] & half.causal_mask(T)
    whole = [np.ascontiguousarray(X) for X in (Q, K, V)]
    assert_allclose(
        getattr(half, form)(Q, K, V, mask=mask),
        getattr(half, form)(*whole, mask=mask),
        atol=1e-14,
    )


@FORMS
def test_inputs_are_not_changed(half, qkv, form):
    mask = half.causal_mask(T, T_k)
    given = [*qkv, mask]
    before = [X.copy() for X in given]
    getattr(half, form)(*qkv, mask=mask)
    for X, was in zip(given, before):
        assert_array_equal(X, was)


@pytest.mark.parametrize("f", ["softmax", "relu", "gelu", "silu"])
def test_inputs_of_functions_are_not_changed(half, f):
    X = (
        np.array([[-np.inf, -np.inf], [-1.0, 2.0]])
        if f == "softmax"
        else np.array([-1.0, 2.0])
    )
    before = X.copy()
    getattr(half, f)(X)
    assert_array_equal(X, before)


@FORMS
def test_inputs_may_be_read_only_or_lists(half, qkv, form):
    read_only = [np.broadcast_to(X[:1], X.shape) for X in qkv]
    assert_allclose(
        getattr(half, form)(*read_only),
        getattr(half, form)(*(X.tolist() for X in read_only)),
        atol=1e-14,
    )


@pytest.mark.parametrize("f", ["softmax", "relu", "gelu", "silu"])
def test_gradients_of_functions(rng, f):
    X = torch.tensor(rng.normal(size=(3, 5)), requires_grad=True)
    assert torch.autograd.gradcheck(getattr(tfbook.torch, f), X)


def test_gradients_of_cross_entropy(rng):
    logits, targets = (
        torch.tensor(rng.normal(size=(2, 3, 5)), requires_grad=True),
        torch.tensor([[0, 1, 4], [2, 2, 2]]),
    )
    assert torch.autograd.gradcheck(
        lambda S: tfbook.torch.cross_entropy(S, targets), logits
    )


@FORMS
@pytest.mark.parametrize("masked", [False, True])
def test_gradients_of_attention(qkv, form, masked):
    leaves = [torch.tensor(X, requires_grad=True) for X in qkv]
    mask = (
        torch.tensor(
            [
                [True] * 3 + [False] * 4,
                [False] * 7,
                [True] * 7,
                [False] * 6 + [True],
                [True] * 7,
            ]
        )
        if masked
        else None
    )
    options = {"block": 2} if form == "streaming_attention" else {}
    assert torch.autograd.gradcheck(
        lambda *X: getattr(tfbook.torch, form)(*X, mask=mask, **options), leaves
    )


def test_gradients_of_a_bias(qkv, rng):
    Q, K, _ = map(torch.tensor, qkv)
    bias = torch.tensor(rng.normal(size=(T, T_k)), requires_grad=True)
    assert torch.autograd.gradcheck(
        lambda b: tfbook.torch.attention_weights(Q, K, bias=b), bias
    )


def test_arrays_are_refused_by_the_torch_half_with_advice():
    with pytest.raises(
        ValueError,
        match=r"S: expected a torch.Tensor, got ndarray; pass torch.as_tensor\(S\)",
    ):
        tfbook.torch.softmax(np.zeros(3))
