"""Byte pairs: nothing is lost, what is merged is what stands together most; windows
hold each token's successor.
"""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfbook.text import text
from tfbook.text.byte_pairs import WORDS, BytePairs, learn_byte_pairs
from tfbook.text.windows import all_windows, windows

LEARNED = learn_byte_pairs(text()[:50_000], merges=200)


@given(st.text())
def test_what_is_encoded_can_be_decoded(written):
    assert LEARNED.decode(LEARNED.encode(written)) == written
    assert "".join(WORDS.findall(written)) == written


@given(st.text(alphabet="abc d", max_size=60), st.integers(0, 20))
def test_learned_pairs_are_those_that_a_plain_count_finds(written, merges):
    """The same with no index of words: count all pairs of all words anew for each
    merge.
    """
    learned = learn_byte_pairs(written, merges)
    words = [list(word.encode()) for word in WORDS.findall(written)]
    for i, pair in enumerate(learned.merges):
        counts = Counter(found for word in words for found in pairwise(word))
        assert counts[pair] == max(counts.values())
        words = [list(merged(word, pair, 256 + i)) for word in words]
    if len(learned.merges) < merges:
        assert all(len(word) == 1 for word in words)
    assert learned.encode(written).tolist() == [
        token for word in words for token in word
    ]


def merged(tokens, pair, new):
    tokens = list(tokens)
    while tokens:
        if tuple(tokens[:2]) == pair:
            yield new
            del tokens[:2]
        else:
            yield tokens.pop(0)


def test_byte_pairs_make_a_text_shorter():
    written = text()
    learned = learn_byte_pairs(written, merges=512)
    assert len(learned) == 768
    assert len(written) / len(learned.encode(written)) > 2.4  # characters a token
    assert learned.bytes[learned.encode(" the")[0]] == b" the"


def test_an_earlier_merge_goes_first():
    pairs = BytePairs([(98, 99), (97, 98)])  # "bc" was learned before "ab"
    assert [pairs.bytes[token] for token in pairs.encode("abc")] == [b"a", b"bc"]


def test_bytes_that_are_no_text_are_shown():
    assert LEARNED.decode([0xE2, 0x82]) == "\ufffd"
    assert LEARNED.decode([]) == LEARNED.decode(LEARNED.encode("")) == ""


def test_strangers_are_refused():
    with pytest.raises(
        ValueError,
        match=r"merges: expected two tokens from 0 to 256 in merge 1, got \(257, 3\)",
    ):
        BytePairs([(1, 2), (257, 3)])
    for token in (-1, 456):
        with pytest.raises(IndexError, match="tokens: expected 0 to 455"):
            LEARNED.decode([token])


def test_windows_hold_the_successor_of_each_token():
    tokens = np.random.default_rng(0).integers(9, size=50)
    inputs, targets = windows(tokens, T=7, n=2000, rng=np.random.default_rng(1))
    assert inputs.shape == targets.shape == (2000, 7)
    np.testing.assert_array_equal(inputs[:, 1:], targets[:, :-1])
    every = {tuple(tokens[i : i + 8]) for i in range(43)}
    # the first window and the last too
    assert {(*x, y[-1]) for x, y in zip(inputs.tolist(), targets.tolist())} == every


@pytest.mark.parametrize("N", [8, 14, 15, 16])
def test_all_windows_make_each_token_a_target_once(N):
    inputs, targets = all_windows(np.arange(N), T=7)
    assert targets.ravel().tolist() == list(range(1, 7 * ((N - 1) // 7) + 1))
    np.testing.assert_array_equal(inputs + 1, targets)


def test_a_text_too_short_is_refused():
    for cut in (
        lambda tokens: windows(tokens, 7, 1, np.random.default_rng(0)),
        lambda tokens: all_windows(tokens, 7),
    ):
        cut(np.arange(8))
        with pytest.raises(ValueError, match="tokens: expected more than T = 7, got 7"):
            cut(np.arange(7))
