"""Every public name of ``tfbook.torch`` in float32, bfloat16 and float16, on the CPU
and, marked ``gpu``, on a CUDA device.

Each call of ``gpu_calls`` is held against the same call in float64 on the CPU, with the
same rounded inputs; ``test_parity`` holds that one to NumPy. How far an answer may be
off is no guess: it is what chance roundings do to the float64 call (see ``rounding``).
"""

from contextlib import nullcontext
from functools import partial

import numpy as np
import pytest
import torch
from calls import In, call, generator
from cases import qkv
from gpu_calls import CALLS, NO_CALL, Small
from numpy.testing import assert_array_equal
from rounding import Rounding, floats, unit
from test_parity import arrays_in

import tfbook.torch as tt

DTYPES = {
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
}
# of the arguments: a case in which roundings do not decide which token is likeliest
SEED = 1
# chance roundings, and how much further than the worst of those an answer may lie
TRIES, SLACK = 4, 3
# units of roundoff that an answer may be off for its size; a case that may be off by
# more tests nothing
LOOSEST = 100
NO_CUDA = "no CUDA device here: run `pytest -m gpu` where there is one"
CUDA = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason=NO_CUDA),
]
ON_EACH = pytest.mark.parametrize("where", ["cpu", pytest.param("cuda", marks=CUDA)])
IN_EACH = pytest.mark.parametrize("dtype", DTYPES.values(), ids=DTYPES)


@pytest.fixture(autouse=True, scope="module")
def full_precision():
    """Convolutions in float32 mean float32: CUDA would round what they take to ten bits
    unless told.
    """
    before, torch.backends.cudnn.allow_tf32 = torch.backends.cudnn.allow_tf32, False
    yield
    torch.backends.cudnn.allow_tf32 = before


NAMES = sorted(
    name
    for name, value in vars(tt).items()
    if callable(value) and not name.startswith("_")
)
COUNT = {}
EVERY_CALL = pytest.mark.parametrize(
    ("f", "way"),
    [
        pytest.param(
            f,
            way,
            id=f"{name}-{COUNT.setdefault(name, []).append(0) or len(COUNT[name]) - 1}",
        )
        for name, f, way in CALLS
    ],
)


@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_called(name):
    assert name in NO_CALL or any(name == called for called, *_ in CALLS), (
        f"{name} has no call here; add it to cases.py or gpu_calls.py"
    )


# ---- one call ----


def placed(X, where, dtype, wide=None):
    """Arguments on a device, floats rounded to a dtype, and then as wide as told."""
    if isinstance(X, In):
        return (
            torch.Generator(where).manual_seed(0)
            if X.make is generator
            else placed(X.make(tt), where, dtype, wide)
        )
    if isinstance(X, dict) and type(X) is dict:
        return {name: placed(x, where, dtype, wide) for name, x in X.items()}
    if isinstance(X, (list, tuple)):
        return type(X)(placed(x, where, dtype, wide) for x in X)
    if isinstance(X, np.dtype):
        return wide or dtype
    if not isinstance(X, np.ndarray):
        return X
    X = torch.from_numpy(X)
    return (
        X.to(where, dtype).to(wide or dtype) if X.is_floating_point() else X.to(where)
    )


def answer(f, way, where, dtype, wide=None, seed=None):
    """What a call gives: its answers, and the gradients of a random sum of them in the
    inputs; with a seed, moved by chance.
    """
    args, options = (
        placed(list(way.args), where, dtype, wide),
        placed(way.options, where, dtype, wide),
    )
    inputs = floats((args, options))
    smooth = way.smooth and not way.then and bool(inputs)
    for x in inputs:
        x.requires_grad_(smooth)
    rounding = None if seed is None else Rounding(unit(dtype), seed)

    def native(X):
        X = placed(X, where, dtype, wide)
        return X if rounding is None else rounding.watch(X)

    if rounding:
        rounding.watch(inputs)
    with torch.set_grad_enabled(smooth), rounding or nullcontext():
        Y = f(*args, **options)
        Y = tensors(way.then(Y, native) if way.then else Y, where)
        if not smooth:
            return Y, []
        generator = torch.Generator().manual_seed(1)
        W = [
            torch.randn(y.shape, dtype=torch.float64, generator=generator).to(y)
            for y in Y
            if y.is_floating_point()
        ]
        loss = sum((y * w).sum() for y, w in zip(floats(Y), W))
        gradients = torch.autograd.grad(loss, inputs, allow_unused=True)
    return Y, [g for g in gradients if g is not None]


def tensors(Y, where):
    """A flat list of all tensors in an answer; numbers become tensors."""
    if Y is None:
        return []
    if isinstance(Y, (list, tuple)):
        return [y for part in Y for y in tensors(part, where)]
    return [Y if isinstance(Y, torch.Tensor) else torch.tensor(Y, device=where)]


