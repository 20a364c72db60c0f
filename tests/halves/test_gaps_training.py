"""Training: the loop against one written out by hand, numbers that are not finite,
settings, modes, generators.
"""

import math

import numpy as np
import pytest
import torch
from test_training import HELD_OUT, batches, model
from torch import nn

from tfbook.torch.training import evaluate, schedule, train
from tfbook.torch.training.checkpoint import load_checkpoint


def weights(one):
    return torch.cat([p.detach().ravel() for p in one.parameters()])


# ---- the loop, written out ----


def points(rng):
    x = rng.standard_normal((5, 3))
    return x, x.sum(axis=-1, keepdims=True) ** 2


def squared(one, x, y):
    return (one(x) - y).square().mean()


def by_hand(W, b, steps, rate, warmup, decay, clip, seed):
    """AdamW (Loshchilov and Hutter) on a linear map with squared loss, in float64, from
    the formulas.
    """
    P, losses = [W, b], []
    m, v = [np.zeros_like(p) for p in P], [np.zeros_like(p) for p in P]
    for t in range(steps):
        x, y = points(np.random.default_rng([seed, t]))
        error = x @ P[0].T + P[1] - y
        losses.append((error**2).mean())
        gradients = [2 * error.T @ x / error.size, 2 * error.sum(axis=0) / error.size]
        norm = math.sqrt(sum((g**2).sum() for g in gradients))
        up, rising = min(1, clip / (norm + 1e-6)), math.ceil(warmup * steps)
        fallen = (1 + math.cos(math.pi * (t - rising) / max(steps - rising, 1))) / 2
        lr = rate * ((t + 1) / rising if t < rising else 0.1 + 0.9 * fallen)
        for i, g in enumerate(gradients):
            m[i], v[i] = 0.9 * m[i] + 0.1 * up * g, 0.95 * v[i] + 0.05 * (up * g) ** 2
            step = (
                m[i]
                / (1 - 0.9 ** (t + 1))
                / (np.sqrt(v[i] / (1 - 0.95 ** (t + 1))) + 1e-8)
            )
            # the matrix decays, the bias does not
            P[i] = P[i] * (1 - lr * decay * (i == 0)) - lr * step
    return P, losses


@pytest.mark.parametrize(
    "options",
    [{}, {"seed": 3}, {"clip": 1e9}, {"decay": 0.0}, {"warmup": 0.0}, {"warmup": 1.0}],
    ids=str,
)
def test_the_loop_is_adamw_by_hand(options):
    settings = {
        "rate": 0.03,
        "warmup": 0.1,
        "decay": 0.1,
        "clip": 1.0,
        "seed": 0,
    } | options
    torch.manual_seed(0)
    one = nn.Linear(3, 1).double()
    W, b = (p.detach().numpy().copy() for p in (one.weight, one.bias))
    run = train(one, points, steps=25, loss=squared, **settings)
    (W, b), losses = by_hand(W, b, 25, **settings)
    np.testing.assert_allclose(run["losses"], losses, rtol=1e-6)
    np.testing.assert_allclose(one.weight.detach(), W, rtol=1e-6)
    np.testing.assert_allclose(one.bias.detach(), b, rtol=1e-6)


def test_defaults_are_the_documented_ones():
    options = {
        "rate": 1e-3,
        "warmup": 0.1,
        "decay": 0.1,
        "clip": 1.0,
        "every": 50,
        "patience": None,
        "seed": 0,
    }
    runs = [
        train(one := model(), batches, steps=6, **given) | {"P": weights(one)}
        for given in ({}, options)
    ]
    assert runs[0]["losses"] == runs[1]["losses"]
    assert torch.equal(runs[0]["P"], runs[1]["P"])


# ---- what is not finite ----


class Spoilt(torch.autograd.Function):
    """The identity, whose gradient is something else."""

    @staticmethod
    def forward(ctx, x, gradient):
        ctx.gradient = gradient
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        return torch.full_like(g, ctx.gradient), None


@pytest.mark.parametrize("clip", [1.0, None])
@pytest.mark.parametrize("gradient", [math.nan, math.inf, -math.inf])
def test_a_gradient_that_is_not_finite_ends_the_run_before_the_step(
    gradient, clip, tmp_path
):
    step = 0

    def loss(one, inputs, targets):
        nonlocal step
        step += 1
        value = nn.functional.cross_entropy(
            one(inputs).flatten(0, 1), targets.flatten()
        )
        return Spoilt.apply(value, gradient) if step == 6 else value

    one, seen = model(), {}
    with pytest.raises(
        ValueError,
        match=(
            r"gradients: expected a finite norm, got (nan|inf) at step 5; a lower rate "
            r"may help"
        ),
    ):
        train(
            one,
            batches,
            steps=20,
            loss=loss,
            every=4,
            checkpoint=tmp_path / "run",
            clip=clip,
            watch=lambda one, step: seen.update({step: weights(one)}),
        )
    assert torch.equal(weights(one), seen[5])
    two = model(1)
    assert load_checkpoint(tmp_path / "run", two)["step"] == 4
    assert torch.equal(weights(two), seen[4])


