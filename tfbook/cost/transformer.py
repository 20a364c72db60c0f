"""A transformer layer, and a language model of L of them."""

from tfbook.cost.row import row, whole

# normalisations of a layer
NORMS = {"post": 2, "pre": 2, "both": 4, "sandwich": 4}


def layer(
    T,
    d,
    H,
    d_ff=None,
    H_kv=None,
    d_k=None,
    d_v=None,
    gated=False,
    norm="post",
    attention_bias=False,
):
    """Count one transformer layer.

    Parameters
    ----------
    T : int
        Tokens.
    d : int
        Channels.
    H : int
        Query heads.
    d_ff : int, optional
        Hidden channels of the feed-forward network; default: 4·d.
    H_kv : int, optional
        Key/value heads; default: as many as query heads.
    d_k, d_v : int, optional
        Channels of a head's queries and keys, and of its values; default: d / H.
    gated : bool
        Three matrices without biases in the feed-forward network, not two with.
    norm : {"post", "pre", "both", "sandwich"}
        Two layer norms, or four with "both", which is also called "sandwich".
    attention_bias : bool
        Biases of the four attention matrices.

    Returns
    -------
    Cost
        Of one forward pass, in FLOPs, parameters and elements.

    Raises
    ------
    ValueError
        Where a size is not a whole number from 1 on, H does not divide d, or H_kv does
        not divide H.

    Notes
    -----
    Source: Self-Attention Complexity; Vaswani et al. 2017, table 1.

    Examples
    --------
    >>> cost = layer(T=1024, d=768, H=12)
    >>> cost.flops
    {'projections': 3623878656, 'scores': 1610612736, 'mix': 1610612736,
     'output': 1207959552, 'ffn': 9663676416, 'logits': 0}
    >>> cost.params["ffn"] / cost.total_params > 0.66
    True
    """
    T, d, H = whole("T", T), whole("d", d), whole("H", H)
    d_ff = 4 * d if d_ff is None else whole("d_ff", d_ff)
    H_kv = H if H_kv is None else whole("H_kv", H_kv)
    if norm not in NORMS:
        raise ValueError(
            f"norm: expected one of {', '.join(NORMS)}, got {norm!r}"
        )
    if H % H_kv:
        raise ValueError(
            f"H_kv: expected a divisor of H = {H}, so that each serves equally many"
            f" heads, got {H_kv}"
        )
    if None in (d_k, d_v) and d % H:
        raise ValueError(
            f"d: expected a multiple of H = {H}, got {d}; or pass d_k and d_v"
        )
    d_k = d // H if d_k is None else whole("d_k", d_k)
    d_v = d // H if d_v is None else whole("d_v", d_v)
    gated, attention_bias = bool(gated), bool(attention_bias)

    # channels of Q, K and V together
    projected = H * d_k + H_kv * d_k + H_kv * d_v
    hidden = 2 * d_ff if gated else d_ff
    flops = {
        "projections": 2 * T * d * projected,
        "scores": 2 * H * T * T * d_k,
        "mix": 2 * H * T * T * d_v,
        "output": 2 * T * H * d_v * d,
        "ffn": 2 * T * (d * hidden + d_ff * d),
    }
    params = {
        "projections": d * projected + attention_bias * projected,
        "output": H * d_v * d + attention_bias * d,
        "ffn": d * hidden + d_ff * d + (not gated) * (d_ff + d),
        "norms": 2 * d * NORMS[norm],
    }
    memory = {
        "scores": H * T * T,
        "streaming": 2 * H * T,
        "cache": T * H_kv * (d_k + d_v),
        "activations": T * (d + projected + H * d_v + d + hidden + d),
    }
    return row(flops, params, memory, sequential_steps=1, path_length=1)


def model(
    T,
    d,
    H,
    L,
    vocab,
    d_ff=None,
    H_kv=None,
    T_max=None,
    tied=True,
    attention_bias=False,
    d_k=None,
    d_v=None,
    gated=False,
    norm="post",
    final_norm=None,
    token_types=0,
    embedding_norm=False,
    pooler=False,
):
    """Count a language model: token embedding, L layers, logits.

    Parameters
    ----------
    T, d, H, d_ff, H_kv, d_k, d_v, gated, norm, attention_bias
        As in :func:`layer`.
    L : int
        Layers.
    vocab : int
        Different tokens.
    T_max : int, optional
        Rows of a learned position table; default: none, since sinusoids, rotary
        positions and ALiBi learn nothing.
    tied : bool
        The logits use the token embedding again, and add no matrix.
    final_norm : bool, optional
        A layer norm before the logits; by default where norm is not "post".
    token_types : int
        Rows of a table of segments that is added to the embedding (BERT: 2).
    embedding_norm : bool
        A layer norm after the embedding (BERT).
    pooler : bool
        A matrix and a bias over the first token (BERT), counted with the logits.

    Returns
    -------
    Cost
        Of one forward pass, in FLOPs, parameters and elements; a path of one layer
        joins any two tokens.

    Raises
    ------
    ValueError
        Where :func:`layer` does, or T is more than T_max.

    Notes
    -----
    Looking an embedding up is no matrix product, and counts 0 FLOPs.

    Examples
    --------
    >>> gpt2 = {"T_max": 1024, "attention_bias": True, "norm": "pre"}
    >>> model(1024, 768, 12, 12, 50257, **gpt2).total_params  # small
    124439808
    >>> gpt3 = model(T=2048, d=12288, H=96, L=96, vocab=50257, norm="pre")
    >>> round(100 * gpt3.flops["ffn"] / gpt3.total_flops, 1)  # per cent
    64.6
    """
    one = layer(T, d, H, d_ff, H_kv, d_k, d_v, gated, norm, attention_bias)
    T, d, L, vocab = (
        whole("T", T),
        whole("d", d),
        whole("L", L),
        whole("vocab", vocab),
    )
    T_max = None if T_max is None else whole("T_max", T_max)
    token_types = whole("token_types", token_types, least=0)
    if T_max is not None and T_max < T:
        raise ValueError(f"T: expected at most T_max = {T_max}, got {T}")
    final_norm = norm != "post" if final_norm is None else bool(final_norm)
    tied, embedding_norm, pooler = (
        bool(tied),
        bool(embedding_norm),
        bool(pooler),
    )

    flops, params, memory = (
        {part: L * n for part, n in parts.items()}
        for parts in (one.flops, one.params, one.memory)
    )
    flops["logits"] = 2 * T * d * vocab + pooler * 2 * d * d
    params["embedding"] = (vocab + token_types) * d
    params["positions"] = (T_max or 0) * d
    params["norms"] += 2 * d * (final_norm + embedding_norm)
    params["logits"] = (not tied) * vocab * d + pooler * (d * d + d)
    memory["activations"] += T * vocab + pooler * d
    return row(flops, params, memory, sequential_steps=L, path_length=1)
