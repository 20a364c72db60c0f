"""Heads and the five questions over random seeds: the removal of a head, and what the
study stored.
"""

import numpy as np
import pytest

from tfbook.experiments import heads
from tfbook.experiments.heads import __main__ as train_heads
from tfbook.experiments.heads import seeds
from tfbook.experiments.heads.seeds import __main__ as train_seeds
from tfbook.numpy import multi_head_attention


def test_a_removed_head_is_a_summand_less():
    P, X = heads.start(16, 4), np.random.default_rng(0).standard_normal((5, 16))
    names = [f"layers.1.{name}" for name in ("W_Q", "W_K", "W_V", "W_O")]
    attend = lambda P: multi_head_attention(X, *(P[name] for name in names), 4)
    W_O = P[names[-1]]
    each = [attend(heads.without(P, 4, 1, h)) for h in range(4)]
    np.testing.assert_allclose(sum(each), 3 * attend(P), atol=1e-5)
    assert not heads.without(P, 4, 1, 2)[names[-1]][8:12].any()
    assert W_O.all()  # the model itself stays whole


def test_every_head_is_removed_in_turn():
    P, tokens = heads.start(16, 2), heads.held_out(3)
    each = heads.each_removed(tokens, P, 2)
    assert len(each) == 4
    expected = heads.measure(tokens, heads.without(P, 2, 1, 0), 2)
    assert each[2]["loss"] == expected["loss"]


def test_a_seed_has_its_own_initialisation():
    first, other = (train_heads.Reader(16, 2, seed).state_dict() for seed in (0, 1))
    for name, p in heads.start(16, 2).items():
        np.testing.assert_array_equal(first[name], p)
        assert (other[name] != first[name]).all()


def test_the_record_is_what_the_study_says():
    record = seeds.record()
    assert tuple(record["seeds"]) == train_seeds.SEEDS
    assert tuple(record["rates"]) == train_seeds.RATES
    assert record["tuned with seed"] == train_seeds.TUNED_WITH not in train_seeds.SEEDS
    sizes = [(model["d"], model["H"]) for model in record["models"]]
    assert sizes == [(d, H) for d in seeds.WIDTHS for H in heads.HEADS]
    for model, (d, H) in zip(record["models"], sizes):
        best = np.argmin(model["tried"])
        assert model["rate"] == train_seeds.RATES[best]
        assert [run["seed"] for run in model["runs"]] == list(train_seeds.SEEDS)
        assert seeds.runs(d, H) == model["runs"]
        for run in model["runs"]:
            assert len(run.get("removed", ())) == 2 * H * ((d, H) in seeds.EXAMINED)


def test_a_stored_run_repeats():
    (model,) = (m for m in seeds.record()["models"] if (m["d"], m["H"]) == (16, 4))
    again, stored = train_seeds.trial((16, 4, model["rate"], 1)), model["runs"][0]
    assert again["loss"] == pytest.approx(stored["loss"], abs=0.05)
    np.testing.assert_allclose(again["accuracy"], stored["accuracy"], atol=0.1)
