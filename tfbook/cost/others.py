"""What attention is compared with: a recurrent layer and a convolution."""

from tfbook.cost.row import row, whole


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
        ``projections`` is X W_x, ``mix`` is the step from state to state; running needs
        a cache of d elements, the state.

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
    T, d = whole("T", T), whole("d", d)
    flops = {"projections": 2 * T * d * d, "mix": 2 * T * d * d}
    params = {"projections": d * d + d, "mix": d * d}
    memory = {"cache": d, "activations": 3 * T * d}
    return row(flops, params, memory, sequential_steps=T, path_length=T)


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
        Of one layer; ``path_length`` is the layers of a stack, ⌈(T − 1) / (k − 1)⌉, as
        each reaches k − 1 positions further back.

    Raises
    ------
    ValueError
        Where a size is not a whole number from 1 on, or k is 1: such a stack brings no
        two positions together.

    Examples
    --------
    >>> cost = conv(T=1024, d=768, k=3)
    >>> cost.sequential_steps, cost.path_length, cost.memory["cache"]
    (1, 512, 1536)
    """
    T, d, k = whole("T", T), whole("d", d), whole("k", k, least=2)
    flops = {"mix": 2 * T * k * d * d}
    params = {"mix": k * d * d + d}
    memory = {"cache": (k - 1) * d, "activations": 2 * T * d}
    return row(
        flops,
        params,
        memory,
        sequential_steps=1,
        path_length=-(-(T - 1) // (k - 1)),
    )
