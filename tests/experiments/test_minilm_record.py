"""The record of the measures on a published model: some of them measured again."""

import hashlib

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tfbook.experiments import minilm
from tfbook.experiments.minilm import __main__ as script
from tfbook.experiments.minilm import heads, reading
from tfbook.pretrained import load
from tfbook.pretrained import minilm as folder

RECORD = minilm.record()


@pytest.fixture(scope="module")
def model():
    return load(folder(), "torch")


def test_the_record_is_of_this_model_and_these_sentences():
    file = folder() / "model.safetensors"
    assert RECORD["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
    assert RECORD["texts"] == len(script.TEXTS) >= 60
    assert RECORD["it"]["sentences"] == len(script.AMBIGUOUS)
    assert RECORD["ablation"]["triples"] == len(script.TRIPLES)
    assert RECORD["seeds"] == list(script.SEEDS)
    assert RECORD["command"] in script.__doc__


def test_every_sentence_is_split_into_whole_words(model):
    for text, adjectives, objects in script.PARSED:
        words = model.tokenizer.encode(text).tokens
        named = [
            w for pair in (adjectives + " " + objects).split() for w in pair.split(">")
        ]
        assert all(words.count(word) == 1 for word in set(named)), text


def test_positions_are_as_stored(model):
    for kind, found in heads.kinds(model, script.TEXTS).items():
        assert_allclose(
            found.mean(axis=0),
            RECORD["positions"][kind]["heads"],
            atol=2e-3,
            err_msg=kind,
        )


def test_it_is_as_stored(model):
    again = script.of_it(model)
    assert again["moved"]["head"] == RECORD["it"]["moved"]["head"]
    for name in ("right", "moved"):
        assert_allclose(
            again[name]["heads"], RECORD["it"][name]["heads"], atol=0.07, err_msg=name
        )


def test_the_stream_of_random_order_is_as_stored(model):
    texts = script.TEXTS[:6]
    mixed = reading.shuffled(model, script.SEEDS[0])
    passed = [reading.passing(mixed, text) for text in texts]
    together, _ = reading.spread_of_scores(passed)
    stored = RECORD["stream, random order"]["scores"]["mean"]
    assert_allclose(together.mean(axis=0), stored, rtol=0.2)


def test_parameters_are_as_stored(model):
    assert reading.parameters(model) == RECORD["parameters"]


def test_one_head_left_out_is_as_stored(model):
    l, h = RECORD["ablation"]["head most lost"]
    whole = reading.margins(model, script.TRIPLES)
    assert_allclose(whole.mean(), RECORD["ablation"]["whole"]["mean"], atol=2e-3)
    without = reading.margins(reading.without_heads(model, [(l, h)]), script.TRIPLES)
    lost = np.mean(whole - without)
    assert_allclose(lost, RECORD["ablation"]["without each"][l][h], atol=2e-3)
