"""What the processes of test_parallel.py compute: how far each scheme is from the
single process, and from what is counted.
"""

import itertools
import json
import sys
from collections import OrderedDict
from functools import partial
from unittest.mock import patch

import torch
import torch.distributed as dist
from allpairspy import AllPairs
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel

from tfbook import cost
from tfbook.torch import (
    LanguageModel,
    Transformer,
    TransformerLayer,
    causal_mask,
    cross_entropy,
    padding_mask,
    rotary_attention,
)
from tfbook.torch.distributed import ring, tensor_parallel
from tfbook.torch.distributed.parallel import (
    CountCommunication,
    average_gradients,
    gathered_attention,
    processes,
    ring_attention,
    shard,
    socket_bytes,
    split_parameters,
    tensor_parallel_layer,
)

B, T, d, H = 3, 8, 24, 4
MASKS = "none", "causal", "padding", "both", "some rows see nothing"
TENSOR = {
    "norm": ["post", "pre", "both"],
    "gated": [False, True],
    "H_kv": [None, 4],
    "masked": [False, True],
}
TENSOR = [row._asdict() for row in AllPairs(OrderedDict(TENSOR))]
SEQUENCE = list(AllPairs([[ring_attention, gathered_attention], [2, 4, 1], MASKS]))
DATA = ("own", "DDP", "sharded")


def apart(given, right):
    """The largest difference, against the largest number."""
    return max(
        float((a - b).abs().max() / b.abs().max())
        for a, b in zip(given, right, strict=True)
    )


def inputs(dtype, seed=0):
    """Tokens and the gradient of their outputs."""
    X, dY = torch.randn(
        2, B, T, d, generator=torch.Generator().manual_seed(seed), dtype=dtype
    )
    return X.requires_grad_(), dY


def layer_of(dtype, seed=0, H=H, **options):
    """A layer whose vectors are random too, so that none is left out unseen."""
    torch.manual_seed(seed)
    layer = TransformerLayer(d, H, **options).to(dtype)
    for name, p in layer.named_parameters():
        if not name.startswith("W"):
            torch.nn.init.normal_(p, mean=float(name.startswith("gamma")), std=0.3)
    return layer


def gradients(Y, dY, X, parameters):
    """The outputs, and what they ask of the tokens and of every parameter."""
    return Y.detach(), *torch.autograd.grad(Y, [X, *parameters], dY)


def allowed(kind):
    """A mask of the whole sequence and whether it is causal as well."""
    lengths = padding_mask(torch.tensor([8, 5, 3]), T)
    some = torch.rand(B, T, T, generator=torch.Generator().manual_seed(1)) > 0.5
    some[:, [2, 7]] = False
    mask = {
        "none": None,
        "causal": None,
        "padding": lengths,
        "both": lengths,
        "some rows see nothing": some,
    }[kind]
    return mask, kind in ("causal", "both")


def tensor_case(mesh, dtype, masked=True, H=8, **options):
    """A layer cut by heads: outputs, the tokens' gradient, and every parameter's,
    gathered.
    """
    layer, (X, dY) = layer_of(dtype, H=H, **options), inputs(dtype)
    mask = causal_mask(T) & padding_mask(torch.tensor([8, 5, 3]), T) if masked else None
    bias = torch.randn(H, T, T, generator=torch.Generator().manual_seed(2), dtype=dtype)
    P = dict(layer.named_parameters())
    right = gradients(layer(X, mask, bias), dY, X, P.values())
    split = split_parameters(P, mesh, H, options.get("H_kv"))
    Y = tensor_parallel_layer(
        X, split, H, options.get("H_kv"), options.get("norm", "post"), None, mask, bias
    )
    Y, dX, *dP = gradients(Y, dY, X, split.values())
    return apart([Y, dX, *(g.full_tensor() for g in dP)], right)


