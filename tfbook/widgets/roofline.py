"""The roofline: what attention waits for on a chip, memory or arithmetic."""

from typing import ClassVar

from tfbook.cost.roofline import CHIPS
from tfbook.widgets.base import Figure
from tfbook.widgets.controls import Choice, Slider
from tfbook.widgets.published import short
from tfbook.widgets.roofline_counts import (
    FORMS,
    HEADS,
    across,
    count,
    seconds,
    span,
    up,
)


class RooflineExplorer(Figure):
    """Where forms of attention stand under the two limits of a chip.

    Parameters
    ----------
    form : {"plain", "fused", "1 query", "1 query, shared"}
        All T queries in three kernels, or in one; or the one query of a new token,
        whose T keys and values come from a cache.
    chip : {"T4", "A100", "H100", "laptop"}
        One of ``tfbook.cost.roofline.CHIPS``.
    precision : {"float32", "float16"}
        Of all numbers.
    T, d_k : int
        Tokens, and channels of each of 32 heads.

    Raises
    ------
    ValueError
        Where a value is not one that its control takes.
    """

    title = "Attention on this chip is waiting. For what?"
    sheets = ("base", "halo")
    controls = (
        Choice("form", "attention", FORMS),
        Choice("chip", "chip", list(CHIPS)),
        Choice("precision", "numbers", ["float32", "float16"]),
        Slider(
            "T",
            "T tokens",
            [128, 256, 512, 1024, 2048, 4096, 8192, 32768, 131072],
            most=2**22,
        ),
        Slider("d_k", "dₖ of a head", [32, 64, 128], most=512),
    )
    default: ClassVar = {
        "form": "plain",
        "chip": "A100",
        "precision": "float16",
        "T": 2048,
        "d_k": 64,
    }
    columns = (
        "roof",
        "points",
        "moved",
        "flops",
        "intensity",
        "matrices",
        "seconds",
        "bars",
        "used",
        "limit",
    )

    # ---- the chart: per cent of its width and of its height ----

    def roof(self, chip, precision):
        """Where the slope of memory begins, the ridge, and both limits in words."""
        its = CHIPS[chip]
        ridge, peak = its.ridge(precision), its.peak[precision]
        return {
            "start": up(its.attainable(2**-4, precision)),
            "ridge": [across(ridge), up(peak)],
            "at": f"{ridge:.0f}",
            "peak": short(peak) + "FLOP/s",
            "bandwidth": short(its.bandwidth) + "B/s",
        }

    def points(self, chip, precision, T, d_k):
        """Every form, on the roof."""
        intensities = [
            count(form, chip, precision, T, d_k)[0].intensity
            for form in FORMS
        ]
        return [
            [across(i), up(CHIPS[chip].attainable(i, precision))]
            for i in intensities
        ]

    # ---- the form that is chosen ----

    def moved(self, form, chip, precision, T, d_k):
        return short(count(form, chip, precision, T, d_k)[0].bytes) + "B"

    def flops(self, form, T, d_k):
        return short(count(form, "T4", "float32", T, d_k)[0].flops) + "FLOPs"

    def intensity(self, form, chip, precision, T, d_k):
        return f"{count(form, chip, precision, T, d_k)[0].intensity:.3g}"

    def matrices(self, form, precision, T, d_k):
        """Per cent of the bytes that are T × T matrices."""
        moved, matrices = count(form, "T4", precision, T, d_k)
        return round(100 * matrices / moved.bytes)

    def seconds(self, form, chip, precision, T, d_k):
        return [span(t) for t in seconds(form, chip, precision, T, d_k)]

    def bars(self, form, chip, precision, T, d_k):
        """Per cent of the longer of the two."""
        times = seconds(form, chip, precision, T, d_k)
        return [round(100 * t / max(times), 1) for t in times]

    def used(self, form, chip, precision, T, d_k):
        """Per cent of the time that arithmetic, or else memory, can be busy at most:
        the one that waits.
        """
        shorter, longer = sorted(seconds(form, chip, precision, T, d_k))
        share = 100 * shorter / longer
        return f"{share:.0f}" if share >= 10 else f"{share:.2g}"

    def limit(self, form, chip, precision, T, d_k):
        arithmetic, memory = seconds(form, chip, precision, T, d_k)
        return "memory" if memory > arithmetic else "arithmetic"

    def constants(self):
        return {
            "forms": FORMS,
            "across": [[across(10.0**n), f"{10**n}"] for n in range(4)],
            "up": [[up(10.0**n), n] for n in range(10, 16)],
        }

    def still(self):
        head = "".join(
            f"<th scope=col>{name}</th>"
            for name in (
                "attention",
                "chip",
                "bytes",
                "FLOPs a byte",
                "waits for",
                "least time",
            )
        )
        rows = ""
        for form in FORMS:
            for chip in CHIPS:
                v = self.compute(
                    **{**self.default, "form": form, "chip": chip}
                )
                cells = [
                    chip,
                    v["moved"],
                    v["intensity"],
                    v["limit"],
                    v["seconds"][v["limit"] == "memory"],
                ]
                rows += (
                    f"<tr><th scope=row>{form}</th>"
                    + "".join(f"<td>{cell}</td>" for cell in cells)
                    + "</tr>"
                )
        return (
            f"<table><caption>{HEADS} heads of 64, T = 2048, float16</caption>"
            f"<tr>{head}</tr>{rows}</table>"
        )
