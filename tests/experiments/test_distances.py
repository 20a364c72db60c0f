"""The look-up over a distance: the task, the six networks, their training, and what the
study stored.
"""

import numpy as np
import pytest
import torch
from torch import nn

from tfbook.experiments.distances import __main__ as train_distances
from tfbook.experiments.distances import study as distances
from tfbook.torch import conv1d, lstm, rnn


@pytest.mark.parametrize("D", [8, 33, 512])
def test_the_answer_lies_in_the_first_half(D):
    tokens, place, digit = distances.sequences(np.random.default_rng(1), 200, D)
    assert tokens.shape == (200, D + 1, 2)
    cards = tokens[:, :-1, 1] != distances.NOTHING
    assert (cards.sum(axis=1) == distances.PAIRS).all()
    assert not cards[:, D // 2 :].any()
    rows = np.arange(200)
    assert (tokens[rows, place, 0] == tokens[:, -1, 0]).all()
    assert (tokens[rows, place, 1] == 2 * distances.LETTERS + digit).all()
    # one card alone has the capital that is asked for
    assert ((tokens[:, :-1, 0] == tokens[:, -1:, 0]).sum(axis=1) == 1).all()
    # as often the first card as the second
    assert 60 < (place == cards.argmax(axis=1)).sum() < 140
    assert set(digit) == set(range(distances.LETTERS))


def test_written_rows_can_be_read():
    tokens, place, digit = distances.sequences(np.random.default_rng(0), 1, 8)
    words = distances.written(tokens[0]).split()
    assert words[-1][1] == "?"
    assert words[place[0]] == f"{words[-1][0]}{digit[0]}"


def test_sizes_are_equal_within_two_per_cent():
    sizes = [distances.parameters(name) for name in distances.NETWORKS]
    assert max(sizes) / min(sizes) < 1.02
    assert sizes == [
        distances.record()["networks"][name]["parameters"]
        for name in distances.NETWORKS
    ]


@pytest.mark.parametrize(("layer", "function"), [(nn.LSTM, lstm), (nn.RNN, rnn)])
def test_torch_s_recurrences_are_the_book_s(layer, function):
    torch.manual_seed(0)
    fast, X = distances.Recurrence(layer, 5, 7), torch.randn(2, 11, 5)
    P = fast.layer
    own = {
        "W_x": P.weight_ih_l0.T,
        "W_h": P.weight_hh_l0.T,
        "b": P.bias_ih_l0 + P.bias_hh_l0,
    }
    expected = function(X, own) if function is lstm else function(X, **own)
    torch.testing.assert_close(fast(X), expected)
    for gate in P.weight_hh_l0.split(7):
        torch.testing.assert_close(gate @ gate.T, torch.eye(7))
    if layer is nn.LSTM:
        assert own["b"].tolist() == [0.0] * 7 + [1.0] * 7 + [0.0] * 14


@pytest.mark.parametrize("T", [1, 9, 16, 33, 513])
def test_convolutions_are_dilated_ones(T):
    """All outputs of every layer, by conv1d over interleaved places, and of these the
    last.
    """
    torch.manual_seed(0)
    fast, X = distances.Convolutions(3, L=10), torch.randn(2, T, 3)
    Y = nn.functional.pad(X, (0, 0, 1024 - T, 0))
    for l, (W, b) in enumerate(zip(fast.W, fast.b)):
        apart = Y.unflatten(-2, (-1, 2**l)).transpose(-2, -3)
        content, gate = (
            conv1d(apart, W, b, causal=True)
            .transpose(-2, -3)
            .flatten(-3, -2)
            .chunk(2, dim=-1)
        )
        Y = torch.where(
            torch.arange(1024)[:, None] < 1024 - T,
            0,
            Y + torch.tanh(content) * torch.sigmoid(gate),
        )
    torch.testing.assert_close(fast(X)[:, -1], Y[:, -1], atol=1e-5, rtol=1e-5)


def test_convolutions_reach_as_far_as_they_have_to():
    torch.manual_seed(0)
    fast = distances.Convolutions(3, L=distances.LAYERS)
    X = torch.randn(1, max(distances.DISTANCES) + 1, 3, requires_grad=True)
    fast(X)[0, -1].sum().backward()
    assert X.grad[0, 0].abs().min() > 0
    assert max(distances.DISTANCES) <= 2**distances.LAYERS - 1


def test_training_stops_only_when_learned():
    assert not distances.learned([0.001] * 49)
    assert distances.learned([2.0] * 10 + [0.001] * 50)
    assert not distances.learned([2.1] * 1500)


def test_mean_pooling_and_no_positions_ignore_order():
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    tokens = torch.tensor(distances.sequences(rng, 4, 16)[0])
    shuffled = tokens[:, [*torch.randperm(16), 16]]
    for name in distances.NETWORKS:
        reader = distances.Reader(name)
        same = torch.allclose(reader(tokens), reader(shuffled), atol=1e-5)
        assert same == (name in ("transformer", "mean pooling")), name


def after_training(name="transformer", D=16, steps=300, spoil=None):
    """Share of right answers after a short training, of a network that may be spoiled
    first.
    """
    torch.set_num_threads(1)
    with pytest.MonkeyPatch.context() as patch:
        if spoil:
            start = distances.Reader
            patch.setattr(distances, "Reader", lambda name: spoil(start(name)))
        model, losses = distances.train(name, D, 0.01, steps, seed=1)
    return distances.accuracy(model, D), len(losses)


def test_a_transformer_finds_the_card():
    right, steps = after_training()
    assert right > 0.97
    assert steps < 300


def frozen(name, value=0.0):
    """A model whose one matrix stays as it is told."""

    def spoil(model):
        getattr(model.network.layers[0], name).data.fill_(value)
        getattr(model.network.layers[0], name).requires_grad_(False)
        return model

    return spoil


def deaf(model):
    """No question: the last token says nothing of the capital."""
    forward = model.forward

    def without(tokens):
        tokens = tokens.clone()
        tokens[:, -1, 0] = 0
        return forward(tokens)

    model.forward = without
    return model


SPOILED = {
    "no queries": frozen("W_Q"),
    "no keys": frozen("W_K"),
    "no values": frozen("W_V"),
    "no question": deaf,
}


@pytest.mark.parametrize("spoil", SPOILED.values(), ids=SPOILED)
def test_a_broken_transformer_does_not_find_it(spoil):
    right, steps = after_training(spoil=spoil)
    assert right < 0.75
    assert steps == 300  # never learned


def test_the_record_is_what_the_study_says():
    record = distances.record()
    assert tuple(record["distances"]) == distances.DISTANCES
    assert tuple(record["networks"]) == distances.NETWORKS
    assert tuple(record["seeds"]) == train_distances.SEEDS
    assert tuple(record["rates"]) == train_distances.RATES
    assert record["steps"] == train_distances.STEPS
    assert train_distances.TRIED_WITH not in train_distances.SEEDS
    shape = len(record["seeds"]), len(distances.DISTANCES)
    for entry in record["networks"].values():
        assert np.shape(entry["accuracy"]) == np.shape(entry["steps"]) == shape
        for rate, losses in zip(entry["rates"], entry["tried"], strict=True):
            losses = np.maximum(losses, distances.LEARNED)
            assert losses[record["rates"].index(rate)] == losses.min()


def test_a_run_stops_early_only_if_it_has_learned():
    record = distances.record()
    for entry in record["networks"].values():
        early = np.array(entry["steps"]) < record["steps"]
        assert (np.array(entry["accuracy"])[early] > 0.97).all()


@pytest.mark.parametrize("name", ["transformer", "rotary transformer"])
def test_a_stored_run_repeats(name):
    entry = distances.record()["networks"][name]
    again = train_distances.trial((name, 8, entry["rates"][0], 1))
    assert again["accuracy"] == pytest.approx(entry["accuracy"][0][0], abs=0.02)
    assert again["steps"] == pytest.approx(entry["steps"][0][0], rel=0.3)
