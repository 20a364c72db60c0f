"""A text made ready to learn from: no paragraph twice, a part held out, windows to
read; and how much of a text stands in another.
"""

import numpy as np

from tfbook.numpy.checks import array, expect, whole


def windows(tokens, T, n, rng):
    """Cut n windows of T tokens out of a long text, anywhere, each with the tokens that
    come one later.

    Parameters
    ----------
    tokens : array_like of int, shape (N,)
    T, n : int
    rng : numpy.random.Generator

    Returns
    -------
    inputs, targets : ndarray of int, shape (n, T)
        ``targets[:, t]`` is the token after ``inputs[:, t]``.

    Raises
    ------
    ValueError
        Where the text is shorter than one window and the token after it.

    Examples
    --------
    >>> windows(np.arange(100), T=4, n=2, rng=np.random.default_rng(0))
    (array([[81, 82, 83, 84],
           [61, 62, 63, 64]]), array([[82, 83, 84, 85],
           [62, 63, 64, 65]]))
    """
    tokens = long_enough(tokens, T)
    at = rng.integers(len(tokens) - T, size=(n, 1)) + np.arange(T + 1)
    return tokens[at[:, :-1]], tokens[at[:, 1:]]


def all_windows(tokens, T):
    """Cut a text into windows one behind the other, so that each token but the first is
    a target once; what is left over falls away.

    Parameters
    ----------
    tokens : array_like of int, shape (N,)
    T : int

    Returns
    -------
    inputs, targets : ndarray of int, shape ((N − 1) // T, T)

    Examples
    --------
    >>> all_windows(np.arange(8), T=3)
    (array([[0, 1, 2],
           [3, 4, 5]]), array([[1, 2, 3],
           [4, 5, 6]]))
    """
    tokens = long_enough(tokens, T)
    n = (len(tokens) - 1) // T
    return tokens[: n * T].reshape(n, T), tokens[1 : n * T + 1].reshape(n, T)


def long_enough(tokens, T):
    """Tokens as an array of more than T whole numbers, or an error; those of a
    memory-mapped file stay in it.
    """
    tokens, T = array("tokens", tokens), whole("T", T, least=1)
    if tokens.dtype.kind not in "iu":
        raise ValueError(
            f"tokens: expected whole numbers, got dtype {tokens.dtype}"
        )
    expect("tokens", tokens.shape, "(N,)")
    if len(tokens) <= T:
        raise ValueError(
            f"tokens: expected more than T = {T}, got {len(tokens)}"
        )
    return tokens


def without_repeats(text):
    r"""Leave out every paragraph that stood before: what a model is tested on must not
    stand in what it was trained on.

    Parameters
    ----------
    text : str
        Paragraphs with an empty line between them.

    Returns
    -------
    str
        Short paragraphs, below 40 characters, may come again.

    Examples
    --------
    >>> long = "A paragraph of more than forty characters, once."
    >>> without_repeats(
    ...     f"{long}\n\nNote:\n\n{long}\n\nNote:"
    ... ) == f"{long}\n\nNote:\n\nNote:"
    True
    """
    seen, kept = set(), []
    for paragraph in text.split("\n\n"):
        if len(paragraph) < 40 or paragraph not in seen:
            kept.append(paragraph)
        seen.add(paragraph)
    return "\n\n".join(kept)


def split(tokens, part=0.9):
    """Cut a text, or its tokens, in two: the first part to train on, the rest to test
    on.

    Parameters
    ----------
    tokens : str or ndarray, length N
    part : float
        Share of the first part, between 0 and 1.

    Returns
    -------
    tuple of two, of the kind of ``tokens``

    Raises
    ------
    ValueError
        Where a part would be empty.

    Examples
    --------
    >>> split("abcdefghij")
    ('abcdefghi', 'j')
    """
    cut = int(part * len(tokens))
    if not 0 < cut < len(tokens):
        raise ValueError(
            f"part: expected a share that leaves two parts of {len(tokens)} tokens, got"
            f" {part}"
        )
    return tokens[:cut], tokens[cut:]


def longest_overlap(sample, text):
    """Find the longest piece of a sample that stands in a text word for word.

    Parameters
    ----------
    sample, text : str

    Returns
    -------
    str
        The first of the longest pieces.

    Examples
    --------
    >>> longest_overlap("the cat sat", "a cat sits; the catalogue")
    'the cat'
    """
    longest = ""
    for start in range(len(sample)):
        while (
            start + len(longest) < len(sample)
            and sample[start : start + len(longest) + 1] in text
        ):
            longest = sample[start : start + len(longest) + 1]
    return longest
