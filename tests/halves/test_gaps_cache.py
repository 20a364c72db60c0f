"""Caches: what they refuse and keep after an error, and how they, byte pairs and
decoding travel and behave.
"""

import copy
import pickle

import numpy as np
import pytest
import torch
from calls import HALVES, generator

import tfbook.numpy
import tfbook.torch
from tfbook.numpy import init_layer
from tfbook.text.byte_pairs import BytePairs, learn_byte_pairs
from tfbook.torch import LanguageModel


def native(half, X, dtype="float64"):
    return (
        torch.tensor(X, dtype=getattr(torch, dtype))
        if half is tfbook.torch
        else np.array(X, dtype=dtype)
    )


@HALVES
@pytest.mark.parametrize(
    ("first", "then"),
    [("float16", "float32"), ("float32", "float64"), ("float32", "float16")],
)
def test_a_cache_keeps_one_dtype(half, first, then):
    cache = half.KeyValueCache()
    few, more = (
        native(half, [[[1.0]]], first),
        native(half, [[[70000.0 if then != "float16" else 1.0]]], then),
    )
    cache.extend(few, few)
    for pair in ((more, few), (few, more)):
        name = "K" if pair[0] is more else "V"
        with pytest.raises(
            ValueError, match=rf"{name}: expected .*{first}.* as before, got .*{then}"
        ):
            cache.extend(*pair)
    assert len(cache) == 1
    K, V = cache.extend(few + 1, few + 2)
    assert (K.ravel().tolist(), V.ravel().tolist()) == ([1, 2], [1, 3])
    assert K.dtype == V.dtype == few.dtype


@HALVES
def test_room_is_made_by_the_block_and_only_when_it_is_needed(half):
    cache, one, capacity = half.KeyValueCache(block=3), native(half, [[[1.0]]]), []
    for _ in range(7):
        cache.extend(one, one)
        capacity.append(cache.keys.shape[-2])
    assert capacity == [3, 3, 3, 6, 6, 6, 9]


@HALVES
def test_keys_are_not_kept_without_their_values(half):
    cache = half.KeyValueCache()
    one = native(half, [[[1.0]]])
    cache.extend(one, one)
    with pytest.raises(ValueError, match="V: expected"):
        cache.extend(one + 1, native(half, [[[1.0, 2.0]]]))
    assert cache.extend(one + 2, one)[0].ravel().tolist() == [1, 3]


@HALVES
def test_a_cache_forgets_what_it_is_told_to(half):
    cache = half.KeyValueCache(block=2)
    X = native(half, [[[1.0], [2.0], [3.0]]])
    cache.extend(X, X)
    cache.shorten(2)
    assert (len(cache), cache.elements) == (2, 4)
    assert cache.extend(X[:, :1] + 8, X[:, :1])[0].ravel().tolist() == [1, 2, 9]
    with pytest.raises(
        ValueError,
        match="length: expected at most the 3 tokens that are remembered, got 4",
    ):
        cache.shorten(4)
    cache.shorten(0)
    # an empty cache takes any shape and dtype
    other = native(half, [[[1.0, 2.0]]], "float32")
    assert cache.extend(other, other)[0].shape == (1, 1, 2)


def parameters(half, L=3, d=6):
    P = {"E": np.random.default_rng(0).standard_normal((9, d))}
    for l in range(L):
        P |= {
            f"layers.{l}.{name}": p for name, p in init_layer(d=d, H=2, rng=l).items()
        }
    return {name: native(half, p) for name, p in P.items()}


class Broken(Exception):
    pass


@HALVES
@pytest.mark.parametrize("filled", [0, 2])
@pytest.mark.parametrize("layer", [0, 1, 2])
def test_after_an_error_every_layer_remembers_the_same(half, layer, filled):
    P, caches, calls = parameters(half), half.key_value_caches(), 0
    read = lambda tokens, **options: half.language_model(
        native(half, tokens, "int64"), P, H=2, positions="none", cache=caches, **options
    )

    def breaks(Q, K, V, **options):
        nonlocal calls
        calls += 1
        if calls == layer + 1:
            raise Broken
        return half.scaled_dot_product_attention(Q, K, V, **options)

    if filled:
        read([1, 2])
    with pytest.raises(Broken):
        read([3, 4, 5], attention=breaks)
    assert all(len(cache) == filled for cache in caches.values())
    last = half.language_model(
        native(half, [1, 2, 3, 4, 5][2 - filled :], "int64"), P, H=2, positions="none"
    )[-1]
    np.testing.assert_allclose(read([3, 4, 5])[-1], last, atol=1e-9)


@HALVES
def test_an_error_after_the_last_layer_counts_too(half):
    P, caches = parameters(half), half.key_value_caches()
    P |= {"gamma_f": native(half, np.ones(5)), "beta_f": native(half, np.ones(5))}
    with pytest.raises(ValueError, match="gamma"):
        half.language_model(
            native(half, [1, 2], "int64"), P, H=2, positions="none", cache=caches
        )
    assert all(len(cache) == 0 for cache in caches.values())


