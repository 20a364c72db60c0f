import tracemalloc
import weakref

import numpy as np
import pytest
import torch
from all_pairs import all_pairs
from numpy.testing import assert_allclose, assert_array_equal
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

import tfbook.numpy
import tfbook.torch

CASES = [(5, 7), (7, 5), (1, 1), (1, 9), (16, 16), (3, 0), (0, 3), (13, 29)]


@pytest.fixture
def qkv(rng):
    return lambda T, T_k: (
        rng.normal(size=(2, 3, T, 11)),
        rng.normal(size=(2, 3, T_k, 11)),
        rng.normal(size=(2, 3, T_k, 13)),
    )


@all_pairs(
    size=CASES,
    block=[1, 2, 4, 8, 256],
    mask=[None, "row", "batch", "full"],
    causal=[False, True],
)
def test_streaming_equals_plain(half, rng, qkv, size, block, mask, causal):
    T, T_k = size
    Q, K, V = qkv(T, T_k)
    mask = {None: None, "row": (T_k,), "batch": (2, 1, 1, T_k), "full": (T, T_k)}[mask]
    mask = None if mask is None else rng.random(mask) < 0.6
    both = (
        half.causal_mask(T, T_k) & (True if mask is None else mask) if causal else mask
    )
    Y = half.streaming_attention(Q, K, V, mask=mask, causal=causal, block=block)
    assert_allclose(
        Y, half.scaled_dot_product_attention(Q, K, V, mask=both), atol=1e-12
    )


def test_streaming_takes_a_scale(half, qkv):
    Q, K, V = qkv(5, 7)
    Y = half.scaled_dot_product_attention(Q, K, V, scale=2.0)
    assert_allclose(
        half.streaming_attention(Q, K, V, scale=2.0, block=2), Y, atol=1e-12
    )


@pytest.mark.parametrize("order", [1, -1])
def test_large_scores_in_any_order_neither_overflow_nor_vanish(half, order):
    K = np.linspace(-3000, 3000, 9)[::order, None].copy()
    V = np.arange(9.0)[:, None]
    assert_array_equal(
        half.streaming_attention(np.ones((1, 1)), K, V, block=2), V[[K.argmax()]]
    )


@pytest.mark.parametrize("block", [0, -1, 1.5, True])
def test_a_block_is_a_whole_number(half, qkv, block):
    with pytest.raises(
        ValueError, match=f"block: expected a whole number, at least 1, got {block}"
    ):
        half.streaming_attention(*qkv(3, 3), block=block)


@all_pairs(size=CASES, block=[1, 4, 128], causal=[False, True])
def test_streaming_has_the_gradients_of_plain(rng, qkv, size, block, causal):
    T, T_k = size
    leaves = [torch.tensor(X, requires_grad=True) for X in qkv(T, T_k)]
    mask = torch.tensor(rng.random((2, 1, T, T_k)) < 0.6)
    dY = torch.tensor(rng.normal(size=(2, 3, T, 13)))
    streamed = torch.autograd.grad(
        tfbook.torch.streaming_attention(
            *leaves, mask=mask, causal=causal, block=block
        ),
        leaves,
        dY,
    )
    both = mask & tfbook.torch.causal_mask(T, T_k) if causal else mask
    plain = torch.autograd.grad(
        tfbook.torch.scaled_dot_product_attention(*leaves, mask=both), leaves, dY
    )
    for one, other in zip(streamed, plain):
        torch.testing.assert_close(one, other)


def test_gradients_of_shared_keys_and_values_are_summed(rng):
    Q, K, V = (
        torch.tensor(rng.normal(size=s), requires_grad=True)
        for s in [(2, 3, 5, 11), (1, 1, 7, 11), (7, 13)]
    )
    streamed = torch.autograd.grad(
        tfbook.torch.streaming_attention(Q, K, V, block=2).sin().sum(), (Q, K, V)
    )
    plain = torch.autograd.grad(
        tfbook.torch.scaled_dot_product_attention(Q, K, V).sin().sum(), (Q, K, V)
    )
    for one, other in zip(streamed, plain):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_loses_nothing_over_many_blocks(rng, dtype):
    Q, K, V = (torch.tensor(rng.normal(size=(2048, 16))).to(dtype) for _ in range(3))
    exact = tfbook.torch.scaled_dot_product_attention(
        Q.double(), K.double(), V.double()
    )
    plain, streamed = (
        tfbook.torch.scaled_dot_product_attention(Q, K, V),
        tfbook.torch.streaming_attention(Q, K, V),
    )
    assert (streamed - exact).abs().max() < (plain - exact).abs().max()


