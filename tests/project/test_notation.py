"""The page *Notation* explains every symbol that a public function takes."""

import inspect
import re
from pathlib import Path

import tfbook.numpy

PAGE = Path(__file__).resolve().parents[2] / "chapters" / "notation.md"
# words such as temperature explain themselves
SYMBOL = re.compile(r"[A-Z](_\w+)?|[abd]_\w+|d|gamma|beta|mask|bias|dY")
# its docstring gives their shapes
OF_ONE_FUNCTION = {"W", "W_x", "W_h", "W_gate", "W_up", "W_down"}


def symbols():
    """Names that stand for a size or an array, of all functions."""
    functions = [
        f
        for name, f in vars(tfbook.numpy).items()
        if inspect.isfunction(f) and not name.startswith("_")
    ]
    return {
        p
        for f in functions
        for p in inspect.signature(f).parameters
        if SYMBOL.fullmatch(p)
    } - OF_ONE_FUNCTION


def test_every_symbol_is_explained():
    explained = set(re.findall(r"`(\w+)`", PAGE.read_text(encoding="utf-8")))
    assert {"T", "W_Q", "d_ff"} <= symbols()
    assert symbols() - explained - {"W_K", "W_V"} == set()
