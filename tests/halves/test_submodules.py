"""A model calls its layers: hooks, shared, replaced, compiled and parametrized layers
all count.
"""

import pytest
import torch
from torch.nn.utils import parametrizations, prune

from tfbook.torch import LanguageModel, Transformer, scaled_dot_product_attention

TOKENS = torch.tensor([[1, 2, 3, 4]])


@pytest.fixture(params=["stack", "language model"])
def built(request):
    """A model of two layers, and something that it reads."""
    torch.manual_seed(0)
    if request.param == "stack":
        return Transformer(L=2, d=8, H=2), torch.randn(1, 4, 8)
    return LanguageModel(vocab=7, T_max=6, d=8, H=2, L=2), TOKENS


def test_hooks_of_every_layer_fire(built):
    model, X = built
    seen = []
    for layer in model.layers:
        layer.register_forward_hook(lambda layer, args, Y: seen.append(tuple(Y.shape)))
    model(X)
    assert seen == [(1, 4, 8)] * 2


def test_a_hook_changes_what_comes_out(built):
    model, X = built
    before = model(X)
    model.layers[0].register_forward_hook(lambda layer, args, Y: Y * 2)
    assert not torch.allclose(model(X), before)


def test_a_layer_used_twice_runs_twice(built):
    model, X = built
    model.layers[1] = model.layers[0]
    calls = []
    model.layers[0].register_forward_hook(lambda *_: calls.append(1))
    once = model(X)
    assert len(calls) == 2
    model.layers = model.layers[:1]
    assert not torch.allclose(model(X), once)


def test_a_replaced_attention_is_used(built):
    model, X = built
    before = model(X)
    model.layers[1].attention = lambda Q, K, V, mask=None, bias=None: torch.zeros_like(
        V
    )
    assert not torch.allclose(model(X), before)


def test_a_replaced_layer_is_used(built):
    model, X = built
    model.layers[1] = Doubled()
    seen = []
    model.layers[1].register_forward_hook(lambda *_: seen.append(1))
    model(X)
    assert seen == [1]


class Doubled(torch.nn.Module):
    def forward(self, X, mask=None, bias=None):
        return 2 * X


def test_each_layer_attends_in_its_own_way():
    torch.manual_seed(0)
    model = LanguageModel(vocab=7, T_max=6, d=8, H=2, L=2)
    asked = []

    def noted(*args, **options):
        asked.append(1)
        return scaled_dot_product_attention(*args, **options)

    model.layers[1].attention = noted
    model(TOKENS)
    assert asked == [1]


@pytest.mark.parametrize("change", [
    lambda layer: parametrizations.spectral_norm(layer, "W_1"),
    lambda layer: parametrizations.weight_norm(layer, "W_1"),
    lambda layer: prune.l1_unstructured(layer, "W_1", amount=0.5),
])  # fmt: skip
def test_a_parametrized_weight_is_used(change, built):
    model, X = built
    before = model(X)
    with torch.no_grad():
        model.layers[0].W_1.mul_(3)
    change(model.layers[0])
    after = model(X)
    assert not torch.allclose(after, before)
    after.sum().backward()
    assert all(p.grad is not None for p in model.layers[0].parameters())


def test_a_compiled_layer_is_used(built):
    model, X = built
    before = model(X)
    model.layers[0] = torch.compile(model.layers[0], backend="eager", fullgraph=True)
    with torch.no_grad():
        torch.testing.assert_close(model(X), before)


def test_a_layer_takes_a_cache():
    from tfbook.torch import KeyValueCache, causal_mask

    torch.manual_seed(0)
    layer, X = Transformer(L=1, d=8, H=4, H_kv=2).layers[0], torch.randn(2, 5, 8)
    whole, cache = layer(X, causal_mask(5)), KeyValueCache()
    parts = [
        layer(X[:, t : t + 1], causal_mask(1, t + 1), cache=cache) for t in range(5)
    ]
    torch.testing.assert_close(torch.cat(parts, dim=1), whole)
    assert len(cache) == 5
