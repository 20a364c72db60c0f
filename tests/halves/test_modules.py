"""Modules own parameters and call the functions: names, shapes, options, and one
language model that learns.
"""

import copy
import pickle

import numpy as np
import pytest
import torch
from calls import says
from numpy.testing import assert_allclose

import tfbook.numpy
import tfbook.torch as tt
from tfbook import cost
from tfbook.numpy.position_schemes import POSITION_SCHEMES

B, T, T_k, d, H, H_kv, d_k, d_v, d_ff, vocab, T_max, L = (
    2,
    5,
    7,
    11,
    6,
    3,
    2,
    13,
    17,
    19,
    23,
    3,
)
SIZES = {"H_kv": H_kv, "d_k": d_k, "d_v": d_v, "d_ff": d_ff}
POSITIONS = list(POSITION_SCHEMES)


@pytest.fixture(autouse=True)
def seeded():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        yield


def stirred(module):
    """In float64, with scales that are not 1 and shifts that are not 0."""
    with torch.no_grad():
        for p in module.double().parameters():
            p += 0.1 * torch.randn_like(p)
    return module


def normal(*shape):
    return torch.randn(*shape, dtype=torch.float64)


def close(ours, theirs):
    torch.testing.assert_close(ours, theirs, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("fused", [False, True])
def test_attention_calls_the_function(fused):
    module = stirred(tt.MultiHeadAttention(d, H, H_kv, d_k, d_v, fused=fused))
    X, context, mask, bias = (
        normal(B, T, d),
        normal(B, T_k, d),
        torch.rand(B, T, T_k) < 0.5,
        normal(H, T, T_k),
    )
    W = module.state_dict()
    assert {name: tuple(p.shape) for name, p in W.items()} == {
        "W_Q": (11, 12),
        "W_K": (11, 6),
        "W_V": (11, 39),
        "W_O": (78, 11),
    }
    close(module(X), tt.multi_head_attention(X, **W, H=H, H_kv=H_kv))
    expected = tt.multi_head_attention(
        X, **W, H=H, H_kv=H_kv, mask=mask, bias=bias, context=context
    )
    close(module(X, mask, context, bias), expected)
    close(module(X, mask=mask, context=context, bias=bias), expected)


def test_attention_may_turn():
    module = stirred(tt.MultiHeadAttention(d, H, H_kv, d_k, d_v, rotary=True))
    X = normal(B, T, d)
    close(
        module(X),
        tt.multi_head_attention(
            X, **module.state_dict(), H=H, H_kv=H_kv, attention=tt.rotary_attention
        ),
    )


def test_network_calls_the_function():
    X, module = normal(B, T, d), stirred(tt.FeedForward(d, d_ff, "gelu"))
    close(module(X), tt.feed_forward(X, **module.state_dict(), activation="gelu"))
    close(
        stirred(module)(X), tt.feed_forward(X, **module.state_dict(), activation="gelu")
    )
    module = stirred(tt.FeedForward(d))
    assert module.W_1.shape == (d, 4 * d)
    close(module(X), tt.feed_forward(X, **module.state_dict()))
    module = stirred(tt.FeedForward(d, d_ff, gated=True))
    close(module(X), tt.gated_feed_forward(X, **module.state_dict()))


def test_norm_calls_the_function():
    X, module = normal(B, T, d), stirred(tt.LayerNorm(d, eps=0.3))
    close(module(X), tt.layer_norm(X, **module.state_dict(), eps=0.3))


@pytest.mark.parametrize("norm", ["post", "pre", "both"])
@pytest.mark.parametrize("gated", [False, True])
def test_a_layer_has_the_keys_and_shapes_of_init_layer(norm, gated):
    module = tt.TransformerLayer(d, H, norm=norm, gated=gated, **SIZES)
    P = tfbook.numpy.init_layer(d, H, norm=norm, gated=gated, rng=0, **SIZES)
    assert {name: tuple(p.shape) for name, p in module.state_dict().items()} == {
        name: p.shape for name, p in P.items()
    }


@pytest.mark.parametrize("norm", ["post", "pre", "both"])
@pytest.mark.parametrize("gated", [False, True])
@pytest.mark.parametrize("fused", [False, True])
def test_parameters_move_across_with_no_transpose(norm, gated, fused):
    P = tfbook.numpy.init_layer(d, H, norm=norm, gated=gated, rng=0, **SIZES)
    module = tt.TransformerLayer(
        d, H, norm=norm, gated=gated, fused=fused, **SIZES
    ).double()
    module.load_state_dict({name: torch.from_numpy(p) for name, p in P.items()})
    X, mask = normal(B, T, d), tt.padding_mask(torch.tensor([T, 2]), T)
    expected = tfbook.numpy.transformer_layer(
        X.numpy(), P, H, H_kv, norm, mask=mask.numpy()
    )
    assert_allclose(module(X, mask).detach().numpy(), expected, atol=1e-10)


@pytest.mark.parametrize("norm", ["post", "pre", "both"])
def test_a_stack_calls_the_function(norm):
    module = stirred(tt.Transformer(L, d, H, norm=norm, **SIZES))
    assert ("gamma_f" in module.state_dict()) == (norm != "post")
    X, mask, bias = normal(B, T, d), tt.causal_mask(T), tt.alibi_bias(H, T)
    final_norm = (module.gamma_f, module.beta_f) if norm != "post" else None
    layers = [layer.state_dict() for layer in module.layers]
    close(
        module(X, mask, bias),
        tt.transformer(
            X, layers, H, final_norm, H_kv=H_kv, norm=norm, mask=mask, bias=bias
        ),
    )


def model(positions="learned", **options):
    return stirred(
        tt.LanguageModel(vocab, T_max, d, H, L, positions, **SIZES, **options)
    )


def some_tokens(T=T):
    return torch.randint(vocab, (B, T))


@pytest.mark.parametrize(
    "positions", ["learned", "sinusoidal", "rotary", "alibi", "none"]
)
@pytest.mark.parametrize("norm", ["post", "pre"])
def test_a_language_model_from_its_parts(positions, norm):
    module, tokens = model(positions, norm=norm), some_tokens()
    P = {
        "learned": getattr(module, "P", torch.empty(0))[:T],
        "sinusoidal": tt.sinusoidal_positions(T, d),
    }.get(positions)
    options = {"bias": tt.alibi_bias(H, T)} if positions == "alibi" else {}
    options |= {"attention": tt.rotary_attention} if positions == "rotary" else {}
    final_norm = (module.gamma_f, module.beta_f) if norm != "post" else None
    layers, X = (
        [layer.state_dict() for layer in module.layers],
        tt.embed(tokens, module.E, P),
    )
    Y = tt.transformer(
        X,
        layers,
        H,
        final_norm,
        H_kv=H_kv,
        norm=norm,
        mask=tt.causal_mask(T),
        **options,
    )
    close(module(tokens), Y @ module.E.T)


@pytest.mark.parametrize("positions", POSITIONS)
def test_a_language_model_calls_the_function(positions):
    module, tokens, pad = (
        model(positions, norm="pre"),
        some_tokens(),
        torch.tensor([0, 2]),
    )
    options = {"H": H, "H_kv": H_kv, "positions": positions, "norm": "pre"}
    close(module(tokens), tt.language_model(tokens, module.state_dict(), **options))
    close(
        module(tokens, pad),
        tt.language_model(tokens, module.state_dict(), pad=pad, **options),
    )
    P = {name: p.numpy() for name, p in module.state_dict().items()}
    assert_allclose(
        module(tokens).detach().numpy(),
        tfbook.numpy.language_model(tokens.numpy(), P, **options),
        atol=1e-10,
    )


@pytest.mark.parametrize("positions", POSITIONS)
def test_fused_and_readable_models_are_one(positions):
    readable, fused, tokens = (
        model(positions),
        model(positions, fused=True),
        some_tokens(),
    )
    fused.load_state_dict(readable.state_dict())
    close(fused(tokens), readable(tokens))
    cache = tt.key_value_caches()
    close(
        torch.cat(
            [fused(part, cache=cache) for part in tokens.split(2, dim=-1)], dim=-2
        ),
        readable(tokens),
    )


@pytest.mark.parametrize("positions", POSITIONS)
def test_no_token_is_guessed_from_itself_or_later_ones(positions):
    module, tokens = model(positions), some_tokens()
    changed = tokens.clone()
    changed[:, 3] = (tokens[:, 3] + 1) % vocab
    before, after = module(tokens), module(changed)
    close(after[:, :3], before[:, :3])
    assert (after[:, 3:] != before[:, 3:]).any(dim=-1).all()


@pytest.mark.parametrize("positions", POSITIONS)
def test_only_a_learned_table_ends(positions):
    module = model(positions)
    assert module(some_tokens(T_max)).shape == (B, T_max, vocab)
    if positions == "learned":
        with says("T: expected at most T_max = 23, the rows of the table P, got 24"):
            module(some_tokens(T_max + 1))
    else:
        assert module(some_tokens(T_max + 1)).shape == (B, T_max + 1, vocab)


@pytest.mark.parametrize("positions", POSITIONS)
def test_parameters_are_as_many_as_counted(positions):
    module = tt.LanguageModel(vocab, T_max, 12, H, L, positions, norm="pre", d_ff=d_ff)
    counted = cost.model(
        T,
        12,
        H,
        L,
        vocab,
        d_ff=d_ff,
        T_max=T_max if positions == "learned" else None,
        norm="pre",
    )
    assert sum(p.numel() for p in module.parameters()) == counted.total_params


def test_the_first_guess_is_nearly_even():
    module = tt.LanguageModel(97, 64, 32, 4, 2, norm="pre")
    loss = tt.cross_entropy(
        module(torch.randint(97, (8, 64))), torch.randint(97, (8, 64))
    )
    assert loss.item() == pytest.approx(np.log(97), abs=0.05)


def test_training_and_evaluation_are_one():
    module, tokens = model(), some_tokens()
    trained = module.train()(tokens)
    assert torch.equal(module.eval()(tokens), trained)
    assert torch.equal(module(tokens), trained)


def test_modules_are_copied_and_stored():
    module, tokens = model("rotary", fused=True), some_tokens()
    assert torch.equal(copy.deepcopy(module)(tokens), module(tokens))
    assert torch.equal(pickle.loads(pickle.dumps(module))(tokens), module(tokens))


def test_parameters_are_drawn_from_torchs_generator():
    models = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        models.append(tt.LanguageModel(vocab, T_max, 12, H, L).state_dict())
    for name, p in models[0].items():
        assert torch.equal(p, models[1][name])
        # biases, beta and gamma are constant
        assert torch.equal(p, models[2][name]) == (name.rpartition(".")[2][0] in "bg")


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("positions", POSITIONS)
def test_a_narrow_model_stays_narrow(dtype, positions):
    logits = model(positions).to(dtype)(some_tokens())
    assert logits.dtype == dtype
    assert logits.isfinite().all()


def test_modules_refuse_what_does_not_fit():
    with says(f"positions: expected one of {', '.join(POSITIONS)}, got 'absolute'"):
        tt.LanguageModel(vocab, T_max, 12, H, L, "absolute")
    with says("d: expected a multiple of H = 6, got 11; or pass d_k and d_v"):
        tt.MultiHeadAttention(d, H)
    with says("H_kv: expected a divisor of H = 6"):
        tt.TransformerLayer(12, H, H_kv=4)
    with says("norm: expected one of post, pre, both, sandwich, got 'rms'"):
        tt.Transformer(L, 12, H, norm="rms")
    with says("L: expected a whole number, at least 1, got 0"):
        tt.Transformer(0, 12, H)
    with says(
        "activation: expected one of relu, gelu, silu, or a function, got 'tanh'"
    ):
        tt.FeedForward(d, activation="tanh")(normal(T, d).float())


@pytest.mark.parametrize("positions", ["learned", "rotary"])
def test_a_model_learns_to_repeat(positions):
    torch.manual_seed(1)
    module = tt.LanguageModel(5, 12, 16, 2, 2, positions, norm="pre", fused=True)
    optimizer = torch.optim.Adam(module.parameters(), lr=0.01)
    for _ in range(120):
        tokens = torch.randint(5, (32, 3)).repeat(1, 4)  # three tokens, again and again
        loss = tt.cross_entropy(module(tokens[:, :-1])[:, 2:], tokens[:, 3:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss.item() < 0.3  # log 5 = 1.6 is chance
