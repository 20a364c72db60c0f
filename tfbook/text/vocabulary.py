"""A text that needs no download, and its characters as tokens."""

import numpy as np

from tfbook.numpy.checks import expect, expect_tokens, integers


def text():
    """Get real English on a technical subject: the help texts of Python, from its own
    standard library.

    Returns
    -------
    str
        About 465,000 characters. It is the same whenever one version of Python runs,
        and differs between versions.

    Examples
    --------
    >>> "assert statement" in text()
    True
    """
    from pydoc_data.topics import topics

    return "\n\n".join(topics[name] for name in sorted(topics))


def characters(text):
    """List the different characters of a text, in order: the vocabulary where a token
    is a character.

    Parameters
    ----------
    text : str

    Returns
    -------
    str
        Its length is ``vocab``.

    Examples
    --------
    >>> characters("banana")
    'abn'
    """
    return "".join(sorted(set(text)))


def encode(text, characters):
    """Turn characters into tokens: the index of each in the vocabulary.

    Parameters
    ----------
    text : str
    characters : str
        The vocabulary, each character once.

    Returns
    -------
    ndarray of int64, shape (T,)

    Raises
    ------
    ValueError
        Where the text has a character that the vocabulary lacks.

    Examples
    --------
    >>> encode("banana", "abn")
    array([1, 0, 2, 0, 2, 0])
    """
    token_of = {
        character: token for token, character in enumerate(characters)
    }
    if missing := set(text) - set(token_of):
        raise ValueError(
            "text: expected only characters of the vocabulary, got"
            f" {''.join(sorted(missing))!r} too"
        )
    return np.array(
        [token_of[character] for character in text], dtype=np.int64
    )


def decode(tokens, characters):
    """Turn tokens back into characters.

    Parameters
    ----------
    tokens : array_like of int, shape (T,)
    characters : str
        The vocabulary that they were encoded with.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        Where tokens are not whole numbers, or not one sequence of them.
    IndexError
        Where a token is not in the vocabulary.

    Examples
    --------
    >>> decode([1, 0, 2, 0, 2, 0], "abn")
    'banana'
    """
    tokens = integers("tokens", tokens)
    expect("tokens", tokens.shape, "(T,)")
    expect_tokens("tokens", tokens, len(characters))
    return "".join(characters[token] for token in tokens)
