"""Every option of the costs, by what it adds; every scheme of communication, by the
tensors that a process holds and sends.
"""

from math import prod

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

import tfbook.torch as tt
from tfbook import cost
from tfbook.cost import roofline, traffic
from tfbook.cost.communication import (
    all_gather,
    all_reduce,
    data_parallel,
    reduce_scatter,
    sequence_parallel,
    tensor_parallel,
)

# ---- options of a model, each against the model without it ----

T, d, H, L, VOCAB = 11, 12, 6, 3, 23
BASE = {"T": T, "d": d, "H": H, "L": L, "vocab": VOCAB}
D = d * d
ADDS = {  # an option: what it adds to which part
    "pooler": (
        {"pooler": True},
        {"flops.logits": 2 * D, "params.logits": D + d, "memory.activations": d},
    ),
    "segments": ({"token_types": 2}, {"params.embedding": 2 * d}),
    "norm of the embedding": ({"embedding_norm": True}, {"params.norms": 2 * d}),
    "untied": ({"tied": False}, {"params.logits": VOCAB * d}),
    "a table of positions": ({"T_max": 40}, {"params.positions": 40 * d}),
    "no last norm": ({"final_norm": False}, {"params.norms": -2 * d}),
    "post-norm": ({"norm": "post"}, {"params.norms": -2 * d}),
    "post-norm and a last norm": ({"norm": "post", "final_norm": True}, {}),
    "both norms and a last": (
        {"norm": "both", "final_norm": True},
        {"params.norms": L * 4 * d},
    ),
    "biases of attention": (
        {"attention_bias": True},
        {"params.projections": L * 3 * d, "params.output": L * d},
    ),
    "a wider network": (
        {"d_ff": 50},
        {
            "flops.ffn": L * 2 * T * 2 * d * 2,
            "params.ffn": L * (2 * d + 1) * 2,
            "memory.activations": L * T * 2,
        },
    ),
    "a gated network": (
        {"gated": True},
        {
            "flops.ffn": L * 2 * T * 4 * D,
            "params.ffn": L * (4 * D - 5 * d),
            "memory.activations": L * T * 4 * d,
        },
    ),
    "shared heads": (
        {"H_kv": 2},
        {
            "flops.projections": -L * 2 * T * d * 16,
            "params.projections": -L * d * 16,
            "memory.activations": -L * T * 16,
            "memory.cache": -L * T * 16,
        },
    ),
    "wider keys": (
        {"d_k": 5},
        {
            "flops.projections": L * 2 * T * d * 36,
            "flops.scores": L * 2 * H * T * T * 3,
            "params.projections": L * d * 36,
            "memory.activations": L * T * 36,
            "memory.cache": L * T * 18,
        },
    ),
    "wider values": (
        {"d_v": 3},
        {
            "flops.projections": L * 2 * T * d * 6,
            "flops.mix": L * 2 * H * T * T,
            "flops.output": L * 2 * T * 6 * d,
            "params.projections": L * d * 6,
            "params.output": L * d * 6,
            "memory.activations": L * T * 12,
            "memory.cache": L * T * 6,
        },
    ),
}


def parts(row):
    return {
        f"{name}.{part}": n
        for name in ("flops", "params", "memory")
        for part, n in getattr(row, name).items()
    }


@pytest.mark.parametrize("name", ADDS)
def test_an_option_adds_what_it_is_made_of(name):
    options, added = ADDS[name]
    without, given = (
        parts(cost.model(**BASE, norm="pre")),
        parts(cost.model(**BASE, **{"norm": "pre", **options})),
    )
    assert {
        part: n - without[part] for part, n in given.items() if n != without[part]
    } == added


def test_bert_with_its_pooler_agrees_with_torchs_counter():
    model = tt.LanguageModel(VOCAB, T, d, H, L, norm="post").eval()
    pooler = torch.nn.Linear(d, d)
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        model(torch.zeros(T, dtype=torch.long))
        pooler(torch.zeros(1, d))
    assert (
        cost.model(**BASE, T_max=T, norm="post", pooler=True).total_flops
        == counter.get_total_flops()
    )


