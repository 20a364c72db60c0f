"""What a transformer layer expects of its parameters, said once for both halves."""

from tfbook.numpy.check_heads import head_counts
from tfbook.numpy.checks import flag, whole

BIASES = "b_Q", "b_K", "b_V", "b_O"  # of the attention, where P has them
# normalisations of a layer
NORMS = {"post": 2, "pre": 2, "both": 4, "sandwich": 4}


def layer_parameters(norm="post", gated=False):
    """Return the names of a layer's parameters, in the order in which they are used.

    Examples
    --------
    >>> " ".join(layer_parameters())
    'W_Q W_K W_V W_O W_1 b_1 W_2 b_2 gamma_1 beta_1 gamma_2 beta_2'
    """
    if norm not in NORMS:
        raise ValueError(
            f"norm: expected one of {', '.join(NORMS)}, got {norm!r}"
        )
    network = (
        ["W_gate", "W_up", "W_down"]
        if flag("gated", gated)
        else ["W_1", "b_1", "W_2", "b_2"]
    )
    norms = [
        f"{name}_{n}"
        for n in range(1, NORMS[norm] + 1)
        for name in ("gamma", "beta")
    ]
    return ["W_Q", "W_K", "W_V", "W_O", *network, *norms]


def expect_layer(P, norm):
    """Return whether the layer is gated, or raise where a parameter is missing."""
    gated = "W_gate" in P
    names = layer_parameters(norm, gated)
    shifts = [name for name in names if name.startswith("beta")]
    if not any(name in P for name in shifts):  # RMS norm
        names = [name for name in names if name not in shifts]
    missing = [name for name in names if name not in P]
    if missing:
        raise ValueError(
            f"P: expected {' '.join(names)} for norm={norm!r}, got no"
            f" {' '.join(missing)}"
        )
    return gated


def expect_plain(P):
    """Raise where a layer has biases of the attention, or no shifts in its norms."""
    biases = [name for name in BIASES if name in P]
    if biases or ("gamma_1" in P and "beta_1" not in P):
        raise ValueError(
            "P: expected a layer with layer norms and without biases of the attention,"
            f" got {' '.join(biases) or 'no beta_1'}"
        )


def layer_shapes(
    d, H, d_ff=None, H_kv=None, d_k=None, d_v=None, norm="post", gated=False
):
    """Return the shape of each of a layer's parameters, by name.

    Examples
    --------
    >>> layer_shapes(6, 3, H_kv=1)["W_K"]
    (6, 2)
    """
    d = whole("d", d, least=1)
    H, H_kv = head_counts(H, H_kv)
    d_k, d_v = head_sizes(d, H, d_k, d_v)
    d_ff = 4 * d if d_ff is None else whole("d_ff", d_ff, least=1)
    sizes = {
        "W_Q": (d, H * d_k),
        "W_K": (d, H_kv * d_k),
        "W_V": (d, H_kv * d_v),
        "W_O": (H * d_v, d),
    }
    sizes |= {"W_1": (d, d_ff), "b_1": (d_ff,), "W_2": (d_ff, d), "b_2": (d,)}
    sizes |= {"W_gate": (d, d_ff), "W_up": (d, d_ff), "W_down": (d_ff, d)}
    return {
        name: sizes.get(name, (d,)) for name in layer_parameters(norm, gated)
    }


def head_sizes(d, H, d_k=None, d_v=None):
    """Return d_k and d_v, by default d / H each, or raise where H does not
    divide d.
    """
    if None in (d_k, d_v) and d % H:
        raise ValueError(
            f"d: expected a multiple of H = {H}, got {d}; or pass d_k and d_v"
        )
    d_k = d // H if d_k is None else whole("d_k", d_k, least=1)
    d_v = d // H if d_v is None else whole("d_v", d_v, least=1)
    return d_k, d_v
