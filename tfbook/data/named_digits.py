"""Pictures of digits and their names in one row: sixteen patches and up to six letters,
in either order, for :class:`MixedModel`.
"""

import numpy as np
import torch

from tfbook.data import patches
from tfbook.text import encode

NAMES = (
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
)
PICTURE_FIRST, NAME_FIRST, END = "▣", "¶", "."
VOCAB = "efghinorstuvwxz" + END + PICTURE_FIRST + NAME_FIRST
# patches of a picture, letters of a name with its end, pixels on a side
PATCHES, LETTERS, SIZE = 16, 6, 2
T = 1 + PATCHES + LETTERS


def rows(images, digits, name_first):
    """Lay pictures and names out in rows: a sign that says what comes first, then both.

    Parameters
    ----------
    images : array_like, shape (n, 8, 8)
    digits : array_like of int, shape (n,)
    name_first : array_like of bool, shape (n,)

    Returns
    -------
    words : ndarray of int64, shape (n, 23)
        −1 where a patch stands.
    vectors : ndarray of float32, shape (n, 23, 4)
        0 where a word stands.

    Examples
    --------
    >>> words, vectors = rows(np.ones((2, 8, 8)), [1, 7], [False, True])
    >>> print(
    ...     "\\n".join(
    ...         "".join(VOCAB[w] if w >= 0 else "_" for w in row)
    ...         for row in words
    ...     )
    ... )
    ▣________________one...
    ¶seven.________________
    """
    name_first = np.asarray(name_first)[:, None]
    spelled = np.stack(
        [encode(NAMES[digit].ljust(LETTERS, END), VOCAB) for digit in digits]
    )
    start = np.where(
        name_first, VOCAB.index(NAME_FIRST), VOCAB.index(PICTURE_FIRST)
    )
    seen = np.full((len(spelled), PATCHES), -1)
    words = np.where(
        name_first,
        np.concatenate([start, spelled, seen], axis=1),
        np.concatenate([start, seen, spelled], axis=1),
    )
    vectors = np.zeros((*words.shape, SIZE**2), np.float32)
    vectors[words < 0] = patches(images, SIZE).reshape(-1, SIZE**2)
    return words, vectors


@torch.no_grad()
def write_names(model, images):
    """Let a model read pictures and write their names, letter by letter, each time the
    likeliest.

    Parameters
    ----------
    model : MixedModel
    images : array_like, shape (n, 8, 8)

    Returns
    -------
    list of str
        What it wrote up to the first full stop.
    """
    words, vectors = map(
        torch.tensor,
        rows(images, np.zeros(len(images), int), np.zeros(len(images), bool)),
    )
    for t in range(1 + PATCHES, T):
        # the name beyond t is not shown
        logits, _ = model(words[:, :t], vectors[:, :t])
        words[:, t] = logits[:, -1].argmax(dim=-1)
    written = words[:, 1 + PATCHES :].tolist()
    return [
        "".join(VOCAB[word] for word in row).split(END)[0] for row in written
    ]


@torch.no_grad()
def draw_pictures(model, digits):
    """Let a model read names and draw the pictures, patch by patch, each time the mean
    of what it expects.

    Parameters
    ----------
    model : MixedModel
    digits : array_like of int, shape (n,)

    Returns
    -------
    ndarray, shape (n, 8, 8)
    """
    n = len(digits)
    words, vectors = map(
        torch.tensor, rows(np.zeros((n, 8, 8)), digits, np.ones(n, bool))
    )
    for t in range(1 + LETTERS, T):
        _, guesses = model(words[:, :t], vectors[:, :t])
        vectors[:, t] = guesses[:, -1]
    side = 8 // SIZE
    drawn = (
        vectors[:, 1 + LETTERS :].numpy().reshape(n, side, side, SIZE, SIZE)
    )
    return drawn.swapaxes(2, 3).reshape(n, 8, 8)
