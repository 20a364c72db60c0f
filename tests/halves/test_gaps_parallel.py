"""Processes without starting any: the ring among threads, parameters that are split,
what launch passes on, how processes ends.
"""

import json
import os
import queue
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from datetime import timedelta
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
import torch
import torch.distributed as dist
from all_pairs import all_pairs
from torch import nn
from torch.distributed.tensor import init_device_mesh

from tfbook.torch import TransformerLayer, scaled_dot_product_attention
from tfbook.torch.distributed import demo, ring
from tfbook.torch.distributed import launch as launching
from tfbook.torch.distributed import processes as joining
from tfbook.torch.distributed.data_parallel import average_gradients, shard
from tfbook.torch.distributed.launch import launch
from tfbook.torch.distributed.processes import peer_failure, processes
from tfbook.torch.distributed.tensor_parallel import (
    PLAN,
    split_parameters,
    tensor_parallel_layer,
)
from tfbook.torch.heads import repeat_heads

# ---- the ring, each process a thread ----


class Mesh:
    """What the ring asks of a mesh."""

    def __init__(self, rank, p, wires):
        self.rank, self.p, self.wires, self.messages = rank, p, wires, 0

    def size(self):
        return self.p

    def get_local_rank(self):
        return self.rank


def hand_on(X, mesh):
    """As ``ring.pass_on``: to the next thread, from the one before."""
    # the n-th that is sent is the n-th that is waited for
    n, mesh.messages = mesh.messages, mesh.messages + 1
    slot = lambda rank: mesh.wires.setdefault((rank, n), queue.Queue())
    slot((mesh.rank + 1) % mesh.p).put(X.contiguous().clone())
    return lambda: slot(mesh.rank).get(timeout=60)


