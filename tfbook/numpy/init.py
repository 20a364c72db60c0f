"""Parameters to begin with: random, and of a size that keeps the scale of what passes
through.
"""

import numpy as np

from tfbook.numpy.check_layer import layer_shapes
from tfbook.numpy.checks import float_dtype


def init_layer(
    d,
    H,
    d_ff=None,
    H_kv=None,
    d_k=None,
    d_v=None,
    norm="post",
    gated=False,
    rng=None,
    dtype=np.float64,
):
    r"""Make the parameters of a :func:`transformer_layer`.

    Parameters
    ----------
    d, H : int
        Channels of a token, and heads.
    d_ff : int, optional
        Channels inside the feed-forward network; default: 4·d.
    H_kv : int, optional
        Key/value heads; default: H.
    d_k, d_v : int, optional
        Channels of a head; default: d / H.
    norm : {"post", "pre", "both", "sandwich"}
        Where the layer normalises.
    gated : bool
        Whether the feed-forward network is gated.
    rng : Generator or int, optional
        Source of randomness, or its seed; default: a new one each time.
    dtype : dtype
        Of every array.

    Returns
    -------
    dict of ndarray
        Weights of mean 0 and variance 1 / (their number of rows), so that a sum over
        the rows is as large as what goes in; biases and shifts 0; scales 1. Keyed as
        the ``state_dict()`` of ``tfbook.torch.TransformerLayer``.

    Raises
    ------
    ValueError
        Where a size is not a whole number above 0, H or H_kv does not divide, or the
        dtype holds no fractions.

    Examples
    --------
    >>> P = init_layer(d=6, H=3, H_kv=1, rng=0)
    >>> {name: p.shape for name, p in P.items() if name.startswith("W")}
    {'W_Q': (6, 6), 'W_K': (6, 2), 'W_V': (6, 2), 'W_O': (6, 6), 'W_1': (6, 24),
     'W_2': (24, 6)}
    """
    rng, dtype = np.random.default_rng(rng), float_dtype(dtype)

    def start(name, shape):
        if name.startswith("W"):
            return rng.normal(scale=shape[0] ** -0.5, size=shape)
        return np.ones(shape) if name.startswith("gamma") else np.zeros(shape)

    shapes = layer_shapes(d, H, d_ff, H_kv, d_k, d_v, norm, gated)
    return {
        name: start(name, shape).astype(dtype)
        for name, shape in shapes.items()
    }
