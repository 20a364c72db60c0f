"""The models behind the training curves of chapter 07: what is stored is what the
script makes, and a setting is chosen on another split than is reported.
"""

import sys
from itertools import pairwise, product

import numpy as np
import pytest
import torch

from tfbook.experiments import norms
from tfbook.experiments.depth.forms import layer_of_form, layers_of_form
from tfbook.experiments.norms import __main__ as train_norms
from tfbook.experiments.norms import by_heart

OUR_TEXT = pytest.mark.skipif(
    sys.version_info[:2] != (3, 11),
    reason="the text that is read differs between versions of Python",
)


@OUR_TEXT
@pytest.mark.parametrize(
    ("form", "rate", "warmup", "seed", "small"),
    [
        ("post", 0.003, 0, 1, False),
        ("pre", 0.003, 100, 2, False),
        ("residual", 0.003, 0, 0, False),
        ("post", 0.001, 0, 2, True),
    ],
)
def test_stored_losses_begin_as_the_script_s(form, rate, warmup, seed, small):
    steps, *_ = train_norms.losses(form, small, rate, warmup, seed, steps=6)
    np.testing.assert_allclose(
        steps, norms.load(form, rate, warmup, small)[seed, :6], atol=0.01
    )


@OUR_TEXT
def test_texts_do_not_overlap():
    texts = train_norms.TRAIN, train_norms.CHOSEN, train_norms.HELD_OUT
    assert [len(text) for text in texts] == [200_000, 50_000, 50_000]
    assert torch.equal(torch.cat(texts), train_norms.TOKENS)


@pytest.mark.parametrize(("form", "small"), list(product(norms.FORMS, (False, True))))
def test_a_setting_is_chosen_on_another_text(form, small):
    def mean(at, measure):
        return norms.load(form, *at, small, measure).mean()

    best = norms.best(form, small)
    for at in norms.SETTINGS:
        assert norms.load(form, *at, small).shape == (3, norms.STEPS)
        assert mean(best, "chosen") <= mean(at, "chosen")
        assert mean(at, "chosen") != mean(at, "held out")


def test_a_small_start_and_no_norms_are_other_models():
    def first(form, small):
        torch.manual_seed(0)
        model = train_norms.model_of(form, small)
        tokens = train_norms.TOKENS[:8][None]
        return model(tokens).detach()

    arms = [first(form, small) for form, small in product(norms.FORMS, (False, True))]
    assert all((a - b).abs().max() > 0.01 for a, b in pairwise(arms))


@pytest.mark.parametrize(
    ("form", "residual", "norm"),
    [
        ("none", False, "none"),
        ("residual", True, "none"),
        ("post", True, "post"),
        ("pre", True, "pre"),
    ],
)
def test_a_layer_with_every_part_is_the_package_s(form, residual, norm):
    P = layers_of_form("post", 1, 8, 2, rng=0)[0]
    P |= {name: p + 0.1 * torch.randn_like(p) for name, p in P.items()}
    X = torch.randn(5, 8, dtype=torch.float64)
    torch.testing.assert_close(
        by_heart.layer(X, P, 2, residual, norm), layer_of_form(X, P, 2, form)
    )


def test_every_arm_has_its_best_rate_by_another_seed():
    record = norms.record()["by heart"]
    assert list(norms.learned_by_heart()) == by_heart.ARMS
    assert record["tried with seed"] not in record["seeds"]
    for arm in record["arms"]:
        assert len(arm["losses"]) == len(record["seeds"]) == 5
        assert arm["rate"] == record["rates"][np.argmin(arm["tried"])]


def test_a_stack_learned_by_heart_is_what_is_stored():
    arm = 4, True, "pre", True
    entry = norms.record()["by heart"]["arms"][by_heart.ARMS.index(arm)]
    again = by_heart.losses(*arm, entry["rate"], seed=0)
    assert again[-1] == pytest.approx(entry["losses"][0], rel=0.02)
    assert again[-1] < again[0]
