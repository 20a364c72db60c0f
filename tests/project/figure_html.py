"""A live figure's HTML taken apart: its tables as numbers, everything else as text."""

import json
import re
from itertools import product

import numpy as np

from tfbook.widgets.packing import ALPHABET, LAST, MORE

HELD = re.compile(r'(?<=\nplace\(figure, )"\w+", (\{.*\})(?=\);</script>)')


def figure_differences(was, now):
    """What differs, but for table entries within one unit of the last decimal."""
    (page, held), (new_page, new_held) = taken_apart(was), taken_apart(now)
    faults = (
        []
        if page == new_page
        else ["the figure's style, script or still picture changed: run make execute"]
    )
    return faults + value_differences(held, new_held, "figure")


def taken_apart(text):
    """The HTML without the figure's values, and these values, with one entry a
    setting.
    """
    found = HELD.search(text)
    if not found:
        raise ValueError(
            "a figure's HTML: expected place(figure, name, values) at its end, "
            f"got {text[-80:]!r}"
        )
    held = json.loads(found[1])
    table = held["spec"]["table"]
    held["spec"]["table"] = {name: resolved(column) for name, column in table.items()}
    return text[: found.start(1)] + text[found.end(1) :], held


def resolved(column):
    """A column's value at every setting; a last bit decides which share one entry."""
    if isinstance(column, list):
        return column
    return {
        "controls": column["controls"],
        "at": [
            column["values"][int(index)]
            for index in unpack(column["at"]["array"])[0].ravel()
        ],
    }


def value_differences(was, now, where):
    """The places in which nested values differ."""
    if isinstance(was, dict) and isinstance(now, dict):
        if was.keys() == {"array"} == now.keys():
            return array_differences(was["array"], now["array"], where)
        if was.keys() == now.keys():
            return [
                fault
                for name in was
                for fault in value_differences(was[name], now[name], f"{where}.{name}")
            ]
    if isinstance(was, list) and isinstance(now, list) and len(was) == len(now):
        return [
            fault
            for i, (a, b) in enumerate(zip(was, now))
            if a != b
            for fault in value_differences(a, b, f"{where}[{i}]")
        ]
    return (
        []
        if was == now
        else [f"{where}: expected {str(was)[:60]}, got {str(now)[:60]}"]
    )


def array_differences(was, now, where):
    if was == now:
        return []
    (a, decimals), (b, new_decimals) = unpack(was), unpack(now)
    if a.shape != b.shape or decimals != new_decimals:
        return [
            f"{where}: expected shape {a.shape} to {decimals} decimals, "
            f"got {b.shape} to {new_decimals}"
        ]
    far = ~((np.abs(a - b) <= 1) | (np.isnan(a) & np.isnan(b)))
    return [
        f"{where}{list(index)}: expected {a[index] / 10**decimals:g}, "
        f"got {b[index] / 10**decimals:g}"
        for index in product(*map(range, a.shape))
        if far[index]
    ][:3]


def unpack(packed):
    """Invert ``pack`` for one array: whole units of the last decimal, and its
    decimals.
    """
    head, _, digits = packed.partition(":")
    axes, _, decimals = head.partition("/")
    numbers, n, weight = [], 0, 1
    for digit in map(ALPHABET.index, digits):
        if digit < LAST:
            numbers.append(n + digit * weight)
            n, weight = 0, 1
        else:
            n, weight = n + (digit - LAST) * weight, weight * MORE
    values, source = [], iter(numbers)
    for number in source:
        values += [number - 1.0] if number else [np.nan] * next(source)
    return np.array(values).reshape([int(n) for n in axes.split(",")]), int(
        decimals or 3
    )