def norms(x):
    """The length of all numbers as one vector, and the largest of them."""
    return np.array([x.norm(), x.abs().max()] if x.numel() else [0, 0])


def compare(f, way, where, dtype, right):
    """Hold answers and gradients to float64's: for each by how much it is off, of what
    roundings explain, and how far they reach.
    """
    ours = answer(f, way, where, dtype)
    right, *tried = (
        answer(right, way, "cpu", dtype, torch.float64, seed)
        for seed in (None, *range(TRIES))
    )
    assert [len(part) for part in ours] == [len(part) for part in right]
    return [
        [
            compared(
                y,
                x,
                [t[part][i] for t in tried],
                where if arrays_in(way) or way.then else None,
                dtype,
            )
            for i, (y, x) in enumerate(zip(ours[part], right[part]))
        ]
        for part in (0, 1)
    ]


def compared(y, x, noisy, where, dtype):
    """One tensor; of what takes no tensor, device and dtype are its own affair."""
    assert y.shape == x.shape
    assert where in (None, y.device.type)
    y, x, noisy = y.detach().cpu(), x.detach(), [t.detach() for t in noisy]
    if not x.is_floating_point():
        assert_array_equal(y, x)
        assert all(torch.equal(t, x) for t in noisy), (
            "roundings decide this answer: take another case"
        )
        return 0, 0
    assert y.dtype == dtype or where is None
    here = x.isfinite()
    assert torch.equal(y.isfinite(), here)
    y, x, noisy = y.double()[here], x.double()[here], [t.double()[here] for t in noisy]
    moved = SLACK * np.max([norms(t - x) for t in noisy], axis=0)
    reach = np.maximum(moved + unit(dtype) * norms(x), np.finfo(float).tiny)
    return max(norms(y - x) / reach), (
        reach[0] / norms(x)[0] / unit(dtype) if x.any() else 0
    )


def expect_close(f, way, where, dtype, right=None):
    """The answers of f, and its gradients, are those of float64 but for rounding; those
    of another function, where one is given.
    """
    answers, gradients = compare(f, way, where, dtype, right or f)
    for off, _ in answers + gradients:
        assert off <= 1, f"off by {off:.1f} times what roundings explain"
    # a gradient may depend on which side of 0 a relu's input falls
    for _, reach in answers:
        assert reach <= LOOSEST, (
            f"roundings reach {reach:.0f} units: such a case tests nothing"
        )


@ON_EACH
@IN_EACH
@EVERY_CALL
def test_answers_and_gradients_are_float64s_but_for_rounding(f, way, dtype, where):
    expect_close(f, way(Small((2,), seed=SEED)), where, dtype)


@ON_EACH
@IN_EACH
def test_the_ends_of_a_dtype_are_no_end_of_a_softmax(dtype, where):
    most = torch.finfo(dtype).max
    S = torch.tensor(
        [[most, most, -most, -torch.inf], [-torch.inf] * 4],
        dtype=dtype,
        device=where,
        requires_grad=True,
    )
    A = tt.softmax(S)
    A.sum().backward()
    assert A.tolist() == [[0.5, 0.5, 0, 0], [0] * 4]
    assert not S.grad.any()
    # a sum beyond 65504, where float16 ends
    long = tt.softmax(torch.zeros(1, 100_000, dtype=dtype, device=where))
    # the least difference: 1e-5 is below float16's normal numbers
    step = torch.finfo(dtype).smallest_normal * torch.finfo(dtype).eps
    assert (long.double() - 1e-5).abs().max() <= max(step / 2, 3e-5 * unit(dtype))


@ON_EACH
@IN_EACH
def test_squares_and_long_sums_do_not_end_where_float16_does(dtype, where):
    near = partial(
        torch.testing.assert_close, rtol=4 * unit(dtype), atol=4 * unit(dtype)
    )
    # whose squares are beyond 65504
    X = 1000 * torch.tensor([[1, -2, 3, -4.0]], dtype=torch.float64)
    for norm in (
        lambda X: tt.layer_norm(X, torch.ones(4).to(X), torch.zeros(4).to(X)),
        lambda X: tt.rms_norm(X, torch.ones(4).to(X)),
    ):
        near(norm(X.to(where, dtype)).cpu().double(), norm(X))
    n = 100_000  # chances, each as large as the others
    loss = tt.cross_entropy(
        torch.zeros(1, n, dtype=dtype, device=where),
        torch.zeros(1, dtype=torch.long, device=where),
    )
    near(loss.cpu().double(), torch.tensor(n).log().double())
    K = torch.zeros(n, 1, dtype=dtype, device=where)
    near(
        tt.streaming_attention(K[:1], K, K + 1).cpu().double(),
        torch.ones(1, 1).double(),
    )