def sequence_case(mesh, dtype, form, H_kv, kind, rotary=False, **options):
    """A layer cut by tokens: outputs and the tokens' gradient of this piece, and every
    parameter's, summed.
    """
    layer = layer_of(dtype, H_kv=H_kv, d_k=4, d_v=5, rotary=rotary)
    (X, dY), (mask, causal) = inputs(dtype), allowed(kind)
    P = list(layer.parameters())
    whole = causal_mask(T) if causal else None
    right = gradients(
        layer(X, whole if mask is None else mask if whole is None else mask & whole),
        dY,
        X,
        P,
    )
    rows = mask if mask is None or mask.shape[-2] == 1 else shard(mask, mesh, axis=-2)
    layer.attention = form(mesh, rows, causal, **options)
    if rotary:
        first = mesh.get_local_rank() * T // mesh.size()
        layer.attention = partial(
            rotary_attention, attention=layer.attention, first=first
        )
    x = shard(X, mesh, axis=-2).detach().requires_grad_()
    Y, dX, *dP = gradients(layer(x), shard(dY, mesh, axis=-2), x, P)
    for g in dP:
        dist.all_reduce(g)
    return apart(
        [Y, dX, *dP],
        [shard(right[0], mesh, axis=-2), shard(right[1], mesh, axis=-2), *right[2:]],
    )


def data_case(mesh, dtype, kind):
    """A model that learns from a batch cut in pieces: the mean loss, and every
    gradient.
    """
    torch.manual_seed(0)
    model = (
        Transformer(2, d, H, norm="pre")
        if kind == "sharded"
        else LanguageModel(11, T, d, H, L=2)
    ).to(dtype)
    X = (
        torch.randn(4, T, d, dtype=dtype)
        if kind == "sharded"
        else torch.randint(11, (4, T))
    )
    loss_of = (
        # not the output's mean square, which its last norm holds at 1
        (lambda f, X: (f(X) - X).square().mean())
        if kind == "sharded"
        else (lambda f, X: cross_entropy(f(X[:, :-1]), X[:, 1:]))
    )
    loss = loss_of(model, X)
    right = [loss.detach()[None], *torch.autograd.grad(loss, list(model.parameters()))]
    forward = model
    if kind == "DDP":
        forward = DistributedDataParallel(model)
    if kind == "sharded":
        for part in (*model.layers, model):
            fully_shard(part, mesh=mesh)
    loss = loss_of(forward, shard(X, mesh))
    loss.backward()
    if kind == "own":
        average_gradients(model.parameters(), mesh)
    loss = loss.detach()[None]
    dist.all_reduce(loss)
    grads = [
        p.grad.full_tensor() if kind == "sharded" else p.grad
        for p in model.parameters()
    ]
    return apart([loss / mesh.size(), *grads], right)


# ---- the classic mistakes, each at the place where it is made ----


def not_rescaled(Y, log_Z, y, log_z):
    both = torch.logaddexp(log_Z, log_z)
    return Y + y, both


def half_and_half(Y, log_Z, y, log_z):
    return torch.where(log_Z.isneginf(), y, (Y + y) / 2), torch.logaddexp(log_Z, log_z)


def bias_in_every_term(X, W_1, b_1, W_2, none, activation):
    """As if b_2 were added before the sum: it comes p times in all, once by itself."""
    return torch.relu(X @ W_1 + b_1) @ W_2 + layer_of(X.dtype, H=8).b_2.detach()


