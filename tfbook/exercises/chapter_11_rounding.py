"""The exercise of chapter 11 about numbers in half precision: a float32 rounded to a
bfloat16, bit by bit.
"""

import numpy as np

from tfbook.exercises.exercise import Exercise


def to_bfloat16(x):
    bits = x.view(np.uint32)
    last = (bits >> 16) & 1  # the last bit that is kept
    # half a step, less one where that bit is 0: a tie goes to the even one
    bits = bits + np.uint32(0x7FFF) + last
    return (bits & np.uint32(0xFFFF0000)).view(np.float32)


def _to_odd(x):
    bits = x.view(np.uint32)
    return (
        (bits + np.uint32(0x8000) - ((bits >> 16) & 1))
        & np.uint32(0xFFFF0000)
    ).view(np.float32)


def _mantissa(x, kept):
    m, e = np.frexp(x)
    return np.ldexp(np.round(m * 2.0**kept) / 2.0**kept, e).astype(np.float32)


def _cases(rng):
    ties = np.array(
        [
            1 + 2**-8,
            1 + 3 * 2**-8,
            -1 - 2**-8,
            -1 - 3 * 2**-8,
            3,
            2**-20 * (1 + 2**-8),
        ],
        np.float32,
    )
    near = np.array(
        [
            1 + 2**-8 + 2**-20,
            1 + 2**-8 - 2**-20,
            255.9,
            -255.9,
            0,
            1e30,
            -1e-30,
        ],
        np.float32,
    )
    some, large = (
        rng.standard_normal((5, 7)).astype(np.float32),
        (1e4 * rng.standard_normal(11)).astype(np.float32),
    )
    return [(ties,), (near,), (some,), (large,)]


EXERCISES = [
    Exercise(
        "to-bfloat16",
        "11",
        4,
        r"Write <code>to_bfloat16(x)</code>: round an array of float32 to the nearest "
        r"numbers that a bfloat16 can hold, and give them back as float32, without "
        r"torch. A tie goes to the number whose last bit is 0. (A bfloat16 is the "
        r"upper half of a float32; <code>x.view(np.uint32)</code> shows its bits, and "
        r"<code>.view(np.float32)</code> turns them back. No infinities, no NaN.)",
        "To cut off the lower 16 bits rounds towards zero. What must be added first, "
        "so that more than half a step carries over, and a tie carries over only if "
        "the last bit that is kept is 1?",
        to_bfloat16,
        {
            "The lower bits are cut off: this rounds towards zero, not to the "
            "nearest.": lambda x: (
                x.view(np.uint32) & np.uint32(0xFFFF0000)
            ).view(np.float32),
            "A tie goes away from zero here: it must go to the number whose last bit "
            "is 0.": lambda x: (
                (x.view(np.uint32) + np.uint32(0x8000))
                & np.uint32(0xFFFF0000)
            ).view(np.float32),
            "A tie goes towards zero here: it must go to the number whose last bit is "
            "0.": lambda x: (
                (x.view(np.uint32) + np.uint32(0x7FFF))
                & np.uint32(0xFFFF0000)
            ).view(np.float32),
            "A tie goes to the number whose last bit is 1.": _to_odd,
            "Everything is rounded away from zero, not to the nearest.": lambda x: (
                (
                    (x.view(np.uint32) + np.uint32(0xFFFF))
                    & np.uint32(0xFFFF0000)
                ).view(np.float32)
            ),
            "This is float16: three bits more of mantissa, three less of "
            "exponent.": lambda x: x.astype(np.float16).astype(np.float32),
            "The numbers are not rounded.": lambda x: x.copy(),
            "One bit of mantissa too many is kept: with the leading 1 a bfloat16 has "
            "eight.": lambda x: _mantissa(x, 9),
            "One bit of mantissa too few is kept: with the leading 1 a bfloat16 has "
            "eight.": lambda x: _mantissa(x, 7),
            "The step is 1/128 everywhere: it must double with every power of "
            "two.": lambda x: np.round(x * 128) / np.float32(128),
            "These are the bits: view them as float32 again.": lambda x: (
                x.view(np.uint32) >> 16
            ),
        },
        _cases,
        atol=0,
    )
]
