"""Parameters in 8 bits each: a language model has to fit on a page."""

from base64 import b64encode

import numpy as np


def quantize(X, bits=8):
    """Round each row of a matrix to whole numbers of one scale, symmetric about 0.

    Parameters
    ----------
    X : ndarray, shape (..., n)
        Finite numbers.
    bits : int
        From 2 to 8.

    Returns
    -------
    codes : ndarray of int8, shape (..., n)
        From −(2^(bits−1) − 1) to 2^(bits−1) − 1.
    scale : ndarray, shape (..., 1)
        What the codes of each row are multiplied by, to six digits.

    Examples
    --------
    >>> codes, scale = quantize(
    ...     np.array([[0.25, -1.0, 0.0], [0.0, 0.0, 0.0]])
    ... )
    >>> codes
    array([[  32, -127,    0],
           [   0,    0,    0]], dtype=int8)
    >>> (codes * scale).round(3)
    array([[ 0.252, -1.   ,  0.   ],
           [ 0.   ,  0.   ,  0.   ]])
    """
    most = 2 ** (bits - 1) - 1
    largest = np.abs(X).max(axis=-1, keepdims=True).astype(np.float64)
    scale = np.vectorize(lambda x: float(f"{x:.6g}"), otypes=[float])(
        largest / most
    )
    codes = np.round(X / np.where(scale == 0, 1, scale))
    return codes.clip(-most, most).astype(np.int8), scale


def rounded(P, bits=8):
    """The parameters of a model as they are after quantization, in float64.

    Parameters
    ----------
    P : dict of ndarray
    bits : int

    Returns
    -------
    dict of ndarray
    """
    return {
        name: np.multiply(*quantize(p, bits)).astype(np.float64)
        for name, p in P.items()
    }


def packed(P):
    """The parameters of a language model for a page: ``E gamma_f beta_f``, and
    ``layers``, a dict of each; of each array its codes in base64 and its scales.
    """
    layers = {}
    own = {}
    for name, p in P.items():
        codes, scale = quantize(p)
        one = {
            "scale": scale[..., 0].tolist(),
            "codes": b64encode(codes.tobytes()).decode(),
        }
        if name.startswith("layers."):
            _, l, name = name.split(".")
            layers.setdefault(int(l), {})[name] = one
        else:
            own[name] = one
    return {**own, "layers": [layers[l] for l in sorted(layers)]}
