"""Models that share key/value heads: what the script wrote down, and that it trains
what it says.
"""

import sys

import numpy as np
import pytest

from tfbook.experiments import shared_heads
from tfbook.experiments.heads import __main__ as train_heads
from tfbook.experiments.shared_heads import __main__ as train_shared_heads
from tfbook.text import characters, text


def size(model):
    return sum(p.numel() for p in model.parameters())


def test_record_has_every_model():
    record = shared_heads.record()
    assert {"command", "seeds", "seconds", "python", "torch"} <= set(record)
    for task, most in (("text", np.log(len(characters(text())))), ("recall", 1)):
        measured, _ = shared_heads.measured(task)
        assert list(measured) == train_shared_heads.ARMS[task]
        for values in measured.values():
            assert len(values) == len(record["seeds"]) == 5
            assert ((values > 0) & (values <= most)).all()
        assert [m["seed"] for m in record[task]] == record["seeds"] * len(measured)


def test_a_rate_is_chosen_with_another_seed_on_another_text():
    record, tried = shared_heads.record(), {}
    for run in record["tried"]:
        assert run["seed"] not in record["seeds"]
        tried.setdefault(tuple(run["arm"]), {})[run["rate"]] = run["chosen by"]
    for run in record["text"]:
        rates = tried[tuple(run["arm"])]
        assert list(rates) == record["rates"]
        assert run["rate"] == min(rates, key=rates.get)
        assert run["chosen by"] != run["measure"]


def test_arms_have_the_parameters_that_are_missing():
    for task, within in (("text", 0.0011), ("recall", 0)):
        _, parameters = shared_heads.measured(task)
        full = parameters[train_shared_heads.ARMS[task][0]]
        for (H, H_kv, d_ff), n in parameters.items():
            if H == 8 > H_kv and d_ff in (0, 256):
                assert n < 0.95 * full
            else:
                assert abs(n - full) <= within * full


@pytest.mark.parametrize("arm", train_shared_heads.ARMS["recall"])
def test_the_reader_of_an_arm_has_its_heads(arm):
    H, H_kv, _ = arm
    model = train_shared_heads.Reader(H, H_kv)
    W = model.layers[0]
    assert W.W_Q.shape == W.W_O.T.shape == (64, 8 * H)
    assert W.W_K.shape == W.W_V.shape == (64, 8 * H_kv)
    assert size(model) == shared_heads.measured("recall")[1][arm]
    assert isinstance(model, train_heads.Reader)


@pytest.mark.skipif(
    sys.version_info[:2] != (3, 11),
    reason="the text that is read differs between versions of Python",
)
def test_the_script_makes_what_is_stored():
    """A model is what its record says, and begins to learn."""
    arm = (15, 1, 256)
    model, *first = train_shared_heads.train_text(arm, 0.004, 0, steps=20)
    assert size(model) == shared_heads.measured("text")[1][arm]
    later = train_shared_heads.train_text(arm, 0.004, 0, steps=60)[1:]
    assert all(late < early - 0.1 for early, late in zip(first, later))


def test_recall_is_learned():
    _, right = train_shared_heads.train_recall((8, 1, 0), 0, steps=60)
    assert right > 0.15  # a guess: 0.1
