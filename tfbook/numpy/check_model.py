"""What a language model and its decoding expect, said once for both halves."""

import math

from tfbook.numpy.checks import expect, is_number, whole
from tfbook.numpy.position_schemes import position_scheme


def model_layers(P, positions="none", untied=False):
    """Return the parameters of each layer, or raise where some of the model's are
    missing, or where a head of its own would have no effect.

    Examples
    --------
    >>> P = {"E": 1, "layers.0.W_Q": 2, "layers.0.W_K": 3, "layers.1.W_Q": 4}
    >>> model_layers(P)
    [{'W_Q': 2, 'W_K': 3}, {'W_Q': 4}]
    """
    layers, table = {}, position_scheme(positions).table
    for name, parameter in P.items():
        if name.startswith("layers."):
            _, l, of_layer = name.split(".")
            layers.setdefault(int(l), {})[of_layer] = parameter
    needed = [
        "E",
        *["P"] * table,
        *(f"layers.{l}" for l in range(max(layers, default=0) + 1)),
    ]
    missing = [
        name
        for name in needed
        if name not in P and name not in {f"layers.{l}" for l in layers}
    ]
    if missing:
        raise ValueError(
            f"P: expected {', '.join(needed)} for positions={positions!r}, got no"
            f" {', '.join(missing)}"
        )
    if "W_out" in P and not untied:
        raise ValueError(
            "P: expected no W_out, because E scores the tokens here; got one"
        )
    return [layers[l] for l in range(len(layers))]


def head_matrix(P, E):
    """What scores tokens: ``W_out`` (d, vocab), else the table E transposed."""
    if "W_out" not in P:
        return E.T
    vocab, d = E.shape
    expect("W_out", P["W_out"].shape, "(d, vocab)", d=d, vocab=vocab)
    return P["W_out"]


def expect_pad(pad, tokens, most=math.inf):
    """Raise unless ``pad``, an array or a tensor of int64, is one number for each
    sequence of tokens, from 0 to ``most``.
    """
    if tuple(pad.shape) != tuple(tokens[:-1]):
        raise ValueError(
            "pad: expected one number for each sequence of tokens, shape"
            f" {tuple(tokens[:-1])}, got {tuple(pad.shape)}"
        )
    if not all(0 <= n <= most for n in pad.reshape(-1).tolist()):
        up_to = "on" if most == math.inf else f"to T = {most}"
        raise ValueError(
            f"pad: expected whole numbers from 0 {up_to}, the padding in front of each"
            f" sequence, got {pad.tolist()}"
        )


def expect_settings(vocab, temperature, top_k, top_p):
    """Return top_k as an int or None, or raise where a setting of the sampling is out
    of its range.
    """
    whole("vocab", vocab, least=1)
    if not is_number(temperature) or not 0 <= temperature < float("inf"):
        raise ValueError(
            f"temperature: expected a number from 0 on, got {temperature!r}"
        )
    if top_p is not None and not (is_number(top_p) and 0 < top_p <= 1):
        raise ValueError(
            f"top_p: expected a chance above 0, at most 1, got {top_p!r}"
        )
    return None if top_k is None else whole("top_k", top_k, least=1)
