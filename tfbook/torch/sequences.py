"""Sequences of anything through the same layers: vectors with a class, and vectors and
words in one row.
"""

import torch
from torch import nn

from tfbook.numpy.checks import expect, flag, whole
from tfbook.torch.checks import alike, floats, integers
from tfbook.torch.embedding import embed
from tfbook.torch.language_model import Transformer
from tfbook.torch.masks import causal_mask
from tfbook.torch.modules import add_parameters
from tfbook.torch.positions import learned_positions


class SequenceClassifier(Transformer):
    """Say what a sequence of vectors is: embed each, let the layers read them, average,
    score the classes.

    Parameters
    ----------
    d_in : int
        Numbers in a vector: pixels of a patch, frequencies of a frame.
    classes : int
    T_max : int
        Rows of the table of positions.
    d, H, L : int
        Channels of a token, heads and layers.
    positions : bool
        Add the table of positions to the tokens.
    **options
        Of every :class:`TransformerLayer`.

    Examples
    --------
    >>> model = SequenceClassifier(
    ...     d_in=4, classes=10, T_max=16, d=6, H=3, L=2
    ... )
    >>> model(torch.randn(2, 16, 4)).shape
    torch.Size([2, 10])
    """

    def __init__(
        self, d_in, classes, T_max, d, H, L, positions=True, **options
    ):
        super().__init__(L, d, H, **{"norm": "pre", **options})
        d_in, classes = (
            whole("d_in", d_in, least=1),
            whole("classes", classes, least=1),
        )
        add_parameters(
            self,
            {
                "W_in": (d_in, d),
                "b_in": (d,),
                "W_out": (d, classes),
                "b_out": (classes,),
            },
        )
        self.positions = flag("positions", positions)
        if positions:
            self.P = nn.Parameter(
                0.02 * torch.randn(whole("T_max", T_max, least=1), d)
            )

    def tokens(self, X):
        """Vectors (..., T, d_in) as tokens (..., T, d)."""
        X, _ = alike(X=X, W_in=self.W_in)
        expect("X", X.shape, "(..., T, d_in)", d_in=self.W_in.shape[0])
        whole("T", X.shape[-2], least=1)
        X = X @ self.W_in + self.b_in
        return (
            X + learned_positions(self.P, X.shape[-2])
            if self.positions
            else X
        )

    def forward(self, X):
        """Vectors (..., T, d_in) in, logits (..., classes) out."""
        # every token may see every other
        read = super().forward(self.tokens(X))
        return read.mean(dim=-2) @ self.W_out + self.b_out


class MixedModel(Transformer):
    """Guess what comes next in a row of words and vectors: a causal stack with two
    doors in and two out.

    Parameters
    ----------
    vocab : int
        Different words.
    d_in : int
        Numbers in a vector.
    T_max : int
        Rows of the table of positions.
    d, H, L : int
        Channels of a token, heads and layers.
    **options
        Of every :class:`TransformerLayer`.

    Examples
    --------
    >>> model = MixedModel(vocab=9, d_in=4, T_max=8, d=6, H=3, L=2)
    >>> words = torch.tensor([3, -1, -1, 5])  # −1: a vector stands here
    >>> logits, vectors = model(words, torch.randn(4, 4))
    >>> logits.shape, vectors.shape
    (torch.Size([4, 9]), torch.Size([4, 4]))
    """

    def __init__(self, vocab, d_in, T_max, d, H, L, **options):
        super().__init__(L, d, H, **{"norm": "pre", **options})
        self.E = nn.Parameter(
            0.02 * torch.randn(whole("vocab", vocab, least=1), d)
        )
        self.P = nn.Parameter(
            0.02 * torch.randn(whole("T_max", T_max, least=1), d)
        )
        add_parameters(
            self,
            {
                "W_in": (whole("d_in", d_in, least=1), d),
                "W_vector": (d, d_in),
                "b_vector": (d_in,),
            },
        )

    def forward(self, words, vectors):
        """Read words (..., T), −1 where a vector stands, and vectors (..., T, d_in);
        guess what comes after each.

        Returns
        -------
        logits : Tensor, shape (..., T, vocab)
        guesses : Tensor, shape (..., T, d_in)
        """
        vectors, _ = alike(vectors=vectors, W_in=self.W_in)
        words = integers("words", words, vectors)
        expect(
            "vectors",
            vectors.shape,
            "(..., T, d_in)",
            d_in=self.W_in.shape[0],
        )
        is_word = (words >= 0)[..., None]
        as_words = embed(words.clamp(min=0), self.E)
        X = torch.where(is_word, as_words, vectors @ self.W_in)
        T = X.shape[-2]
        X, mask = (
            X + learned_positions(self.P, T),
            causal_mask(T).to(X.device),
        )
        X = super().forward(X, mask)
        return X @ self.E.T, X @ self.W_vector + self.b_vector


def mixed_loss(model, sequence, share=1.0):
    """Mean loss of what comes next: cross-entropy in nats where it is a word, squared
    error where it is a vector.

    Parameters
    ----------
    model : MixedModel
    sequence : tuple of Tensor
        Words (..., T), −1 where a vector stands, and vectors (..., T, d_in).
    share : float
        What a vector counts, where a word counts 1.

    Returns
    -------
    Tensor
        A number; a kind that never comes adds 0 to it.

    Raises
    ------
    ValueError
        Where the row is shorter than two, so that nothing comes next.

    Examples
    --------
    >>> model = MixedModel(vocab=9, d_in=4, T_max=8, d=6, H=3, L=2)
    >>> mixed_loss(
    ...     model, (torch.tensor([[3, -1, 5]]), torch.zeros(1, 3, 4))
    ... ).ndim
    0
    """
    words, vectors = sequence
    words = integers("words", words, floats("vectors", vectors))
    expect("words", words.shape, "(..., T)")
    whole("T", words.shape[-1], least=2)
    logits, guesses = model(words[..., :-1], vectors[..., :-1, :])
    target, is_word = words[..., 1:], words[..., 1:] >= 0
    for_words = nn.functional.cross_entropy(
        logits[is_word], target[is_word], reduction="none"
    )
    for_vectors = (guesses - vectors[..., 1:, :])[~is_word].square()
    return mean(for_words) + share * mean(for_vectors)


def mean(losses):
    """The mean of some losses, 0 for none."""
    return losses.sum() / max(losses.numel(), 1)