@ON_EACH
@IN_EACH
@pytest.mark.parametrize(
    "f",
    [tt.scaled_dot_product_attention, tt.fused_attention, tt.streaming_attention],
    ids=lambda f: f.__name__,
)
def test_a_row_that_may_attend_nothing_gives_zeros_and_zero_gradients(f, dtype, where):
    Q, K, V = (
        X.to(where, dtype).requires_grad_()
        for X in torch.randn(3, 2, 5, 8, generator=torch.Generator().manual_seed(0))
    )
    mask = tt.causal_mask(5).to(where)
    mask[2] = False
    Y = f(Q, K, V, mask)
    Y.sum().backward()
    assert not Y[:, 2].any()
    assert not Q.grad[:, 2].any()
    assert Y[:, [0, 1, 3, 4]].all()
    assert all(X.grad.isfinite().all() for X in (Q, K, V))


# ---- the walk itself can fail ----


def scaled_by(share):
    return lambda Q, K, V: tt.scaled_dot_product_attention(Q, K, V) * (1 + share)


WRONG = {
    "30 units too much": lambda dtype: scaled_by(30 * unit(dtype)),
    "a query sees the next key": (
        lambda dtype: (
            lambda Q, K, V: tt.scaled_dot_product_attention(
                Q, K, V, tt.causal_mask(5, 7).roll(1)
            )
        )
    ),
    "no gradient of the keys": (
        lambda dtype: (
            lambda Q, K, V: tt.scaled_dot_product_attention(Q, K.detach() + 0 * K, V)
        )
    ),
    "another dtype": (
        lambda dtype: (
            lambda Q, K, V: tt.scaled_dot_product_attention(Q, K, V).to(torch.float64)
        )
    ),
    "a sum in half precision": (
        lambda dtype: (
            lambda Q, K, V: scaled_by(0)(Q.bfloat16(), K.bfloat16(), V.bfloat16()).to(
                dtype
            )
        )
    ),
}


@IN_EACH
@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_the_walk_sees(wrong, dtype):
    if dtype == torch.bfloat16 and wrong is WRONG["a sum in half precision"]:
        return  # it is no other precision than its own
    way, right = call(*qkv(Small((2,)))), tt.scaled_dot_product_attention
    expect_close(right, way, "cpu", dtype)
    with pytest.raises(AssertionError):
        expect_close(wrong(dtype), way, "cpu", dtype, right)


def test_roundings_move_what_depends_on_the_inputs_and_nothing_else():
    X, constant = (
        torch.ones(1000, dtype=torch.float64),
        torch.ones(1000, dtype=torch.float64),
    )
    rounding = Rounding(0.01, seed=0)
    rounding.watch(X)
    with rounding:
        moved, same, view = X * 2, constant * 2, X[:10]
        assert torch.equal(X, X)
    assert (same == 2).all()
    assert (view == 1).all()
    assert (X == 1).all(), "an input is not written to"
    # once for what is taken, once for what is given
    assert 0.015 < (moved / 2 - 1).abs().max() <= 0.0201


# ---- devices ----


def test_device_is_cuda_where_there_is_one():
    assert (tt.device().type == "cuda") == torch.cuda.is_available()


def on_two(where):
    Q, K, V = torch.zeros(3, 4, 8).unbind()
    A = torch.zeros(4, 4)
    there = {name: x.to(where) for name, x in (("K", K), ("V", V))}
    return {
        "scores": lambda: tt.attention_scores(Q, there["K"]),
        "mean": lambda: tt.weighted_mean(A, there["V"]),
        **{
            f.__name__: partial(f, Q, K, there["V"])
            for f in (
                tt.scaled_dot_product_attention,
                tt.fused_attention,
                tt.streaming_attention,
            )
        },
    }


@pytest.mark.parametrize("where", ["meta", pytest.param("cuda", marks=CUDA)])
@pytest.mark.parametrize("name", on_two("cpu"))
def test_tensors_on_two_devices_give_a_clear_error(name, where):
    with pytest.raises(
        ValueError,
        match=(
            rf"expected one device, got (cpu, )+{where}.*; move them with .to\(device\)"
        ),
    ):
        on_two(where)[name]()


@pytest.mark.parametrize("where", [pytest.param("cuda", marks=CUDA)])
def test_a_mask_and_a_bias_may_lie_on_the_cpu(where):
    Q, K, V = torch.randn(3, 2, 5, 8).to(where).unbind()
    mask = tt.causal_mask(5)
    for f in (
        tt.scaled_dot_product_attention,
        tt.fused_attention,
        tt.streaming_attention,
    ):
        torch.testing.assert_close(f(Q, K, V, mask), f(Q, K, V, mask.to(where)))
