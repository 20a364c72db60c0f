"""Training in NumPy alone: the gradient against autograd, Adam against torch's, and a
model that learns.
"""

import numpy as np
import pytest
import torch

from tfbook.numpy.training import adam, loss_and_gradients
from tfbook.text.ngrams import ngram_loss, uniform_loss
from tfbook.torch import LanguageModel, cross_entropy


@pytest.mark.parametrize("norm", ["pre"])
@pytest.mark.parametrize("T", [5, 7])
def test_every_gradient_is_autograd_s(norm, T):
    torch.manual_seed(0)
    model = LanguageModel(vocab=11, T_max=7, d=6, H=3, L=2, norm=norm).double()
    rng = np.random.default_rng(0)
    inputs, targets = rng.integers(11, size=(2, 4, T))
    loss = cross_entropy(model(torch.tensor(inputs)), torch.tensor(targets))
    loss.backward()
    P = {name: p.detach().numpy() for name, p in model.named_parameters()}
    value, gradients = loss_and_gradients(P, inputs, targets, H=3, norm=norm)
    assert value == pytest.approx(loss.item())
    assert gradients.keys() == P.keys()
    for name, p in model.named_parameters():
        np.testing.assert_allclose(gradients[name], p.grad, atol=1e-10, err_msg=name)


def test_adam_is_torch_s():
    rng = np.random.default_rng(1)
    P, moments = {"a": rng.standard_normal((3, 5)), "b": rng.standard_normal(7)}, {}
    parameters = {name: torch.nn.Parameter(torch.tensor(p)) for name, p in P.items()}
    optimizer = torch.optim.Adam(parameters.values(), lr=0.01, betas=(0.9, 0.95))
    for step in range(20):
        gradients = {name: rng.standard_normal(p.shape) for name, p in P.items()}
        adam(P, gradients, moments, step, rate=0.01)
        for name, p in parameters.items():
            p.grad = torch.tensor(gradients[name])
        optimizer.step()
    for name, p in parameters.items():
        np.testing.assert_allclose(P[name], p.detach(), atol=1e-12)


def test_precision_is_kept():
    P = {"x": np.ones(3, np.float32)}
    adam(P, {"x": np.ones(3, np.float32)}, {}, step=0, rate=0.1)
    assert P["x"].dtype == np.float32


# ---- baselines ----


def by_dictionary(tokens, held_out, n, vocab, smoothing):
    """The same, one n-gram after the other."""
    counts, surprise = {}, []
    for i in range(len(tokens) - n + 1):
        *before, x = tokens[i : i + n]
        counts.setdefault(tuple(before), []).append(x)
    for i in range(len(held_out) - n + 1):
        *before, x = held_out[i : i + n]
        seen = counts.get(tuple(before), [])
        surprise.append(
            -np.log((seen.count(x) + smoothing) / (len(seen) + smoothing * vocab))
        )
    return np.mean(surprise)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("smoothing", [0.1, 1.0])
def test_counts_are_counted(n, smoothing):
    rng = np.random.default_rng(n)
    tokens, held_out = rng.integers(5, size=300), rng.integers(5, size=80)
    expected = by_dictionary(tokens.tolist(), held_out.tolist(), n, 5, smoothing)
    assert ngram_loss(tokens, held_out, n, 5, smoothing) == pytest.approx(expected)


def test_much_smoothing_is_a_guess_among_all():
    assert ngram_loss([0, 1, 2], [2, 1], n=2, vocab=9, smoothing=1e9) == pytest.approx(
        uniform_loss(9)
    )
    with pytest.raises(
        ValueError, match="held_out: expected at least n = 3 tokens, got 2"
    ):
        ngram_loss([0, 1, 2], [2, 1], n=3, vocab=9)