def test_parameters_that_are_not_finite_are_not_kept(tmp_path):
    def slope(one, x, y):  # whatever the weight, 0 with a gradient of 1
        return (one.weight - one.weight.detach()).sum()

    one = nn.Linear(1, 1, bias=False)
    with pytest.raises(
        ValueError,
        match=(
            "weight: expected finite numbers, got others after step 11; a lower rate "
            "may help"
        ),
    ):
        train(
            one,
            points32,
            steps=1000,
            loss=slope,
            rate=3e37,
            warmup=0,
            every=1,
            decay=0,
            checkpoint=tmp_path / "run",
        )
    assert one.weight.isinf().all()
    assert load_checkpoint(tmp_path / "run", one)["step"] == 11
    assert one.weight.item() == pytest.approx(-11 * 3e37, rel=1e-2)


def points32(rng):
    return tuple(part.astype(np.float32) for part in points(rng))


@pytest.mark.parametrize(
    "clip", [-1, 0, 0.0, math.nan, math.inf, True, "1", [1.0], np.ones(1)], ids=repr
)
def test_clip_is_a_positive_number_or_none(clip):
    one = model()
    before = weights(one)
    with pytest.raises(
        ValueError,
        match="clip: expected a positive, finite number, or None for no clipping, got",
    ):
        train(one, batches, steps=2, clip=clip)
    assert torch.equal(weights(one), before)


@pytest.mark.parametrize("rate", [-1e-3, 0, math.nan, math.inf, None, "1e-3"], ids=repr)
def test_rate_is_a_positive_number(rate):
    with pytest.raises(
        ValueError, match="rate: expected a positive, finite number, got"
    ):
        train(model(), batches, steps=2, rate=rate)


def test_without_clipping_gradients_are_as_long_as_they_are():
    def steep(one, x, y):
        return 1e4 * squared(one, x, y)

    runs = []
    for clip in (None, 1e30, 1.0):
        torch.manual_seed(0)
        runs.append(
            train(nn.Linear(3, 1), points32, steps=12, loss=steep, rate=0.1, clip=clip)[
                "losses"
            ]
        )
    assert runs[0] == runs[1] != runs[2]


@pytest.mark.parametrize(
    "scalar",
    [np.float32(0.125), np.array(0.125), torch.tensor(0.125), np.float64(0.125)],
    ids=repr,
)
def test_scalars_of_arrays_and_tensors_are_numbers(scalar, tmp_path):
    plain, other = (
        train(model(), batches, steps=4, rate=x, clip=x) for x in (0.125, scalar)
    )
    assert plain == other
    options = {"steps": 4, "rate": scalar, "clip": scalar, "checkpoint": tmp_path / "a"}
    assert (
        train(model(), batches, **options)
        == train(model(), batches, **options)
        == plain
    )


# ---- early stopping ----


def scripted(losses):
    """A loss whose held-out values are given one after the other; that of training
    pulls the first weight up.
    """
    given = iter(losses)

    def loss(one, x, y):
        return (
            -one.weight.sum() if torch.is_grad_enabled() else torch.tensor(next(given))
        )

    return loss


@pytest.mark.parametrize(
    ("losses", "best", "steps"),
    [
        ([math.nan, 3.0, 2.0, 5.0, 4.0], 2, 4),  # NaN first
        ([3.0, math.nan, 2.0, math.nan, 4.0], 2, 4),  # NaN between
        ([3.0, 2.0, math.nan, math.nan], 1, 3),  # NaN is no progress
        ([math.inf, 3.0, 4.0, 5.0], 1, 3),
        ([3.0, 2.0, 2.0, 2.0], 1, 3),  # the first of equals
    ],
)
def test_nan_is_never_the_best_loss(losses, best, steps):
    one, seen = nn.Linear(1, 1), {}
    run = train(
        one,
        points32,
        steps=50,
        loss=scripted(losses),
        held_out=points32(np.random.default_rng(0)),
        every=1,
        patience=2,
        watch=lambda one, step: seen.update({step: weights(one)}),
    )
    assert run["step"] == steps
    assert torch.equal(weights(one), seen[best])


def test_a_run_that_saw_nothing_but_nan_ends_as_it_is():
    one, seen = nn.Linear(1, 1), {}
    run = train(
        one,
        points32,
        steps=50,
        loss=scripted([math.nan] * 9),
        held_out=points32(np.random.default_rng(0)),
        every=1,
        patience=3,
        watch=lambda one, step: seen.update({step: weights(one)}),
    )
    assert run["step"] == 3
    assert torch.equal(weights(one), seen[3])


# ---- evaluation ----