def among_threads(p, Q, K, V, dY, causal, mask):
    """The ring's answers and gradients, put together."""
    wires, found = {}, [None] * p

    def work(rank):
        torch.set_num_threads(1)
        mine = [X.chunk(p, dim=-2)[rank] for X in (Q, K, V)]
        ctx = SimpleNamespace(
            save_for_backward=lambda *saved: setattr(ctx, "saved_tensors", saved)
        )
        with torch.no_grad():
            rows = None if mask is None else mask.chunk(p)[rank]
            mesh = Mesh(rank, p, wires)
            Y = ring.Ring.forward(ctx, *mine, mesh, rows, causal, 4)
            found[rank] = Y, *ring.Ring.backward(ctx, dY.chunk(p, dim=-2)[rank])[:3]

    threads = [
        threading.Thread(target=work, args=(rank,), daemon=True) for rank in range(p)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return [torch.cat(parts, dim=-2) for parts in zip(*found, strict=True)]


def directly(Q, K, V, dY, causal, mask):
    leaves = [X.double().requires_grad_() for X in (Q, K, V)]
    mask = torch.ones(24, 24, dtype=torch.bool) if mask is None else mask
    mask = mask.tril() if causal else mask
    n = Q.shape[-3] // K.shape[-3]
    K, V = (repeat_heads(X, n) for X in leaves[1:])
    Y = scaled_dot_product_attention(leaves[0], K, V, mask=mask)
    return Y.detach(), *torch.autograd.grad(Y, leaves, dY.double())


@all_pairs(
    dtype=[torch.float64, torch.float32, torch.bfloat16, torch.float16],
    masked=[False, True],
    causal=[False, True],
    shared=[1, 2],
)
def test_the_ring_sums_in_full_precision(dtype, masked, causal, shared, monkeypatch):
    monkeypatch.setattr(ring, "pass_on", hand_on)
    torch.manual_seed(0)
    Q, dY = torch.randn(2, 4, 24, 8), torch.randn(2, 4, 24, 5)
    K, V = torch.randn(2, 4 // shared, 24, 8), torch.randn(2, 4 // shared, 24, 5)
    case = [X.to(dtype) for X in (Q, K, V, dY)]
    # some rows see nothing
    options = causal, torch.rand(24, 24) < 0.5 if masked else None
    found, right = among_threads(8, *case, *options), directly(*case, *options)
    for given, wanted in zip(found, right, strict=True):
        assert given.dtype == dtype
        eps, largest = torch.finfo(dtype).eps, wanted.abs().max()
        # a half is the sum in float32, rounded once
        error = (
            0.51 * eps * wanted.abs() + 1e-6 * largest
            if dtype.itemsize == 2
            else 30 * eps * largest
        )
        assert ((given.double() - wanted).abs() <= error).all()


# ---- parameters ----


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """A mesh of this process alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GLOO_SOCKET_IFNAME", launching._loopback())
        dist.init_process_group(
            "gloo",
            init_method=f"file://{tmp_path_factory.mktemp('mesh') / 'store'}",
            rank=0,
            world_size=1,
        )
    yield init_device_mesh("cpu", (1,))
    dist.destroy_process_group()


def test_frozen_parameters_stay_frozen_when_they_are_split(alone):
    layer = TransformerLayer(8, 2)
    frozen = {"W_K", "b_1", "gamma_1", "W_2"}
    P = {
        name: p.requires_grad_(name not in frozen)
        for name, p in layer.named_parameters()
    }
    split = split_parameters(P, alone, 2)
    assert {name for name, block in split.items() if not block.requires_grad} == frozen
    tensor_parallel_layer(torch.randn(3, 8), split, 2).square().sum().backward()
    assert {name for name, block in split.items() if block.grad is None} == frozen


def test_split_parameters_are_copies_of_the_same_dtype(alone):
    P = {
        name: p.detach().bfloat16()
        for name, p in TransformerLayer(8, 2, gated=True).named_parameters()
    }
    split = split_parameters(P, alone, 2)
    for name, block in split.items():
        assert block.dtype == torch.bfloat16
        assert torch.equal(block.full_tensor(), P[name])
        assert block.to_local().data_ptr() != P[name].data_ptr()
        (way,) = block.placements
        assert (
            way.is_shard(PLAN[name].dim % block.ndim)
            if name in PLAN
            else way.is_replicate()
        )
        assert block.is_leaf
        assert not block.requires_grad


def test_first_matrices_are_cut_by_columns_and_second_ones_by_rows():
    axes = {
        "W_Q": -1,
        "W_K": -1,
        "W_V": -1,
        "W_O": 0,
        "W_1": -1,
        "b_1": -1,
        "W_2": 0,
        "W_gate": -1,
        "W_up": -1,
        "W_down": 0,
    }
    assert {name: way.dim for name, way in PLAN.items()} == axes


@pytest.mark.parametrize("gated", [False, True])
@pytest.mark.parametrize("norm", ["post", "pre", "both"])
def test_a_layer_on_one_process_is_the_layer(alone, norm, gated):
    torch.manual_seed(0)
    layer = TransformerLayer(
        8, 4, H_kv=2, norm=norm, gated=gated, activation="gelu"
    ).double()
    for p in layer.parameters():
        nn.init.normal_(p, std=0.4)
    X, bias = torch.randn(2, 5, 8).double(), torch.randn(4, 5, 5).double()
    mask = torch.ones(5, 5, dtype=torch.bool).tril()
    split = split_parameters(dict(layer.named_parameters()), alone, 4, 2)
    Y = tensor_parallel_layer(X, split, 4, 2, norm, "gelu", mask, bias)
    torch.testing.assert_close(Y, layer(X, mask, bias))


def test_pieces_are_in_order_and_gradients_are_means(monkeypatch):
    X = torch.arange(24).reshape(4, 6)
    for axis in (0, -1):
        shards = [shard(X, Mesh(rank, 2, None), axis) for rank in range(2)]
        assert torch.equal(torch.cat(shards, dim=axis), X)
    p = nn.Parameter(torch.zeros(2))
    p.grad = torch.tensor([2.0, 4.0])
    # as if four gradients came to eight times this one
    monkeypatch.setattr(dist, "all_reduce", lambda X, group: X.mul_(8))
    average_gradients([p], SimpleNamespace(size=lambda: 4, get_group=lambda: None))
    assert p.grad.tolist() == [4, 8]


# ---- launch ----


@pytest.fixture
def started(monkeypatch):
    """What launch starts, with another program in its place."""
    seen, popen = [], subprocess.Popen

    def instead(program):
        def start(command, **options):
            seen.append(
                SimpleNamespace(
                    command=command, environment=options["env"], process=None
                )
            )
            seen[-1].process = popen([sys.executable, "-c", program], **options)
            return seen[-1].process

        monkeypatch.setattr(subprocess, "Popen", start)
        return seen

    return instead


def test_time_that_is_up_is_an_error_and_all_are_ended(started):
    seen, begin = started("import time; time.sleep(60)"), time.monotonic()
    with pytest.raises(
        TimeoutError,
        match=(
            r"some\.module: expected 2 processes to end within 0\.5 s; they were ended"
        ),
    ):
        launch("some.module", 2, seconds=0.5)
    assert time.monotonic() - begin < 30
    assert seen[0].process.poll() is not None


def test_an_interrupted_reader_leaves_nothing_running(started, monkeypatch):
    seen = started("import time; time.sleep(60)")
    start = subprocess.Popen

    def interrupted(command, **options):
        process = start(command, **options)
        wait = process.communicate

        def interrupt(timeout):
            process.communicate = wait
            raise KeyboardInterrupt

        process.communicate = interrupt
        return process

    monkeypatch.setattr(subprocess, "Popen", interrupted)
    with pytest.raises(KeyboardInterrupt):
        launch("some.module", 2)
    assert seen[0].process.poll() is not None


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("OMP_NUM_THREADS", "3"),
        ("GLOO_SOCKET_IFNAME", "eth7"),
        ("PYTHONUNBUFFERED", ""),
    ],
)
def test_what_the_user_has_set_stays(name, given, started, monkeypatch):
    monkeypatch.setenv(name, given)
    seen = started("print(1)")
    launch("some.module", 2)
    assert seen[0].environment[name] == given


def test_what_the_user_has_not_set_is_set(started, monkeypatch):
    for name in ("OMP_NUM_THREADS", "GLOO_SOCKET_IFNAME", "PYTHONUNBUFFERED"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SOMETHING", "else")
    monkeypatch.setattr(os, "cpu_count", lambda: 12)
    seen = started("print(1)")
    assert launch("some.module", 4, "a", 7) == "1\n"
    launch("some.module", 99)
    assert [one.environment["OMP_NUM_THREADS"] for one in seen] == ["3", "1"]
    assert seen[0].environment["GLOO_SOCKET_IFNAME"].startswith("lo")
    assert seen[0].environment["SOMETHING"] == "else"
    assert seen[0].command[-4:] == ["-m", "some.module", "a", "7"]
    assert {
        "--nproc-per-node=4",
        "--rdzv-backend=c10d",
        "--rdzv-endpoint=127.0.0.1:0",
        "--local-addr=127.0.0.1",
    } <= set(seen[0].command)


# ---- processes ----

GLOO = "[/pytorch/third_party/gloo/gloo/transport/tcp/"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            RuntimeError(
                GLOO
                + "unbound_buffer.cc:78] Timed out waiting 3000ms for recv operation to"
                " complete"
            ),
            "timed out",
        ),
        (
            RuntimeError(
                GLOO
                + "pair.cc:537] Read error [127.0.0.1]:54495: Connection reset by peer."
                " GLHF"
            ),
            "connection reset by peer",
        ),
        (
            RuntimeError(GLOO + "pair.cc:553] Connection closed by peer [127.0.0.1]:1"),
            "connection closed by peer",
        ),
        (
            RuntimeError(GLOO + "pair.cc:9] writev [127.0.0.1]:1: Broken pipe"),
            "broken pipe",
        ),
        (RuntimeError("Application timeout caused pair closure"), "timeout"),
        (
            dist.DistNetworkError("The client socket has timed out after 60000ms"),
            "timed out",
        ),
        (dist.DistBackendError("NCCL error"), "no answer"),
        (RuntimeError("the query timed out"), None),
        (RuntimeError("download: Connection reset by peer"), None),
        (RuntimeError("solver: timed out after 3 s, see [1]"), None),
        (type("Mine", (RuntimeError,), {})(GLOO + "pair.cc:1] timed out"), None),
        (RuntimeError(GLOO + "allreduce.cc:22] sizes do not match"), None),
    ],
    ids=str,
)
def test_only_the_processes_own_errors_are_of_a_lost_process(error, said):
    assert peer_failure(error) == said


@contextmanager
def as_if_by_torchrun(tmp_path, monkeypatch):
    init = dist.init_process_group
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("GLOO_SOCKET_IFNAME", launching._loopback())
    monkeypatch.setattr(joining, "where", lambda: "cpu")

    def begin(backend, timeout):
        assert (backend, timeout) == ("gloo", timedelta(seconds=20))
        init(
            backend,
            init_method=f"file://{tmp_path / 'store'}",
            rank=0,
            world_size=1,
            timeout=timeout,
        )

    monkeypatch.setattr(dist, "init_process_group", begin)
    yield


BREAKS = {  # what breaks within, and what comes out
    "nothing": (None, None),
    "the reader's own": (ValueError("mine"), "ValueError"),
    "another time": (RuntimeError("the query timed out"), "RuntimeError"),
    "a lost process": (
        RuntimeError(GLOO + "pair.cc:1] Connection reset by peer"),
        "SystemExit1",
    ),
    "an interrupt": (KeyboardInterrupt(), "KeyboardInterrupt"),
}


def leave(folder):
    """Join and leave a group once for each that breaks; prints what came out of it, and
    whether the group is still there.
    """
    for name, (error, _) in BREAKS.items():
        folder.joinpath(name).mkdir()
        with (
            pytest.MonkeyPatch.context() as patch,
            as_if_by_torchrun(folder / name, patch),
        ):
            came, met = None, Mock(wraps=dist.barrier)
            patch.setattr(dist, "barrier", met)
            try:
                with processes(seconds=20) as mesh:
                    assert mesh.size() == 1
                    if error:
                        raise error
            except BaseException as other:
                came = f"{type(other).__name__}{getattr(other, 'code', '')}"
            print(
                name, came, dist.is_initialized(), met.call_count, sep="\t", flush=True
            )


def test_the_group_is_left_whatever_happens(tmp_path):
    """In a process of its own, as this one may be in a group already."""
    folder = os.path.dirname(__file__)
    program = f"""
import sys
from pathlib import Path
sys.path.insert(0, {folder!r})
import test_gaps_parallel
test_gaps_parallel.leave(Path({str(tmp_path)!r}))
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    wanted = [
        [name, str(came), "False", "0" if came else "1"]
        for name, (_, came) in BREAKS.items()
    ]
    assert [line.split("\t") for line in done.stdout.splitlines()] == wanted, (
        done.stderr
    )
    assert done.stderr.count("another process is gone") == 1
    assert "rank 0: another process is gone (connection reset by peer)" in done.stderr


# ---- the program ----


def test_each_step_has_a_batch_of_its_own():
    batches = [demo.batch(step, B=50) for step in range(3)]
    assert torch.equal(batches[1], demo.batch(1, B=50))
    assert not torch.equal(batches[0], batches[1])
    assert not torch.equal(batches[1], batches[2])
    letters = sorted(set(demo.SENTENCE))
    written = {
        "".join(letters[token] for token in row) for tokens in batches for row in tokens
    }
    assert all(len(row) == 33 and row in demo.SENTENCE * 2 for row in written)
    assert len(written) > 40  # from anywhere in the sentence


@pytest.mark.parametrize("rank", [0, 1])
def test_split_writes_what_it_found(rank, tmp_path, monkeypatch, capsys):
    @contextmanager
    def pretended():
        yield Mesh(rank, 2, None)

    monkeypatch.setattr(demo, "processes", pretended)
    monkeypatch.setattr(demo, "compare", lambda mesh: {"batch": 1})
    monkeypatch.setattr(demo, "all_reduce_bytes", lambda mesh: 5)
    monkeypatch.setattr(demo, "train", lambda mesh, file: {"file": file})
    file = tmp_path / "found.json"
    monkeypatch.setattr(sys, "argv", ["demo.py", "compare", str(file)])
    demo.main()
    printed = capsys.readouterr().out
    if rank:
        assert (printed, list(tmp_path.iterdir())) == ("", [])
    else:
        found = {
            "cuts": {"batch": 1},
            "wire": 5,
            "trained": {"file": f"{file}.safetensors"},
        }
        assert (
            json.loads(printed) == json.loads(file.read_text(encoding="utf-8")) == found
        )


def test_a_process_without_torchrun_is_told_so(monkeypatch):
    monkeypatch.delenv("RANK", raising=False)
    with (
        pytest.raises(RuntimeError, match="RANK: expected in the environment"),
        processes(),
    ):
        pass