def test_a_model_of_modules_loses_nothing_either():
    model, caches = (
        LanguageModel(9, 8, 6, 2, L=2).eval(),
        tfbook.torch.key_value_caches(),
    )
    with torch.no_grad():
        model(torch.tensor([1, 2]), cache=caches)
        kept, model.layers[1].W_2 = (
            model.layers[1].W_2,
            torch.nn.Parameter(torch.ones(5, 6)),
        )
        with pytest.raises((ValueError, RuntimeError)):
            model(torch.tensor([3]), cache=caches)
        assert [len(caches[l]) for l in range(2)] == [2, 2]
        model.layers[1].W_2 = kept
        right = model(torch.tensor([1, 2, 3]))[-1]
        torch.testing.assert_close(model(torch.tensor([3]), cache=caches)[-1], right)


# ---- what travels ----

WAYS = {"pickle": lambda x: pickle.loads(pickle.dumps(x)), "copy": copy.deepcopy}


@pytest.mark.parametrize("way", WAYS)
@HALVES
def test_caches_travel(half, way):
    caches, X = half.key_value_caches(block=5), native(half, [[[1.0], [2.0]]])
    caches[0].extend(X, X + 1)
    other = WAYS[way](caches)
    assert (len(other[0]), other[0].block, len(other[1]), other[1].block) == (
        2,
        5,
        0,
        5,
    )
    assert other[0].extend(X, X)[1].ravel().tolist() == [2, 3, 1, 2]
    assert len(caches[0]) == 2  # a copy


@pytest.mark.parametrize("way", WAYS)
def test_byte_pairs_travel(way):
    pairs = learn_byte_pairs("banana bandana", merges=4)
    pairs.encode("banana")
    other = WAYS[way](pairs)
    assert type(other) is BytePairs
    assert other.merges == pairs.merges
    assert other.encode("a bandana").tolist() == pairs.encode("a bandana").tolist()


def test_byte_pairs_remember_no_more_than_they_may():
    pairs = BytePairs([(97, 98)])
    assert 0 < pairs.tokens_of.cache_info().maxsize <= 2**20
    pairs.encode("a banana, a banana, a banana")
    assert pairs.tokens_of.cache_info().hits >= 2


# ---- decoding ----


def test_no_gradient_is_followed_while_text_is_generated():
    model, seen = LanguageModel(9, 8, 6, 2, L=1), []

    def watched(tokens, **options):
        logits = model(tokens, **options)
        seen.append((torch.is_grad_enabled(), logits.requires_grad))
        return logits

    for cached in (True, False):
        tfbook.torch.generate(watched, torch.tensor([[1, 2]]), n=3, cached=cached)
    assert seen == [(False, False)] * 6
    assert torch.is_grad_enabled()


@HALVES
def test_with_a_cache_each_token_is_read_once(half):
    read = []

    def model(tokens, pad, cache):
        read.append(tokens.shape[-1])
        return native(half, np.eye(9))[(tokens + 1) % 9]

    half.generate(model, native(half, [1, 2, 3], "int64"), n=3)
    half.generate(model, native(half, [1, 2, 3], "int64"), n=3, cached=False)
    assert read == [3, 1, 1, 3, 4, 5]


@HALVES
def test_draws_are_of_the_distribution(half):
    logits, n = np.array([0.0, 1.0, 2.0, -1.0, 0.5]), 40_000
    rng = generator(half)
    for options, right in (
        ({"temperature": 0.5}, np.exp(2 * logits)),
        ({"temperature": 2.0}, np.exp(logits / 2)),
        ({"top_k": 2}, np.exp(logits) * [0, 1, 1, 0, 0]),
        ({"top_p": 0.75}, np.exp(logits) * [0, 1, 1, 0, 0]),
        ({"top_p": 0.76, "temperature": 1.0}, np.exp(logits) * [0, 1, 1, 0, 0]),
    ):
        p = half.token_distribution(native(half, logits), **options)
        np.testing.assert_allclose(p, right / right.sum(), atol=1e-12)
        many = half.token_distribution(native(half, np.tile(logits, (n, 1))), **options)
        drawn = np.bincount(half.sample(many, rng).tolist(), minlength=5)
        assert ((drawn > 0) == (right > 0)).all()
        np.testing.assert_allclose(drawn / n, right / right.sum(), atol=0.012)


@HALVES
def test_a_nucleus_ends_where_its_share_is_reached(half):
    for top_p, kept in ((0.25, 1), (0.5, 2), (0.51, 3), (0.75, 3), (0.76, 4), (1.0, 4)):
        p = half.token_distribution(native(half, np.zeros(4)), top_p=top_p)
        # of equals, the first
        assert p.tolist() == [1 / kept] * kept + [0] * (4 - kept)
    for top_k in (1, 2, 3, 4, None):
        p = half.token_distribution(native(half, np.zeros(4)), top_k=top_k)
        assert p.tolist() == [1 / (top_k or 4)] * (top_k or 4) + [0] * (
            4 - (top_k or 4)
        )


@HALVES
def test_the_coldest_draw_is_the_first_of_the_likeliest(half):
    assert half.token_distribution(
        native(half, [1.0, 3.0, 3.0]), temperature=0
    ).tolist() == [0, 1, 0]


@HALVES
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_draws_from_half_precision_reach_every_token(half, dtype):
    rng = generator(half)
    # in half precision a running sum stops growing at 1/2
    p = native(half, np.full((2000, 5000), 1 / 4096), dtype)
    drawn = np.array(half.sample(p, rng).tolist())
    np.testing.assert_allclose(
        np.histogram(drawn, bins=5, range=(0, 5000))[0], 400, atol=70
    )
