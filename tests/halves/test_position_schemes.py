"""One table of position schemes in each half, which functions and modules read."""

from functools import partial

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

import tfbook.numpy as tn
import tfbook.torch as tt
from tfbook.numpy.position_schemes import POSITION_SCHEMES as OF_NUMPY
from tfbook.numpy.position_schemes import PositionScheme
from tfbook.torch.position_schemes import POSITION_SCHEMES as OF_TORCH


def test_both_halves_have_the_same_schemes():
    assert list(OF_NUMPY) == list(OF_TORCH)
    for name in OF_NUMPY:
        acts, twin = (
            [part is not None and part is not False for part in table[name]]
            for table in (OF_NUMPY, OF_TORCH)
        )
        assert acts == twin


@pytest.fixture
def recency(monkeypatch):
    """A new scheme: an entry in each table."""

    def bias(arange, H, T, T_k):
        age = arange(T_k)[None, :] - arange(T_k - T, T_k)[:, None]
        return 0.5 * age[None] + 0 * arange(H)[:, None, None]

    new = {
        half: PositionScheme(bias=partial(bias, half.arange)) for half in (np, torch)
    }
    monkeypatch.setitem(OF_NUMPY, "recency", new[np])
    monkeypatch.setitem(OF_TORCH, "recency", new[torch])


def test_a_new_scheme_is_an_entry_in_each_table(recency):
    torch.manual_seed(0)
    model = tt.LanguageModel(7, 9, 8, 2, 2, positions="recency", norm="pre").double()
    P = {name: p.detach().numpy() for name, p in model.state_dict().items()}
    tokens = np.array([[3, 1, 2, 6], [0, 0, 5, 4]])
    options = {"H": 2, "norm": "pre"}
    right = tn.language_model(tokens, P, positions="recency", **options)
    assert_allclose(model(torch.tensor(tokens)).detach().numpy(), right, atol=1e-10)
    without = tn.language_model(tokens, P, positions="none", **options)
    assert np.abs(right - without).max() > 0.01


@pytest.mark.parametrize("half", [tn, tt])
def test_an_attention_of_ones_own_is_turned_too(half):
    """It may turn by itself, but neither twice nor never."""
    model = tt.LanguageModel(7, 9, 8, 2, 2, positions="rotary").double()
    P = model.state_dict()
    tokens = torch.tensor([[3, 1, 2, 6]])
    if half is tn:
        P, tokens = {name: p.numpy() for name, p in P.items()}, tokens.numpy()
    read = partial(half.language_model, tokens, P, H=2, positions="rotary")
    streaming = partial(streaming_attention, half)
    turned = partial(half.rotary_attention, attention=streaming)
    right = np.asarray(read())
    assert_allclose(np.asarray(read(attention=streaming)), right, atol=1e-10)
    assert_allclose(np.asarray(read(attention=turned)), right, atol=1e-10)
    none = half.language_model(tokens, P, H=2, positions="none")
    assert np.abs(np.asarray(none) - right).max() > 1e-4


def streaming_attention(half, Q, K, V, mask=None, bias=None, scale=None):
    assert bias is None
    return half.streaming_attention(Q, K, V, mask=mask, scale=scale)


@pytest.mark.parametrize("norm", ["pre", "both", "sandwich"])
def test_stacks_that_are_not_post_norm_end_with_a_norm(norm):
    model = tt.LanguageModel(7, 9, 8, 2, 2, norm=norm)
    assert {"gamma_f", "beta_f"} <= set(model.state_dict())
    with torch.no_grad():
        model.gamma_f.zero_()
        model.beta_f.fill_(0.5)
        logits = model(torch.tensor([[1, 2, 3]]))
    assert_allclose(logits[0, 0], (0.5 * model.E.sum(dim=1)).detach(), rtol=1e-5)


def test_sandwich_is_another_name_of_both():
    P = tn.init_layer(d=8, H=2, norm="sandwich", rng=0)
    X = np.random.default_rng(0).normal(size=(3, 8))
    both, sandwich = (
        tn.transformer_layer(X, P, 2, norm=n) for n in ("both", "sandwich")
    )
    assert_allclose(both, sandwich)
    assert np.abs(both - tn.transformer_layer(X, P, 2, norm="post")).max() > 0.01