def test_steps_of_what_runs():
    assert cost.model(**BASE).sequential_steps == L
    assert cost.layer(T, d, H).sequential_steps == cost.layer(T, d, H).path_length == 1
    assert cost.rnn(7, 5).memory == {
        "scores": 0,
        "streaming": 0,
        "cache": 5,
        "activations": 7 * 15,
    }
    assert cost.conv(7, 5, 3).memory == {
        "scores": 0,
        "streaming": 0,
        "cache": 10,
        "activations": 7 * 10,
    }
    assert cost.layer(T, d, H).memory["streaming"] == 2 * H * T


# ---- what one of p processes holds and sends, from the shapes of its tensors ----

SIZES = {"T": 24, "d": 24, "H": 4, "B": 8}
OPTIONS = [
    {},
    {"H_kv": 4},
    {"gated": True},
    {"norm": "both"},
    {"d_ff": 60},
    {"gated": True, "d_ff": 40, "d_k": 5, "d_v": 7},
]


def elements(
    p,
    B=8,
    T=24,
    d=24,
    H=4,
    H_kv=None,
    d_k=None,
    d_v=None,
    d_ff=None,
    gated=False,
    norm="post",
    cut=None,
):
    """Elements that a process holds, each tensor by its shape: heads, channels,
    sequences or tokens are 1 of p where they are cut.
    """
    H_kv, d_k, d_v, d_ff = H_kv or H, d_k or d // H, d_v or d // H, d_ff or 4 * d
    heads, channels = (p, p) if cut == "heads" else (1, 1)
    H, H_kv, d_ff, T_q = (
        H // heads,
        H_kv // heads,
        d_ff // channels,
        T // p if cut in ("ring", "gathered") else T,
    )
    B = B // p if cut == "batch" else B
    T_k = T_q * {"ring": 1, "gathered": p}.get(cut, 1)
    matrices = [
        (d, H * d_k),
        (d, H_kv * d_k),
        (d, H_kv * d_v),
        (H * d_v, d),
        (d, d_ff),
        (d_ff, d),
    ]
    vectors = [] if gated else [(d_ff,), (d,)]
    matrices += [(d, d_ff)] if gated else []
    norms = [(d,)] * (8 if norm == "both" else 4)
    made = [
        (d,),
        (H * d_k,),
        (H_kv * d_k,),
        (H_kv * d_v,),
        (H * d_v,),
        (d,),
        (d_ff * (2 if gated else 1),),
        (d,),
    ]
    return {
        "params": sum(map(prod, matrices + vectors + norms)),
        "activations": B * T_q * sum(map(prod, made)),
        "scores": B * H * T_q * T_k,
        "keys": (
            B
            * H_kv
            * T_q
            * (d_k + d_v)
            * {"ring": min(2, p), "gathered": p}.get(cut, 1)
        ),
    }


SCHEMES = {
    "batch": (data_parallel, {}),
    "heads": (tensor_parallel, {}),
    "ring": (sequence_parallel, {}),
    "gathered": (sequence_parallel, {"gathered": True}),
}


@pytest.mark.parametrize("p", [1, 2, 4])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("cut", SCHEMES)
def test_a_process_holds_its_tensors(cut, options, p):
    count, how = SCHEMES[cut]
    assert count(**SIZES, p=p, **how, **options).memory == elements(
        p, cut=cut, **options
    )


