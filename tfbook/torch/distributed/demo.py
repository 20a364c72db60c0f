"""The programs of chapter 14, which torchrun starts in several processes: demo.py
compare FILE, or demo.py train CHECKPOINT.

``compare`` divides one layer in five ways and checks each against the whole layer;
``train`` trains a small language model.
"""

import argparse
import json
import os
import signal
from functools import partial
from pathlib import Path

import torch
import torch.distributed as dist
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor
from torch.nn.parallel import DistributedDataParallel

from tfbook.torch import (
    LanguageModel,
    TransformerLayer,
    causal_mask,
    cross_entropy,
)
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
from tfbook.torch.training.checkpoint import load_checkpoint, save_checkpoint

SIZES = {"T": 512, "d": 64, "H": 8, "H_kv": 4, "B": 4}
SENTENCE = (
    "every process holds a part, and the parts together are the whole. "
)


def unsplit_step(layer):
    """One process, the whole layer."""

    def step(X):
        Y = layer(X, causal_mask(X.shape[-2]).to(X.device))
        Y.square().mean().backward()
        return Y, [p.grad for p in layer.parameters()]

    return step


def data_parallel_step(layer, mesh):
    """Each process takes its sequences through the whole layer; DDP averages the
    gradients.
    """
    ddp = DistributedDataParallel(layer)

    def step(X):
        mask = causal_mask(X.shape[-2]).to(X.device)
        Y = ddp(shard(X, mesh), mask)
        Y.square().mean().backward()
        return Y, [p.grad for p in layer.parameters()]

    return step


def fully_sharded_step(layer, mesh):
    """The same, with the parameters cut as well; FSDP gathers them when they are
    needed.
    """
    fully_shard(layer, mesh=mesh, reshard_after_forward=True)

    def step(X):
        Y = layer(shard(X, mesh), causal_mask(X.shape[-2]).to(X.device))
        Y.square().mean().backward()
        return Y, [p.grad for p in layer.parameters()]

    return step


def tensor_parallel_step(layer, mesh):
    """Each process has its heads, and its channels of the network, of every token."""
    P = split_parameters(
        dict(layer.named_parameters()), mesh, layer.H, layer.H_kv
    )

    def step(X):
        mask = causal_mask(X.shape[-2]).to(X.device)
        Y = tensor_parallel_layer(
            X, P, layer.H, layer.H_kv, layer.norm, mask=mask
        )
        Y.square().mean().backward()
        return Y, [p.grad for p in P.values()]

    return step


def sequence_parallel_step(layer, mesh, form=ring_attention):
    """Each process has its tokens; everything but the attention is the layer's own
    code.
    """
    layer.attention = form(mesh, causal=True)

    def step(X):
        Y = layer(shard(X, mesh, axis=-2))
        Y.square().mean().backward()
        average_gradients(layer.parameters(), mesh)
        return Y, [p.grad for p in layer.parameters()]

    return step


CUTS = {
    "batch": data_parallel_step,
    "batch, sharded": fully_sharded_step,
    "heads": tensor_parallel_step,
    "sequence, ring": sequence_parallel_step,
    "sequence, gathered": partial(
        sequence_parallel_step, form=gathered_attention
    ),
}
# along which the outputs are cut
AXES = {
    "batch": 0,
    "batch, sharded": 0,
    "sequence, ring": -2,
    "sequence, gathered": -2,
}


def layer_and_tokens(mesh):
    """The same in every process, since they draw from the same seed."""
    torch.manual_seed(0)
    layer = TransformerLayer(
        SIZES["d"], SIZES["H"], H_kv=SIZES["H_kv"], norm="pre"
    ).to(mesh.device_type)
    X = torch.randn(SIZES["B"], SIZES["T"], SIZES["d"]).to(mesh.device_type)
    return layer, X.requires_grad_()  # as if there were a layer below


