"""The thresholds of chapter 12, whose own cells assert that a whole model keeps them:
each broken model misses its own, or is caught by the check for leaks.
"""

import math

import numpy as np
import pytest
import torch

from tfbook.numpy import init_layer
from tfbook.numpy.training import adam, loss_and_gradients
from tfbook.text import characters, encode, text
from tfbook.text.ngrams import ngram_loss
from tfbook.text.windows import all_windows, split, windows, without_repeats
from tfbook.torch import (
    LanguageModel,
    rotary,
    rotary_attention,
    scaled_dot_product_attention,
)
from tfbook.torch.training import evaluate, schedule, train

T, BATCH, STEPS = 64, 16, 400


@pytest.fixture(scope="module")
def read():
    """Vocabulary size, tokens to train on, windows to test on, and the losses of
    unigram and bigram in bits.
    """
    written = without_repeats(text())
    vocabulary = characters(written)
    tokens, held_out = split(encode(written, vocabulary))
    guesses = [
        ngram_loss(tokens, held_out, n, len(vocabulary)) / math.log(2) for n in (1, 2)
    ]
    return (
        len(vocabulary),
        tokens,
        tuple(part[::4] for part in all_windows(held_out, T)),
        guesses,
    )


def new(vocab, attention=None):
    """The model of the chapter, whole or with another attention."""
    torch.manual_seed(0)
    model = LanguageModel(
        vocab,
        T,
        48,
        4,
        2,
        positions="rotary",
        norm="pre",
        activation="gelu",
        fused=attention is None,
    )
    if attention:
        for layer in model.layers:
            layer.attention = attention
    return model


def bits(read, attention=None, shift=1, steps=STEPS):
    """Held-out loss after training, in bits, and the model."""
    vocab, tokens, some, _ = read

    def batches(rng):
        inputs, targets = windows(tokens, T, BATCH, rng)
        return (inputs, targets) if shift else (inputs, inputs)

    model = new(vocab, attention)
    train(model, batches, steps, rate=0.01)
    return evaluate(model, some) / math.log(2), model


def sees_the_future(model, some):
    """The check of the chapter: a later token is changed, and an earlier logit
    moves.
    """
    tokens = torch.tensor(some[0][:1])
    changed = tokens.clone()
    changed[0, 40:] = (changed[0, 40:] + 1) % 90
    with torch.no_grad():
        return not torch.allclose(
            model(tokens)[0, :40], model(changed)[0, :40], atol=1e-5
        )


def beats_the_bigram(loss, read):
    return loss < read[-1][1] - 0.5


def believable(loss):
    """Above the half bit that no model of this size can reach honestly."""
    return loss > 1.0


def no_mask(Q, K, V, mask=None, bias=None, scale=None):
    return rotary_attention(Q, K, V, scale=scale)


def too_large(Q, K, V, mask=None, bias=None, scale=None):
    """Scores 64 times as large: the softmax picks one key from the first step on."""
    return rotary_attention(64 * Q, K, V, mask=mask)


def no_order(Q, K, V, mask=None, bias=None, scale=None):
    """Positions shuffled anew at each call: there is no order to learn."""
    order = torch.randperm(K.shape[-2])
    return scaled_dot_product_attention(
        rotary(Q, order), rotary(K, order), V, mask=mask
    )


def blind(Q, K, V, mask=None, bias=None, scale=None):
    return V  # each token attends to itself alone


def test_without_a_mask_the_loss_is_too_good_and_the_check_sees_it(read):
    loss, model = bits(read, no_mask, steps=150)
    assert not believable(loss)
    assert sees_the_future(model, read[2])


@pytest.mark.parametrize("broken", [no_order, too_large, blind])
def test_a_broken_attention_misses_the_threshold(broken, read):
    loss, _ = bits(read, broken)
    assert not beats_the_bigram(loss, read)


def test_targets_that_are_not_shifted_teach_nothing(read):
    loss, _ = bits(read, shift=0, steps=100)
    assert loss > read[-1][0]  # worse than frequencies alone: it repeats what it reads


def tiny(read, spoil=lambda gradients: gradients, steps=400, T=32):
    """The NumPy model's loss at the end, in bits."""
    vocab, tokens, _, _ = read
    rng, moments, losses = np.random.default_rng(0), {}, []
    P = {
        "E": 0.02 * rng.standard_normal((vocab, 32)),
        "P": 0.02 * rng.standard_normal((T, 32)),
    }
    P |= {"gamma_f": np.ones(32), "beta_f": np.zeros(32)}
    P |= {
        f"layers.0.{name}": p
        for name, p in init_layer(32, 2, norm="pre", rng=rng).items()
    }
    P = {name: p.astype(np.float32) for name, p in P.items()}
    for step in range(steps):
        read_next = windows(tokens, T, 16, rng)
        loss, gradients = loss_and_gradients(P, *read_next, H=2, norm="pre")
        adam(P, spoil(gradients), moments, step, 0.01 * schedule(step, steps))
        losses.append(loss)
    return np.mean(losses[-20:]) / math.log(2)


def test_the_numpy_model_keeps_its_threshold_and_broken_gradients_do_not(read):
    unigram = read[-1][0]
    assert tiny(read) < unigram - 0.7
    assert tiny(read, lambda g: {name: -d for name, d in g.items()}, steps=50) > unigram
    # the table is never learned
    assert (
        tiny(read, lambda g: {name: d for name, d in g.items() if name != "E"})
        > unigram - 0.7
    )


def rise(read, n):
    """How far the held-out loss, in bits, is above its least after training on n
    characters.
    """
    vocab, tokens, (inputs, targets), _ = read
    torch.manual_seed(0)
    model = LanguageModel(
        vocab,
        32,
        64,
        4,
        1,
        positions="rotary",
        norm="pre",
        activation="gelu",
        fused=True,
    )
    held_out = inputs[:150, :32], targets[:150, :32]
    run = train(
        model,
        lambda rng: windows(tokens[:n], 32, 16, rng),
        160,
        held_out=held_out,
        rate=0.01,
        every=20,
    )
    losses = [loss for _, loss in run["held_out"]]
    return (losses[-1] - min(losses)) / math.log(2)


def test_a_short_text_is_overfitted_and_a_long_one_is_not(read):
    assert rise(read, 2_000) > 0.2
    assert rise(read, None) < 0.05
