"""Checkpoints: whatever a run holds comes back as it was, and is on the disk before and
after its name.
"""

import json
import math
import os
import stat
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors import safe_open
from test_training import model, stepped
from torch import nn

from tfbook.torch.training.checkpoint import load_checkpoint, save_checkpoint

RECORDS = {
    "tuple": (1, 2.5, ("a", None)),
    "list": [1, [True, False]],
    "nothing": None,
    "empty": [(), [], {}],
    "text": 'π \n "',
    "large": 2**200,
    "small": 5e-324,
    "infinite": [math.inf, -math.inf],
    "whole": {1: "one", (2, 3): "pair", None: 0},
    "named like ours": {"kind": "tensor", "value": "x"},
    "nested": {"a": {"b": [(1,)]}, "a.b": 3},
}


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_comes_back_as_it_was(name, tmp_path):
    save_checkpoint(tmp_path / "a", nn.Linear(1, 1), held=RECORDS[name])
    held = load_checkpoint(tmp_path / "a", nn.Linear(1, 1))["held"]
    assert held == RECORDS[name]
    # tuples as tuples, 1 as 1 and True as True
    assert repr(held) == repr(RECORDS[name])


@pytest.mark.parametrize(
    "x",
    [
        np.float32(0.1),
        np.float64(0.1),
        np.int64(-3),
        np.uint8(200),
        np.bool_(True),
        np.arange(6, dtype=np.uint32).reshape(2, 3),
        np.float16([1.5, np.nan]),
        np.zeros((0, 2)),
        np.arange(12.0).reshape(3, 4).T,
    ],
    ids=repr,
)
def test_arrays_and_their_scalars_come_back(x, tmp_path):
    save_checkpoint(tmp_path / "a", nn.Linear(1, 1), x=[x])
    back = load_checkpoint(tmp_path / "a", nn.Linear(1, 1))["x"][0]
    assert type(back) is type(x)
    assert back.dtype == x.dtype
    np.testing.assert_array_equal(back, x)


@pytest.mark.parametrize(
    "x",
    [
        torch.tensor(0.1),
        torch.tensor(0.1, dtype=torch.bfloat16),
        torch.arange(6).reshape(2, 3).T,
        torch.tensor([True]),
        torch.zeros(0, 3),
    ],
    ids=repr,
)
def test_tensors_come_back(x, tmp_path):
    save_checkpoint(tmp_path / "a", nn.Linear(1, 1), a={"b": x}, **{"a.b": x + x})
    record = load_checkpoint(tmp_path / "a", nn.Linear(1, 1))
    assert record["a"]["b"].dtype == x.dtype
    assert torch.equal(record["a"]["b"], x)
    assert torch.equal(record["a.b"], x + x)


@pytest.mark.parametrize(
    "x",
    [object(), {1, 2}, b"bytes", 1j, lambda: 0, [np.array(["text"])]],
    ids=lambda x: type(x).__name__,
)
def test_what_is_no_number_is_refused_and_nothing_written(x, tmp_path):
    with pytest.raises(
        ValueError, match=r"record\.deep.*: expected numbers, text, tensors, arrays"
    ):
        save_checkpoint(tmp_path / "a", nn.Linear(1, 1), deep=x)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "kind", [np.random.PCG64, np.random.MT19937, np.random.Philox, np.random.SFC64]
)
def test_every_generator_of_numpy_goes_on(kind, tmp_path):
    rng = np.random.Generator(kind(3))
    rng.random(5)
    save_checkpoint(tmp_path / "a", nn.Linear(1, 1), rng=rng.bit_generator.state)
    expected, again = rng.random(4), np.random.Generator(kind(0))
    again.bit_generator.state = load_checkpoint(tmp_path / "a", nn.Linear(1, 1))["rng"]
    np.testing.assert_array_equal(again.random(4), expected)