def compare(mesh):
    """Cut the layer in every way; of each its largest errors, what this process sends
    by its calls and by its sockets, and how many gradients it holds.
    """
    layer, X = layer_and_tokens(mesh)
    Y, gradients = unsplit_step(layer)(X)
    found = {}
    for name, cut in CUTS.items():
        layer, X = layer_and_tokens(mesh)
        step = cut(layer, mesh)
        before = socket_bytes()
        with CountCommunication(mesh.size()) as counted:
            mine, dP = step(X)
        wire = None if before is None else socket_bytes() - before
        right = shard(Y, mesh, AXES[name]) if name in AXES else Y
        # as many as the parameters
        held = sum(
            (g.to_local() if isinstance(g, DTensor) else g).numel()
            for g in dP
        )
        dP = [g.full_tensor() if isinstance(g, DTensor) else g for g in dP]
        errors = {
            "output": relative_error(mine, right),
            "gradients": max(map(relative_error, dP, gradients)),
        }
        found[name] = errors | {
            "sent": counted.calls,
            "wire": wire,
            "held": held,
        }
    return found


def relative_error(given, right):
    """The largest difference, relative to the largest number."""
    return float((given - right).abs().max() / right.abs().max())


def all_reduce_bytes(mesh, n=1_000_000):
    """What the sockets of this process carry for one sum of n numbers, in bytes; None
    where the system does not tell.
    """
    X = torch.ones(n)
    dist.all_reduce(torch.ones(1))
    before = socket_bytes()
    dist.all_reduce(X)
    return None if before is None else socket_bytes() - before


def train(mesh, file, steps=12, every=4, killed_at=None):
    """Train on pieces of each batch, keep a checkpoint every few steps, and go on from
    one that is there.
    """
    torch.manual_seed(0)
    model = LanguageModel(vocab=27, T_max=32, d=32, H=4, L=2).to(
        mesh.device_type
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    begin = (
        load_checkpoint(file, model, optimizer)["step"]
        if Path(file).exists()
        else 0
    )
    ddp, losses = DistributedDataParallel(model), []
    for step in range(begin, steps):
        tokens = shard(batch(step), mesh).to(mesh.device_type)
        loss = cross_entropy(ddp(tokens[:, :-1]), tokens[:, 1:])
        if step == killed_at and mesh.get_local_rank() == mesh.size() - 1:
            # the last process dies in the middle of a step
            os.kill(os.getpid(), signal.SIGKILL)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        dist.all_reduce(loss.detach_())
        losses.append(float(loss) / mesh.size())
        if (step + 1) % every == 0 and mesh.get_local_rank() == 0:
            save_checkpoint(file, model, optimizer, step=step + 1)
    return {
        "begin": begin,
        "losses": losses,
        "sums": [float(p.double().sum()) for p in model.parameters()],
    }


def batch(step, B=8, T=33):
    """Sequences cut from one repeated sentence; the step alone decides which ones."""
    letters = sorted(set(SENTENCE))
    tokens = torch.tensor(
        [letters.index(letter) for letter in SENTENCE]
    ).repeat(2)
    starts = torch.randint(
        len(SENTENCE), (B,), generator=torch.Generator().manual_seed(step)
    )
    return torch.stack([tokens[start : start + T] for start in starts])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", choices=["compare", "train"])
    parser.add_argument(
        "file",
        help="where compare writes what it prints, or the checkpoint of train",
    )
    parser.add_argument(
        "--killed-at",
        type=int,
        help="step in which the last process is killed",
    )
    options = parser.parse_args()
    torch.set_num_threads(1)
    with processes() as mesh:
        if options.program == "compare":
            found = {
                "cuts": compare(mesh),
                "wire": all_reduce_bytes(mesh),
                "trained": train(mesh, f"{options.file}.safetensors"),
            }
        else:
            found = train(mesh, options.file, killed_at=options.killed_at)
        if mesh.get_local_rank() == 0:
            text = json.dumps(found)
            print(text)
            if options.program == "compare":
                Path(options.file).write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
