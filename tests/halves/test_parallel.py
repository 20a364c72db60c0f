"""A layer split over 2 and over 4 processes: equal to the single one, its bytes as
counted, its errors plain; one run of each for all.
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
import torch

from tfbook import cost
from tfbook.torch.distributed.launch import ProcessesFailed, launch
from tfbook.torch.distributed.processes import peer_failure

TESTS = str(Path(__file__).resolve().parent)
LONG = 400  # seconds; on two quiet cores it takes a twentieth


@pytest.fixture(scope="module", params=[2, 4])
def found(request, tmp_path_factory):
    """What every process of one run found."""
    file = tmp_path_factory.mktemp("parallel") / "found.json"
    path = os.environ.get("PYTHONPATH", "")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [TESTS, path])))
        launch("parallel_cases", request.param, file, seconds=LONG)
    return json.loads(file.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "kind", ["heads", "ring_attention", "gathered_attention", "data"]
)
def test_equal_to_a_single_process(kind, found):
    for errors in (process["equal"] for process in found):
        here = {name: error for name, error in errors.items() if name.startswith(kind)}
        assert len(here) >= 4
        for name, error in here.items():
            assert error < (1e-5 if "float32" in name else 1e-10), name
        assert any("float32" in name for name in here)


def test_every_classic_mistake_is_seen(found):
    for name in found[0]["wrong"]:
        errors = [process["wrong"][name] for process in found]
        if isinstance(errors[0], str):
            assert errors[0].startswith("ValueError: W_O: expected"), name
        else:
            assert max(errors) > 1e-2, name


def test_bytes_are_as_counted(found):
    p = len(found)
    for process in found:
        for name, sent in process["traffic"].items():
            assert sent["calls"] == sent["formula"] > 0, name
    kinds = {name: set(sent["kinds"]) for name, sent in found[0]["traffic"].items()}
    assert kinds == {
        "heads": {"all-reduce"},
        "data": {"all-reduce"},
        "sharded": {"all-gather", "reduce-scatter"},
        "ring": {"send", "all-reduce"},
        "gathered": {"all-gather", "reduce-scatter", "all-reduce"},
    }
    assert found[0]["traffic"]["heads"]["times"] == 4
    assert found[0]["traffic"]["ring"]["times"] == (p - 1) + (2 * p - 1) + 1


def test_sockets_carry_what_was_counted(found):
    for process in found:
        for name, sent in process["traffic"].items():
            if sent["sockets"] is None:
                pytest.skip("this system does not tell what its sockets sent")
            # gloo makes a reduce-scatter of an all-reduce, which sends twice as much
            twice = sent["scattered"] if "reduce-scatter" in sent["kinds"] else 0
            assert (
                sent["calls"] + twice
                <= sent["sockets"]
                < 1.05 * (sent["calls"] + twice) + 5000
            ), name


def test_errors_say_what_was_expected(found):
    p, said = len(found), found[-1]["refused"]
    assert (
        f"X: expected an axis -2 that the {p} processes divide evenly, got {2 * p + 1}"
        f" in (3, {2 * p + 1}, 24)" in said["X"]
    )
    assert f"pad it to {3 * p}, and hide what was added with a mask" in said["X"]
    for name, n in {"H": 3, "H_kv": 1, "channels of W_1": 9}.items():
        assert (
            said[name]
            == f"{name}: expected a multiple of the {p} processes, so that each gets"
            f" equally many, got {n}"
        )
    assert (
        said["mask"]
        == f"mask: expected a last axis of all {2 * p} tokens, {p} shards of 2, got"
        " (2, 2)"
        or p == 1
    )
    assert "mask: expected booleans" in said["mask's dtype"]
    assert "mask: expected none of the shard alone" in said["mask of a piece"]
    assert "bias: expected none of the shard alone" in said["bias"]
    assert "expected a gradient of each, got none of number 0" in said["gradient"]


# ---- a process that dies ----


@pytest.fixture(scope="module")
def temporary(tmp_path_factory):
    """The folder for temporary files, of this process and of those that it starts."""
    folder = tmp_path_factory.mktemp("temporary")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(folder))
        patch.setattr(tempfile, "tempdir", None)  # asked for anew
        yield folder


@pytest.fixture(scope="module")
def killed(tmp_path_factory, temporary):
    """A run that ends, one whose last process is killed in step 6, and what goes on
    from its checkpoint.
    """
    folder = tmp_path_factory.mktemp("killed")
    run = lambda name, *options: json.loads(
        launch(
            "tfbook.torch.distributed.demo",
            2,
            "train",
            folder / name,
            *options,
            seconds=LONG,
        )
    )
    whole = run("a")
    with pytest.raises(ProcessesFailed) as failure:
        run("b", "--killed-at", 6)
    return whole, failure.value, run("b")


def test_a_killed_process_is_named(killed):
    _, failure, _ = killed
    assert str(failure) == "rank 1 was killed (SIGKILL); the others were ended"
    assert failure.exits[1] == -signal.SIGKILL
    said = "rank 0: another process is gone (connection" in failure.log
    assert said or failure.exits[0] == -signal.SIGTERM, (
        "it neither said so nor was ended by torchrun first"
    )
    assert "Traceback" not in failure.log.partition("torch/distributed/elastic")[0], (
        "a survivor shows a traceback"
    )


def test_no_temporary_file_is_left(killed, temporary):
    # PyTorch's cache of compiled code, one for each user
    kept = re.compile("torchinductor_")
    assert [
        path.name for path in temporary.iterdir() if not kept.match(path.name)
    ] == []


def test_training_goes_on_as_if_nothing_had_happened(killed):
    whole, _, again = killed
    assert (whole["begin"], len(whole["losses"])) == (0, 12)
    assert (again["begin"], len(again["losses"])) == (4, 8)
    assert again["losses"] == whole["losses"][4:]
    assert again["sums"] == whole["sums"]
    assert whole["losses"][-1] < whole["losses"][0] - 0.3


# ---- the parts that need no other process ----


def test_a_loss_is_told_from_other_errors():
    assert (
        peer_failure(
            RuntimeError(
                "[pair.cc:537] Read error [127.0.0.1]:4: Connection reset by peer. GLHF"
            )
        )
        == "connection reset by peer"
    )
    assert (
        peer_failure(RuntimeError("Connection closed by peer [127.0.0.1]:1"))
        == "connection closed by peer"
    )
    assert peer_failure(RuntimeError("Timed out waiting 1ms for recv")) == "timed out"
    assert peer_failure(torch.distributed.DistBackendError("NCCL")) == "no answer"
    assert (
        peer_failure(RuntimeError("mat1 and mat2 shapes cannot be multiplied")) is None
    )


def test_a_plain_python_is_told_how_to_start():
    code = (
        "from tfbook.torch.distributed.parallel import processes\nwith processes(): "
        "pass"
    )
    environment = {name: value for name, value in os.environ.items() if name != "RANK"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    assert done.returncode == 1
    assert (
        "RuntimeError: RANK: expected in the environment, where torchrun puts it, got"
        " none; start the processes with" in done.stderr
    )
    assert "torchrun --nproc-per-node 2 -m MODULE" in done.stderr


def test_the_cause_of_a_failure_is_named():
    assert (
        str(ProcessesFailed({0: 1, 1: -9, 2: -15}, "", ""))
        == "rank 1 was killed (SIGKILL); the others were ended"
    )
    assert (
        str(ProcessesFailed({0: -15, 1: 1}, "", ""))
        == "rank 1 ended with exit code 1; the others were ended"
    )
    assert (
        str(ProcessesFailed({}, "", "no such module"))
        == "torchrun failed:\nno such module"
    )


def test_import_of_the_torch_half_stays_light():
    code = (
        "import sys, tfbook.torch; print('torch.distributed.tensor' in sys.modules, "
        "'torch.distributed.fsdp' in sys.modules)"
    )
    assert subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split() == ["False", "False"]


# ---- the formulas ----

SIZES = {"T": 64, "d": 24, "H": 4, "B": 8}
CUTS = [
    cost.communication.data_parallel,
    cost.communication.tensor_parallel,
    cost.communication.sequence_parallel,
]


@pytest.mark.parametrize("count", CUTS)
@pytest.mark.parametrize(
    "options", [{}, {"H_kv": 2}, {"gated": True}, {"norm": "both"}, {"d_ff": 60}]
)
def test_one_process_sends_nothing_and_holds_all(count, options):
    (whole, share), layer = (
        (count(**SIZES, p=p, **options) for p in (1, 2)),
        cost.layer(64, 24, 4, **options),
    )
    assert whole.total_sent == 0 < share.total_sent
    assert whole.memory == {
        "params": layer.total_params,
        "activations": 8 * layer.memory["activations"],
        "scores": 8 * layer.memory["scores"],
        "keys": 8 * layer.memory["cache"],
    }
    assert all(share.memory[part] <= whole.memory[part] for part in whole.memory)


@pytest.mark.parametrize(("count", "name"), list(zip(CUTS, ["B", "H", "T"])))
def test_what_cannot_be_cut_evenly_is_refused(count, name):
    with pytest.raises(
        ValueError, match=f"{name}: expected a multiple of the p = 3 processes, got"
    ):
        count(**SIZES, p=3)


def test_parameters_that_are_split_are_those_that_a_process_holds():
    from tfbook.torch import TransformerLayer

    for options in ({}, {"gated": True}, {"H_kv": 2}, {"norm": "both"}):
        shapes = {
            name: p.shape
            for name, p in TransformerLayer(24, 4, **options).named_parameters()
        }
        split = {
            "W_Q",
            "W_K",
            "W_V",
            "W_O",
            "W_1",
            "b_1",
            "W_2",
            "W_gate",
            "W_up",
            "W_down",
        }
        mine = sum(
            shape.numel() // (2 if name in split else 1)
            for name, shape in shapes.items()
        )
        assert (
            cost.communication.tensor_parallel(**SIZES, p=2, **options).memory["params"]
            == mine
        )


def test_batch_and_heads_send_as_much_at_three_d_tokens():
    for d in (64, 4096):
        sizes = {"T": 3 * d, "d": d, "H": 4, "p": 4}
        batch = (
            cost.communication.data_parallel(**sizes, B=4).sent["gradients"]
            / cost.layer(1, d, 4).total_params
            * 12
            * d
            * d
        )
        assert 4 * batch == cost.communication.tensor_parallel(**sizes, B=4).total_sent
