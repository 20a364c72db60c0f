"""Tokens of every integer dtype, memory-mapped too, tokens outside of the vocabulary,
and padding that is no count.
"""

import math
import re
from functools import partial

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal

import tfbook.numpy as tn
import tfbook.torch as tt
from tfbook.numpy.training import loss_and_gradients
from tfbook.text import decode
from tfbook.text.byte_pairs import BytePairs
from tfbook.text.ngrams import ngram_loss
from tfbook.text.windows import all_windows, windows
from tfbook.torch.sequences import MixedModel, mixed_loss

DTYPES = ["uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"]
EVERY = pytest.mark.parametrize("dtype", DTYPES)
VOCAB, D, H = 256, 8, 2
TOKENS = [[1, 100, 127], [0, 2, 126]]


def parameters(half, **options):
    rng = np.random.default_rng(0)
    P = {"E": rng.normal(size=(VOCAB, D)), "P": rng.normal(size=(9, D))}
    P |= {f"layers.0.{name}": p for name, p in tn.init_layer(D, H, rng=rng).items()}
    return {name: half.native(p) for name, p in P.items()}


@EVERY
def test_every_integer_dtype_is_a_row_of_the_table(half, dtype):
    E = np.arange(256.0)[:, None] * [1, 10]
    assert_array_equal(half.embed(np.array([1, 100], dtype), E), [[1, 10], [100, 1000]])


@EVERY
def test_every_integer_dtype_is_a_target(half, dtype):
    logits = np.zeros((2, 256))
    # each as likely as the other 255 together
    logits[0, 100], logits[1, 1] = math.log(255), math.log(255)
    assert_allclose(half.cross_entropy(logits, np.array([100, 1], dtype)), math.log(2))


@EVERY
def test_every_integer_dtype_is_read_by_a_language_model(half, dtype):
    P = parameters(half)
    wanted = half.language_model(np.array(TOKENS), P, H, pad=np.array([0, 2]))
    assert_array_equal(
        half.language_model(np.array(TOKENS, dtype), P, H, pad=np.array([0, 2], dtype)),
        wanted,
    )


@EVERY
def test_every_integer_dtype_is_a_prompt_with_a_length(half, dtype):
    def successor(tokens, pad, cache):
        return half.native(np.eye(128)[(np.asarray(tokens) + 1) % 128])

    said = half.generate(
        successor,
        np.array([[5, 6, 7], [100, 0, 0]], dtype),
        2,
        lengths=np.array([3, 1], dtype),
    )
    assert_array_equal(said, [[8, 9], [101, 102]])


def test_narrow_lengths_of_long_sequences(half):
    """100 is not above 300, though 300 is 44 in 8 bits."""
    mask = half.padding_mask(np.array([100, 200], np.uint8), 300)
    assert_array_equal(mask.sum(-1)[:, 0], [100, 200])
    prompts = half.native(np.tile(np.arange(300), (2, 1)))
    tokens, pad = half.module.left_pad(
        prompts, half.native(np.array([100, 200], np.uint8))
    )
    assert_array_equal(pad, [200, 100])
    assert_array_equal(tokens[:, -1], [99, 199])


@EVERY
def test_every_integer_dtype_has_gradients(dtype):
    tokens = np.array([2, 0, 2], dtype)
    assert_array_equal(
        tn.embed_vjp([[1.0], [2.0], [4.0]], tokens, np.zeros((3, 1))), [[2], [0], [5]]
    )
    assert_allclose(
        tn.cross_entropy_vjp(1.0, [[0.0, 0.0]], np.array([0], dtype)), [[-0.5, 0.5]]
    )
    rng = np.random.default_rng(0)
    P = {"E": rng.normal(size=(VOCAB, D)), "P": rng.normal(size=(9, D))}
    P |= {
        f"layers.0.{name}": p
        for name, p in tn.init_layer(D, H, norm="pre", rng=rng).items()
    }
    loss, dP = loss_and_gradients(
        P, np.array(TOKENS, dtype), np.array(TOKENS, dtype), H
    )
    right, right_dP = loss_and_gradients(P, TOKENS, TOKENS, H)
    assert loss == right
    assert_array_equal(dP["E"], right_dP["E"])


@EVERY
def test_every_integer_dtype_is_counted_and_cut(dtype):
    tokens = np.array([0, 1] * 50, dtype)
    # after 0 comes 1, 50 times of 50, after 1 comes 0, 49 of 49; smoothing adds 0.1 to
    # each of two
    wanted = -np.mean(np.log([49.1 / 49.2, 50.1 / 50.2, 49.1 / 49.2]))
    assert ngram_loss(
        tokens, np.array([1, 0, 1, 0], dtype), n=2, vocab=2
    ) == pytest.approx(wanted)
    long = np.arange(100).astype(dtype)
    inputs, targets = windows(long, T=4, n=3, rng=np.random.default_rng(0))
    assert_array_equal(targets.astype(int), inputs.astype(int) + 1)
    assert_array_equal(all_windows(long, 3)[0][-1], [96, 97, 98])
    assert decode(np.array([1, 0, 2], dtype), "abn") == "ban"


