"""What roundings may do to an answer: the same call in float64, with every number that
an operator takes and gives moved by chance.
"""

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map


class Rounding(TorchDispatchMode):
    """Move what every operator takes and gives by a share of up to ``u``, where it
    depends on tensors that are watched.

    What depends on none of them is a constant, such as the angles of positions, and is
    right to the last digit until it meets one.
    """

    def __init__(self, u, seed):
        super().__init__()
        self.u, self.generator, self.kept, self.known = (
            u,
            torch.Generator().manual_seed(seed),
            [],
            set(),
        )

    def watch(self, X):
        """Take the tensors in X as inputs, and return X."""
        for x in floats(X):
            self.kept.append(x)  # as long as it lives, no other tensor takes its place
            self.known.add(storage(x))
        return X

    def moved(self, x):
        return x * (
            1
            + self.u
            * (2 * torch.rand(x.shape, dtype=x.dtype, generator=self.generator) - 1)
        )

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if not any(storage(x) in self.known for x in floats((args, kwargs))):
            return func(*args, **kwargs)
        once = {}  # a tensor that is taken twice is still itself: x == x
        # a view's argument, or one that is changed in place
        aliased = [a.alias_info is not None for a in func._schema.arguments]
        args = [
            (
                x
                if alias
                else tree_map(lambda x: once.setdefault(id(x), self._moved(x)), x)
            )
            for x, alias in zip(args, aliased)
        ]
        Y = func(*args, **kwargs)
        for y in floats(Y):
            if not func.is_view:
                y.copy_(self.moved(y))
        return self.watch(Y)

    def _moved(self, x):
        return (
            self.moved(x)
            if isinstance(x, torch.Tensor) and x.is_floating_point()
            else x
        )


def floats(X):
    """All floating-point tensors in nested lists and dicts."""
    return [
        x
        for x in tree_leaves(X)
        if isinstance(x, torch.Tensor) and x.is_floating_point()
    ]


def storage(x):
    """Where a tensor and its views are held."""
    return x.untyped_storage()._cdata


def unit(dtype):
    """The unit roundoff: rounding to nearest moves a number by this share at most."""
    return torch.finfo(dtype).eps / 2
