"""What a layer and a model cost, as exact integers: FLOPs, parameters, memory,
sequential steps, path length.

FLOPs are those of the matrix products alone, a multiply-add being 2, and whole matrices
are counted even where a mask hides a part. Everything is for one sequence of T tokens.
Parts have the same names everywhere, so that rows can be compared: in a recurrence and
a convolution, ``mix`` is what brings positions together, as the weights times the
values do in attention. Bytes that are moved, and what a chip can reach with them, stand
in :mod:`tfbook.cost.traffic` and :mod:`tfbook.cost.roofline`; what processes send to
one another when a layer is cut, in :mod:`tfbook.cost.communication`.
"""

from tfbook.cost import communication, roofline, traffic
from tfbook.cost.others import conv, rnn
from tfbook.cost.row import Cost
from tfbook.cost.transformer import layer, model
