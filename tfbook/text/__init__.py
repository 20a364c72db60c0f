"""Text as tokens: characters, byte pairs, windows to train on, and n-gram counts."""

from tfbook.text.byte_pairs import BytePairs
from tfbook.text.vocabulary import characters, decode, encode, text
from tfbook.text.windows import (
    all_windows,
    longest_overlap,
    split,
    windows,
    without_repeats,
)
