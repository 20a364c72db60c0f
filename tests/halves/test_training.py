"""Training and its checkpoints: what is kept is whole, what goes on is what would have
been, what is broken is named.
"""

import json
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from tfbook.torch import LanguageModel
from tfbook.torch.training import evaluate, schedule, train
from tfbook.torch.training.checkpoint import load_checkpoint, save_checkpoint

CYCLE = np.arange(600) * 5 % 11  # 11 tokens, each of which says the next


def batches(rng):
    at = rng.integers(400, size=(4, 1)) + np.arange(9)
    return CYCLE[at[:, :-1]], CYCLE[at[:, 1:]]


HELD_OUT = batches(np.random.default_rng(99))


def model(seed=0, d=6):
    torch.manual_seed(seed)
    return LanguageModel(vocab=11, T_max=8, d=d, H=3, L=2, norm="pre")


def same(one, another):
    a, b = one.state_dict(), another.state_dict()
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


# ---- checkpoints ----


def stepped(seed=0, kind=torch.optim.AdamW, **options):
    """A model and an optimiser with a state of its own."""
    one = model(seed)
    optimizer = kind(one.parameters(), lr=0.01, **options)
    for step in range(3):
        one(torch.tensor(HELD_OUT[0])).square().mean().backward()
        optimizer.step()
        optimizer.param_groups[0]["lr"] = 0.01 / (step + 1)
    return one, optimizer


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (torch.optim.AdamW, {"amsgrad": True}),
        (torch.optim.SGD, {"momentum": 0.9}),
        (torch.optim.SGD, {}),
    ],
    ids=["AdamW", "momentum", "SGD"],
)
def test_everything_comes_back(kind, options, tmp_path):
    file, rng = tmp_path / "a.safetensors", np.random.default_rng(5)
    one, optimizer = stepped(1, kind, **options)
    save_checkpoint(
        file,
        one,
        optimizer,
        step=3,
        losses=[1 / 3, 2e-300],
        rng=rng.bit_generator.state,
    )
    drawn, numbers = torch.rand(3), rng.random(3)

    two, other = stepped(2, kind, **options)
    record = load_checkpoint(file, two, other)
    assert record == {"step": 3, "losses": [1 / 3, 2e-300], "rng": record["rng"]}
    rng.bit_generator.state = record["rng"]
    assert same(one, two)
    assert torch.equal(torch.rand(3), drawn)
    assert np.array_equal(rng.random(3), numbers)
    a, b = optimizer.state_dict(), other.state_dict()
    assert json.dumps(a["param_groups"]) == json.dumps(b["param_groups"])
    for i, kept in a["state"].items():
        for name, s in kept.items():
            assert s is None or torch.equal(s, b["state"][i][name])


def test_best_is_kept_beside(tmp_path):
    one, best = model(0), model(1)
    save_checkpoint(tmp_path / "a", one, best=best.state_dict())
    two = model(2)
    record = load_checkpoint(tmp_path / "a", two)
    assert same(one, two)
    two.load_state_dict(record["best"])
    assert same(best, two)


def test_tied_and_turned_parameters_are_kept(tmp_path):
    one = nn.ModuleList([nn.Linear(3, 3), nn.Linear(3, 3)])
    one[1].weight = one[0].weight
    one[0].bias = nn.Parameter(torch.arange(6.0)[::2])
    save_checkpoint(tmp_path / "a", one)
    two = nn.ModuleList([nn.Linear(3, 3), nn.Linear(3, 3)])
    load_checkpoint(tmp_path / "a", two)
    assert same(one, two)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the test forks")
