"""What one of p processes holds and sends when a layer is cut: over the batch, the
heads, or the sequence.

Everything is counted for one layer, one step of learning and one process, in elements:
times the bytes of the dtype it is bytes. Collectives are counted as a ring carries them
out, which no way of summing or gathering beats in numbers sent.
"""

from dataclasses import dataclass

from tfbook.cost.row import whole
from tfbook.cost.transformer import layer


@dataclass(frozen=True)
class Share:
    """What one process has of a layer that is cut.

    Attributes
    ----------
    sent : dict of str to int
        Elements that it sends: ``forward``, ``backward``, and for the sums of the
        ``gradients`` of the parameters.
    memory : dict of str to int
        Elements that it holds: ``params`` (its gradients are as many, and each of an
        optimizer's tables), ``activations`` as in :func:`tfbook.cost.layer`, ``scores``
        where they are stored, ``keys``: the most keys and values that are there at
        once.
    """

    sent: dict[str, int]
    memory: dict[str, int]

    @property
    def total_sent(self):
        """Elements sent in a step."""
        return sum(self.sent.values())


def all_reduce(n, p):
    """Count what a process sends so that all p have the sum of n elements.

    Parameters
    ----------
    n : int
        Elements of the tensor that each process brings.
    p : int
        Processes.

    Returns
    -------
    int
        Elements: 2 (p − 1) of the p pieces, once to sum each piece up and once to hand
        it round.

    Examples
    --------
    >>> all_reduce(1000, 2), all_reduce(1000, 4), all_reduce(1000, 1)
    (1000, 1500, 0)
    """
    return 2 * all_gather(n, p)


def all_gather(n, p):
    """Count what a process sends so that all p have a whole of n elements, of which
    each brings a piece.

    Parameters
    ----------
    n, p : int
        As in :func:`all_reduce`.

    Returns
    -------
    int
        Elements: p − 1 of the p pieces. The reverse, :func:`reduce_scatter`, is as
        many.

    Examples
    --------
    >>> all_gather(1000, 2), all_gather(1000, 4)
    (500, 750)
    """
    n, p = whole("n", n, least=0), whole("p", p)
    return (p - 1) * -(-n // p)


def reduce_scatter(n, p):
    """Count what a process sends so that each of p has a piece of the sum of n
    elements.

    Parameters
    ----------
    n, p : int
        As in :func:`all_reduce`.

    Returns
    -------
    int
        Elements: p − 1 of the p pieces.

    Examples
    --------
    >>> reduce_scatter(1000, 4)
    750
    """
    return all_gather(n, p)


def data_parallel(T, d, H, p, B=1, sharded=False, **sizes):
    """Cut the batch: each process takes B / p sequences through the whole layer.

    Parameters
    ----------
    T, d, H
        As in :func:`tfbook.cost.layer`.
    p : int
        Processes, a divisor of what is cut.
    B : int
        Sequences of all processes together.
    sharded : bool
        Each holds a p-th of the parameters at rest and gathers the others when their
        layer's turn comes.
    **sizes
        ``d_ff``, ``H_kv`` and the others of :func:`tfbook.cost.layer`.

    Returns
    -------
    Share

    Raises
    ------
    ValueError
        Where p does not divide what is cut.

    Examples
    --------
    >>> data_parallel(T=1024, d=64, H=4, p=2, B=8).sent
    {'forward': 0, 'backward': 0, 'gradients': 49728}
    """
    one, B, p = layer(T, d, H, **sizes), whole("B", B), whole("p", p)
    _divides(p, "B", B)
    n = one.total_params
    sent = (
        (all_gather(n, p), all_gather(n, p), reduce_scatter(n, p))
        if sharded
        else (0, 0, all_reduce(n, p))
    )
    held = -(-n // p) if sharded else n
    return _share(
        sent,
        held,
        *(
            B // p * one.memory[part]
            for part in ("activations", "scores", "cache")
        ),
    )


def tensor_parallel(T, d, H, p, B=1, **sizes):
    """Cut the heads and the inner channels: each process has H / p heads and d_ff / p
    channels of every token.

    Parameters
    ----------
    T, d, H, p, B, **sizes
        As in :func:`data_parallel`.

    Returns
    -------
    Share
        Two sums of all tokens forwards, two backwards; no gradient of a parameter is
        sent.

    Raises
    ------
    ValueError
        Where p does not divide H, H_kv or d_ff.

    Examples
    --------
    >>> share = tensor_parallel(T=1024, d=64, H=4, p=2)
    >>> share.sent["forward"] == 2 * 1024 * 64
    True
    """
    one, B, p = layer(T, d, H, **sizes), whole("B", B), whole("p", p)
    d_ff = sizes.get("d_ff") or 4 * d
    for name, n in (
        ("H", H),
        ("H_kv", sizes.get("H_kv") or H),
        ("d_ff", d_ff),
    ):
        _divides(p, name, n)
    # b_2 is added after the sum, once
    duplicated = one.params["norms"] + d * (not sizes.get("gated"))
    params = (one.total_params - duplicated) // p + duplicated
    # the layer's input, and both sums, are whole
    activations = (one.memory["activations"] - 3 * T * d) // p + 3 * T * d
    sums = 2 * all_reduce(B * T * d, p)
    return _share(
        (sums, sums, 0),
        params,
        *(
            B * n
            for n in (
                activations,
                one.memory["scores"] // p,
                one.memory["cache"] // p,
            )
        ),
    )


def sequence_parallel(T, d, H, p, B=1, gathered=False, **sizes):
    """Cut the sequence: each process has T / p tokens, and the keys and values of the
    others come by.

    Parameters
    ----------
    T, d, H, p, B, **sizes
        As in :func:`data_parallel`.
    gathered : bool
        All keys and values are gathered at once; otherwise they go round a ring, one
        block at a time.

    Returns
    -------
    Share
        Round the ring, p − 1 blocks forwards; backwards these again, and p blocks of
        their gradients, which come home.

    Raises
    ------
    ValueError
        Where p does not divide T.

    Examples
    --------
    >>> sequence_parallel(T=1024, d=64, H=4, p=4).sent[
    ...     "forward"
    ... ] == 3 * 2 * 256 * 64
    True
    >>> sequence_parallel(T=1024, d=64, H=4, p=4, H_kv=1).sent[
    ...     "forward"
    ... ] == 3 * 2 * 256 * 16
    True
    """
    one, B, p = layer(T, d, H, **sizes), whole("B", B), whole("p", p)
    _divides(p, "T", T)
    keys, n = B * one.memory["cache"], one.total_params
    block = keys // p
    if gathered:
        forward, backward, held = (
            all_gather(keys, p),
            reduce_scatter(keys, p),
            keys,
        )
    else:
        forward, backward = (
            (p - 1) * block,
            (2 * p - 1) * block if p > 1 else 0,
        )
        held = min(2, p) * block  # its own, and the one that has come
    # of the ring, a block at a time
    scores = B * (
        one.memory["scores"] // p
        if gathered
        else one.memory["scores"] // p**2
    )
    return _share(
        (forward, backward, all_reduce(n, p)),
        n,
        B * one.memory["activations"] // p,
        scores,
        held,
    )


def _share(sent, params, activations, scores, keys):
    memory = {
        "params": params,
        "activations": activations,
        "scores": scores,
        "keys": keys,
    }
    return Share(
        dict(zip(("forward", "backward", "gradients"), sent)), memory
    )


def _divides(p, name, n):
    if n % p:
        raise ValueError(
            f"{name}: expected a multiple of the p = {p} processes, got {n}"
        )