@pytest.mark.parametrize("p", [1, 2, 4])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_a_process_sends_its_messages(options, p):
    n, tokens, whole = (
        cost.layer(24, 24, 4, **options).total_params,
        8 * 24 * 24,
        elements(1, **options),
    )
    keys, a_part = whole["keys"], lambda n: (p - 1) * -(-n // p)
    sent = {
        name: tuple(count(**SIZES, p=p, **how, **options).sent.values())
        for name, (count, how) in SCHEMES.items()
    }
    assert sent["batch"] == (0, 0, 2 * a_part(n))
    assert (
        tuple(data_parallel(**SIZES, p=p, sharded=True, **options).sent.values())
        == (a_part(n),) * 3
    )
    assert sent["heads"] == (4 * a_part(tokens), 4 * a_part(tokens), 0)
    assert sent["ring"] == (
        (p - 1) * keys // p,
        (p - 1 + p) * keys // p if p > 1 else 0,
        2 * a_part(n),
    )
    assert sent["gathered"] == (a_part(keys), a_part(keys), 2 * a_part(n))


def test_what_is_sharded_is_held_in_parts():
    n = cost.layer(24, 24, 4).total_params
    assert data_parallel(**SIZES, p=4, sharded=True).memory == elements(
        4, cut="batch"
    ) | {"params": n / 4}
    assert n % 7  # what cannot be divided evenly is rounded up
    assert (
        data_parallel(**SIZES | {"B": 7}, p=7, sharded=True).memory["params"]
        == n // 7 + 1
    )


@pytest.mark.parametrize("p", [1, 2, 3, 5])
def test_collectives_send_whole_pieces(p):
    assert [all_gather(n, p) for n in (0, 1, 60, 61)] == [
        0,
        p - 1,
        (p - 1) * 60 // p,
        (p - 1) * -(-61 // p),
    ]
    assert [reduce_scatter(n, p) for n in (0, 1, 60, 61)] == [
        all_gather(n, p) for n in (0, 1, 60, 61)
    ]
    assert all_reduce(61, p) == 2 * all_gather(61, p)


# ---- bytes, and what a chip can reach ----


@pytest.mark.parametrize("size", [2, 4])
@pytest.mark.parametrize(("H", "H_kv"), [(1, 1), (6, 6), (6, 2)])
def test_kernels_read_and_write_their_tensors(H, H_kv, size):
    T, T_k, d_k, d_v = 10, 14, 3, 5
    Q, K, V, S, Y = (
        H * T * d_k,
        H_kv * T_k * d_k,
        H_kv * T_k * d_v,
        H * T * T_k,
        H * T * d_v,
    )
    plain = traffic.plain_attention(T, d_k, d_v, T_k, H, H_kv, size)
    assert {
        name: (kernel.read, kernel.written, kernel.flops)
        for name, kernel in plain.items()
    } == {
        "scores": (size * (Q + K), size * S, 2 * S * d_k),
        "softmax": (size * S, size * S, 0),
        "mix": (size * (S + V), size * Y, 2 * S * d_v),
    }
    # blocks of 5, which fit evenly, and of 6
    full = [size * (B * B + 2 * B * 8) for B in (5, 6)]
    for chip in (full[0], full[1] - 1, full[1], size * 100, size * 400, 2**20):
        B = traffic.block_of(d_k, d_v, size, chip)
        assert (
            size * (B * B + 2 * B * (d_k + d_v))
            <= chip
            < size * ((B + 1) ** 2 + 2 * (B + 1) * (d_k + d_v))
        )
        passes = -(-(H // H_kv * T) // B)
        fused = traffic.fused_attention(T, d_k, d_v, T_k, H, H_kv, size, chip)
        assert (fused.read, fused.written, fused.flops) == (
            size * (Q + passes * (K + V)),
            size * Y,
            2 * S * (d_k + d_v),
        )


def test_a_sum_of_traffic_is_of_each_part():
    both = traffic.Traffic(1, 2, 4) + traffic.Traffic(10, 20, 40)
    assert (both.read, both.written, both.flops, both.bytes, both.intensity) == (
        11,
        22,
        44,
        33,
        44 / 33,
    )


# TFLOP/s in float32, bfloat16, float16; GB/s; kB of shared memory of a multiprocessor
DATASHEETS = {
    "T4": (8.1, 8.1, 65, 320, 64),
    "A100": (19.5, 312, 312, 2039, 164),
    "H100": (67, 989, 989, 3350, 228),
    "laptop": (1, 1, 1, 80, 1024),
}


@pytest.mark.parametrize("name", roofline.CHIPS)
def test_chips_are_those_of_the_datasheets(name):
    chip, (single, brain, half, bandwidth, block) = (
        roofline.CHIPS[name],
        DATASHEETS[name],
    )
    assert {dtype: rate / 1e12 for dtype, rate in chip.peak.items()} == pytest.approx(
        {"float32": single, "bfloat16": brain, "float16": half}
    )
    assert chip.bandwidth / 1e9 == pytest.approx(bandwidth)
    assert chip.block == block * 2**10
    assert chip.ridge("float16") == pytest.approx(half / bandwidth * 1000)
    assert chip.attainable(1, "float16") == chip.bandwidth
    assert chip.attainable(1e9, "float16") == chip.peak["float16"]
    assert chip.seconds(traffic.Traffic(1, 2, 5), "float16") == (
        5 / chip.peak["float16"],
        3 / chip.bandwidth,
    )
    assert {
        name: torch.finfo(getattr(torch, name)).bits // 8 for name in roofline.SIZES
    } == roofline.SIZES