def test_a_process_killed_while_it_saves_leaves_the_old_or_the_new_checkpoint(tmp_path):
    script = Path(__file__).with_name("killed_while_saving.py")
    done = subprocess.run(
        [sys.executable, script, tmp_path],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.stdout == "whole every time\n", done.stderr


def test_what_cannot_be_loaded_is_named(tmp_path):
    file, (one, optimizer) = tmp_path / "run.safetensors", stepped()
    with pytest.raises(
        FileNotFoundError, match=r"run\.safetensors: there is no such checkpoint"
    ):
        load_checkpoint(file, one)
    save_checkpoint(file, one)
    with pytest.raises(
        ValueError,
        match=(
            r"run\.safetensors: expected the state of an optimizer, got a model alone"
        ),
    ):
        load_checkpoint(file, one, optimizer)

    whole = file.read_bytes()
    for size in (0, 5, 300, len(whole) // 2, len(whole) - 1):
        file.write_bytes(whole[:size])
        with pytest.raises(
            ValueError,
            match=(
                rf"run\.safetensors: expected a whole checkpoint, got {size} bytes that"
                r" are none"
            ),
        ):
            load_checkpoint(file, one)
    save_file({"weight": torch.ones(2)}, file)
    with pytest.raises(
        ValueError,
        match="expected a file of save_checkpoint, got other tensors: weight",
    ):
        load_checkpoint(file, one)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (lambda: model(d=9), r"gamma_f: expected \(9,\), got \(6,\)"),
        (
            lambda: LanguageModel(11, 8, 6, 3, L=3, norm="pre"),
            r"layers\.2\.W_Q: expected \(6, 6\), got none",
        ),
        (
            lambda: LanguageModel(11, 8, 6, 3, L=1, norm="pre"),
            r"layers\.1\.W_1: expected none, got \(6, 24\)",
        ),
    ],
)
def test_another_model_is_refused_and_left_as_it_was(other, message, tmp_path):
    save_checkpoint(tmp_path / "a", *stepped())
    two = other()
    before = {name: p.clone() for name, p in two.state_dict().items()}
    optimizer = torch.optim.AdamW(two.parameters())
    with pytest.raises(ValueError, match=f"holds another model; {message}"):
        load_checkpoint(tmp_path / "a", two, optimizer)
    assert all(torch.equal(p, before[name]) for name, p in two.state_dict().items())
    assert not optimizer.state


# ---- the loop ----


def test_a_model_learns_what_can_be_learned_and_no_more():
    one = model()
    run = train(one, batches, steps=200, held_out=HELD_OUT, rate=0.02)
    assert run["step"] == len(run["losses"]) == 200
    assert [step for step, _ in run["held_out"]] == [0, 50, 100, 150, 200]
    assert run["held_out"][0][1] > 2
    assert run["held_out"][-1][1] == evaluate(one, HELD_OUT) < 0.1

    def noise(rng):
        return rng.integers(11, size=(4, 8)), rng.integers(11, size=(4, 8))

    # with nothing to learn, nothing is
    other = train(model(), noise, steps=200, rate=0.02)
    assert np.mean(other["losses"][-50:]) > 0.95 * math.log(11)


def test_the_seed_decides():
    runs = [
        train(one := model(), batches, steps=12, seed=seed) | {"model": one}
        for seed in (3, 3, 4)
    ]
    assert runs[0]["losses"] == runs[1]["losses"] != runs[2]["losses"]
    assert same(runs[0]["model"], runs[1]["model"])


def test_torch_s_own_generator_is_left_alone():
    torch.manual_seed(1)
    one, expected = model(), torch.rand(2)
    torch.manual_seed(1)
    one = model()
    train(one, batches, steps=3)
    assert torch.equal(torch.rand(2), expected)


