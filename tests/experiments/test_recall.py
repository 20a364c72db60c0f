"""Cards that are asked for by name: the task of chapter 01, its networks, and what the
script stored.
"""

import numpy as np
import pytest
import torch

from tfbook.experiments import recall
from tfbook.experiments.recall import __main__ as script
from tfbook.torch import conv1d


@pytest.mark.parametrize("cards", recall.CARDS)
def test_the_answer_is_on_the_card_that_is_named(cards):
    drawn = recall.sequences(np.random.default_rng(0), 300, cards)
    for row, back, digit in zip(*drawn, strict=True):
        words = [recall.written([token]) for token in row]
        named = words[-1]
        assert named[0].isupper()
        assert named[1] == "?"
        on = {word: i for i, word in enumerate(words[:-1]) if len(word) == 2}
        assert len(on) == cards
        assert len({word[0] for word in on}) == len({word[1] for word in on}) == cards
        assert on[f"{named[0]}{digit}"] == recall.T - 1 - back
    assert set(drawn[1]) >= {1, recall.T - 1}


def test_a_network_that_knows_the_digits_alone_is_right_once_in_four():
    tokens, _, digit = recall.sequences(np.random.default_rng(0), 4000, 4)
    symbols = tokens[:, :-1, 1] - 2 * recall.LETTERS
    on_cards = np.sort(np.where(symbols < recall.LETTERS, symbols, -1))[:, -4:]
    shares = (on_cards == digit[:, None]).mean(axis=0)
    np.testing.assert_allclose(shares, 1 / 4, atol=0.03)


def test_networks_are_of_one_size():
    sizes = {
        name: sum(p.numel() for p in recall.Reader(name).parameters())
        for name in recall.NETWORKS
    }
    assert max(sizes.values()) < 1.05 * min(sizes.values())
    for networks in recall.record()["tasks"].values():
        assert {n: entry["parameters"] for n, entry in networks.items()} == sizes


def test_mean_pooling_has_neither_order_nor_pairs():
    torch.manual_seed(0)
    pooling, X = recall.Pooling(6, 5), torch.randn(2, 9, 6)
    shuffled = X[:, [*torch.randperm(8), 8]]
    torch.testing.assert_close(pooling(X)[:, -1], pooling(shuffled)[:, -1])
    read = torch.relu(X @ pooling.W_1 + pooling.b_1) @ pooling.W_2
    mixed = X[:, -1] + read.mean(dim=1)
    layer = torch.relu(mixed @ pooling.W_3 + pooling.b_3) @ pooling.W_4
    torch.testing.assert_close(pooling(X)[:, -1], mixed + layer)


def test_attention_knows_its_place_only_with_positions():
    X, order = torch.randn(1, 64, 8), [*torch.randperm(63), 63]
    for positions in (False, True):
        torch.manual_seed(1)
        network = recall.Attention(8, positions)
        same = torch.allclose(network(X), network(X[:, order]), atol=1e-5)
        assert same != positions


@pytest.mark.parametrize("gap", [1, 2, 4])
def test_a_dilated_convolution_is_one_with_zeros_in_its_kernel(gap):
    g = torch.Generator().manual_seed(0)
    X, W, b = (
        torch.randn(3, 8, 5, generator=g),
        torch.randn(3, 5, 5, generator=g),
        torch.randn(5, generator=g),
    )
    wide = torch.zeros(2 * gap + 1, 5, 5)
    wide[::gap] = W
    torch.testing.assert_close(
        recall.dilated(X, W, b, gap), conv1d(X, wide, b, causal=True)
    )


def test_an_lstm_starts_with_its_gate_open():
    bias = recall.LSTM(4, 3).layer.bias_ih_l0
    assert bias.tolist() == [0] * 3 + [1] * 3 + [0] * 6


def test_accuracy_is_counted_by_distance():
    def knows_the_near_half(tokens):
        at = (
            tokens[:, :-1]
            == torch.stack([tokens[:, -1, 0], tokens[:, -1, 0]], -1)[:, None]
        )
        position = at[..., 0].int().argmax(dim=-1)
        digit = tokens[torch.arange(len(tokens)), position, 1] - 2 * recall.LETTERS
        wrong = (digit + 1) % recall.LETTERS
        near = position >= tokens.shape[1] // 2
        chosen = torch.where(near, digit, wrong)
        return torch.nn.functional.one_hot(chosen, recall.LETTERS)

    for T in (recall.T, recall.LONGER):
        shares = recall.accuracy(knows_the_near_half, 4, n=3000, T=T)
        assert shares[:3].tolist() == [1] * 3
        assert shares[5:].tolist() == [0] * 3


def test_record_is_whole():
    record, seeds = recall.record(), len(script.SEEDS)
    assert record["seeds"] == list(script.SEEDS)
    assert (record["steps"], record["batch"]) == (script.STEPS, script.BATCH)
    assert {"numpy", "torch", "seconds", "command"} <= set(record)
    assert list(record["tasks"]) == [str(cards) for cards in recall.CARDS]
    for networks in record["tasks"].values():
        assert list(networks) == list(recall.NETWORKS)
        for entry in networks.values():
            assert entry["rate"] in record["rates"]
            assert np.shape(entry["accuracy"]) == np.shape(entry["longer"])
            assert np.shape(entry["accuracy"]) == (seeds, 8)
            steps = record["steps"] // script.MEAN_OF
            assert np.shape(entry["losses"]) == (seeds, steps)


@pytest.mark.parametrize("name", recall.NETWORKS)
def test_stored_losses_begin_as_the_scripts(name):
    entry, seed = recall.record()["tasks"]["4"][name], script.SEEDS[1]
    until = lambda losses: len(losses) == 4 * script.MEAN_OF
    losses = recall.train(
        name, 4, entry["rate"], script.STEPS, script.BATCH, seed, stop=until
    )[1]
    means = np.mean(np.reshape(losses, (4, -1)), axis=-1)
    np.testing.assert_allclose(means, entry["losses"][1][:4], atol=0.1)


def test_the_rate_is_chosen_by_accuracy_then_by_speed():
    slow = {"accuracy": [0.999, 0.998], "losses": [2.0, 1.0]}
    fast = {"accuracy": [0.997, 0.998], "losses": [1.0, 0.5]}
    poor = {"accuracy": [0.5, 0.4], "losses": [0.1, 0.1]}
    assert max([slow, fast, poor], key=script.quality) == fast


def test_rows_that_choose_a_rate_are_used_for_nothing_else():
    assert script.TUNED_WITH not in script.SEEDS
    assert script.VALIDATION != script.TEST
