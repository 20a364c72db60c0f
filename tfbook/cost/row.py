"""One row of the comparison, and what a size must be."""

from dataclasses import dataclass

FLOPS = ("projections", "scores", "mix", "output", "ffn", "logits")
PARAMS = (
    "embedding",
    "positions",
    "projections",
    "mix",
    "output",
    "ffn",
    "norms",
    "logits",
)
MEMORY = ("scores", "streaming", "cache", "activations")


@dataclass(frozen=True)
class Cost:
    """One row of the comparison.

    Attributes
    ----------
    flops : dict of str to int
        FLOPs of one forward pass: ``projections`` (to Q, K and V), ``scores``, ``mix``,
        ``output`` (W_O), ``ffn``, ``logits``.
    params : dict of str to int
        Learned numbers: ``embedding``, ``positions``, ``projections``, ``mix``,
        ``output``, ``ffn``, ``norms``, ``logits``. Biases are counted with their
        matrices.
    memory : dict of str to int
        Elements (times the bytes of the dtype: bytes), each part counted separately.
        ``activations``: the input and what each matrix product gives, except the
        scores, as training holds them. ``scores``: the attention matrices, H·T² a
        layer. ``streaming``: what streaming attention holds in their place, the largest
        score and the sum for each query of each head. ``cache``: what generation
        carries from one token to the next, keys and values or a state.
    sequential_steps : int
        Steps that must wait for one another.
    path_length : int
        Layers, or steps of a recurrence, on the shortest way from the first token to
        the last position.
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


def row(flops, params, memory, sequential_steps, path_length):
    """Make a Cost with every part in its place, 0 where not told."""
    flops = {part: flops.get(part, 0) for part in FLOPS}
    params = {part: params.get(part, 0) for part in PARAMS}
    memory = {part: memory.get(part, 0) for part in MEMORY}
    return Cost(flops, params, memory, sequential_steps, path_length)


def whole(name, n, least=1):
    """Return n as an int of Python, which cannot overflow, or raise: sizes are whole
    numbers from ``least`` on.
    """
    if (
        isinstance(n, bool)
        or not hasattr(n, "__index__")
        or n.__index__() < least
    ):
        raise ValueError(
            f"{name}: expected a whole number, at least {least}, got {n!r}"
        )
    return n.__index__()
