"""How a language model tells the order of its tokens: the table of
``tfbook.numpy.position_schemes`` with PyTorch's functions.
"""

from tfbook.numpy.position_schemes import PositionScheme
from tfbook.torch.positions import alibi_bias, learned_positions, sinusoids
from tfbook.torch.rotary import rotary_attention


def learned(positions, d, table):
    """The rows of a learned table, which must be long enough."""
    T_max = int(positions.max()) + 1 if positions.numel() else 0
    return learned_positions(table, T_max)[positions]


def sinusoidal(positions, d, table=None):
    """Sines and cosines of the positions."""
    return sinusoids(positions.cpu(), d)


POSITION_SCHEMES = {
    "learned": PositionScheme(vectors=learned, table=True),
    "sinusoidal": PositionScheme(vectors=sinusoidal),
    "rotary": PositionScheme(attention=rotary_attention),
    "alibi": PositionScheme(bias=alibi_bias),
    "none": PositionScheme(),
}
