"""How to call every public function of the package: the table that ``test_parity``
walks.

To add a function, add a line to ``CASES``: its name, and one or more ways to call it. A
way takes ``a``, the ``calls.Arguments``, and gives ``call(...)`` of some. ``a("... T
d")`` is an array of that shape, with leading axes and sizes that the walk chooses;
``a.mask("... T T_k")`` is boolean, ``a.whole("... T", below=a.vocab)`` has whole
numbers, ``a.T`` is a size, ``a.dtype`` the dtype. ``In(lambda half: ...)`` is made by
each half for itself, as functions and generators are. Where no array comes back,
``then`` makes some of what does. Shapes are held against those that the docstring
states, by the names of the sizes.
"""

from functools import partial

import numpy as np
from calls import In, call, generator, native, of

ONE_HALF_ONLY = {  # names, * for any ending, with the reason
    "*_vjp": "gradients by hand; PyTorch has its own",
    "init_layer": "the parameters of a torch module are made with it",
    "device": "NumPy has one",
    "fused_attention": (
        "NumPy has no fused kernels; test_fused holds it to the readable form"
    ),
    "MultiHeadAttention": (
        "a module: a function with parameters of its own; test_modules holds it to the "
        "function"
    ),
    "FeedForward": "a module",
    "LayerNorm": "a module",
    "TransformerLayer": "a module",
    "Transformer": "a module",
    "LanguageModel": "a module",
}


def qkv(a):
    return a("... T d_k"), a("... T_k d_k"), a("... T_k d_v")


def weights(a):
    return a("d H*d_k"), a("d H_kv*d_k"), a("d H_kv*d_v"), a("H*d_v d")


def attention_biases(a):
    return {
        "b_Q": a("H*d_k"),
        "b_K": a("H_kv*d_k"),
        "b_V": a("H_kv*d_v"),
        "b_O": a("d"),
    }


def network(a):
    return a("d d_ff"), a("d_ff"), a("d_ff d"), a("d")


def gate(a):
    return a("d d_ff"), a("d d_ff"), a("d_ff d")


def cached(a, **options):
    """Two calls of a layer's cached attention: five tokens, then five more."""
    first, second = (
        (a("... H_kv T d_k"), a("... H_kv T d_k"), a("... H_kv T d_v"))
        for _ in range(2)
    )
    cache = In(lambda half: half.KeyValueCache(block=3))
    return call(
        cache,
        then=lambda attend, native: [attend(*native(X)) for X in (first, second)],
        **options,
    )


def kept(a):
    first, second = ((a("... H_kv T d_k"), a("... H_kv T d_v")) for _ in range(2))
    return call(
        block=3,
        then=lambda cache, native: (
            [[x + 0 for x in cache.extend(*native(X))] for X in (first, second)]
            + [len(cache)]
        ),
    )


def untied(a):
    """A language model of Llama's form: RMS norms, a head of its own."""
    P = a.model(norm="pre", gated=True, biases=True, rms=True)
    return {name: p for name, p in P.items() if name != "beta_f"} | {
        "W_out": a("d vocab")
    }


def generated(a, **options):
    model = In(
        lambda half: partial(
            half.language_model, P=native(half, P), H=a.H, H_kv=a.H_kv, positions="none"
        )
    )
    P = {name: p for name, p in a.model().items() if not name.endswith("_f")}
    return call(model, a.whole("... T", below=a.vocab), a.n, smooth=False, **options)


