"""How every public name of ``tfbook.torch`` is called on a device: the calls of
``cases``, and those that are torch's alone.
"""

from functools import partial

from calls import Arguments, call
from cases import CASES, qkv
from torch.func import functional_call

import tfbook.torch as tt


class Small(Arguments):
    """Numbers of deviation 1/3: products stay near 1, and no network doubles its
    roundings with every step.
    """

    def __call__(self, form):
        return (super().__call__(form) / 3).astype(self.dtype)


def generated(P, tokens, n, H, H_kv, **options):
    return tt.generate(
        partial(tt.language_model, P=P, H=H, H_kv=H_kv, positions="none"),
        tokens,
        n,
        **options,
    )


def prompts(a, **options):
    P = {name: p for name, p in a.model().items() if not name.endswith("_f")}
    return call(
        P, a.whole("... T", below=a.vocab), a.n, a.H, a.H_kv, smooth=False, **options
    )


def module(make):
    """A module as a function of its parameters and of what it is called with."""

    def f(P, *args, **options):
        return functional_call(make(), P, args, options)

    def way(*args, **options):
        return lambda a: call(
            {
                name: a(" ".join(map(str, p.shape)))
                for name, p in make().named_parameters()
            },
            *(x(a) for x in args),
            **{name: x(a) for name, x in options.items()},
        )

    return f, way


def modules():
    """Each module of the package, in the forms that differ on a device, as (name,
    function, way).
    """
    a = Small()
    X, mask, tokens = (
        (lambda a: a("... T d")),
        (lambda a: a.mask("T T")),
        (lambda a: a.whole("... T", below=a.vocab)),
    )
    heads = {"H_kv": a.H_kv, "d_k": a.d_k, "d_v": a.d_v}
    sizes = {**heads, "d_ff": a.d_ff}
    forms = [
        *(
            (partial(tt.MultiHeadAttention, a.d, a.H, **heads, **form), (X, mask), {})
            for form in ({}, {"fused": True}, {"rotary": True})
        ),
        (
            partial(tt.MultiHeadAttention, a.d, a.H, **heads, fused=True),
            (X,),
            {"context": lambda a: a("... T_k d"), "bias": lambda a: a("H T T_k")},
        ),
        (partial(tt.FeedForward, a.d, a.d_ff, "gelu"), (X,), {}),
        (partial(tt.FeedForward, a.d, a.d_ff, gated=True), (X,), {}),
        (partial(tt.LayerNorm, a.d), (X,), {}),
        *(
            (
                partial(tt.TransformerLayer, a.d, a.H, **sizes, norm=norm, fused=fused),
                (X, mask),
                {},
            )
            for norm in ("post", "pre", "both")
            for fused in (False, True)
        ),
        (partial(tt.Transformer, 2, a.d, a.H, **sizes, norm="pre"), (X, mask), {}),
        *(
            (
                partial(
                    tt.LanguageModel,
                    a.vocab,
                    a.T_max,
                    a.d,
                    a.H,
                    2,
                    positions,
                    **sizes,
                    norm="pre",
                ),
                (tokens,),
                {},
            )
            for positions in ("learned", "sinusoidal", "rotary", "alibi", "none")
        ),
        (
            partial(tt.LanguageModel, a.vocab, a.T_max, a.d, a.H, 2, "rotary", **sizes),
            (tokens,),
            {"pad": lambda a: a.whole("...", below=4)},
        ),
    ]
    for make, args, options in forms:
        f, way = module(make)
        yield make.func.__name__, f, way(*args, **options)


def nothing_to_attend(a):
    mask = a.mask("... T T_k")
    mask[..., 1, :] = False
    return mask


# what a device does in its own way: kernels, masks, rows that may attend nothing
MORE = {
    "fused_attention": [
        lambda a: call(*qkv(a)),
        lambda a: call(*qkv(a), nothing_to_attend(a), a("T T_k"), 0.3, causal=True),
        lambda a: call(a("... T d_k"), a("... T d_k"), a("... T d_v"), causal=True),
    ],
    "scaled_dot_product_attention": [lambda a: call(*qkv(a), nothing_to_attend(a))],
    "streaming_attention": [lambda a: call(*qkv(a), nothing_to_attend(a), block=2)],
    "cross_entropy": [
        lambda a: call(60 * a("... T vocab"), a.whole("... T", below=a.vocab))
    ],
}
DECODING = {
    "generate": (
        generated,
        [
            prompts,
            lambda a: prompts(
                a, lengths=a.whole("...", below=a.T + 1, least=1), cached=False
            ),
        ],
    )
}
NO_CALL = {
    "device": "takes and gives no tensor; test_device_is_cuda_where_there_is_one"
}

CALLS = [(name, f, way) for name, (f, ways) in DECODING.items() for way in ways]
CALLS += [
    (name, getattr(tt, name), way)
    for name, ways in CASES.items()
    if name not in DECODING
    for way in ways
]
CALLS += [(name, getattr(tt, name), way) for name, ways in MORE.items() for way in ways]
CALLS += modules()