@pytest.mark.parametrize(
    "lr", [0.1, torch.tensor(0.1), np.float32(0.1), np.float64(0.1)], ids=repr
)
def test_an_optimizer_has_its_settings_again(lr, tmp_path):
    one = model()
    optimizer = torch.optim.AdamW(
        one.parameters(),
        lr=lr if isinstance(lr, float | torch.Tensor) else 0.1,
        betas=(0.9, 0.999),
    )
    optimizer.param_groups[0]["lr"] = lr
    save_checkpoint(tmp_path / "a", one, optimizer)
    other = torch.optim.AdamW(one.parameters(), lr=1.0, betas=(0.1, 0.2))
    load_checkpoint(tmp_path / "a", one, other)
    group = other.param_groups[0]
    assert group["betas"] == (0.9, 0.999)
    assert isinstance(group["betas"], tuple)
    assert type(group["lr"]) is type(lr)
    assert group["lr"] == lr
    assert {name: type(x) for name, x in group.items()} == {
        name: type(x) for name, x in optimizer.param_groups[0].items()
    }


OPTIMIZERS = [
    torch.optim.Adam,
    torch.optim.NAdam,
    torch.optim.RAdam,
    torch.optim.Adagrad,
    torch.optim.RMSprop,
    torch.optim.Rprop,
    torch.optim.ASGD,
    torch.optim.Adadelta,
    torch.optim.Adamax,
    torch.optim.LBFGS,
]


@pytest.mark.parametrize("kind", OPTIMIZERS, ids=lambda kind: kind.__name__)
def test_each_optimizer_goes_on_as_if_nothing_had_happened(kind, tmp_path):
    def take_steps(one, optimizer, steps):
        def closure():
            optimizer.zero_grad()
            value = (one(torch.ones(2, 3)) - torch.tensor([[1.0, 2.0]])).square().sum()
            value.backward()
            return value

        for _ in range(steps):
            optimizer.step(closure)

    torch.manual_seed(0)
    one, two = nn.Linear(3, 2), nn.Linear(3, 2)
    optimizer, other = kind(one.parameters(), lr=0.01), kind(two.parameters(), lr=0.5)
    take_steps(one, optimizer, 3)
    save_checkpoint(tmp_path / "a", one, optimizer)
    load_checkpoint(tmp_path / "a", two, other)
    for each in ((one, optimizer), (two, other)):
        take_steps(*each, 3)
    assert all(
        torch.equal(p, q)
        for p, q in zip(one.parameters(), two.parameters(), strict=True)
    )


def test_a_file_holds_numbers_and_no_code(tmp_path):
    save_checkpoint(tmp_path / "a", *stepped(), step=1)
    with safe_open(tmp_path / "a", framework="pt") as stored:
        assert {"model.E", "optimizer.state.0.exp_avg"} <= set(stored.keys())
        assert json.loads(stored.metadata()["record"])["record"] == {"step": 1}


@pytest.mark.skipif(
    not hasattr(os, "O_DIRECTORY"), reason="this system cannot open a folder"
)
@pytest.mark.parametrize(
    "buffer", [-1, 2**20], ids=["the system's buffer", "a buffer that holds all"]
)
def test_the_file_is_on_the_disk_before_its_name_and_then_the_name(
    buffer, tmp_path, monkeypatch
):
    done, sizes, fsync, replace = [], [], os.fsync, os.replace

    def synced(number):
        status = os.fstat(number)
        where = "folder" if stat.S_ISDIR(status.st_mode) else "file"
        if where == "file":
            sizes.append(status.st_size)
        else:
            assert os.path.samestat(status, tmp_path.stat())
        done.append(where)
        fsync(number)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(
        os,
        "replace",
        lambda *names: (
            done.append(tuple(Path(name).name for name in names)),
            replace(*names),
        ),
    )
    monkeypatch.setattr(
        Path,
        "open",
        lambda path, mode: open(path, mode, buffering=buffer),  # noqa: SIM115
    )
    save_checkpoint(tmp_path / "a", model())
    assert sizes == [(tmp_path / "a").stat().st_size]
    assert done == ["file", ("a.part", "a"), "folder"]
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
