"""A published model, computed by the functions of one half."""

from functools import cached_property, partial
from importlib import import_module

from tfbook.numpy.check_model import head_matrix, model_layers
from tfbook.numpy.checks import expect_tokens
from tfbook.shapes import expect, expect_broadcast


class PretrainedModel:
    """A BERT, a GPT-2 or a Llama, as :func:`load` reads it.

    Attributes
    ----------
    P : dict of arrays
        Parameters, as :func:`language_model` takes them; of a BERT also the table of
        segments ``S`` (kinds, d) and ``gamma_e beta_e`` (d,), a norm after the
        embedding.
    config : dict
        ``config.json``.
    tokenizer : tokenizers.Tokenizer or None
        With padding and truncation off; None where the folder has none.
    """

    def __init__(
        self,
        P,
        config,
        folder,
        half,
        H,
        norm,
        activation,
        eps,
        H_kv=None,
        positions=None,
        frequencies=None,
        scale=None,
    ):
        self.P, self.config, self.folder = P, config, folder
        self.half = import_module(f"tfbook.{half}")
        self.checks = import_module(f"tfbook.{half}.checks")
        norms = import_module(f"tfbook.{half}.normalization")
        self.normalized = norms.normalized
        if activation == "gelu_tanh":
            activation = partial(self.half.gelu, approximate=True)
        # a causal model has positions, of a scheme of language_model
        self.H, self.positions = H, positions
        self.form = {
            "H_kv": H_kv,
            "norm": norm,
            "activation": activation,
            "eps": eps,
        }
        self.turn = None
        if frequencies:
            self.turn = {
                "pairs": "halves",
                "frequencies": self.half.rotary_frequencies(**frequencies),
                "scale": scale,
            }

    def __call__(
        self, tokens, mask=None, segments=None, pad=None, cache=None
    ):
        """Run the model on tokens.

        Parameters
        ----------
        tokens : array_like of int, shape (B, T)
        mask : array_like of bool, broadcasts to (B, T, T), optional
            True where a token may attend to another, such as :func:`padding_mask`'s;
            a causal model adds its own.
        segments : array_like of int, shape (B, T), optional
            Of a BERT, the part of the text that each token belongs to; default: 0.
        pad, cache
            As in :func:`language_model`, of which a causal model is one, so that
            :func:`generate` takes it.

        Returns
        -------
        array, shape (B, T, d) or (B, T, vocab)
            Of a BERT the last hidden states, of a causal model the logits of the token
            after each.

        Raises
        ------
        ValueError
            Where an argument does not fit, or the model cannot honour it.
        IndexError
            Where a token is not in the vocabulary.
        """
        if self.positions is None:
            self._expect_none("a causal model", pad=pad, cache=cache)
            return self.hidden(tokens, mask, segments)[-1]
        if mask is not None:
            self._expect_none("no mask", pad=pad, cache=cache)
            E = self.P["E"]
            X = self.hidden(tokens, mask, segments)[-1]
            return X @ head_matrix(self.P, E)
        self._expect_none("a BERT", segments=segments)
        return self.half.language_model(
            tokens,
            self.P,
            self.H,
            positions=self.positions,
            pad=pad,
            cache=cache,
            attention=self._turned(self.half.scaled_dot_product_attention),
            **self.form,
        )

    def hidden(self, tokens, mask=None, segments=None):
        """Compute the vectors of the tokens before each layer and after the last; where
        the model ends with a norm, the last are normalised.

        Parameters
        ----------
        tokens, mask, segments
            As in a call of the model.

        Returns
        -------
        list of L + 1 arrays, shape (B, T, d)
        """
        attention = self.half.scaled_dot_product_attention
        return self._through(tokens, mask, segments, attention)

    def attention(self, tokens, mask=None, segments=None):
        """Compute the attention weights of every head.

        Parameters
        ----------
        tokens, mask, segments
            As in a call of the model.

        Returns
        -------
        list of L arrays, shape (B, H, T, T)
        """
        weights = []

        def attend(Q, K, V, mask=None, bias=None, scale=None):
            A = self.half.attention_weights(Q, K, mask, bias, scale)
            weights.append(A)
            return self.half.scaled_dot_product_attention(
                Q, K, V, mask, bias, scale
            )

        self._through(tokens, mask, segments, attend)
        return weights

    def _through(self, tokens, mask, segments, attention):
        """Every hidden state, with the given attention in each layer."""
        half, P, eps = self.half, self.P, self.form["eps"]
        tokens = self.checks.integers("tokens", tokens, P["E"])
        expect("tokens", tokens.shape, "(..., T)")
        T = tokens.shape[-1]
        if mask is not None:
            mask = self.checks.booleans("mask", mask, P["E"])
            to = (*tokens.shape, T)
            expect_broadcast("mask", mask.shape, to, "(..., T, T)")
        if self.positions is not None:
            causal = self.checks.booleans("mask", half.causal_mask(T), P["E"])
            mask = causal if mask is None else mask & causal

        at = half.learned_positions(P["P"], T) if "P" in P else None
        X = half.embed(tokens, P["E"], at)
        if "S" in P:
            segments = 0 * tokens if segments is None else segments
            segments = self.checks.integers("segments", segments, P["E"])
            expect_broadcast(
                "segments", segments.shape, tokens.shape, "(..., T)"
            )
            expect_tokens("segments", segments, len(P["S"]))
            X = half.layer_norm(
                X + half.embed(segments, P["S"]),
                P["gamma_e"],
                P["beta_e"],
                eps,
            )
        else:
            self._expect_none("a BERT", segments=segments)

        states, attention = [X], self._turned(attention)
        for layer in model_layers(P, untied=True):
            X = half.transformer_layer(
                X, layer, self.H, mask=mask, attention=attention, **self.form
            )
            states.append(X)
        if "gamma_f" in P:
            states[-1] = self.normalized(
                X, P["gamma_f"], P.get("beta_f"), eps
            )
        return states

    def _turned(self, attention):
        """An attention that turns queries and keys first, where the model does."""
        if self.turn is None:
            return attention
        rotary = self.half.rotary_attention
        return partial(rotary, attention=attention, **self.turn)

    def _expect_none(self, otherwise, **arguments):
        """Raise where an argument is given that the model cannot honour."""
        for name, value in arguments.items():
            if value is not None:
                raise ValueError(
                    f"{name}: expected none for a {self.config['model_type']}"
                    f" here, only with {otherwise}"
                )

    @cached_property
    def tokenizer(self):
        path = self.folder / "tokenizer.json"
        if not path.is_file():
            return None
        try:
            from tokenizers import Tokenizer
        except ImportError:
            raise ImportError(
                "tokenizer: expected the package tokenizers, which reads"
                ' tokenizer.json; run: pip install "tfbook[pretrained]"'
            ) from None
        try:
            tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:  # the package raises this very class
            raise ValueError(
                f"tokenizer.json: expected a tokenizer, {error}"
            ) from None
        tokenizer.no_padding()
        tokenizer.no_truncation()
        return tokenizer
