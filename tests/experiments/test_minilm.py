"""What is measured on a published model, and that each measure sees what it says."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tfbook.experiments.minilm import heads, reading
from tfbook.pretrained import load, minilm

TEXTS = ["The old king ruled a poor country for years.", "A shy boy caught the fish."]
PARSED = [(TEXTS[0], "old>king poor>country", "ruled>country")]
AMBIGUOUS = [
    ("The cat slept on the rug because it was so {}.", "cat sleepy", "rug soft")
]


@pytest.fixture(scope="module")
def model():
    return load(minilm(), "torch")


@pytest.fixture(scope="module")
def passed(model):
    return [reading.passing(model, text) for text in TEXTS]


def test_what_passes_is_what_the_model_computes(model, passed):
    tokens = reading.tokens_of(model, TEXTS[0])
    states, scores, before, after = passed[0]
    for X, Y in zip(states, model.hidden(tokens), strict=True):
        assert_allclose(X, Y[0].numpy(), atol=1e-6)
    for S, A in zip(scores, model.attention(tokens), strict=True):
        E = np.exp(S - S.max(axis=-1, keepdims=True))
        assert_allclose(E / E.sum(axis=-1, keepdims=True), A[0].numpy(), atol=1e-6)
    assert before.shape == after.shape == (6, tokens.shape[1], 1536)
    assert_array_equal(np.sign(before), np.sign(after) + (after == 0) * np.sign(before))


def test_random_order_keeps_the_numbers_alone(model):
    other = reading.shuffled(model, seed=0)
    for name, X in model.P.items():
        Y = other.P[name]
        assert_array_equal(np.sort(X.numpy().ravel()), np.sort(Y.numpy().ravel()))
        assert (X.ndim == 1) == bool((X == Y).all()), name
    again = reading.shuffled(model, seed=0).P["layers.0.W_Q"]
    assert bool((again == other.P["layers.0.W_Q"]).all())


def test_measures_of_the_stream(passed):
    along = reading.stream(passed)
    assert_allclose(along["start"][:, 0], 1, atol=1e-6)
    assert_allclose(along["before"][:, 0], 1, atol=1e-6)
    together, of_a_query = reading.spread_of_scores(passed)
    assert (of_a_query <= together + 1e-6).all()
    above, carrying = reading.awake(passed)
    assert ((above > 0) & (above < 0.5)).all()
    assert ((carrying > 0) & (carrying < 1)).all()


def test_every_parameter_is_counted_once(model):
    counts = reading.parameters(model)
    assert sum(counts.values()) == sum(X.numel() for X in model.P.values())
    assert counts["networks"] == 6 * (2 * 384 * 1536 + 1536 + 384)
    assert counts["attention"] == 6 * (4 * 384**2 + 4 * 384)


def test_order_is_felt_through_positions_alone(model):
    assert reading.order_felt(model, TEXTS, 0).max() < 0.999
    without = reading.order_felt(model, TEXTS, 0, positions=False)
    assert_allclose(without, 1, atol=1e-5)


def test_a_head_that_is_left_out_gives_nothing(model):
    W = reading.without_heads(model, [(2, 5), (2, 7)]).P["layers.2.W_O"].numpy()
    given = model.P["layers.2.W_O"].numpy()
    gone = np.zeros(384, bool)
    gone[5 * 32 : 6 * 32] = gone[7 * 32 : 8 * 32] = True
    assert_array_equal(W[gone], 0)
    assert_array_equal(W[~gone], given[~gone])
    assert (given[gone] != 0).any(), "the model itself is as it was"


def test_positions_in_a_known_matrix():
    A = np.zeros((1, 3, 4, 4))
    A[0, 0, [1, 2, 3], [0, 1, 2]] = 1
    A[0, 0, 0, 0] = 1
    A[0, 1] = np.eye(4)
    A[0, 2] = 1 / 4
    found = heads.by_position(A)
    assert_allclose(found["previous"][0], [1, 0, 0.25])
    assert_allclose(found["next"][0], [0, 0, 0.25])
    assert_allclose(found["itself"][0], [0.25, 1, 0.25])
    assert_allclose(found["[CLS]"][0], [0.5, 0.25, 0.25])
    assert_allclose(found["[SEP]"][0], [0, 0.25, 0.25])
    assert_allclose(found["uniform"][0], 0.25)


def test_the_head_of_the_previous_token(model):
    """Layer 1, head 3, counted from 1."""
    found = heads.kinds(model, TEXTS)["previous"].mean(axis=0)
    assert found.argmax() == 2
    assert found[0, 2] > 0.98
    mixed = heads.kinds(reading.shuffled(model, 0), TEXTS)["previous"]
    assert mixed.mean(axis=0).max() < 0.5


def test_relations_go_between_the_named_words(model):
    along, beside = heads.relations(model, PARSED)
    A, words = heads.read(model, TEXTS[0])
    at = words.index
    assert_allclose(along["adjective to noun"][1], A[:, :, at("poor"), at("country")])
    assert_allclose(along["object to verb"][0], A[:, :, at("country"), at("ruled")])
    assert {len(X) for X in beside.values()} == {2, 1}


def test_what_it_stands_for():
    """One head reads the ending, one prefers the first noun, one moves wrongly."""
    weights = np.zeros((1, 2, 2, 1, 3))
    weights[0, :, :, 0, 0] = [[0.8, 0.2], [0.3, 0.7]]
    weights[0, :, :, 0, 1] = [[0.8, 0.2], [0.8, 0.2]]
    weights[0, :, :, 0, 2] = [[0.2, 0.8], [0.7, 0.3]]
    assert_allclose(heads.right(weights).mean(axis=1)[0, 0], [1, 0.5, 0])
    assert_allclose(heads.shift(weights)[0, 0], [0.5, 0, -0.5])


def test_weights_from_it_are_those_of_the_model(model):
    weights = heads.it_to_nouns(model, AMBIGUOUS)
    A, words = heads.read(model, AMBIGUOUS[0][0].format("soft"))
    expected = A[:, :, words.index("it"), words.index("cat")]
    assert_allclose(weights[0, 1, 0], expected)


def test_chance_is_beaten_by_an_effect_and_not_by_noise(rng):
    noise = rng.normal(size=(30, 72))
    best = heads.best_by_chance(noise)
    assert 0.3 < best < 1
    effect = noise + (np.arange(72) == 5) * 2
    assert effect.mean(axis=0).max() > heads.best_by_chance(effect)


def test_an_interval_covers_the_mean(rng):
    low, high = reading.interval(rng.normal(3, 1, size=100))
    assert low < 3.2
    assert high > 2.8
    assert 0.2 < high - low < 0.8
