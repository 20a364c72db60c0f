"""How a language model tells the order of its tokens: one table of schemes.

A scheme adds vectors to the tokens, adds a bias to the scores, or turns queries and
keys on their way into attention. A new scheme is an entry here and one in
``tfbook.torch.position_schemes``.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from tfbook.numpy.positions import alibi_bias, learned_positions, sinusoids
from tfbook.numpy.rotary import rotary_attention


class PositionScheme(NamedTuple):
    """The places where a scheme acts; None where it does not."""

    vectors: Callable | None = (
        None  # positions (..., T), d, table -> (..., T, d)
    )
    bias: Callable | None = None  # H, T, T_k -> (H, T, T_k)
    attention: Callable | None = (
        None  # Q, K, V, …, attention=: what follows it
    )
    table: bool = False  # learns a table P (T_max, d)

    def around(self, attention):
        """Return an attention that applies the scheme first, such as a rotation of
        queries and keys; one that applies it already is returned as it is.
        """
        applied = getattr(attention, "func", attention) is self.attention
        if self.attention is None or applied:
            return attention
        return partial(self.attention, attention=attention)


def learned(positions, d, table):
    """The rows of a learned table, which must be long enough."""
    return learned_positions(table, positions.max(initial=-1) + 1)[positions]


def sinusoidal(positions, d, table=None):
    """Sines and cosines of the positions."""
    return sinusoids(positions, d)


POSITION_SCHEMES = {
    "learned": PositionScheme(vectors=learned, table=True),
    "sinusoidal": PositionScheme(vectors=sinusoidal),
    "rotary": PositionScheme(attention=rotary_attention),
    "alibi": PositionScheme(bias=alibi_bias),
    "none": PositionScheme(),
}


def position_scheme(name, schemes=POSITION_SCHEMES):
    """The scheme of that name, or a ValueError that names all."""
    if name not in list(schemes):
        raise ValueError(
            f"positions: expected one of {', '.join(schemes)}, got {name!r}"
        )
    return schemes[name]
