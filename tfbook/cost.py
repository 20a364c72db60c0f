"""What a layer and a model cost, as exact integers: FLOPs, parameters, memory, sequential steps, path length.

FLOPs are those of the matrix products alone, a multiply-add being 2, and whole matrices are counted even where a mask hides
a part. Everything is for one sequence of T tokens. Parts have the same names everywhere, so that rows can be compared:
in a recurrence and a convolution, ``mix`` is what brings positions together, as the weights times the values do in attention.
"""

from dataclasses import dataclass

FLOPS = ("projections", "scores", "mix", "output", "ffn", "logits")
PARAMS = ("embedding", "positions", "projections", "mix", "output", "ffn", "norms", "logits")
MEMORY = ("scores", "streaming", "cache", "activations")


@dataclass(frozen=True)
class Cost:
    """One row of the comparison.

    Attributes
    ----------
    flops : dict of str to int
        FLOPs of one forward pass: ``projections`` (to Q, K and V), ``scores``, ``mix``, ``output`` (W_O), ``ffn``, ``logits``.
    params : dict of str to int
        Learned numbers: ``embedding``, ``positions``, ``projections``, ``mix``, ``output``, ``ffn``, ``norms``, ``logits``.
        Biases are counted with their matrices.
    memory : dict of str to int
        Elements (times the bytes of the dtype: bytes), each part counted separately. ``activations``: the input and what each
        matrix product gives, except the scores, as training holds them. ``scores``: the attention matrices, H·T² a layer.
        ``streaming``: what streaming attention holds in their place, the largest score and the sum for each query of each head.
        ``cache``: what generation carries from one token to the next, keys and values or a state.
    sequential_steps : int
        Steps that must wait for one another.
    path_length : int
        Layers, or steps of a recurrence, on the shortest way from the first token to the last position.
    """

    flops: dict[str, int]
    params: dict[str, int]
    memory: dict[str, int]
    sequential_steps: int
    path_length: int

    @property
    def total_flops(self):
        """FLOPs of all parts."""
        return sum(self.flops.values())

    @property
    def total_params(self):
        """Parameters of all parts."""
        return sum(self.params.values())

    @property
    def total_memory(self):
        """Elements that training with plain attention holds: activations and scores."""
        return self.memory["activations"] + self.memory["scores"]


def layer(T, d, H, d_ff=None, H_kv=None, d_k=None, d_v=None, gated=False, norm="post", attention_bias=False):
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
        Hidden channels of the feed-forward network; 4·d unless told.
    H_kv : int, optional
        Key/value heads; as many as query heads unless told.
    d_k, d_v : int, optional
        Channels of a head's queries and keys, and of its values; d / H unless told.
    gated : bool
        Three matrices without biases in the feed-forward network, not two with.
    norm : {"post", "pre", "both"}
        Two layer norms, or with "both" four.
    attention_bias : bool
        Biases of the four attention matrices.

    Returns
    -------
    Cost
        Of one forward pass, in FLOPs, parameters and elements.

    Raises
    ------
    ValueError
        Where a size is not a whole number from 1 on, d is not a multiple of H, or H is not of H_kv.

    Notes
    -----
    Source: Self-Attention Complexity; Vaswani et al. 2017, table 1.

    Examples
    --------
    >>> cost = layer(T=1024, d=768, H=12)
    >>> cost.flops
    {'projections': 3623878656, 'scores': 1610612736, 'mix': 1610612736, 'output': 1207959552, 'ffn': 9663676416, 'logits': 0}
    >>> cost.params["ffn"] / cost.total_params > 0.66
    True
    """
    d_ff = 4 * d if d_ff is None else d_ff
    H_kv = H if H_kv is None else H_kv
    _expect_whole(T=T, d=d, H=H, d_ff=d_ff, H_kv=H_kv)
    if norm not in ("post", "pre", "both"):
        raise ValueError(f'norm: expected "post", "pre" or "both", got {norm!r}')
    if H % H_kv:
        raise ValueError(f"H: expected a multiple of H_kv = {H_kv}, got {H}")
    if None in (d_k, d_v) and d % H:
        raise ValueError(f"d: expected a multiple of H = {H}, got {d}; or pass d_k and d_v")
    d_k = d // H if d_k is None else d_k
    d_v = d // H if d_v is None else d_v
    _expect_whole(d_k=d_k, d_v=d_v)

    projected = H * d_k + H_kv * d_k + H_kv * d_v  # channels of Q, K and V together
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
        "norms": 2 * d * (4 if norm == "both" else 2),
    }
    memory = {
        "scores": H * T * T,
        "streaming": 2 * H * T,
        "cache": T * H_kv * (d_k + d_v),
        "activations": T * (d + projected + H * d_v + d + hidden + d),
    }
    return _cost(flops, params, memory, sequential_steps=1, path_length=1)


def model(
    T, d, H, L, vocab, d_ff=None, H_kv=None, T_max=None, tied=True, attention_bias=False, d_k=None, d_v=None,
    gated=False, norm="pre", final_norm=None, token_types=0, embedding_norm=False, pooler=False,
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
        Rows of a learned position table; none unless told, as sinusoids, rotary positions and ALiBi learn nothing.
    tied : bool
        The logits use the token embedding again, and add no matrix.
    final_norm : bool, optional
        A layer norm before the logits; where norm is "pre", unless told.
    token_types : int
        Rows of a table of segments that is added to the embedding (BERT: 2).
    embedding_norm : bool
        A layer norm after the embedding (BERT).
    pooler : bool
        A matrix and a bias over the first token (BERT), counted with the logits.

    Returns
    -------
    Cost
        Of one forward pass, in FLOPs, parameters and elements; a path of one layer joins any two tokens.

    Raises
    ------
    ValueError
        Where :func:`layer` does, or T is more than T_max.

    Notes
    -----
    Looking an embedding up is no matrix product, and counts 0 FLOPs.

    Examples
    --------
    >>> model(1024, 768, 12, 12, 50257, T_max=1024, attention_bias=True).total_params  # GPT-2 small
    124439808
    >>> gpt3 = model(T=2048, d=12288, H=96, L=96, vocab=50257)
    >>> round(100 * gpt3.flops["ffn"] / gpt3.total_flops, 1)  # per cent
    64.6
    """
    one = layer(T, d, H, d_ff, H_kv, d_k, d_v, gated, norm, attention_bias)
    _expect_whole(L=L, vocab=vocab)
    _expect_whole(least=0, token_types=token_types)
    if T_max is not None:
        _expect_whole(T_max=T_max)
        if T_max < T:
            raise ValueError(f"T: expected at most T_max = {T_max}, got {T}")
    final_norm = norm == "pre" if final_norm is None else final_norm

    flops, params, memory = ({part: L * n for part, n in parts.items()} for parts in (one.flops, one.params, one.memory))
    flops["logits"] = 2 * T * d * vocab + pooler * 2 * d * d
    params["embedding"] = (vocab + token_types) * d
    params["positions"] = (T_max or 0) * d
    params["norms"] += 2 * d * (bool(final_norm) + bool(embedding_norm))
    params["logits"] = (not tied) * vocab * d + pooler * (d * d + d)
    memory["activations"] += T * vocab + pooler * d
    return _cost(flops, params, memory, sequential_steps=L, path_length=1)


