"""The models behind the training curves of chapter 07: what is stored is what the
script makes, and training lowers the loss.
"""

import sys

import numpy as np
import pytest

from tfbook.experiments import norms
from tfbook.experiments.depth.forms import NORMS
from tfbook.experiments.norms import __main__ as train_norms


@pytest.mark.skipif(
    sys.version_info[:2] != (3, 11),
    reason="the text that is read differs between versions of Python",
)
@pytest.mark.parametrize(
    ("norm", "rate", "warmup", "seed", "small"),
    [
        ("post", 0.003, 0, 1, False),
        ("pre", 0.001, 100, 2, False),
        ("both", 0.003, 100, 0, False),
        ("post", 0.001, 0, 2, True),
    ],
)
def test_stored_losses_begin_as_the_script_s(norm, rate, warmup, seed, small):
    np.testing.assert_allclose(
        train_norms.losses(norm, rate, warmup, seed, small, steps=6),
        norms.load(norm, rate, warmup, small)[seed, :6],
        atol=0.01,
    )


def test_a_small_start_is_another_model():
    full, small = (norms.load("post", 0.003, 0, start) for start in (False, True))
    assert np.abs(full - small).max() > 0.1
    assert small.shape == full.shape == (3, norms.STEPS)


def test_every_model_was_trained_and_learned_something():
    assert norms.record()["seeds"] == [0, 1, 2]
    for norm in NORMS:
        for rate in norms.RATES:
            for warmup in norms.WARMUPS:
                losses = norms.load(norm, rate, warmup)
                assert losses.shape == (3, norms.STEPS)
                assert (losses[:, 0] > 4).all()
                assert (losses[:, -30:].mean(axis=1) < 3.5).all()


def test_warm_up_begins_slowly():
    at_once, rising = (
        norms.load("pre", 0.003, warmup)[:, :20].mean() for warmup in norms.WARMUPS
    )
    assert at_once < rising - 0.2
