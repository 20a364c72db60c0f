"""Exercises of chapter 11: wrong answers written anew, as a reader might, and right
ones written another way.
"""

import math

import numpy as np
import pytest
import torch
from answers import expect_refused

from tfbook.cost.roofline import Chip
from tfbook.cost.traffic import (
    Traffic,
    block_of,
    fused_attention,
    plain_attention,
    product,
)
from tfbook.exercises import catalogue, check


def streamed(T, d_k, d_v, block, size):
    """Block by block, as it runs."""
    moved = 0
    for start in range(0, T, block):
        rows = min(block, T - start)
        moved += rows * d_k + T * d_k + T * d_v + rows * d_v
    return size * moved


def stored(T, d_k, d_v, size):
    return sum(
        kernel.bytes for kernel in plain_attention(T, d_k, d_v, size=size).values()
    )


def decimals(x):
    return np.round(x, 2)


def by_steps(x):
    """To the nearest multiple of the step between neighbours, a tie to the even one."""
    step = np.exp2(np.floor(np.log2(np.where(x == 0, 1, np.abs(x).astype(float)))) - 7)
    return (np.rint(x / step) * step).astype(np.float32)


def away_at_ties(x):
    step = np.exp2(np.floor(np.log2(np.where(x == 0, 1, np.abs(x).astype(float)))) - 7)
    return (np.sign(x) * np.floor(np.abs(x) / step + 0.5) * step).astype(np.float32)


def cut(x):
    step = np.exp2(np.floor(np.log2(np.where(x == 0, 1, np.abs(x).astype(float)))) - 7)
    return (np.trunc(x / step) * step).astype(np.float32)


