"""What the roofline shows: counts of each form of attention, and where they stand on
logarithmic axes.
"""

from math import log2, log10

from tfbook.cost.roofline import CHIPS, SIZES
from tfbook.cost.traffic import fused_attention, plain_attention

FORMS = ["plain", "fused", "1 query", "1 query, shared"]
# query heads, and how many of them share keys and values in the last form
HEADS, SHARING = 32, 8


def count(form, chip, precision, T, d_k):
    """The traffic of a form of attention, and of that the bytes of T × T matrices."""
    size, on_chip = SIZES[precision], CHIPS[chip].block
    if form == "plain":
        scores, softmax, mix = plain_attention(
            T, d_k, H=HEADS, size=size
        ).values()
        return scores + softmax + mix, 2 * softmax.bytes
    if form == "fused":
        return fused_attention(T, d_k, H=HEADS, size=size, chip=on_chip), 0
    kv = HEADS // SHARING if form.endswith("shared") else HEADS
    return fused_attention(
        1, d_k, T_k=T, H=HEADS, H_kv=kv, size=size, chip=on_chip
    ), 0


def seconds(form, chip, precision, T, d_k):
    """The least time of the arithmetic, and of the memory."""
    return CHIPS[chip].seconds(
        count(form, chip, precision, T, d_k)[0], precision
    )


def across(intensity):
    """Per cent of the chart's width: FLOPs a byte from 1/16 to 2048, a logarithmic
    axis.
    """
    return round(100 * (log2(intensity) + 4) / 15, 2)


def up(rate):
    """Per cent of the chart's height: FLOP/s from 10⁹ to 10^15.4, a logarithmic
    axis.
    """
    return round(100 * (log10(rate) - 9) / 6.4, 2)


def span(seconds):
    """A time with three digits.

    Examples
    --------
    >>> span(0.00123), span(4.5e-8), span(12)
    ('1.23 ms', '45 ns', '12 s')
    """
    for unit, name in ((1, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")):
        if seconds >= 0.9995 * unit:
            return f"{float(f'{seconds / unit:.3g}'):g} {name}"
    return f"{seconds / 1e-9:.2g} ns"
