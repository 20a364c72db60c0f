"""Compare stored outputs with new ones: numbers as numbers, the rest as text.

A cell without a tag is compared to the letter. Under ``within-5-percent``,
``within-factor-3`` or ``within-last-digit``, a *measured* number may move that far: one
with a decimal point, an exponent or a unit. Bare whole numbers are counts, and exact.
"""

import base64
import math
import re
import struct
from functools import partial
from itertools import pairwise

from figure_html import figure_differences
from nbval.plugin import IPyNbCell

TOLERANCE = re.compile(
    r"within-(?:(?P<percent>\d+)-percent|factor-(?P<factor>\d+)|last-digit)"
)
NUMBER = re.compile(
    r"(?<![\w.,])[-+−]?(?:\d{1,3}(?:,\d{3})+|\d+)(?P<point>\.\d+)?"
    r"(?P<exponent>[eE][-+−]?\d+)?"
    r"(?P<unit>[ \u00a0\u202f]?(?:%|(?:[mµn]?s|×|x|[kKMGT]i?B)(?!\w)))?(?!\w)"
)
ROUNDOFF = 1e-12  # what a sum of float64 may leave instead of zero
PIXELS = 0.05  # a tick label more or less changes a picture's size a little
IGNORED = {"application/vnd.jupyter.widget-view+json"}  # the number of a model


def pytest_itemcollected(item):
    """Let every cell that nbval runs be compared by ``differences``."""
    if isinstance(item, IPyNbCell):
        item.compare_outputs = partial(compare, item)


def compare(item, new, stored):
    """Take the place of nbval's own comparison, which is to the character."""
    item.comparison_traceback = differences(
        stored, new, tolerance(item.cell.metadata.get("tags", []))
    )
    return not item.comparison_traceback


def tolerance(tags):
    """The tag that says how far a cell's numbers may move, or "exact"."""
    found = [tag for tag in tags if TOLERANCE.fullmatch(tag)]
    unknown = [tag for tag in tags if tag.startswith("within") and tag not in found]
    if unknown or len(found) > 1:
        raise ValueError(
            "tags: expected one of within-N-percent, within-factor-N, "
            f"within-last-digit, got {', '.join(unknown or found)}"
        )
    return found[0] if found else "exact"


def differences(stored, new, within="exact"):
    """What differs in a cell's outputs, one sentence each; empty where nothing does."""
    stored, new = by_kind(stored), by_kind(new)
    faults = [f"{kind}: stored, but missing now" for kind in stored if kind not in new]
    faults += [f"{kind}: new, and not stored" for kind in new if kind not in stored]
    for kind in stored.keys() & new.keys():
        if len(stored[kind]) != len(new[kind]):
            faults.append(f"{kind}: {len(stored[kind])} stored, {len(new[kind])} now")
            continue
        for was, now in zip(stored[kind], new[kind]):
            faults += [
                f"{kind}: {fault}"
                for fault in content_differences(kind, was, now, within)
            ]
    return faults


def by_kind(outputs):
    """The contents of a cell's outputs, in order, by MIME type or stream."""
    found = {}
    for output in outputs:
        if output["output_type"] == "stream":
            found.setdefault(output["name"], []).append("".join(output["text"]))
        elif output["output_type"] == "error":
            found.setdefault("error", []).append(
                f"{output['ename']}: {output['evalue']}"
            )
        else:
            for kind, content in output["data"].items():
                found.setdefault(kind, []).append(
                    "".join(content) if isinstance(content, list) else content
                )
    return {kind: contents for kind, contents in found.items() if kind not in IGNORED}


def content_differences(kind, was, now, within):
    """What differs in one output."""
    if kind.startswith("image/png"):
        return size_differences(png_size(was), png_size(now))
    if kind == "text/html" and 'class="tfb" data-figure=' in was:
        return figure_differences(was, now)
    if not isinstance(was, str) or within == "exact":
        return (
            []
            if was == now
            else [f"expected {excerpt(was, now)}, got {excerpt(now, was)}"]
        )
    return text_differences(was, now, within)


def text_differences(was, now, within):
    """What differs in a text whose measured numbers may move."""
    (words, numbers), (new_words, new_numbers) = parts(was), parts(now)
    if words != new_words:
        return [
            f"the words changed: expected {excerpt(was, now)}, got {excerpt(now, was)}"
        ]
    return [
        f"{b[0]} is not {within} of the stored {a[0]}"
        for a, b in zip(numbers, new_numbers)
        if not close(a, b, within)
    ]


def parts(text):
    """The words between the numbers; of each number text, value, unit (0: a count)."""
    numbers = []
    for found in NUMBER.finditer(text):
        printed = found[0][: len(found[0]) - len(found["unit"] or "")]
        value = float(printed.replace(",", "").replace("−", "-"))
        measured = found["point"] or found["exponent"] or found["unit"]
        unit = 10.0 ** (
            int((found["exponent"] or "e0")[1:].replace("−", "-"))
            - len((found["point"] or ".")[1:])
        )
        numbers.append((found[0], value, unit if measured else 0))
    ends = [
        0,
        *(
            end
            for found in NUMBER.finditer(text)
            for end in (found.start(), found.end() - len(found["unit"] or ""))
        ),
        len(text),
    ]
    return [" ".join(text[a:b].split()) for a, b in list(pairwise(ends))[::2]], numbers


def close(stored, new, within):
    """True where a number may have moved as far as it did."""
    (_, a, unit), (_, b, new_unit) = stored, new
    if not unit or not new_unit:  # a count, or a number printed in another form
        return a == b and unit == new_unit
    allowed = max(unit, new_unit, ROUNDOFF) * (1 + 1e-9)
    tag = TOLERANCE.fullmatch(within)
    if tag["factor"]:
        return abs(a - b) <= allowed or (
            a * b > 0 and max(a / b, b / a) <= int(tag["factor"])
        )
    return math.isclose(a, b, rel_tol=int(tag["percent"] or 0) / 100, abs_tol=allowed)


def excerpt(text, other, around=60):
    """A text about the place where it first differs from another."""
    if not isinstance(text, str) or not isinstance(other, str):
        return repr(text)
    at = next(
        (i for i, (a, b) in enumerate(zip(text, other)) if a != b),
        min(len(text), len(other)),
    )
    return repr(text[max(0, at - around) : at + around])


def png_size(data):
    """Width and height of a PNG in base 64."""
    return struct.unpack(">II", base64.b64decode(data[:64])[16:24])


def size_differences(was, now):
    """What differs in the sizes of two pictures."""
    far = any(not math.isclose(a, b, rel_tol=PIXELS) for a, b in zip(was, now))
    return (
        [f"the picture was {was[0]} × {was[1]} pixels and is {now[0]} × {now[1]}"]
        if far
        else []
    )
