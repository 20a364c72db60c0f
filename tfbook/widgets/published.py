"""Sizes of published models, and counts in words."""

from tfbook import cost

SIZES = ("d", "d_k", "L", "vocab")
MODELS = {  # as published; all have as many key/value heads as heads, and d_ff = 4 d
    name: {**dict(zip(SIZES, sizes)), "H_kv": "H", "ff_ratio": 4}
    for name, sizes in {
        "Transformer-base": (512, 64, 6, 37000),
        "Transformer-big": (1024, 64, 6, 37000),
        "BERT-base": (768, 64, 12, 30522),
        "GPT-2-small": (768, 64, 12, 50257),
        "GPT-3": (12288, 128, 96, 50257),
    }.items()
}
OWN = "own"  # sizes of no published model
LENGTHS = [2**i for i in range(4, 21)]
BYTES = 2  # of a number in half precision


def count(model, T):
    """The cost of a published model over T tokens."""
    d, d_k, L, vocab = (MODELS[model][name] for name in SIZES)
    return cost.model(T, d, d // d_k, L, vocab)


def parts(row):
    """Return the FLOPs of the four projections, of scores and mix, and of the
    feed-forward network.
    """
    flops = row.flops
    return [
        flops["projections"] + flops["output"],
        flops["scores"] + flops["mix"],
        flops["ffn"],
    ]


def whole(model, T):
    """Return the share of each part in a pass of a published model, logits included,
    and all its FLOPs; nothing for one's own.
    """
    if model == OWN:
        return None
    row = count(model, T)
    return {
        "shares": [
            round(100 * n / row.total_flops, 1)
            for n in (*parts(row), row.flops["logits"])
        ],
        "total": short(row.total_flops),
    }


def short(n):
    """Write a count with three digits and a prefix.

    Examples
    --------
    >>> short(735_000_000_000_000), short(1536)
    ('735 T', '1.54 k')
    """
    for power, prefix in (
        (18, "E"),
        (15, "P"),
        (12, "T"),
        (9, "G"),
        (6, "M"),
        (3, "k"),
    ):
        if n >= 0.9995 * 10**power:
            digits = f"{n / 10**power:.3g}"
            return f"{float(digits):g} {prefix}"
    return f"{n:.3g} "


def still():
    """The table that stands where no script runs."""
    rows = ""
    for model in MODELS:
        for T in (512, 2048, 32768):
            passed, memory = whole(model, T), count(model, T).memory
            cells = [
                *(f"{share:.1f} %" for share in passed["shares"]),
                passed["total"],
            ]
            cells += [
                short(BYTES * memory[part]) + "B"
                for part in ("scores", "cache")
            ]
            rows += (
                f"<tr><th scope=row>{model}, T = {T}</th>"
                + "".join(f"<td>{cell}</td>" for cell in cells)
                + "</tr>"
            )
    names = (
        "",
        "projections",
        "scores and mix",
        "FFN",
        "logits",
        "FLOPs",
        "score matrices",
        "key/value cache",
    )
    head = "".join(f"<th scope=col>{name}</th>" for name in names)
    return (
        "<table><caption>Shares of one pass over T tokens, and memory in half "
        f"precision</caption><tr>{head}</tr>{rows}</table>"
    )
