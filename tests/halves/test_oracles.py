"""What others have written and tested agrees: PyTorch's own functions and modules, with
the same weights.
"""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

import tfbook.torch as tt

B, T, T_k, d, d_k, d_v, d_ff, H, H_kv, vocab = 2, 5, 7, 12, 3, 11, 13, 4, 2, 17


@pytest.fixture(autouse=True)
def seeded():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        yield


def normal(*shape):
    return torch.randn(*shape, dtype=torch.float64)


def close(ours, theirs):
    torch.testing.assert_close(ours, theirs, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(
    "form",
    [tt.scaled_dot_product_attention, tt.streaming_attention, tt.fused_attention],
)
@pytest.mark.parametrize("scale", [None, 0.7])
def test_attention_is_torchs_fused_attention(form, scale):
    Q, K, V, mask = (
        normal(B, H, T, d_k),
        normal(B, H, T_k, d_k),
        normal(B, H, T_k, d_v),
        torch.rand(B, 1, T, T_k) < 0.6,
    )
    close(
        form(Q, K, V, scale=scale), F.scaled_dot_product_attention(Q, K, V, scale=scale)
    )
    close(
        form(Q, K, V, mask, scale=scale),
        F.scaled_dot_product_attention(Q, K, V, mask, scale=scale),
    )


def test_a_bias_is_torchs_float_mask():
    Q, K, V, bias = (
        normal(B, H, T, d_k),
        normal(B, H, T_k, d_k),
        normal(B, H, T_k, d_v),
        normal(H, T, T_k),
    )
    close(
        tt.scaled_dot_product_attention(Q, K, V, bias=bias),
        F.scaled_dot_product_attention(Q, K, V, attn_mask=bias),
    )


def test_causal_is_torchs_where_queries_are_as_many_as_keys():
    Q, K, V = normal(B, T, d_k), normal(B, T, d_k), normal(B, T, d_v)
    close(
        tt.scaled_dot_product_attention(Q, K, V, tt.causal_mask(T)),
        F.scaled_dot_product_attention(Q, K, V, is_causal=True),
    )


def test_shared_heads_are_torchs_grouped_queries():
    Q, K, V = normal(B, H, T, d_k), normal(B, H_kv, T_k, d_k), normal(B, H_kv, T_k, d_v)
    K_all, V_all = tt.repeat_heads(K, H // H_kv), tt.repeat_heads(V, H // H_kv)
    close(
        tt.scaled_dot_product_attention(Q, K_all, V_all),
        F.scaled_dot_product_attention(Q, K, V, enable_gqa=True),
    )


def torchs_attention(W_Q, W_K, W_V, W_O):
    """torch's multi-head attention with the same weights, which it keeps transposed and
    stacked.
    """
    theirs = nn.MultiheadAttention(
        d, H, bias=False, batch_first=True, dtype=torch.float64
    )
    theirs.in_proj_weight.data = torch.cat([W_Q, W_K, W_V], dim=1).T.contiguous()
    theirs.out_proj.weight.data = W_O.T.contiguous()
    return theirs


def test_multi_head_attention_is_torchs_module():
    X, context, weights = (
        normal(B, T, d),
        normal(B, T_k, d),
        [normal(d, d) for _ in range(4)],
    )
    mask = torch.rand(T, T_k) < 0.6
    mask[:, 0] = True  # torch's gives nan for a query that may attend to nothing
    # its True hides
    theirs, A = torchs_attention(*weights)(
        X, context, context, attn_mask=~mask, average_attn_weights=False
    )
    close(tt.multi_head_attention(X, *weights, H, mask=mask, context=context), theirs)
    close(tt.multi_head_weights(X, *weights[:2], H, mask=mask, context=context), A)


def test_padding_is_torchs_key_padding_mask_turned_over():
    X, weights, lengths = (
        normal(B, T, d),
        [normal(d, d) for _ in range(4)],
        torch.tensor([T, 2]),
    )
    hidden = torch.arange(T) >= lengths[:, None]
    theirs, _ = torchs_attention(*weights)(X, X, X, key_padding_mask=hidden)
    close(
        tt.multi_head_attention(X, *weights, H, mask=tt.padding_mask(lengths, T)),
        theirs,
    )


def torchs_layer(P, norm, activation):
    """torch's encoder layer with the same parameters."""
    theirs = nn.TransformerEncoderLayer(
        d,
        H,
        d_ff,
        0,
        activation,
        batch_first=True,
        norm_first=norm == "pre",
        dtype=torch.float64,
    )
    zeros = {
        "self_attn.in_proj_bias": torch.zeros(3 * d),
        "self_attn.out_proj.bias": torch.zeros(d),
    }
    theirs.load_state_dict(
        zeros
        | {
            "self_attn.in_proj_weight": torch.cat(
                [P["W_Q"], P["W_K"], P["W_V"]], dim=1
            ).T,
            "self_attn.out_proj.weight": P["W_O"].T,
            "linear1.weight": P["W_1"].T,
            "linear1.bias": P["b_1"],
            "linear2.weight": P["W_2"].T,
            "linear2.bias": P["b_2"],
            "norm1.weight": P["gamma_1"],
            "norm1.bias": P["beta_1"],
            "norm2.weight": P["gamma_2"],
            "norm2.bias": P["beta_2"],
        }
    )
    return theirs


def some_layer(**options):
    layer = tt.TransformerLayer(d, H, d_ff, **options).double()
    with torch.no_grad():
        for p in layer.parameters():
            p += 0.3 * torch.randn_like(p)  # else scales are 1 and shifts 0
    return layer


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("fused", [False, True])
def test_layer_is_torchs_encoder_layer(norm, activation, fused):
    ours, X, mask = (
        some_layer(norm=norm, activation=activation, fused=fused),
        normal(B, T, d),
        tt.causal_mask(T),
    )
    theirs = torchs_layer(ours.state_dict(), norm, activation)
    close(ours(X), theirs(X))
    close(ours(X, mask), theirs(X, src_mask=~mask))


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_stack_is_torchs_encoder(norm):
    ours, X = tt.Transformer(3, d, H, d_ff=d_ff, norm=norm).double(), normal(B, T, d)
    layers = [torchs_layer(layer.state_dict(), norm, "relu") for layer in ours.layers]
    last = nn.LayerNorm(d, dtype=torch.float64) if norm == "pre" else None
    theirs = nn.TransformerEncoder(layers[0], 3, last, enable_nested_tensor=False)
    theirs.layers = nn.ModuleList(layers)
    close(ours(X), theirs(X))


def test_normalisations_are_torchs():
    X, gamma, beta = 3 * normal(B, T, d) + 1, normal(d), normal(d)
    close(tt.layer_norm(X, gamma, beta), F.layer_norm(X, (d,), gamma, beta))
    close(tt.layer_norm(X, gamma, beta, 0.1), F.layer_norm(X, (d,), gamma, beta, 0.1))
    close(tt.rms_norm(X, gamma), F.rms_norm(X, (d,), gamma, eps=1e-6))
    close(tt.rms_norm(X, gamma, 0.1), F.rms_norm(X, (d,), gamma, eps=0.1))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_normalisations_sum_wide_as_torchs_do(dtype):
    # 300² overflows
    X, gamma, beta = (
        (300 * normal(T, d)).to(dtype),
        torch.ones(d, dtype=dtype),
        torch.zeros(d, dtype=dtype),
    )
    torch.testing.assert_close(
        tt.layer_norm(X, gamma, beta), F.layer_norm(X, (d,), gamma, beta)
    )
    torch.testing.assert_close(
        tt.rms_norm(X, gamma), F.rms_norm(X, (d,), gamma, eps=1e-6)
    )


def test_activations_are_torchs():
    x = 5 * normal(B, T, d)
    close(tt.relu(x), F.relu(x))
    close(tt.gelu(x), F.gelu(x))
    close(tt.silu(x), F.silu(x))


def test_networks_are_torchs_linear_layers_in_a_row():
    X, W_1, b_1, W_2, b_2 = (
        normal(B, T, d),
        normal(d, d_ff),
        normal(d_ff),
        normal(d_ff, d),
        normal(d),
    )
    close(
        tt.feed_forward(X, W_1, b_1, W_2, b_2),
        F.linear(F.relu(F.linear(X, W_1.T, b_1)), W_2.T, b_2),
    )
    gate, up = W_1, normal(d, d_ff)
    close(
        tt.gated_feed_forward(X, gate, up, W_2),
        F.linear(F.silu(F.linear(X, gate.T)) * F.linear(X, up.T), W_2.T),
    )
    halves = torch.cat([F.linear(X, up.T), F.gelu(F.linear(X, gate.T))], dim=-1)
    close(
        tt.gated_feed_forward(X, gate, up, W_2, "gelu"),
        F.linear(halves[..., :d_ff] * halves[..., d_ff:], W_2.T),
    )


def test_cross_entropy_is_torchs():
    logits, targets = 3 * normal(B, T, vocab), torch.randint(vocab, (B, T))
    close(
        tt.cross_entropy(logits, targets),
        F.cross_entropy(logits.flatten(0, 1), targets.flatten()),
    )


def test_softmax_is_torchs():
    S = 30 * normal(B, T, T_k)
    close(tt.softmax(S), S.softmax(dim=-1))
    close(tt.softmax(S, axis=-2), S.softmax(dim=-2))


def test_embed_is_torchs_embedding():
    tokens, E = torch.randint(vocab, (B, T)), normal(vocab, d)
    close(tt.embed(tokens, E), F.embedding(tokens, E))


def test_rotary_is_a_turn_in_the_complex_plane(half, rng):
    X, positions = rng.normal(size=(B, H, T, 6)), rng.integers(0, 999, size=T)
    Z = X.view(complex)  # (B, H, T, 3): channels 2i and 2i + 1 are one number
    turned = Z * np.exp(1j * positions[:, None] * 10000.0 ** -(np.arange(3) / 3))
    np.testing.assert_allclose(
        half.rotary(X, positions), turned.view(float), rtol=1e-10, atol=1e-10
    )


def test_rotary_is_the_split_half_form_after_a_permutation(half, rng):
    X = rng.normal(size=(B, H, T, 6))
    angle = np.arange(T)[:, None] * 10000.0 ** -(np.arange(0, 6, 2) / 6)
    cos, sin = np.tile(np.cos(angle), 2), np.tile(np.sin(angle), 2)
    apart = np.array([0, 2, 4, 1, 3, 5])  # even channels, then odd
    Z = X[..., apart]
    turned = Z * cos + np.concatenate([-Z[..., 3:], Z[..., :3]], axis=-1) * sin
    np.testing.assert_allclose(
        half.rotary(X)[..., apart], turned, rtol=1e-10, atol=1e-10
    )


def test_sinusoids_are_powers_of_one_turn(half):
    table = half.sinusoidal_positions(T, 6)
    turn = np.exp(1j * 10000.0 ** -(np.arange(3) / 3))
    expected = turn ** np.arange(T)[:, None]
    np.testing.assert_allclose(table[:, 0::2], expected.imag, atol=1e-12)
    np.testing.assert_allclose(table[:, 1::2], expected.real, atol=1e-12)


def test_conv_is_torchs():
    X, W, b = normal(B, T, d), normal(3, d, d_ff), normal(d_ff)
    close(tt.conv1d(X, W, b), F.conv1d(X.mT, W.permute(2, 1, 0), b, padding=1).mT)