CASES = {
    "softmax": [
        lambda a: call(a("... T T_k")),
        lambda a: call(a("... T T_k"), axis=-2),
    ],
    "relu": [lambda a: call(a("... T d"))],
    "gelu": [
        lambda a: call(a("... T d")),
        lambda a: call(a("... T d"), approximate=True),
    ],
    "silu": [lambda a: call(a("... T d"))],
    "cross_entropy": [
        lambda a: call(a("... T vocab"), a.whole("... T", below=a.vocab))
    ],
    "causal_mask": [
        lambda a: call(a.T),
        lambda a: call(a.T, a.T_k),
        lambda a: call(a.T, 3),
    ],
    "padding_mask": [lambda a: call(a.whole("...", below=a.T_k + 1), a.T_k)],
    "attention_scores": [
        lambda a: call(a("... T d_k"), a("... T_k d_k")),
        lambda a: call(a("... T d_k"), a("... T_k d_k"), a("T T_k"), scale=0.3),
    ],
    "attention_weights": [
        lambda a: call(a("... T d_k"), a("... T_k d_k")),
        lambda a: call(
            a("... T d_k"), a("... T_k d_k"), a.mask("... T T_k"), a("T T_k"), 0.3
        ),
        lambda a: call(a("... T d_k"), a("... T_k d_k"), np.zeros((5, 7), bool)),
    ],
    "weighted_mean": [
        lambda a: call(a("... T T_k"), a("... T_k d_v")),
        lambda a: call(a("... T T_k"), a("... T_k d_v"), a.mask("... T T_k")),
    ],
    "scaled_dot_product_attention": [
        lambda a: call(*qkv(a)),
        lambda a: call(*qkv(a), a.mask("... T T_k"), a("T T_k"), 0.3),
    ],
    "streaming_attention": [
        lambda a: call(*qkv(a)),
        lambda a: call(*qkv(a), a.mask("... T T_k"), causal=True, scale=0.3, block=3),
    ],
    "split_heads": [lambda a: call(a("... T H*d_k"), a.H)],
    "merge_heads": [lambda a: call(a("... H T d_v"))],
    "repeat_heads": [lambda a: call(a("... H_kv T d_k"), a.n)],
    "multi_head_attention": [
        lambda a: call(a("... T d"), *weights(a), a.H, a.H_kv),
        lambda a: call(
            a("... T d"),
            *weights(a),
            a.H,
            a.H_kv,
            a.mask("... T T_k"),
            a("H T T_k"),
            a("... T_k d"),
        ),
        lambda a: call(
            a("... T d"),
            *weights(a),
            a.H,
            a.H_kv,
            a.mask("T T"),
            attention=of("rotary_attention"),
        ),
        lambda a: call(
            a("... T d"),
            *weights(a),
            a.H,
            a.H_kv,
            context=a("... T_k d"),
            **attention_biases(a),
        ),
    ],
    "multi_head_weights": [
        lambda a: call(
            a("... T d"),
            *weights(a)[:2],
            a.H,
            a.H_kv,
            context=a("... T_k d"),
            b_Q=a("H*d_k"),
            b_K=a("H_kv*d_k"),
        ),
        lambda a: call(
            a("... T d"), *weights(a)[:2], a.H, a.H_kv, context=a("... T_k d")
        ),
        lambda a: call(
            a("... T d"),
            *weights(a)[:2],
            a.H,
            a.H_kv,
            a.mask("... T T_k"),
            a("H T T_k"),
            a("... T_k d"),
        ),
    ],
    "embed": [
        lambda a: call(a.whole("... T", below=a.vocab), a("vocab d")),
        lambda a: call(a.whole("... T", below=a.vocab), a("vocab d"), a("T d")),
    ],
    "sinusoidal_positions": [
        lambda a: call(a.T, a.d, dtype=a.dtype),
        lambda a: call(a.T, 8, 100.0),
    ],
    "learned_positions": [lambda a: call(a("T_max d"), a.T)],
    "rotary": [
        lambda a: call(a("... T d_k")),
        lambda a: call(a("... T d_k"), a.whole("... T", below=1000), 100.0),
        lambda a: call(a.sized(d_k=6)("... T d_k"), a("T")),
        lambda a: call(a.sized(d_k=6)("... T d_k"), pairs="halves"),
        lambda a: call(
            a.sized(d_k=6)("... T d_k"), frequencies=np.array([3.0, 1, 0.1])
        ),
    ],
    "rotary_frequencies": [
        lambda a: call(a.d_k),
        lambda a: call(64, 500.0, "linear", 8.0),
        lambda a: call(64, 10000.0, "ntk", 8.0),
        lambda a: call(64, 10000.0, "yarn", 8.0, 512),
        lambda a: call(64, 500000.0, "llama3", 8.0),
        lambda a: call(64, 500000.0, "llama3", 32.0, 4096),
    ],
    "rotary_attention": [
        lambda a: call(*qkv(a)),
        lambda a: call(
            *qkv(a),
            a.mask("... T T_k"),
            a("T T_k"),
            0.3,
            100.0,
            of("scaled_dot_product_attention"),
        ),
        lambda a: call(*qkv(a), pairs="halves", frequencies=np.array([0.3])),
    ],
    "alibi_bias": [
        lambda a: call(a.H, a.T, a.T_k),
        lambda a: call(7, a.T, a.T_k, dtype=a.dtype),
        lambda a: call(8, a.T, 3),
    ],
    "feed_forward": [
        lambda a: call(a("... d"), *network(a)),
        lambda a: call(a("... d"), *network(a), "gelu"),
        lambda a: call(a("... d"), *network(a), lambda x: x),
    ],
    "gated_feed_forward": [
        lambda a: call(a("... d"), *gate(a)),
        lambda a: call(a("... d"), *gate(a), activation="gelu"),
    ],
    "layer_norm": [
        lambda a: call(a("... d"), a("d"), a("d")),
        lambda a: call(a("... d"), a("d"), a("d"), 0.1),
    ],
    "rms_norm": [
        lambda a: call(a("... d"), a("d")),
        lambda a: call(a("... d"), a("d"), 0.1),
    ],
    "residual": [lambda a: call(a("... T d"), lambda x: x * x)],
    "transformer_layer": [
        lambda a: call(a("... T d"), a.layer(), a.H, a.H_kv),
        lambda a: call(
            a("... T d"),
            a.layer("pre", gated=True),
            a.H,
            a.H_kv,
            "pre",
            mask=a.mask("... T T"),
        ),
        lambda a: call(
            a("... T d"),
            a.layer("both"),
            a.H,
            a.H_kv,
            "both",
            "gelu",
            a.mask("T T"),
            a("H T T"),
            of("rotary_attention"),
        ),
        lambda a: call(
            a("... T d"), a.layer(gated=True), a.H, a.H_kv, activation="relu"
        ),
        lambda a: call(
            a("... T d"),
            a.layer("pre", gated=True, biases=True, rms=True),
            a.H,
            a.H_kv,
            "pre",
            eps=0.1,
        ),
        lambda a: call(a("... T d"), a.layer(biases=True), a.H, a.H_kv, eps=0.1),
    ],
    "transformer": [
        lambda a: call(a("... T d"), [a.layer(), a.layer()], a.H, H_kv=a.H_kv),
        lambda a: call(
            a("... T d"),
            [a.layer("pre"), a.layer("pre")],
            a.H,
            (a("d"), a("d")),
            H_kv=a.H_kv,
            norm="pre",
            mask=a.mask("T T"),
        ),
        lambda a: call(
            a("... T d"),
            [a.layer("pre", rms=True)],
            a.H,
            (a("d"),),
            H_kv=a.H_kv,
            norm="pre",
            eps=0.1,
        ),
    ],
    "rnn": [
        lambda a: call(a("... T d"), a("d d_h"), a("d_h d_h"), a("d_h")),
        lambda a: call(a("... T d"), a("d d_h"), a("d_h d_h"), a("d_h"), a("... d_h")),
    ],
    "lstm": [
        lambda a: call(
            a("... T d"), {"W_x": a("d 4*d_h"), "W_h": a("d_h 4*d_h"), "b": a("4*d_h")}
        ),
        lambda a: call(
            a("... T d"),
            {"W_x": a("d 4*d_h"), "W_h": a("d_h 4*d_h"), "b": a("4*d_h")},
            a("... d_h"),
            a("... d_h"),
        ),
    ],
    "recurrent_attention": [
        lambda a: call(
            a("... T d"), a("... T_k d_h"), a("d d_h"), a("d_h d_h"), a("d_h")
        ),
        lambda a: call(
            a("... T d"),
            a("... T_k d_h"),
            a("d d_h"),
            a("d_h d_h"),
            a("d_h"),
            a("... d_h"),
            a.mask("... T T_k"),
        ),
    ],
    "conv1d": [
        lambda a: call(a("... T d_in"), a("k d_in d_out")),
        lambda a: call(a("... T d_in"), a("k d_in d_out"), a("d_out"), causal=True),
    ],
    "language_model": [
        lambda a: call(a.whole("... T", below=a.vocab), a.model(), a.H, a.H_kv),
        lambda a: call(
            a.whole("... T", below=a.vocab),
            a.model(norm="pre", gated=True),
            a.H,
            a.H_kv,
            "rotary",
            "pre",
            pad=a.whole("...", below=4),
        ),
        lambda a: call(
            a.whole("... T", below=a.vocab),
            a.model(),
            a.H,
            a.H_kv,
            "alibi",
            cache=In(lambda half: half.key_value_caches()),
        ),
        lambda a: call(
            a.whole("... T", below=a.vocab),
            a.model(norm="both"),
            a.H,
            a.H_kv,
            "sinusoidal",
            "both",
            "gelu",
        ),
        lambda a: call(
            a.whole("... T", below=a.vocab),
            untied(a),
            a.H,
            a.H_kv,
            "rotary",
            "pre",
            eps=0.1,
        ),
    ],
    "KeyValueCache": [kept],
    "key_value_caches": [
        lambda a: call(
            block=3,
            then=lambda caches, native: [len(caches), len(caches[1]), caches[1].block],
        )
    ],
    "cached_attention": [cached, lambda a: cached(a, attention=of("rotary_attention"))],
    "left_pad": [
        lambda a: call(
            a.whole("... T", below=a.vocab), a.whole("...", below=a.T + 1, least=1)
        ),
        lambda a: call(a.whole("... T", below=a.vocab)),
    ],
    "generate": [
        generated,
        lambda a: generated(
            a, lengths=a.whole("...", below=a.T + 1, least=1), cached=False
        ),
    ],
    "sample": [
        lambda a: call(
            np.eye(a.vocab)[a.whole("... T", below=a.vocab)].astype(a.dtype),
            In(generator),
            smooth=False,
        )
    ],
    "token_distribution": [
        lambda a: call(a("... vocab")),
        lambda a: call(a("... vocab"), 0.5, 7, 0.8),
        lambda a: call(a("... vocab"), temperature=0, smooth=False),
    ],
}