def wrong(mesh):
    """How far off each mistake is."""
    causal = partial(sequence_case, mesh, torch.float64, ring_attention, 2, "causal")
    split, same = partial(tensor_case, mesh, torch.float64), lambda X, mesh: X
    mistakes = {
        "merged without rescaling": (ring, "merge", not_rescaled, causal),
        "merged half and half": (ring, "merge", half_and_half, causal),
        "gradients of the blocks do not come home": (
            ring,
            "pass_on",
            stays_from(mesh.size() - 1 + 2 * mesh.size() - 2),
            causal,
        ),
        "gradients of shared heads not summed": (
            ring,
            "of_shared_heads",
            lambda g, Q, K: g[..., :: Q.shape[-3] // K.shape[-3], :, :],
            causal,
        ),
        "row-wise products not summed": (tensor_parallel, "summed", same, split),
        "gradients of the tokens not summed": (tensor_parallel, "copied", same, split),
        "bias added by every process": (
            tensor_parallel,
            "feed_forward",
            bias_in_every_term,
            split,
        ),
        "rows of W_O as columns": (
            tensor_parallel,
            "PLAN",
            tensor_parallel.PLAN | {"W_O": tensor_parallel.COLUMNS},
            split,
        ),
    }
    results = {}
    for name, (module, attribute, mistake, case) in mistakes.items():
        with patch.object(module, attribute, mistake):
            try:
                results[name] = case()
            except (ValueError, RuntimeError) as error:
                results[name] = f"{type(error).__name__}: {error}"
    rows = causal_mask(T // mesh.size()).repeat(1, mesh.size())
    local = lambda mesh, mask, causal: ring_attention(mesh, rows)
    results["mask of local positions"] = sequence_case(
        mesh, torch.float64, local, 2, "causal"
    )
    summed = lambda P, mesh: [dist.all_reduce(p.grad) for p in P]
    unaveraged = {
        "gradients summed, not averaged": summed,
        "gradients left alone": lambda P, mesh: None,
    }
    for name, mistake in unaveraged.items():
        with patch(f"{__name__}.average_gradients", mistake):
            results[name] = data_case(mesh, torch.float64, "own")
    return results


def stays_from(last):
    """A ring that hands nothing on after its first messages."""
    real, count = ring.pass_on, itertools.count()
    return lambda X, mesh: real(X, mesh) if next(count) < last else lambda: X


# ---- bytes ----


def traffic(mesh):
    """Of each scheme, counted in calls and in sockets while a layer learns once, and
    what tfbook.cost says.
    """
    p, sizes = mesh.size(), {"T": 256, "d": 32, "H": 8}
    results = {}

    def count(name, formula, step):
        for _ in range(2):
            step()  # connections are made, and DDP settles what it sends together
        dist.barrier()
        before = socket_bytes()
        with CountCommunication(p) as counted:
            step()
        after = socket_bytes()
        sent = {
            "calls": counted.bytes,
            "formula": 4 * formula.total_sent,
            "sockets": None if after is None else after - before,
        }
        kinds, scattered = (
            {kind for kind, _ in counted.calls},
            sum(n for kind, n in counted.calls if kind == "reduce-scatter"),
        )
        results[name] = sent | {
            "kinds": sorted(kinds),
            "times": len(counted.calls),
            "scattered": scattered,
        }

    def learns(layer, x):
        def step():
            layer(x).square().mean().backward()

        return step

    def fresh():
        torch.manual_seed(0)
        return TransformerLayer(32, 8, H_kv=4)

    X = torch.randn(4, 256, 32)
    P = split_parameters(dict(fresh().named_parameters()), mesh, 8, 4)
    whole = X.clone().requires_grad_()
    count(
        "heads",
        cost.communication.tensor_parallel(**sizes, p=p, B=4, H_kv=4),
        lambda: tensor_parallel_layer(whole, P, 8, 4).square().mean().backward(),
    )
    for name, form, options in (
        ("ring", ring_attention, {}),
        ("gathered", gathered_attention, {"gathered": True}),
    ):
        layer, x = fresh(), shard(X, mesh, axis=-2).clone().requires_grad_()
        layer.attention = form(mesh, causal=True)
        learn = learns(layer, x)
        count(
            name,
            cost.communication.sequence_parallel(**sizes, p=p, B=4, H_kv=4, **options),
            lambda learn=learn, layer=layer: (learn(), dist.all_reduce(flat(layer))),
        )
    whole, shards = (
        DistributedDataParallel(fresh()),
        fully_shard(fresh(), mesh=mesh, reshard_after_forward=True),
    )
    for name, layer, options in (
        ("data", whole, {}),
        ("sharded", shards, {"sharded": True}),
    ):
        count(
            name,
            cost.communication.data_parallel(**sizes, p=p, B=4, H_kv=4, **options),
            learns(layer, shard(X, mesh)),
        )
    return results


def flat(layer):
    """All gradients as one tensor, as data-parallel libraries send them."""
    return torch.cat([p.grad.ravel() for p in layer.parameters()])


def message_of(call):
    """What a wrong call says."""
    try:
        call()
    except ValueError as error:
        return str(error)
    return "nothing"


def refused(mesh):
    p = mesh.size()
    X, K = torch.zeros(B, 2 * p + 1, d), torch.zeros(1, 4, 2, 3)
    P = dict(layer_of(torch.float32, H=3).named_parameters())
    narrow = dict(layer_of(torch.float32, H=8, d_ff=9).named_parameters())
    return {
        "X": message_of(lambda: shard(X, mesh, axis=-2)),
        "H": message_of(lambda: split_parameters(P, mesh, 3)),
        "H_kv": message_of(lambda: split_parameters(P, mesh, 4, 1)),
        "channels of W_1": message_of(lambda: split_parameters(narrow, mesh, 8)),
        "mask": message_of(
            lambda: ring_attention(mesh, torch.ones(2, 2, dtype=torch.bool))(K, K, K)
        ),
        "mask's dtype": message_of(lambda: ring_attention(mesh, torch.ones(2, 2))),
        "mask of a piece": message_of(
            lambda: gathered_attention(mesh)(
                K, K, K, mask=torch.ones(2, 2, dtype=torch.bool)
            )
        ),
        "bias": message_of(
            lambda: ring_attention(mesh)(K, K, K, bias=torch.ones(4, 2, 2))
        ),
        "gradient": message_of(
            lambda: average_gradients([torch.nn.Parameter(X)], mesh)
        ),
    }


def equal(mesh):
    """How far each scheme is from the single process: float64 through all, float32
    through one of each.
    """
    found, wide, single = {}, torch.float64, torch.float32
    for options in TENSOR:
        found[f"heads float64 {options}"] = tensor_case(mesh, wide, **options)
    for form, H_kv, mask in SEQUENCE:
        found[f"{form.__name__} float64 H_kv={H_kv} {mask}"] = sequence_case(
            mesh, wide, form, H_kv, mask
        )
    found["ring_attention float64 in tiles of 1"] = sequence_case(
        mesh, wide, ring_attention, 2, "both", block=1
    )
    for form, kind in ((ring_attention, "none"), (gathered_attention, "both")):
        found[f"{form.__name__} float64 rotary"] = sequence_case(
            mesh, wide, form, 2, kind, rotary=True
        )
    for kind in DATA:
        found[f"data float64 {kind}"] = data_case(mesh, wide, kind)
        found[f"data float32 {kind}"] = data_case(mesh, single, kind)
    found["heads float32"] = tensor_case(mesh, single, **TENSOR[1])
    for form in (ring_attention, gathered_attention):
        found[f"{form.__name__} float32"] = sequence_case(mesh, single, form, 2, "both")
    return found


def everything(mesh):
    return {
        "equal": equal(mesh),
        "wrong": wrong(mesh),
        "traffic": traffic(mesh),
        "refused": refused(mesh),
    }


if __name__ == "__main__":
    torch.set_num_threads(1)
    with processes(seconds=60) as mesh:
        mine = everything(mesh)
        found = [None] * mesh.size()
        dist.all_gather_object(found, mine)
        if mesh.get_local_rank() == 0:
            with open(sys.argv[1], "w", encoding="utf-8") as file:
                json.dump(found, file)