class Sleepy(nn.Module):
    """A model that draws while it is trained: dropout."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.E, self.drop, self.out = (
            nn.Embedding(11, 8),
            nn.Dropout(0.3),
            nn.Linear(8, 11),
        )

    def forward(self, tokens):
        return self.out(self.drop(self.E(tokens)))


class Killed(Exception):
    pass


@pytest.mark.parametrize("kind", [model, Sleepy])
@pytest.mark.parametrize("at", [1, 20, 33, 59])
def test_a_run_that_goes_on_is_the_run_that_never_stopped(kind, at, tmp_path):
    options = {"steps": 60, "held_out": HELD_OUT, "every": 10, "rate": 0.01, "seed": 7}
    whole = train(one := kind(), batches, **options)

    drawn = 0

    def interrupted(rng):
        nonlocal drawn
        drawn += 1
        if drawn > at:
            raise Killed
        return batches(rng)

    with pytest.raises(Killed):
        train(kind(), interrupted, checkpoint=tmp_path / "run", **options)
    two = kind()
    with torch.no_grad():
        for p in two.parameters():
            p.add_(1 if at >= 10 else 0)  # what counts is in the file
    assert train(two, batches, checkpoint=tmp_path / "run", **options) == whole
    assert same(one, two)
    # done is done
    assert train(kind(), batches, checkpoint=tmp_path / "run", **options) == whole


RUN = """
import sys, torch
torch.set_num_threads(1)
from test_training import batches, model, HELD_OUT
from tfbook.torch.training.checkpoint import save_checkpoint
from tfbook.torch.training import train
print("ready", flush=True)
one = model()
train(one, batches, steps=200, held_out=HELD_OUT, every=10, checkpoint=sys.argv[1])
save_checkpoint(sys.argv[1] + ".last", one)
"""


def test_a_run_killed_again_and_again_comes_to_the_same_end(tmp_path):
    train(one := model(), batches, steps=200, held_out=HELD_OUT, every=10)
    file, kills = tmp_path / "run", 0
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(
            [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
        ),
    }
    for wait in (0.4, 0.8, None):
        with subprocess.Popen(
            [sys.executable, "-c", RUN, str(file)],
            stdout=subprocess.PIPE,
            env=environment,
        ) as child:
            assert child.stdout.readline() == b"ready\n"
            if wait:
                time.sleep(wait)
                child.send_signal(signal.SIGKILL)
            kills += child.wait() == -signal.SIGKILL
    assert kills
    two = model()
    load_checkpoint(tmp_path / "run.last", two)
    assert same(one, two)


def overfitting(rng):
    """Four sequences that say nothing about others: what is learned of them is wrong
    elsewhere.
    """
    fixed = np.random.default_rng(0).integers(11, size=(4, 9))
    return fixed[:, :-1], fixed[:, 1:]


def test_patience_ends_a_run_at_its_best(tmp_path):
    options = {
        "steps": 400,
        "held_out": HELD_OUT,
        "every": 10,
        "rate": 0.02,
        "patience": 3,
    }
    run = train(one := model(d=12), overfitting, checkpoint=tmp_path / "a", **options)
    losses = [loss for _, loss in run["held_out"]]
    assert run["step"] < 400
    assert len(losses) - 1 - int(np.argmin(losses)) == 3
    assert evaluate(one, HELD_OUT) == min(losses) < losses[-1]

    two = model(d=12)
    # it is over
    assert train(two, overfitting, checkpoint=tmp_path / "a", **options) == run
    assert same(one, two)
    assert (
        train(model(d=12), overfitting, **(options | {"patience": None}))["step"] == 400
    )


def test_a_checkpoint_of_another_run_is_refused(tmp_path):
    train(model(), batches, steps=4, checkpoint=tmp_path / "a")
    with pytest.raises(
        ValueError, match=r"is of a run with rate = 0\.001, not 0\.1; name another file"
    ):
        train(model(), batches, steps=4, rate=0.1, checkpoint=tmp_path / "a")


def test_what_cannot_work_is_said():
    with pytest.raises(
        ValueError, match="patience: expected held_out to watch, got none"
    ):
        train(model(), batches, steps=4, patience=2)
    with pytest.raises(
        ValueError,
        match=(
            r"loss: expected a finite number, got -?(nan|inf) at step 0; a lower rate "
            r"may help"
        ),
    ):
        train(model(), batches, steps=4, loss=lambda one, *_: one.E.sum() * math.inf)


def test_the_rate_rises_and_falls():
    rates = [schedule(step, 1000, warmup=0.1) for step in range(1000)]
    assert np.argmax(rates) in (99, 100)
    assert rates[0] == pytest.approx(0.01)
    assert rates[49] == pytest.approx(0.5)
    assert rates[550] == pytest.approx(0.55)
    assert 0.1 < rates[-1] < 0.101
    assert (np.diff(rates[:100]) > 0).all()
    assert (np.diff(rates[100:]) < 0).all()
    assert schedule(0, 5, warmup=0) == 1


def test_gradients_are_clipped_and_the_rate_is_followed(monkeypatch):
    seen, step = [], torch.optim.AdamW.step

    def watched(self, *args, **options):
        norm = math.sqrt(
            sum(
                p.grad.square().sum().item()
                for group in self.param_groups
                for p in group["params"]
            )
        )
        seen.append(
            (
                norm,
                [(group["lr"], group["weight_decay"]) for group in self.param_groups],
            )
        )
        return step(self, *args, **options)

    def steep(linear, x, y):
        return 1e4 * linear(x).square().mean()

    def drawn(rng):
        return rng.standard_normal((4, 3), dtype=np.float32), np.zeros(4)

    monkeypatch.setattr(torch.optim.AdamW, "step", watched)
    train(nn.Linear(3, 2), drawn, steps=20, loss=steep, rate=0.5, clip=0.7)
    for i, (norm, groups) in enumerate(seen):
        assert norm == pytest.approx(0.7, rel=1e-3)
        # the matrix decays, the bias does not
        assert groups == [(0.5 * schedule(i, 20), 0.1), (0.5 * schedule(i, 20), 0.0)]


def test_dropout_sleeps_while_held_out_loss_is_measured():
    one = Sleepy()
    assert evaluate(one, HELD_OUT) == evaluate(one, HELD_OUT)
    assert one.training
