"""Bytes are counted as PyTorch moves them, operator by operator, and blocks are as
large as fits.
"""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tfbook.cost.roofline import CHIPS, SIZES, Chip
from tfbook.cost.traffic import (
    Traffic,
    block_of,
    fused_attention,
    plain_attention,
    product,
)
from tfbook.torch import fused_attention as fused
from tfbook.torch.kernels.traffic import CountTraffic, kernels

DTYPES = {name: getattr(torch, name) for name in SIZES}


def plain(Q, K, V):
    return torch.softmax(Q @ K.mT, dim=-1) @ V


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=DTYPES)
@pytest.mark.parametrize(
    ("T", "d_k", "d_v", "T_k", "H", "H_kv"),
    [(7, 5, None, None, 1, None), (64, 16, 8, 31, 6, 2), (1, 8, 8, 100, 8, 1)],
)
def test_plain_attention_moves_what_three_operators_move(
    T, d_k, d_v, T_k, H, H_kv, dtype
):
    counted = plain_attention(T, d_k, d_v, T_k, H, H_kv, dtype.itemsize)
    T_k, d_v, H_kv = T_k or T, d_v or d_k, H_kv or H
    Q, K, V = (
        torch.zeros(H_kv, *shape, dtype=dtype)
        for shape in ((H // H_kv * T, d_k), (T_k, d_k), (T_k, d_v))
    )
    with CountTraffic() as seen:
        plain(Q, K, V)
    assert [name for name, *_ in seen.operators] == ["bmm", "_softmax", "bmm"]
    assert [(read, written) for _, read, written in seen.operators] == [
        (part.read, part.written) for part in counted.values()
    ]
    assert seen.bytes == sum(part.bytes for part in counted.values())
    assert sum(part.flops for part in counted.values()) == 2 * H * T * T_k * (d_k + d_v)


def test_a_product_moves_what_an_operator_moves():
    A, B = torch.zeros(3, 5), torch.zeros(5, 7)
    with CountTraffic() as seen:
        A @ B
    assert seen.operators == [
        ("mm", product(3, 5, 7, 4).read, product(3, 5, 7, 4).written)
    ]
    assert product(3, 5, 7).flops == 2 * 3 * 5 * 7
    assert product(3, 5, 7, n=4) == product(3, 5, 7) + product(3, 5, 7) + product(
        3, 5, 7
    ) + product(3, 5, 7)


@given(
    T=st.integers(1, 60),
    T_k=st.integers(1, 60),
    d_k=st.integers(1, 9),
    d_v=st.integers(1, 9),
    group=st.integers(1, 4),
    H_kv=st.integers(1, 3),
    size=st.sampled_from([2, 4]),
    chip=st.integers(400, 4000),
)
@settings(deadline=None, max_examples=60)
def test_fused_attention_moves_what_a_loop_over_blocks_moves(
    T, T_k, d_k, d_v, group, H_kv, size, chip
):
    block, read, written = block_of(d_k, d_v, size, chip), 0, 0
    for _ in range(H_kv):
        for start in range(0, group * T, block):
            rows = min(block, group * T - start)
            read += rows * d_k
            for at in range(0, T_k, block):
                read += min(block, T_k - at) * (d_k + d_v)
            written += rows * d_v
    counted = fused_attention(T, d_k, d_v, T_k, group * H_kv, H_kv, size, chip)
    assert (counted.read, counted.written) == (size * read, size * written)
    assert counted.flops == sum(
        part.flops
        for part in plain_attention(T, d_k, d_v, T_k, group * H_kv, H_kv, size).values()
    )


@given(
    d_k=st.integers(1, 300),
    d_v=st.integers(1, 300),
    size=st.sampled_from([2, 4]),
    chip=st.integers(4804, 10**6),
)
def test_a_block_is_the_largest_that_fits(d_k, d_v, size, chip):
    B = block_of(d_k, d_v, size, chip)
    assert (
        size * (B * B + 2 * B * (d_k + d_v))
        <= chip
        < size * ((B + 1) ** 2 + 2 * (B + 1) * (d_k + d_v))
    )


def test_one_block_reads_everything_once_as_pytorchs_kernel_does():
    Q, K, V = torch.zeros(3, 1, 2, 40, 8).unbind()
    with CountTraffic() as seen:
        fused(Q, K, V)
    ((name, read, written),) = seen.operators
    counted = fused_attention(40, 8, H=2, size=4, chip=2**20)
    assert "scaled_dot_product" in name
    assert read == counted.read
    # m + log Z of every query, for the gradients
    assert written == counted.written + 4 * 2 * 40


@pytest.mark.parametrize("group", [1, 2, 8])
def test_one_query_with_a_cache_does_one_flop_a_byte_and_sharing_multiplies_it(group):
    step = fused_attention(T=1, T_k=8192, d_k=128, H=32, H_kv=32 // group, size=2)
    assert step.intensity == pytest.approx(group, rel=0.01)


def test_sizes_are_refused():
    with pytest.raises(ValueError, match="divisor of H = 4"):
        plain_attention(5, 8, H=4, H_kv=3)
    with pytest.raises(ValueError, match="T: expected a whole number"):
        fused_attention(0, 8)
    with pytest.raises(
        ValueError,
        match=r"chip: expected at least 66 bytes, for one query and one key, got 65",
    ):
        block_of(8, size=2, chip=65)
    assert block_of(8, size=2, chip=66) == 1


# ---- the roofline ----


@pytest.mark.parametrize("name", CHIPS)
@pytest.mark.parametrize("dtype", SIZES)
def test_below_the_ridge_memory_is_the_limit_and_above_it_arithmetic(name, dtype):
    chip = CHIPS[name]
    for intensity in (0.3, chip.ridge(dtype), 5000):
        moved = Traffic(read=10**6, written=0, flops=round(10**6 * intensity))
        arithmetic, memory = chip.seconds(moved, dtype)
        assert (arithmetic > memory) == (moved.intensity > chip.ridge(dtype))
        assert moved.flops / max(arithmetic, memory) == pytest.approx(
            chip.attainable(moved.intensity, dtype)
        )
    assert chip.attainable(10**9, dtype) == chip.peak[dtype]


def test_a_ridge_is_peak_over_bandwidth():
    assert Chip({"float16": 6e12}, 2e12, 1).ridge("float16") == 3
    assert {name: round(chip.ridge("float16")) for name, chip in CHIPS.items()} == {
        "T4": 203,
        "A100": 153,
        "H100": 295,
        "laptop": 12,
    }


# ---- what a compiler could make of it ----


def by_hand(Q, K, V, mask):
    S = torch.where(mask, Q @ K.mT, -torch.inf)
    E = torch.exp(S - S.amax(dim=-1, keepdim=True))
    return E / E.sum(dim=-1, keepdim=True) @ V


def test_fused_kernels_hand_on_what_they_need_not_store():
    Q, K, V = torch.randn(3, 2, 9, 4).unbind()
    mask = torch.ones(9, 9, dtype=torch.bool).tril()
    apart, merged = (
        kernels(by_hand, Q, K, V, mask, fused=fused) for fused in (False, True)
    )
    assert [names for names, _ in apart] == [
        "bmm",
        "where",
        "amax",
        "sub",
        "exp",
        "sum",
        "div",
        "bmm",
    ]
    assert [names for names, _ in merged] == [
        "bmm",
        "where amax sub exp sum div",
        "bmm",
    ]
    counted = plain_attention(9, 4, H=2, size=4)
    assert [moved for _, moved in merged] == [
        counted["scores"].bytes,
        counted["softmax"].bytes + mask.numel(),
        counted["mix"].bytes,
    ]
    with CountTraffic() as seen:
        by_hand(Q, K, V, mask)
    # the −∞, a number of the program once it is captured
    assert sum(moved for _, moved in apart) == seen.bytes - 4


def test_capturing_does_not_change_the_answer_or_need_a_compiler(monkeypatch):
    monkeypatch.setenv("CXX", "/nowhere/c++")
    monkeypatch.setenv("PATH", "")
    X = torch.randn(3, 4)
    assert kernels(lambda X: torch.exp(X) + 1, X) == [("exp", 2 * 48), ("add", 2 * 48)]


def test_a_repeated_axis_moves_once_and_a_view_not_at_all():
    X = torch.ones(4, 1).expand(4, 1000)
    with CountTraffic() as seen:
        X.T[None].sum()
    assert seen.operators == [("sum", 16, 4)]
