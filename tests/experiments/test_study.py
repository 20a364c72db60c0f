"""What the studies share: the training loop, and the command line."""

import sys

import pytest
import torch

from tfbook.experiments.study import fit, one_cycle, parallel, warmed_up


def rates(schedule, steps=20):
    """The learning rate of every step."""
    x = torch.tensor(1.0, requires_grad=True)
    optimizer = torch.optim.SGD([x], 0.1)
    rate, found = schedule(optimizer, 0.1, steps), []
    for _ in range(steps):
        found.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        rate.step()
    return found


def test_one_cycle_rises_for_a_tenth_and_falls_to_nothing():
    found = rates(one_cycle)
    assert found.index(max(found)) == 1
    assert max(found) == pytest.approx(0.1)
    assert found[1:] == sorted(found[1:], reverse=True)
    assert found[-1] < 1e-5


def test_a_warm_up_rises_and_stays():
    assert rates(warmed_up(4))[:4] == pytest.approx([0.025, 0.05, 0.075, 0.1])
    assert rates(warmed_up(4))[4:] == pytest.approx([0.1] * 16)
    assert rates(warmed_up(0)) == pytest.approx([0.1] * 20)


@pytest.mark.parametrize("clip", [None, 1.0])
def test_gradients_are_clipped_together(clip):
    """Adam divides by the size of gradients, so one large step tells: 1000, then 1."""
    x, y = (torch.tensor(0.0, requires_grad=True) for _ in range(2))
    norms, slopes = [], iter([1000.0, 1.0, 1.0])

    def loss():
        return next(slopes) * (3 * x + 4 * y)

    def note(step):
        norms.append(torch.stack([x.grad, y.grad]).norm().item())

    fit([x, y], loss, 3, 0.1, schedule=warmed_up(0), clip=clip, each=note)
    right = [5000, 5, 5] if clip is None else [1, 1, 1]
    assert norms == pytest.approx(right, rel=1e-4)


def test_the_rate_moves_and_losses_are_those_before_each_step():
    x = torch.tensor(0.0, requires_grad=True)
    values = []
    losses = fit(
        [x], lambda: x + 1, 4, 0.1, warmed_up(2), each=lambda _: values.append(x.item())
    )
    assert values == pytest.approx([-0.05, -0.15, -0.25, -0.35])  # Adam's unit steps
    assert losses == pytest.approx([1, 0.95, 0.85, 0.75])


def test_it_stops_when_told():
    x = torch.tensor(0.0, requires_grad=True)
    assert len(fit([x], lambda: x + 1, 9, 0.1, stop=lambda done: len(done) == 3)) == 3


def double(setting):
    return 2 * setting, torch.get_num_threads()


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_trials_come_back_in_order_from_one_thread_each(monkeypatch, jobs):
    monkeypatch.setattr(sys, "argv", ["study", "--jobs", jobs])
    assert parallel(double, range(5), "A study.") == [(2 * i, 1) for i in range(5)]


def test_help_shows_the_first_paragraph(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["study", "--help"])
    with pytest.raises(SystemExit):
        parallel(double, [], "What it is.\n\nMore.")
    shown = capsys.readouterr().out
    assert "What it is." in shown
    assert "More." not in shown