def test_evaluation_leaves_each_part_in_its_mode():
    one = nn.Sequential(
        nn.Linear(3, 3), nn.Dropout(0.5), nn.BatchNorm1d(3), nn.Linear(3, 1)
    ).double()
    one[1].eval()
    one[2].eval()  # frozen
    modes, during = [part.training for part in one.modules()], []

    def loss(one, x, y):
        during.append([part.training for part in one.modules()])
        assert not torch.is_grad_enabled()
        return squared(one, x, y)

    evaluate(one, points(np.random.default_rng(0)), loss)
    assert during == [[False] * 5]
    assert (
        [part.training for part in one.modules()]
        == modes
        == [True, True, False, False, True]
    )


def test_evaluation_that_fails_leaves_each_part_in_its_mode():
    def broken(one, x, y):
        raise KeyError("broken")

    one = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5))
    one[1].eval()
    with pytest.raises(KeyError, match="broken"):
        evaluate(one, points(np.random.default_rng(0)), broken)
    assert [part.training for part in one.modules()] == [True, True, False]
    assert torch.is_grad_enabled()


# ---- the rate ----


def test_past_the_end_the_rate_stays():
    for warmup in (0, 0.1, 0.5, 1, 1.0):
        assert [schedule(step, 50, warmup) for step in (50, 51, 75, 100, 1000)] == [
            0.1
        ] * 5
    assert schedule(0, 0) == 0.1
    assert schedule(7, 5, floor=0.25) == 0.25


def test_warmup_may_last_to_the_end():
    assert [schedule(step, 4, warmup=1.0) for step in range(4)] == [
        0.25,
        0.5,
        0.75,
        1.0,
    ]
    assert schedule(3, 4, warmup=0.5) == pytest.approx(0.55)


@pytest.mark.parametrize("warmup", [-0.1, 1.1, math.nan, 2])
def test_warmup_is_a_share(warmup):
    with pytest.raises(
        ValueError, match="warmup: expected a share of the steps, from 0 to 1, got"
    ):
        schedule(0, 10, warmup)
    with pytest.raises(
        ValueError, match="warmup: expected a share of the steps, from 0 to 1, got"
    ):
        train(model(), batches, steps=2, warmup=warmup)


# ---- a run that goes on ----

SETTINGS = {
    "steps": 8,
    "rate": 1e-3,
    "warmup": 0.1,
    "decay": 0.1,
    "clip": 1.0,
    "every": 4,
    "patience": 9,
    "seed": 0,
}
OTHER = {
    "steps": 9,
    "rate": 2e-3,
    "warmup": 0.2,
    "decay": 0.0,
    "clip": None,
    "every": 2,
    "patience": 8,
    "seed": 1,
}


@pytest.mark.parametrize("name", SETTINGS)
def test_every_setting_of_a_resumed_run_is_compared(name, tmp_path):
    options = {"held_out": HELD_OUT, "checkpoint": tmp_path / "a"}
    train(model(), batches, **SETTINGS, **options)
    with pytest.raises(
        ValueError,
        match=(
            f"is of a run with {name} = {SETTINGS[name]}, not {OTHER[name]}; name"
            " another file"
        ),
    ):
        train(model(), batches, **(SETTINGS | {name: OTHER[name]}), **options)


def test_each_step_draws_its_own_batch():
    drawn = []

    def noted(rng):
        drawn.append(rng.integers(2**62))
        return batches(rng)

    for seed in (0, 1, 2):
        train(model(), noted, steps=4, seed=seed)
    assert drawn == [
        np.random.default_rng([seed, step]).integers(2**62)
        for seed in (0, 1, 2)
        for step in range(4)
    ]
    assert len(set(drawn)) == 12  # no step of one seed is a step of another


@pytest.mark.gpu
@pytest.mark.skipif(
    not torch.cuda.is_available(),
    reason="no CUDA device here: run `pytest -m gpu` where there is one",
)
def test_generators_of_the_gpu_are_spared_and_kept(tmp_path):
    class Noisy(nn.Linear):
        def forward(self, x):
            return super().forward(x + torch.randn_like(x))

    def run(until, **options):
        torch.manual_seed(5)
        one = Noisy(3, 1).cuda()
        torch.cuda.manual_seed(7)
        return train(one, points32, steps=8, loss=until, every=2, **options)

    torch.cuda.manual_seed(7)
    expected = torch.rand(3, device="cuda")
    whole = run(squared)
    assert torch.equal(torch.rand(3, device="cuda"), expected)

    calls = 0

    def stops(one, x, y):
        nonlocal calls
        calls += 1
        if calls > 5:
            raise KeyError
        return squared(one, x, y)

    with pytest.raises(KeyError):
        run(stops, checkpoint=tmp_path / "a")
    assert run(squared, checkpoint=tmp_path / "a") == whole


def test_generators_are_spared_even_by_a_run_that_fails():
    def broken(rng):
        torch.rand(5)
        raise KeyError

    one = model()
    torch.manual_seed(2)
    expected = torch.rand(3)
    torch.manual_seed(2)
    with pytest.raises(KeyError):
        train(one, broken, steps=2, seed=9)
    assert torch.equal(torch.rand(3), expected)
