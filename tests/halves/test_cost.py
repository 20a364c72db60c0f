"""Costs agree with what torch's own counter sees tfbook do, to the last FLOP, and with
the sizes of known models.
"""

import numpy as np
import pytest
import torch
from all_pairs import all_pairs
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

import tfbook.torch as tt
from tfbook import cost


def count(f, *args, **options):
    """FLOPs of one call, as torch counts them."""
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        f(*args, **options)
    return counter.get_total_flops()


def zeros(*shape):
    return torch.zeros(shape)


SIZES = [  # T, d, H, H_kv, d_k, d_v
    (7, 12, 1, 1, None, None),
    (7, 12, 3, 3, None, None),
    (11, 24, 6, 2, None, None),
    (11, 24, 6, 1, 5, 7),
    (1, 10, 5, 5, 3, 2),
]


@pytest.mark.parametrize(("T", "d", "H", "H_kv", "d_k", "d_v"), SIZES)
def test_attention_agrees_with_torchs_counter(T, d, H, H_kv, d_k, d_v):
    counted = cost.layer(T, d, H, H_kv=H_kv, d_k=d_k, d_v=d_v)
    d_k, d_v = d_k or d // H, d_v or d // H
    W = zeros(d, H * d_k), zeros(d, H_kv * d_k), zeros(d, H_kv * d_v), zeros(H * d_v, d)
    Q, K, V = zeros(H, T, d_k), zeros(H, T, d_k), zeros(H, T, d_v)
    assert counted.flops["scores"] == count(tt.attention_scores, Q, K)
    assert counted.flops["scores"] + counted.flops["mix"] == count(
        tt.scaled_dot_product_attention, Q, K, V
    )
    parts = ("projections", "scores", "mix", "output")
    assert sum(counted.flops[part] for part in parts) == count(
        tt.multi_head_attention, zeros(T, d), *W, H, H_kv
    )
    assert counted.params["projections"] + counted.params["output"] == sum(
        w.numel() for w in W
    )
    assert (
        counted.memory["scores"]
        == tt.multi_head_weights(zeros(T, d), W[0], W[1], H, H_kv).numel()
    )
    assert counted.memory["cache"] == T * (W[1].shape[-1] + W[2].shape[-1])


def numbers(module):
    return sum(p.numel() for p in module.parameters())


@all_pairs(
    size=SIZES, norm=["post", "pre", "both"], d_ff=[None, 29], gated=[False, True]
)
def test_a_layer_agrees_with_torchs_counter(size, norm, d_ff, gated):
    T, d, H, H_kv, d_k, d_v = size
    options = {
        "d_ff": d_ff,
        "H_kv": H_kv,
        "d_k": d_k,
        "d_v": d_v,
        "gated": gated,
        "norm": norm,
    }
    module, counted = (
        tt.TransformerLayer(d, H, **options),
        cost.layer(T, d, H, **options),
    )
    assert counted.total_flops == count(module, zeros(T, d), mask=tt.causal_mask(T))
    assert count(module, zeros(3, T, d)) == 3 * counted.total_flops
    assert counted.total_params == numbers(module)
    sizes = {name: p.numel() for name, p in module.named_parameters()}
    for part, names in {
        "projections": "W_Q W_K W_V",
        "output": "W_O",
        "ffn": "W_1 b_1 W_2 b_2 W_gate W_up W_down",
    }.items():
        assert counted.params[part] == sum(sizes.get(name, 0) for name in names.split())


@all_pairs(
    positions=["learned", "sinusoidal", "rotary", "alibi", "none"],
    norm=["post", "pre", "both"],
    size=[(7, 12, 3, 3, None, None), (11, 25, 6, 2, 4, 7)],
)
def test_a_model_agrees_with_torchs_counter(positions, norm, size):
    T, d, H, H_kv, d_k, d_v = size
    options = {"d_ff": 29, "H_kv": H_kv, "d_k": d_k, "d_v": d_v, "norm": norm}
    module = tt.LanguageModel(23, 13, d, H, L=3, positions=positions, **options)
    counted = cost.model(
        T, d, H, 3, 23, T_max=13 if positions == "learned" else None, **options
    )
    assert counted.total_flops == count(module, torch.zeros(T, dtype=torch.long))
    assert counted.total_params == numbers(module)


