"""Tokens between letters and words: byte pairs, merged in the order in which they were
learned.
"""

import re
from collections import Counter, defaultdict
from functools import lru_cache
from itertools import pairwise

import numpy as np

from tfbook.numpy.checks import expect, expect_tokens, integers, whole

# a word or a run of signs, each with the blank before it, or white space; nothing is
# lost
WORDS = re.compile(r" ?\w+| ?[^\w\s]+|\s+")


class BytePairs:
    r"""Text as tokens: the 256 bytes, and a token for each merge of two tokens.

    Parameters
    ----------
    merges : sequence of pair of int
        Merge i makes token 256 + i of the two tokens that it names.

    Examples
    --------
    >>> pairs = BytePairs([(97, 110), (256, 97)])  # "a" + "n", "an" + "a"
    >>> pairs.encode("banana")
    array([ 98, 256, 257])
    >>> pairs.decode([98, 256, 257])
    'banana'
    """

    def __init__(self, merges):
        self.merges = [tuple(map(int, pair)) for pair in merges]
        self.rank = {pair: rank for rank, pair in enumerate(self.merges)}
        self.bytes = [bytes([byte]) for byte in range(256)]
        for i, pair in enumerate(self.merges):
            if not all(0 <= token < 256 + i for token in pair):
                raise ValueError(
                    f"merges: expected two tokens from 0 to {255 + i} in merge {i}, got"
                    f" {pair}"
                )
            self.bytes.append(self.bytes[pair[0]] + self.bytes[pair[1]])
        # the words of a text, again and again
        self.tokens_of = lru_cache(maxsize=2**16)(self._tokens_of)

    def __reduce__(self):
        """What pickle and copy keep: the merges, from which all else is made."""
        return type(self), (self.merges,)

    def __len__(self):
        """Tokens there are: ``vocab``."""
        return len(self.bytes)

    def _tokens_of(self, word):
        """The tokens of one word: of all pairs in it, the one that was learned first is
        merged, until there is none.
        """
        tokens = tuple(word.encode())
        while ranks := [
            self.rank[pair] for pair in pairwise(tokens) if pair in self.rank
        ]:
            tokens = merge(tokens, self.merges[min(ranks)], 256 + min(ranks))
        return tokens

    def encode(self, text):
        """Tokens of a text, int64 (T,)."""
        return np.array(
            [
                token
                for word in WORDS.findall(text)
                for token in self.tokens_of(word)
            ],
            dtype=np.int64,
        )

    def decode(self, tokens):
        """The text of one sequence of tokens, array_like of int (T,).

        Bytes that are no text, as a model may give them, become the sign for that, �.

        Raises
        ------
        ValueError
            Where tokens are not whole numbers, or not one sequence of them.
        IndexError
            Where a token is not in the vocabulary.
        """
        tokens = integers("tokens", tokens)
        expect("tokens", tokens.shape, "(T,)")
        expect_tokens("tokens", tokens, len(self))
        text = b"".join(self.bytes[token] for token in tokens)
        return text.decode(errors="replace")


def learn_byte_pairs(text, merges):
    r"""Find the pairs to merge: again and again the one that stands most often side by
    side within a word.

    Parameters
    ----------
    text : str
    merges : int
        At most so many; fewer where no two tokens are left side by side.

    Returns
    -------
    BytePairs

    Notes
    -----
    Words are counted once, so that a pair costs what the words that hold it cost.
    Of equal pairs, the first that was met is taken.

    Source: Sennrich et al., arXiv 1508.07909.

    Examples
    --------
    >>> learn_byte_pairs(
    ...     "banana bandana", merges=2
    ... ).merges  # "an", then "ban"
    [(97, 110), (98, 256)]
    """
    merges, found = whole("merges", merges), []
    counts = Counter(WORDS.findall(text))
    words = {word: tuple(word.encode()) for word in counts}
    # how often each pair stands, and in which words
    pairs, holders = Counter(), defaultdict(set)

    def count(word, times):
        for pair in pairwise(words[word]):
            pairs[pair] += times * counts[word]
            holders[pair].add(word)

    for word in words:
        count(word, 1)
    while len(found) < merges and pairs:
        pair = max(pairs, key=pairs.get)
        if not pairs[pair]:
            break
        for word in sorted(holders.pop(pair)):
            count(word, -1)
            words[word] = merge(words[word], pair, 256 + len(found))
            count(word, 1)
        del pairs[pair]
        found.append(pair)
    return BytePairs(found)


def merge(tokens, pair, new):
    """Write a new token for each place where a pair stands, from the left.

    Examples
    --------
    >>> merge((1, 1, 1, 2), pair=(1, 1), new=9)
    (9, 1, 2)
    """
    merged, i = [], 0
    while i < len(tokens):
        found = tokens[i : i + 2] == pair
        merged.append(new if found else tokens[i])
        i += 1 + found
    return tuple(merged)
