"""What PyTorch moves: bytes of every operator that runs, and of the kernels that a
compiler could make of them.
"""

from math import prod

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

PRODUCTS = {"mm", "bmm", "addmm", "baddbmm"}
VIEWS = {
    "view",
    "_unsafe_view",
    "expand",
    "transpose",
    "permute",
    "t",
    "unsqueeze",
    "squeeze",
    "slice",
    "select",
    "detach",
    "alias",
}
CONSTANTS = {"scalar_tensor"}  # one number, which a kernel has in its program


class CountTraffic(TorchDispatchMode):
    """Count what runs inside a ``with``: each operator reads what it takes, once, and
    writes what it gives.

    Attributes
    ----------
    operators : list of (str, int, int)
        Name of each operator that moves numbers, with the bytes that it reads and
        writes. A view moves nothing.

    Examples
    --------
    >>> X = torch.ones(8, 4)
    >>> with CountTraffic() as counted:
    ...     Y = (X @ X.T).exp()
    >>> counted.operators
    [('mm', 256, 256), ('exp', 256, 256)]
    >>> counted.bytes
    1024
    """

    def __init__(self):
        super().__init__()
        self.operators = []

    @property
    def bytes(self):
        """Bytes moved, both ways together."""
        return sum(read + written for _, read, written in self.operators)

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        Y = func(*args, **(kwargs or {}))
        taken, given = tensors((args, kwargs)), tensors(Y)
        if given and name(func) not in VIEWS | CONSTANTS:
            read, written = (sum(map(weight, X)) for X in (taken, given))
            self.operators.append((name(func), read, written))
        return Y


def tensors(X):
    """All tensors in nested lists and dicts."""
    return [x for x in tree_leaves(X) if isinstance(x, torch.Tensor)]


def weight(X):
    """Bytes of the numbers that a tensor holds; an axis that is only repeated holds
    one.
    """
    return X.element_size() * prod(
        n for n, stride in zip(X.shape, X.stride()) if stride or n == 0
    )


def name(func):
    """``mm`` of ``aten.mm.default``."""
    return func.overloadpacket.__name__


def kernels(f, *inputs, fused=False):
    """Capture a function with ``torch.compile`` and count what its kernels would move;
    no compiler is needed, and nothing is timed.

    Parameters
    ----------
    f : callable
    *inputs : Tensor
    fused : bool
        Make one kernel of all that stands between two matrix products: each number
        there comes from one number or one row, so a row can stay on the chip from the
        first of them to the last. Otherwise each operator is a kernel, as without a
        compiler.

    Returns
    -------
    list of (str, int)
        Operators of each kernel, joined by spaces, and the bytes that cross its border,
        each tensor once.

    Examples
    --------
    >>> X = torch.ones(8, 4)
    >>> kernels(lambda X: (X @ X.T).exp() + 1, X)
    [('mm', 384), ('exp', 512), ('add', 512)]
    >>> kernels(lambda X: (X @ X.T).exp() + 1, X, fused=True)
    [('mm', 384), ('exp add', 512)]
    """
    graph = captured(f, inputs)
    # of each node the number of its kernel; whether that one is still open
    groups, number, joins = {}, 0, False
    for node in graph.nodes:
        if node.op != "call_function" or is_a(node, VIEWS | CONSTANTS):
            continue
        alone = not fused or name(node.target) in PRODUCTS
        number += alone or not joins
        groups[node], joins = number, not alone
    return [moved(groups, at) for at in range(1, number + 1)]


def captured(f, inputs):
    """The graph of a function in PyTorch's basic operators."""
    from torch._dynamo.backends.common import aot_autograd

    graphs = []

    def keep(module, examples):
        graphs.append(module.graph)
        return module.forward

    torch._dynamo.reset()
    with torch.no_grad():
        torch.compile(
            f,
            backend=aot_autograd(fw_compiler=keep),
            fullgraph=True,
            dynamic=False,
        )(*inputs)
    torch._dynamo.reset()
    return graphs[0]


def moved(groups, number):
    """Names and bytes of one kernel: what it takes from outside, and what somebody
    outside takes from it.
    """
    inside = [node for node, at in groups.items() if at == number]
    inputs, outputs = set(), set()
    for node in inside:
        sources = map(source, node.all_input_nodes)
        inputs |= {
            n
            for n in sources
            if groups.get(n) != number and not is_a(n, CONSTANTS)
        }
        if any(groups.get(user) != number for user in users(node)):
            outputs.add(node)
    return " ".join(name(node.target) for node in inside), sum(
        weight(node.meta["val"]) for node in inputs | outputs
    )


def is_a(node, names):
    """Whether a node calls an operator of one of these names."""
    return node.op == "call_function" and name(node.target) in names


def source(node):
    """The node whose numbers a view shows."""
    while is_a(node, VIEWS):
        node = node.args[0]
    return node


def users(node):
    """Those who use a node's numbers, through views too."""
    for user in node.users:
        if is_a(user, VIEWS):
            yield from users(user)
        else:
            yield user