def test_a_memory_mapped_file_of_uint16_is_text(half, tmp_path):
    np.arange(1000, dtype=np.uint16).tofile(tmp_path / "train.bin")
    file = np.memmap(tmp_path / "train.bin", np.uint16, mode="r")
    assert_array_equal(
        half.module.embed(file[990:], half.native(np.arange(1000.0)[:, None]))[:, 0],
        np.arange(990, 1000),
    )
    inputs, targets = windows(file, T=4, n=3, rng=np.random.default_rng(0))
    assert_array_equal(targets, inputs + 1)
    assert np.shares_memory(all_windows(file, 4)[0], file)
    assert ngram_loss(file, file, n=1, vocab=1000) == pytest.approx(math.log(1000))
    P = parameters(half)
    model = half.module.language_model
    assert_array_equal(
        model(file[3:7], P, H), model(half.native(np.arange(3, 7)), P, H)
    )


@pytest.mark.parametrize("dtype", [torch.uint8, torch.uint16, torch.int32])
def test_a_module_takes_every_integer_dtype(dtype):
    torch.manual_seed(0)
    model = tt.LanguageModel(vocab=256, T_max=8, d=6, H=3, L=1)
    tokens = torch.tensor([[1, 100, 255]])
    assert torch.equal(model(tokens.to(dtype)), model(tokens))


@pytest.mark.parametrize("dtype", [torch.int8, torch.int16, torch.int32])
def test_words_of_a_mixed_model_are_of_every_signed_dtype(dtype):
    torch.manual_seed(0)
    model, vectors = (
        MixedModel(vocab=200, d_in=4, T_max=8, d=6, H=3, L=1),
        torch.ones(4, 4),
    )
    words = torch.tensor([100, -1, 5, 101])
    assert torch.equal(
        mixed_loss(model, (words.to(dtype), vectors)),
        mixed_loss(model, (words, vectors)),
    )


@pytest.mark.parametrize("tokens", [[0.0, 1.0], [True, False], [0.5, 1]])
def test_fractions_and_booleans_are_no_tokens(half, tokens):
    tokens = np.array(tokens)
    for call in (
        lambda: half.embed(tokens, np.eye(3)),
        lambda: half.left_pad(tokens),
        lambda: windows(tokens, 1, 1, np.random.default_rng(0)),
        lambda: ngram_loss(tokens, tokens, 1, 3),
        lambda: decode(tokens, "abn"),
        lambda: BytePairs([]).decode(tokens),
        lambda: half.language_model(tokens, parameters(half), H),
    ):
        with pytest.raises(
            ValueError, match="tokens: expected whole numbers, got dtype"
        ):
            call()


@pytest.mark.parametrize(
    ("tokens", "held_out", "name"),
    [
        ([0, 3], [0, 1], "tokens"),
        ([0, 1], [0, 3], "held_out"),
        ([-1, 1], [0, 1], "tokens"),
    ],
)
@pytest.mark.parametrize("n", [1, 2])
def test_ngrams_refuse_what_is_not_in_the_vocabulary(tokens, held_out, name, n):
    with pytest.raises(IndexError, match=f"{name}: expected 0 to 2, got"):
        ngram_loss(tokens, held_out, n, vocab=3)


def test_ngrams_take_one_row_of_tokens():
    with pytest.raises(
        ValueError, match=re.escape("tokens: expected (N,), got (1, 2)")
    ):
        ngram_loss([[0, 1]], [0, 1], 1, vocab=2)


@pytest.mark.parametrize(
    "decode", [partial(decode, characters="abn"), BytePairs([]).decode]
)
def test_decode_takes_one_sequence(decode):
    batch = [[1, 0, 2], [0, 2, 0]]
    for tokens in (batch, np.array(batch, np.uint8), torch.tensor(batch)):
        with pytest.raises(
            ValueError, match=re.escape("tokens: expected (T,), got (2, 3)")
        ):
            decode(tokens)
    with pytest.raises(ValueError, match=re.escape("tokens: expected (T,), got ()")):
        decode(1)
    assert decode([]) == ""


@pytest.mark.parametrize(
    ("pad", "words"),
    [
        (
            [-1, 0],
            r"from 0 to T = 3, the padding in front of each sequence, got \[-1, 0\]",
        ),
        ([0, 5], r"from 0 to T = 3, .*got \[0, 5\]"),
        ([1.5, 0.0], "got dtype .*float64"),
        ([True, False], "got dtype .*bool"),
    ],
)
def test_padding_is_a_count(half, pad, words):
    with pytest.raises(ValueError, match="pad: expected whole numbers.* " + words):
        half.language_model(np.array(TOKENS), parameters(half), H, pad=np.array(pad))


def test_padding_may_be_longer_than_what_a_cache_gets_first(half):
    P, cache = parameters(half), half.module.key_value_caches()
    tokens, pad = np.array([[7, 7, 5, 6]]), np.array([3])
    parts = [
        half.language_model(tokens[:, t : t + 1], P, H, pad=pad, cache=cache)
        for t in range(4)
    ]
    assert_allclose(parts[-1], half.language_model(np.array([[6]]), P, H), rtol=1e-10)
    with pytest.raises(
        ValueError, match=r"pad: expected whole numbers from 0 on, .*got \[-1\]"
    ):
        half.language_model(tokens, P, H, pad=np.array([-1]), cache=cache)
