"""Exercises of chapter 11, on the GPU: bytes and times; the one of numbers in half
precision stands in a file of its own.
"""

import math

from tfbook.exercises import chapter_11_rounding as rounding
from tfbook.exercises.exercise import Exercise

# ---- FLOPs for each byte of a matrix product ----


def intensity(a, b, c, size):
    flops = 2 * a * b * c
    # both factors are read, the product is written
    moved = size * (a * b + b * c + a * c)
    return flops / moved


def _intensity_cases(rng):
    return [
        (7, 12, 5, 2),
        (1, 64, 30, 4),
        (300, 24, 96, 2),
        (4096, 1024, 512, 1),
    ]


# ---- bytes of fused attention ----


def fused_bytes(T, d_k, d_v, block, size):
    passes = math.ceil(T / block)
    # queries once, keys and values once for each block of queries
    read = T * d_k + passes * T * (d_k + d_v)
    return size * (read + T * d_v)


def _fused(
    T,
    d_k,
    d_v,
    block,
    size,
    passes=None,
    queries=1,
    answers=1,
    keys=1,
    values=1,
    more=0,
):
    passes = -(-T // block) if passes is None else passes
    return size * (
        queries * T * d_k
        + passes * T * (keys * d_k + values * d_v)
        + answers * T * d_v
        + more
    )


def _passes(T, block):
    return -(-T // block)


def _fused_cases(rng):
    return [
        (64, 7, 5, 16, 2),
        (100, 3, 11, 24, 4),
        (10, 6, 4, 32, 2),
        (4096, 64, 96, 150, 2),
        (49, 7, 5, 16, 1),
    ]


# ---- the roofline as a time ----


def least_time(flops, moved, peak, bandwidth):
    return max(flops / peak, moved / bandwidth)


def _time_cases(rng):
    chips = [
        (34e9, 1.1e9, 312e12, 2e12),
        (2e12, 3e9, 8e12, 320e9),
        (16e6, 16e6, 989e12, 3.35e12),
        (5e9, 1e6, 1e12, 8e10),
    ]
    return [(7, 3, 2, 5), (4, 9, 8, 3), *chips]


EXERCISES = [
    Exercise(
        "least-time",
        "11",
        1,
        r"Write <code>least_time(flops, moved, peak, bandwidth)</code>: the least "
        r"seconds that a computation can take on a chip that does <code>peak</code> "
        r"FLOPs and moves <code>bandwidth</code> bytes a second, and can do both at "
        r"once.",
        "How long does each take by itself? The other one goes on meanwhile.",
        least_time,
        {
            "Both go on at once: the longer time counts, not the "
            "sum.": lambda flops, moved, peak, bandwidth: (
                flops / peak + moved / bandwidth
            ),
            "Neither can be left out: the longer of the two times counts, not the "
            "shorter.": lambda flops, moved, peak, bandwidth: min(
                flops / peak, moved / bandwidth
            ),
            "The bytes take time too, and here and there more than the "
            "arithmetic.": lambda flops, moved, peak, bandwidth: flops / peak,
            "The arithmetic takes time too, and here and there more than the "
            "bytes.": lambda flops, moved, peak, bandwidth: moved / bandwidth,
            "This is a rate, FLOPs a second. The question is how many "
            "seconds.": lambda flops, moved, peak, bandwidth: min(
                peak, flops / moved * bandwidth
            ),
            "This is the wrong way round: seconds are FLOPs divided by FLOPs a "
            "second.": lambda flops, moved, peak, bandwidth: max(
                peak / flops, bandwidth / moved
            ),
            "Divide: FLOPs divided by FLOPs a second are "
            "seconds.": lambda flops, moved, peak, bandwidth: max(
                flops * peak, moved * bandwidth
            ),
            "Peak and bandwidth are exchanged: peak is of FLOPs, bandwidth is of "
            "bytes.": lambda flops, moved, peak, bandwidth: max(
                flops / bandwidth, moved / peak
            ),
        },
        _time_cases,
        atol=0,  # some are millionths of a second
    ),
    Exercise(
        "product-intensity",
        "11",
        2,
        r"Write <code>intensity(a, b, c, size)</code>: the FLOPs for each byte moved "
        r"of a product of an \(a \times b\) with a \(b \times c\) matrix. A "
        r"multiplication with its addition counts as two FLOPs, the first of a sum "
        r"too. A number has <code>size</code> bytes. Both factors are read once, the "
        r"result is written once.",
        "The result has a·c numbers. How many products is each a sum of? And how many "
        "numbers do the three matrices have?",
        intensity,
        {
            "A multiplication and an addition count as two: this is half of the "
            "FLOPs.": lambda a, b, c, size: intensity(a, b, c, size) / 2,
            "A sum of b products counts as 2b FLOPs, not 2b − 1: it begins at 0, and "
            "each product is added.": lambda a, b, c, size: (
                intensity(a, b, c, size) * (2 * b - 1) / (2 * b)
            ),
            "These are FLOPs for each number: a number has size "
            "bytes.": lambda a, b, c, size: intensity(a, b, c, 1),
            "This is the wrong way round: bytes for each FLOP.": lambda a, b, c, size: (
                1 / intensity(a, b, c, size)
            ),
            "The result is written too: a·c numbers more.": lambda a, b, c, size: (
                2 * a * b * c / (size * (a * b + b * c))
            ),
            "Each number is read once and kept on the chip, not read again for every "
            "product that it is in.": lambda a, b, c, size: (
                2 * a * b * c / (size * (2 * a * b * c + a * c))
            ),
            "The second factor is read too: b·c numbers.": lambda a, b, c, size: (
                2 * a * b * c / (size * (a * b + a * c))
            ),
            "The factors are read too: these are FLOPs for each byte of the "
            "result.": lambda a, b, c, size: 2 * b / size,
            "The size is in bytes already: these are FLOPs for each "
            "bit.": lambda a, b, c, size: intensity(a, b, c, 8 * size),
        },
        _intensity_cases,
    ),
    Exercise(
        "fused-bytes",
        "11",
        3,
        r"Write <code>fused_bytes(T, d_k, d_v, block, size)</code>: the bytes that "
        r"fused attention of one head moves to and from main memory. T queries meet T "
        r"keys, both of <code>d_k</code> numbers, with values of <code>d_v</code>. "
        r"Queries come in blocks of <code>block</code>, the last one may be smaller. A "
        r"block stays on the chip while all keys and values stream past, and its "
        r"answers are written when they have. A number has <code>size</code> bytes.",
        "Go through the four matrices Q, K, V and Y: how often does each pass?",
        fused_bytes,
        {
            "Keys and values do not stay on the chip: they stream past once for each "
            "block of queries.": lambda T, d_k, d_v, block, size: _fused(
                T, d_k, d_v, block, size, passes=1
            ),
            "The last block may be smaller, but keys and values stream past it too: "
            "round up.": lambda T, d_k, d_v, block, size: _fused(
                T, d_k, d_v, block, size, passes=T // block
            ),
            "A smaller last block still needs all keys and values: the number of "
            "passes is whole.": lambda T, d_k, d_v, block, size: _fused(
                T, d_k, d_v, block, size, passes=T / block
            ),
            "A block of queries shares one pass over the keys: there are T / block "
            "passes, not T.": lambda T, d_k, d_v, block, size: _fused(
                T, d_k, d_v, block, size, passes=T
            ),
            "There are as many passes as blocks, T / block of them, not as many as a "
            "block has queries.": lambda T, d_k, d_v, block, size: _fused(
                T, d_k, d_v, block, size, passes=block
            ),
            "A block's queries stay on the chip: they are read "
            "once.": lambda T, d_k, d_v, block, size: _fused(
                T, d_k, d_v, block, size, queries=_passes(T, block)
            ),
            "The answers of a block stay on the chip until they are done: they are "
            "written once.": lambda T, d_k, d_v, block, size: _fused(
                T, d_k, d_v, block, size, answers=_passes(T, block)
            ),
            "Only keys and values pass again and again: queries are read once, answers "
            "written once.": lambda T, d_k, d_v, block, size: _fused(
                T,
                d_k,
                d_v,
                block,
                size,
                queries=_passes(T, block),
                answers=_passes(T, block),
            ),
            "The answers are written too: T·d_v "
            "numbers.": lambda T, d_k, d_v, block, size: _fused(
                T, d_k, d_v, block, size, answers=0
            ),
            "The queries are read too: T·d_k "
            "numbers.": lambda T, d_k, d_v, block, size: _fused(
                T, d_k, d_v, block, size, queries=0
            ),
            "The values stream past as the keys do.": lambda T, d_k, d_v, block, size: (
                _fused(T, d_k, d_v, block, size, values=0)
            ),
            "The values stream past once for each block of queries, not "
            "once.": lambda T, d_k, d_v, block, size: _fused(
                T, d_k, d_v, block, size, values=0, answers=2
            ),
            "No score leaves the chip: there is no T² "
            "here.": lambda T, d_k, d_v, block, size: _fused(
                T, d_k, d_v, block, size, more=2 * T * T
            ),
            "No score leaves the chip, none is "
            "written.": lambda T, d_k, d_v, block, size: _fused(
                T, d_k, d_v, block, size, more=T * T
            ),
            "This is plain attention: its T × T matrices pass through main memory four "
            "times. Here none does.": lambda T, d_k, d_v, block, size: _fused(
                T, d_k, d_v, block, size, passes=1, more=4 * T * T
            ),
            "These are numbers: each has size "
            "bytes.": lambda T, d_k, d_v, block, size: _fused(
                T, d_k, d_v, block, 1
            ),
        },
        _fused_cases,
    ),
    *rounding.EXERCISES,
]