@pytest.mark.parametrize(("T", "d"), [(7, 5), (1, 3), (13, 11)])
def test_recurrence_and_convolution_agree_with_torchs_counter(T, d):
    W = zeros(d, d), zeros(d, d), zeros(d)
    assert cost.rnn(T, d).total_flops == count(tt.rnn, zeros(T, d), *W)
    assert cost.rnn(T, d).total_params == sum(w.numel() for w in W)
    for k in (2, 3, 17):
        W = zeros(k, d, d), zeros(d)
        assert cost.conv(T, d, k).total_flops == count(
            tt.conv1d, zeros(T, d), *W, causal=True
        )
        assert cost.conv(T, d, k).total_params == sum(w.numel() for w in W)


def test_known_models():
    gpt2 = {"T_max": 1024, "attention_bias": True, "norm": "pre"}
    assert cost.model(1024, 768, 12, 12, 50257, **gpt2).total_params == 124_439_808
    assert cost.model(1024, 1024, 16, 24, 50257, **gpt2).total_params == 354_823_168
    assert cost.model(1024, 1600, 25, 48, 50257, **gpt2).total_params == 1_557_611_200
    bert = {
        "attention_bias": True,
        "token_types": 2,
        "embedding_norm": True,
        "pooler": True,
    }
    assert (
        cost.model(512, 768, 12, 12, 30522, T_max=512, **bert).total_params
        == 109_482_240
    )
    # its norms have no beta
    options = {"gated": True, "tied": False, "norm": "pre"}
    llama_2 = cost.model(4096, 4096, 32, 32, 32000, d_ff=11008, **options)
    assert llama_2.total_params - 4096 * (2 * 32 + 1) == 6_738_415_616


def test_at_gpt3_scale_the_ffn_takes_two_thirds_at_most():
    gpt3 = cost.model(
        T=2048, d=12288, H=96, L=96, vocab=50257, T_max=2048, attention_bias=True
    )
    share = {part: 100 * n / gpt3.total_flops for part, n in gpt3.flops.items()}
    assert round(share["ffn"], 1) == 64.6
    assert round(share["projections"] + share["output"], 1) == 32.3
    assert round(share["scores"] + share["mix"], 1) == 2.7
    assert round(share["logits"], 1) == 0.3
    assert round(gpt3.total_params / 1e9) == 175


@settings(deadline=None)
@given(T=st.integers(1, 10**6), d_k=st.integers(1, 10**4), H=st.integers(1, 200))
def test_ffn_share_never_passes_two_thirds(T, d_k, H):
    one = cost.layer(T, H * d_k, H)
    assert 3 * one.flops["ffn"] < 2 * one.total_flops


@settings(deadline=None)
@given(d=st.integers(1, 10**6))
def test_where_the_square_overtakes(d):
    square, rest = (
        (lambda one: one.flops["scores"] + one.flops["mix"]),
        (lambda one: one.flops["projections"] + one.flops["output"]),
    )
    at = cost.layer(2 * d, d, 1)
    assert square(at) == rest(at)
    at = cost.layer(6 * d, d, 1)
    assert square(at) == rest(at) + at.flops["ffn"]


class Products(TorchDispatchMode):
    """Elements that matrix products give."""

    elements = 0

    def __torch_dispatch__(self, f, types, args=(), kwargs=None):
        Y = f(*args, **kwargs or {})
        self.elements += (
            Y.numel()
            if f
            in (
                torch.ops.aten.mm.default,
                torch.ops.aten.bmm.default,
                torch.ops.aten.mv.default,
            )
            else 0
        )
        return Y


@pytest.mark.parametrize("gated", [False, True])
@pytest.mark.parametrize(("T", "d", "H", "H_kv", "d_k", "d_v"), SIZES)
def test_what_training_holds_is_the_input_and_what_products_give(
    T, d, H, H_kv, d_k, d_v, gated
):
    options = {"H_kv": H_kv, "d_k": d_k, "d_v": d_v, "gated": gated}
    with Products() as layer, torch.no_grad():
        tt.TransformerLayer(d, H, **options)(zeros(T, d))
    assert cost.layer(T, d, H, **options).total_memory == T * d + layer.elements
    with Products() as model, torch.no_grad():
        tt.LanguageModel(17, T, d, H, L=3, **options)(torch.zeros(T, dtype=torch.long))
    assert (
        cost.model(T, d, H, 3, 17, **options).total_memory == 3 * T * d + model.elements
    )
    with Products() as rnn:
        tt.rnn(zeros(T, d), zeros(d, d), zeros(d, d), zeros(d))
    assert cost.rnn(T, d).total_memory == T * d + rnn.elements
    assert (
        cost.conv(T, d, 3).total_memory
        == T * d + tt.conv1d(zeros(T, d), zeros(3, d, d)).numel()
    )