WRONG = [
    (
        "product-intensity",
        lambda a, b, c, size: a * b * c / product(a, b, c, size).bytes,
        "half of the FLOPs",
    ),
    (
        "product-intensity",
        lambda a, b, c, size: 2 * a * b * c / (a * b + b * c + a * c),
        "size bytes",
    ),
    (
        "product-intensity",
        lambda a, b, c, size: (
            product(a, b, c, size).flops / product(a, b, c, size).read
        ),
        "result is written too",
    ),
    (
        "product-intensity",
        lambda a, b, c, size: (
            product(a, b, c, size).bytes / product(a, b, c, size).flops
        ),
        "wrong way round",
    ),
    (
        "product-intensity",
        lambda a, b, c, size: product(a, b, c, size).flops,
        "Not yet",
    ),
    (
        "product-intensity",
        lambda a, b, c, size: 2 * a * b * c / (size * (a * b + a * c)),
        "second factor",
    ),
    ("product-intensity", lambda a, b, c, size: a / (3 * size) * 2, "Not yet"),
    (
        "product-intensity",
        lambda a, b, c, size: product(a, b, c, size).intensity * (1 - 0.5 / b),
        "2b FLOPs, not 2b − 1",
    ),
    (
        "fused-bytes",
        lambda T, d_k, d_v, block, size: size * 2 * T * (d_k + d_v),
        "do not stay on the chip",
    ),
    (
        "fused-bytes",
        lambda T, d_k, d_v, block, size: size * T * (d_k + d_v) * (1 + T // block),
        "round up",
    ),
    (
        "fused-bytes",
        lambda T, d_k, d_v, block, size: size * T * (d_k + d_v) * (1 + T / block),
        "number of passes is whole",
    ),
    (
        "fused-bytes",
        lambda T, d_k, d_v, block, size: size * T * (d_k + d_v) * (1 + T),
        "T / block passes, not T",
    ),
    (
        "fused-bytes",
        lambda T, d_k, d_v, block, size: (
            size * T * (d_k + d_v) * 2 * math.ceil(T / block)
        ),
        "Only keys and values pass",
    ),
    (
        "fused-bytes",
        lambda T, d_k, d_v, block, size: streamed(T, d_k, d_v, block, 1),
        "each has size bytes",
    ),
    (
        "fused-bytes",
        lambda T, d_k, d_v, block, size: stored(T, d_k, d_v, size),
        "plain attention",
    ),
    (
        "fused-bytes",
        lambda T, d_k, d_v, block, size: (
            streamed(T, d_k, d_v, block, size) - size * T * d_v
        ),
        "answers are written too",
    ),
    (
        "fused-bytes",
        lambda T, d_k, d_v, block, size: streamed(T, d_k, d_k, block, size),
        "Not yet",
    ),
    (
        "fused-bytes",
        lambda T, d_k, d_v, block, size: (
            size * T * (d_k + d_v) * (1 + math.ceil((T - 1) / block))
        ),
        "Not yet",
    ),
    (
        "least-time",
        lambda flops, moved, peak, bandwidth: flops / peak + moved / bandwidth,
        "not the sum",
    ),
    (
        "least-time",
        lambda flops, moved, peak, bandwidth: flops / min(peak, bandwidth),
        "Not yet",
    ),
    (
        "least-time",
        lambda flops, moved, peak, bandwidth: Chip(
            {"f": peak}, bandwidth, 1
        ).attainable(flops / moved, "f"),
        "This is a rate",
    ),
    (
        "least-time",
        lambda flops, moved, peak, bandwidth: (
            flops / peak if flops > moved else moved / bandwidth
        ),
        "Not yet",
    ),
    (
        "least-time",
        lambda flops, moved, peak, bandwidth: math.hypot(
            flops / peak, moved / bandwidth
        ),
        "Not yet",
    ),
    (
        "least-time",
        lambda flops, moved, peak, bandwidth: round(
            max(flops / peak, moved / bandwidth), 6
        ),
        "Not yet",
    ),
    (
        "least-time",
        lambda flops, moved, peak, bandwidth: max(
            flops / peak, 1.01 * moved / bandwidth
        ),
        "Not yet",
    ),
    ("to-bfloat16", lambda x: np.where(np.abs(x) < 1e-5, x, by_steps(x)), "Not yet"),
    ("to-bfloat16", lambda x: np.where(np.abs(x) < 1e-25, 0, by_steps(x)), "Not yet"),
    ("to-bfloat16", cut, "towards zero, not to the nearest"),
    ("to-bfloat16", away_at_ties, "A tie goes away from zero"),
    (
        "to-bfloat16",
        lambda x: x.astype(np.float16).astype(np.float32),
        "This is float16",
    ),
    (
        "to-bfloat16",
        lambda x: torch.tensor(x).half().float().numpy(),
        "This is float16",
    ),
    ("to-bfloat16", decimals, "Not yet"),
    ("to-bfloat16", lambda x: x.view(np.uint32) >> 16, "view them as float32"),
    (
        "to-bfloat16",
        lambda x: by_steps(2 * x) / 2 + 0 * x if x.ndim > 1 else x,
        "Not yet",
    ),
]
RIGHT = [
    ("product-intensity", lambda a, b, c, size: product(a, b, c, size).intensity),
    ("product-intensity", lambda a, b, c, size: 2 / size / (1 / a + 1 / b + 1 / c)),
    ("fused-bytes", streamed),
    (
        "fused-bytes",
        lambda T, d_k, d_v, block, size: size * T * (d_k + d_v) * (1 - -T // block),
    ),
    (
        "least-time",
        lambda flops, moved, peak, bandwidth: max(
            Chip({"f": peak}, bandwidth, 1).seconds(Traffic(moved, 0, flops), "f")
        ),
    ),
    (
        "least-time",
        lambda flops, moved, peak, bandwidth: (
            flops / min(peak, flops / moved * bandwidth)
        ),
    ),
    ("to-bfloat16", lambda x: torch.tensor(x).bfloat16().float().numpy()),
    ("to-bfloat16", by_steps),
]


@pytest.mark.parametrize(("name", "answer", "words"), WRONG)
def test_a_wrong_answer_written_anew_is_named(name, answer, words):
    expect_refused(name, answer, words)


@pytest.mark.parametrize(("name", "answer"), RIGHT)
def test_a_right_answer_written_another_way_passes(name, answer):
    assert check(name, answer)


def test_the_books_count_is_the_exercises():
    fused_bytes = catalogue()["fused-bytes"].solution
    for T, d_k, d_v, chip in ((100, 8, 8, 2000), (4096, 64, 96, 2**17)):
        assert fused_attention(T, d_k, d_v, chip=chip).bytes == fused_bytes(
            T, d_k, d_v, block_of(d_k, d_v, 2, chip), 2
        )


def test_bits_are_rounded_as_torch_rounds_them():
    x = (
        np.random.default_rng(0)
        .integers(0, 2**31, 10_000, dtype=np.uint32)
        .view(np.float32)
    )
    x = x[np.abs(x) < 3e38]
    ours = catalogue()["to-bfloat16"].solution(x)
    assert len(x) > 9000
    np.testing.assert_array_equal(ours, torch.tensor(x).bfloat16().float().numpy())
