"""Chapter 11: answers as a reader might write them."""

import math

import numpy as np
import torch

from tfbook.cost.roofline import Chip
from tfbook.cost.traffic import Traffic, plain_attention, product


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


WRONG = {
    "product-intensity": [
        (
            lambda a, b, c, size: a * b * c / product(a, b, c, size).bytes,
            "half of the FLOPs",
        ),
        (lambda a, b, c, size: 2 * a * b * c / (a * b + b * c + a * c), "size bytes"),
        (
            lambda a, b, c, size: (
                product(a, b, c, size).flops / product(a, b, c, size).read
            ),
            "result is written too",
        ),
        (
            lambda a, b, c, size: (
                product(a, b, c, size).bytes / product(a, b, c, size).flops
            ),
            "wrong way round",
        ),
        (lambda a, b, c, size: product(a, b, c, size).flops, "Not yet"),
        (
            lambda a, b, c, size: 2 * a * b * c / (size * (a * b + a * c)),
            "second factor",
        ),
        (lambda a, b, c, size: a / (3 * size) * 2, "Not yet"),
        (
            lambda a, b, c, size: product(a, b, c, size).intensity * (1 - 0.5 / b),
            "2b FLOPs, not 2b − 1",
        ),
    ],
    "fused-bytes": [
        (
            lambda T, d_k, d_v, block, size: size * 2 * T * (d_k + d_v),
            "do not stay on the chip",
        ),
        (
            lambda T, d_k, d_v, block, size: size * T * (d_k + d_v) * (1 + T // block),
            "round up",
        ),
        (
            lambda T, d_k, d_v, block, size: size * T * (d_k + d_v) * (1 + T / block),
            "number of passes is whole",
        ),
        (
            lambda T, d_k, d_v, block, size: size * T * (d_k + d_v) * (1 + T),
            "T / block passes, not T",
        ),
        (
            lambda T, d_k, d_v, block, size: (
                size * T * (d_k + d_v) * 2 * math.ceil(T / block)
            ),
            "Only keys and values pass",
        ),
        (
            lambda T, d_k, d_v, block, size: streamed(T, d_k, d_v, block, 1),
            "each has size bytes",
        ),
        (lambda T, d_k, d_v, block, size: stored(T, d_k, d_v, size), "plain attention"),
        (
            lambda T, d_k, d_v, block, size: (
                streamed(T, d_k, d_v, block, size) - size * T * d_v
            ),
            "answers are written too",
        ),
        (
            lambda T, d_k, d_v, block, size: streamed(T, d_k, d_k, block, size),
            "Not yet",
        ),
        (
            lambda T, d_k, d_v, block, size: (
                size * T * (d_k + d_v) * (1 + math.ceil((T - 1) / block))
            ),
            "Not yet",
        ),
    ],
    "least-time": [
        (
            lambda flops, moved, peak, bandwidth: flops / peak + moved / bandwidth,
            "not the sum",
        ),
        (lambda flops, moved, peak, bandwidth: flops / min(peak, bandwidth), "Not yet"),
        (
            lambda flops, moved, peak, bandwidth: Chip(
                {"f": peak}, bandwidth, 1
            ).attainable(flops / moved, "f"),
            "This is a rate",
        ),
        (
            lambda flops, moved, peak, bandwidth: (
                flops / peak if flops > moved else moved / bandwidth
            ),
            "Not yet",
        ),
        (
            lambda flops, moved, peak, bandwidth: math.hypot(
                flops / peak, moved / bandwidth
            ),
            "Not yet",
        ),
        (
            lambda flops, moved, peak, bandwidth: round(
                max(flops / peak, moved / bandwidth), 6
            ),
            "Not yet",
        ),
        (
            lambda flops, moved, peak, bandwidth: max(
                flops / peak, 1.01 * moved / bandwidth
            ),
            "Not yet",
        ),
    ],
    "to-bfloat16": [
        (lambda x: np.where(np.abs(x) < 1e-5, x, by_steps(x)), "Not yet"),
        (lambda x: np.where(np.abs(x) < 1e-25, 0, by_steps(x)), "Not yet"),
        (cut, "towards zero, not to the nearest"),
        (away_at_ties, "A tie goes away from zero"),
        (lambda x: x.astype(np.float16).astype(np.float32), "This is float16"),
        (lambda x: torch.tensor(x).half().float().numpy(), "This is float16"),
        (decimals, "Not yet"),
        (lambda x: x.view(np.uint32) >> 16, "view them as float32"),
        (lambda x: by_steps(2 * x) / 2 + 0 * x if x.ndim > 1 else x, "Not yet"),
    ],
}
RIGHT = {
    "product-intensity": [
        lambda a, b, c, size: product(a, b, c, size).intensity,
        lambda a, b, c, size: 2 / size / (1 / a + 1 / b + 1 / c),
    ],
    "fused-bytes": [
        streamed,
        lambda T, d_k, d_v, block, size: size * T * (d_k + d_v) * (1 - -T // block),
    ],
    "least-time": [
        lambda flops, moved, peak, bandwidth: max(
            Chip({"f": peak}, bandwidth, 1).seconds(Traffic(moved, 0, flops), "f")
        ),
        lambda flops, moved, peak, bandwidth: (
            flops / min(peak, flops / moved * bandwidth)
        ),
    ],
    "to-bfloat16": [lambda x: torch.tensor(x).bfloat16().float().numpy(), by_steps],
}