def test_memory_grows_as_the_book_says():
    one, four = cost.layer(100, 24, 6, H_kv=2), cost.layer(400, 24, 6, H_kv=2)
    assert four.memory["scores"] == 16 * one.memory["scores"] == 6 * 400**2
    for part in ("streaming", "cache", "activations"):
        assert four.memory[part] == 4 * one.memory[part]
    assert 3 * one.memory["cache"] == cost.layer(100, 24, 6).memory["cache"]
    assert one.total_memory == one.memory["scores"] + one.memory["activations"]
    assert cost.rnn(100, 24).memory["cache"] == cost.rnn(400, 24).memory["cache"] == 24
    assert cost.conv(100, 24, 5).memory["cache"] == 4 * 24
    model = cost.model(100, 24, 6, L=3, vocab=7, H_kv=2)
    assert model.memory == {
        part: 3 * n + (part == "activations") * 100 * 7
        for part, n in one.memory.items()
    }


def test_steps_and_paths():
    layer, model, rnn, conv = (
        cost.layer(101, 24, 6),
        cost.model(101, 24, 6, L=3, vocab=7),
        cost.rnn(101, 24),
        cost.conv(101, 24, 4),
    )
    assert [row.sequential_steps for row in (layer, model, rnn, conv)] == [1, 3, 101, 1]
    assert [row.path_length for row in (layer, model, rnn, conv)] == [1, 1, 101, 34]


@settings(deadline=None)
@given(T=st.integers(1, 10**9), k=st.integers(2, 1000))
def test_a_stack_of_convolutions_is_just_deep_enough(T, k):
    layers = cost.conv(T, 3, k).path_length
    assert layers * (k - 1) >= T - 1 > (layers - 1) * (k - 1)


def test_all_rows_have_the_same_parts():
    rows = [
        cost.layer(5, 6, 2),
        cost.model(5, 6, 2, 3, 7),
        cost.rnn(5, 6),
        cost.conv(5, 6, 3),
    ]
    for mapping in ("flops", "params", "memory"):
        assert len({tuple(getattr(row, mapping)) for row in rows}) == 1
    assert tuple(rows[0].flops) == (
        "projections",
        "scores",
        "mix",
        "output",
        "ffn",
        "logits",
    )
    for row in rows:
        assert row.total_flops == sum(row.flops.values())
        assert row.total_params == sum(row.params.values())


def test_numbers_are_exact_however_large():
    size = np.int32(2_000_000)  # whose square does not fit
    one = cost.layer(size, size, np.int64(1))
    assert one.flops["scores"] == 2 * 2_000_000**3
    for row in (
        one,
        cost.model(5, 6, 2, 3, 7, token_types=2, pooler=True, tied=False),
        cost.rnn(size, size),
        cost.conv(size, 3, 2),
    ):
        for mapping in (row.flops, row.params, row.memory):
            assert all(type(n) is int for n in mapping.values())


def test_a_cost_is_frozen():
    with pytest.raises(AttributeError):
        cost.rnn(5, 6).path_length = 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cost.layer(0, 6, 2), "T: expected a whole number, at least 1, got 0"),
        (
            lambda: cost.layer(5.0, 6, 2),
            "T: expected a whole number, at least 1, got 5.0",
        ),
        (
            lambda: cost.layer(True, 6, 2),
            "T: expected a whole number, at least 1, got True",
        ),
        (
            lambda: cost.layer(5, 7, 2),
            "d: expected a multiple of H = 2, got 7; or pass d_k and d_v",
        ),
        (
            lambda: cost.layer(5, 6, 6, H_kv=4),
            "H_kv: expected a divisor of H = 6, .*got 4",
        ),
        (
            lambda: cost.layer(5, 6, 2, norm="no"),
            "norm: expected one of post, pre, both, sandwich, got 'no'",
        ),
        (
            lambda: cost.model(5, 6, 2, 0, 7),
            "L: expected a whole number, at least 1, got 0",
        ),
        (
            lambda: cost.model(5, 6, 2, 3, 7, T_max=4),
            "T: expected at most T_max = 4, got 5",
        ),
        (
            lambda: cost.model(5, 6, 2, 3, 7, token_types=-1),
            "token_types: expected a whole number, at least 0, got -1",
        ),
        (lambda: cost.rnn(5, 0), "d: expected a whole number, at least 1, got 0"),
        (lambda: cost.conv(5, 6, 1), "k: expected a whole number, at least 2, got 1"),
    ],
)
def test_errors_name_the_argument(call, message):
    with pytest.raises(ValueError, match=message):
        call()
