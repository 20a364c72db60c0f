"""A stack of layers and a language model as modules."""

import torch
from torch import nn

from tfbook.numpy.checks import whole
from tfbook.numpy.position_schemes import position_scheme
from tfbook.torch.cache import all_or_nothing
from tfbook.torch.model import read_tokens
from tfbook.torch.modules import TransformerLayer, add_parameters
from tfbook.torch.normalization import layer_norm
from tfbook.torch.position_schemes import POSITION_SCHEMES


class Transformer(nn.Module):
    """Layers one after the other; a stack that is not post-norm ends with a
    normalisation of its own, ``gamma_f beta_f``.

    Parameters
    ----------
    L : int
        Layers.
    d, H : int
        Channels of a token, and heads.
    **options
        Of every :class:`TransformerLayer`.

    Examples
    --------
    >>> Transformer(L=2, d=6, H=3, norm="pre")(torch.randn(2, 5, 6)).shape
    torch.Size([2, 5, 6])
    """

    def __init__(self, L, d, H, **options):
        super().__init__()
        self.layers = nn.ModuleList(
            TransformerLayer(d, H, **options)
            for _ in range(whole("L", L, least=1))
        )
        # nothing else bounds the sum of the residuals
        self.final_norm = options.get("norm", "post") != "post"
        if self.final_norm:
            add_parameters(self, {"gamma_f": (d,), "beta_f": (d,)})

    def forward(self, X, mask=None, bias=None):
        """Tokens (..., T, d) in and out."""
        for layer in self.layers:
            X = layer(X, mask, bias)
        return self.normalized(X)

    def normalized(self, X):
        """What the last layer gave, after the final norm where the stack has one."""
        return (
            layer_norm(X, self.gamma_f, self.beta_f) if self.final_norm else X
        )


class LanguageModel(Transformer):
    """Guess each next token from those before it: a causal stack, whose table ``E``
    reads tokens and scores them too.

    Parameters
    ----------
    vocab : int
        Tokens there are.
    T_max : int
        Rows of the table of positions ``P``, where they are learned; the other forms
        have no end.
    d, H, L : int
        Channels of a token, heads and layers.
    positions : str
        One of ``POSITION_SCHEMES``: "learned", "sinusoidal", "rotary", "alibi", "none".
        What tells the order: a table added to the tokens, a turn of queries and keys, a
        bias of the scores, or the mask alone.
    **options
        Of every :class:`TransformerLayer`.

    Examples
    --------
    >>> model = LanguageModel(vocab=11, T_max=8, d=6, H=3, L=2)
    >>> model(torch.tensor([[1, 2, 3], [4, 5, 6]])).shape
    torch.Size([2, 3, 11])
    """

    def __init__(self, vocab, T_max, d, H, L, positions="learned", **options):
        scheme = position_scheme(positions, POSITION_SCHEMES)
        super().__init__(L, d, H, **options)
        self.positions = positions
        for layer in self.layers:
            layer.attention = scheme.around(layer.attention)
        # small: the first guess is near to even
        self.E = nn.Parameter(
            0.02 * torch.randn(whole("vocab", vocab, least=1), d)
        )
        if scheme.table:
            self.P = nn.Parameter(
                0.02 * torch.randn(whole("T_max", T_max, least=1), d)
            )

    def forward(self, tokens, pad=None, cache=None):
        """Tokens (..., T) in, logits (..., T, vocab) of each next token out; as
        :func:`language_model`.
        """
        H, table = self.layers[0].H, getattr(self, "P", None)
        X, mask, bias = read_tokens(
            tokens, self.E, table, H, self.positions, pad, cache
        )
        with all_or_nothing(cache):
            for l, layer in enumerate(self.layers):
                X = layer(
                    X,
                    mask,
                    bias,
                    **({} if cache is None else {"cache": cache[l]}),
                )
            return self.normalized(X) @ self.E.T