def power_of_growth(memory, T):
    """The p of a + b·T^p, from three lengths; the constant a (tiles, caches)
    cancels.
    """
    small, middle, large = memory(T), memory(2 * T), memory(4 * T)
    return np.log2((large - middle) / (middle - small))


FORMS = pytest.mark.parametrize(
    ("form", "power"), [("streaming_attention", 1), ("scaled_dot_product_attention", 2)]
)


@FORMS
@pytest.mark.parametrize("causal", [False, True])
def test_numpy_memory_grows_with(rng, form, power, causal):
    def peak(T):
        Q, K, V = rng.normal(size=(3, T, 16)).astype(np.float32)
        options = (
            {"block": 32, "causal": causal}
            if power == 1
            else {"mask": tfbook.numpy.causal_mask(T) if causal else None}
        )
        tracemalloc.start()
        getattr(tfbook.numpy, form)(Q, K, V, **options)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    peak(64)  # the first call also fills caches
    assert abs(power_of_growth(peak, 256) - power) < 0.1


class Allocations(TorchDispatchMode):
    """Bytes of the storages that operations made and that were alive at the same time,
    at most.
    """

    def __init__(self):
        super().__init__()
        self.live, self.most = {}, 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        made = func(*args, **(kwargs or {}))
        for X in tree_leaves(made):
            storage = X.untyped_storage() if isinstance(X, torch.Tensor) else None
            if storage is not None and storage.data_ptr() not in self.live:
                self.live[storage.data_ptr()] = storage.nbytes()
                weakref.finalize(storage, self.live.pop, storage.data_ptr(), None)
        self.most = max(self.most, sum(self.live.values()))
        return made


@FORMS
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("backward", [False, True])
def test_torch_memory_grows_with(rng, form, power, causal, backward):
    def peak(T):
        Q, K, V = (
            torch.tensor(X, dtype=torch.float32, requires_grad=backward)
            for X in rng.normal(size=(3, T, 16))
        )
        options = (
            {"block": 32, "causal": causal}
            if power == 1
            else {"mask": tfbook.torch.causal_mask(T) if causal else None}
        )
        with Allocations() as allocations:
            Y = getattr(tfbook.torch, form)(Q, K, V, **options)
            if backward:
                Y.sum().backward()
        return allocations.most

    assert abs(power_of_growth(peak, 256) - power) < 0.1


@FORMS
def test_what_torch_keeps_for_the_backward_pass_grows_with(rng, form, power):
    def kept(T):
        sizes = []
        leaves = [
            torch.tensor(X, requires_grad=True) for X in rng.normal(size=(3, T, 16))
        ]
        with torch.autograd.graph.saved_tensors_hooks(
            lambda X: sizes.append(X.numel()) or X, lambda X: X
        ):
            getattr(tfbook.torch, form)(*leaves)
        return sum(sizes)

    assert abs(power_of_growth(kept, 128) - power) < 0.1


@pytest.mark.parametrize("causal", [None, 1, "yes", np.zeros((3, 3)), [True]])
def test_causal_is_true_or_false(half, qkv, causal):
    with pytest.raises(ValueError, match="causal: expected True or False, got "):
        half.streaming_attention(*qkv(3, 3), None, causal)
    with pytest.raises(ValueError, match="causal: expected True or False, got "):
        tfbook.torch.fused_attention(*map(torch.tensor, qkv(3, 3)), causal=causal)


def test_causal_may_be_a_numpy_bool(half, qkv):
    X = qkv(3, 3)
    assert_array_equal(
        half.streaming_attention(*X, causal=np.True_),
        half.streaming_attention(*X, causal=True),
    )