def rnn(T, d):
    """Count a recurrent layer (tanh) of d channels in and d out.

    Parameters
    ----------
    T : int
        Tokens.
    d : int
        Channels of the input and of the state.

    Returns
    -------
    Cost
        ``projections`` is X W_x, ``mix`` is the step from state to state; running needs a cache of d elements, the state.

    Raises
    ------
    ValueError
        Where a size is not a whole number from 1 on.

    Examples
    --------
    >>> cost = rnn(T=1024, d=768)
    >>> cost.sequential_steps, cost.path_length, cost.memory["cache"]
    (1024, 1024, 768)
    """
    _expect_whole(T=T, d=d)
    flops = {"projections": 2 * T * d * d, "mix": 2 * T * d * d}
    params = {"projections": d * d + d, "mix": d * d}
    memory = {"cache": d, "activations": 3 * T * d}
    return _cost(flops, params, memory, sequential_steps=T, path_length=T)


def conv(T, d, k):
    """Count a causal convolution over time, of d channels in and d out.

    Parameters
    ----------
    T : int
        Tokens.
    d : int
        Channels.
    k : int
        Positions that one output sees, itself included.

    Returns
    -------
    Cost
        Of one layer; ``path_length`` is the layers of a stack, ⌈(T − 1) / (k − 1)⌉, as each reaches k − 1 positions further back.

    Raises
    ------
    ValueError
        Where a size is not a whole number from 1 on, or k is 1: such a stack brings no two positions together.

    Examples
    --------
    >>> cost = conv(T=1024, d=768, k=3)
    >>> cost.sequential_steps, cost.path_length, cost.memory["cache"]
    (1, 512, 1536)
    """
    _expect_whole(T=T, d=d)
    _expect_whole(least=2, k=k)
    flops = {"mix": 2 * T * k * d * d}
    params = {"mix": k * d * d + d}
    memory = {"cache": (k - 1) * d, "activations": 2 * T * d}
    return _cost(flops, params, memory, sequential_steps=1, path_length=-(-(T - 1) // (k - 1)))


def _cost(flops, params, memory, sequential_steps, path_length):
    """A Cost with every part, 0 where not told, in one order."""
    flops, params, memory = (
        {part: int(counted.get(part, 0)) for part in parts} for counted, parts in ((flops, FLOPS), (params, PARAMS), (memory, MEMORY))
    )
    return Cost(flops, params, memory, sequential_steps, path_length)


def _expect_whole(least=1, **sizes):
    for name, n in sizes.items():
        if isinstance(n, bool) or not isinstance(n, int) or n < least:
            raise ValueError(f"{name}: expected a whole number, at least {least}, got {n!r}")
