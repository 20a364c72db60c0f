"""Numbers in few characters: a table of every setting of a figure has to fit on
a page.
"""

import numpy as np

ALPHABET = "".join(chr(c) for c in range(35, 127) if chr(c) not in "&<\\`")[
    :88
]
# a character below LAST ends a number; any other carries one digit in base MORE and is
# followed by more
LAST, MORE = 56, 32


def pack(value, decimals=3):
    """Replace every array in nested dicts and lists by a short string, by default
    rounded to three decimals.

    Parameters
    ----------
    value : dict, list, array, number or str
        Arrays hold finite numbers ≥ 0, or NaN where there is nothing.
    decimals : int
        With 2, a weight up to 0.54 takes one character.

    Returns
    -------
    dict, list, number or str
        Ready for JSON: an array becomes ``{"array": "shape:digits"}``, with
        ``/decimals`` behind the shape where they are not three.

    Raises
    ------
    ValueError
        Where an array holds a negative or infinite number.

    Examples
    --------
    >>> pack({"A": np.array([[0.5, np.nan]])})
    {'A': {'array': '1,2:t3#$'}}
    >>> pack({"A": np.array([[0.5, np.nan]])}, decimals=2)
    {'A': {'array': '1,2/2:X#$'}}
    """
    if isinstance(value, dict):
        return {name: pack(part, decimals) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [pack(part, decimals) for part in value]
    if isinstance(value, np.ndarray):
        if not (np.isnan(value) | ((value >= 0) & np.isfinite(value))).all():
            raise ValueError(
                "an array to pack: expected numbers from 0 on, or NaN, got a negative "
                "or infinite one"
            )
        unit = "" if decimals == 3 else f"/{decimals}"
        return {
            "array": (
                ",".join(map(str, value.shape))
                + unit
                + ":"
                + _digits(value.ravel(), decimals)
            )
        }
    return value


def _digits(values, decimals):
    """0 stands for a run of NaN and is followed by its length, n + 1 for the
    number n.
    """
    text, run = [], 0
    for x in values:
        if np.isnan(x):
            run += 1
            continue
        if run:
            text += [_number(0), _number(run)]
            run = 0
        text.append(_number(round(float(x) * 10**decimals) + 1))
    if run:
        text += [_number(0), _number(run)]
    return "".join(text)


def _number(n):
    """The least significant digit comes first."""
    text = ""
    while n >= LAST:
        text += ALPHABET[LAST + n % MORE]
        n //= MORE
    return text + ALPHABET[n]
