"""Language model, cache and generation: halves agree, a cache changes nothing, nor does
the company of other prompts.
"""

import re
from functools import partial
from importlib import import_module

import numpy as np
import pytest
import torch
from all_pairs import all_pairs
from calls import HALVES, generator, native
from hypothesis import given, settings
from hypothesis import strategies as st

import tfbook.numpy as tn
import tfbook.torch as tt
from tfbook import cost
from tfbook.numpy.position_schemes import POSITION_SCHEMES

B, T, T_MAX, VOCAB, D, H, H_KV, D_K, D_V, D_FF, L = 3, 7, 19, 13, 11, 6, 2, 4, 5, 17, 2
LENGTHS = np.array([7, 2, 5])
POSITIONS = list(POSITION_SCHEMES)
EVERY = pytest.mark.parametrize("positions", POSITIONS)


def parameters(norm="pre", gated=False, dtype=np.float64, seed=0, L=L):
    rng = np.random.default_rng(seed)
    P = {"E": rng.standard_normal((VOCAB, D)), "P": rng.standard_normal((T_MAX, D))}
    for l in range(L):
        layer = tn.init_layer(D, H, D_FF, H_KV, D_K, D_V, norm, gated, rng)
        P |= {
            f"layers.{l}.{name}": p + 0.1 * rng.standard_normal(p.shape)
            for name, p in layer.items()
        }
    if norm == "pre":
        P |= {"gamma_f": rng.standard_normal(D), "beta_f": rng.standard_normal(D)}
    return {name: p.astype(dtype) for name, p in P.items()}


def language_model(half, positions="none", norm="pre", **options):
    P = {name: native(half, p) for name, p in parameters(norm, **options).items()}
    return partial(
        half.language_model, P=P, H=H, H_kv=H_KV, positions=positions, norm=norm
    )


def some_tokens(seed=1, shape=(B, T)):
    return np.random.default_rng(seed).integers(VOCAB, size=shape)


@all_pairs(positions=POSITIONS, norm=["post", "pre", "both"], gated=[False, True])
def test_halves_agree(positions, norm, gated):
    tokens, pad = some_tokens(), T - LENGTHS
    ours, theirs = (
        language_model(half, positions, norm, gated=gated) for half in (tn, tt)
    )
    Y = ours(tokens)
    assert Y.shape == (B, T, VOCAB)
    np.testing.assert_allclose(
        theirs(torch.from_numpy(tokens)).numpy(), Y, rtol=1e-9, atol=1e-11
    )
    padded = theirs(torch.from_numpy(tokens), pad=torch.from_numpy(pad))
    np.testing.assert_allclose(
        padded.numpy(), ours(tokens, pad=pad), rtol=1e-9, atol=1e-11
    )


@HALVES
def test_a_cached_step_makes_the_waves_of_its_own_positions_alone(half, monkeypatch):
    model, table, made = (
        import_module(f"{half.__name__}.position_schemes"),
        half.sinusoidal_positions(T_MAX, D),
        [],
    )

    def watched(position, d):
        made.append(tuple(position.shape))
        rows = sinusoids(position, d)
        np.testing.assert_array_equal(
            np.asarray(rows), np.asarray(table)[np.asarray(position)]
        )
        return rows

    sinusoids = model.sinusoids
    monkeypatch.setattr(model, "sinusoids", watched)
    P, cache = (
        {name: native(half, p) for name, p in parameters().items()},
        half.key_value_caches(),
    )
    for tokens in ([1] * (T_MAX - 2), [2], [3]):
        half.language_model(
            native(half, tokens), P, H, H_KV, "sinusoidal", "pre", cache=cache
        )
    assert made == [(T_MAX - 2,), (1,), (1,)]


@HALVES
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@EVERY
def test_dtype_is_kept(half, positions, dtype):
    model, tokens = (
        language_model(half, positions, dtype=dtype),
        native(half, some_tokens()),
    )
    cache = half.key_value_caches()
    assert (
        np.asarray(model(tokens, pad=native(half, T - LENGTHS), cache=cache)).dtype
        == dtype
    )
    assert np.asarray(cache[0].keys).dtype == dtype


@HALVES
@pytest.mark.parametrize("leading", [(), (2,), (2, 5)])
def test_any_leading_axes(half, leading):
    tokens = some_tokens(shape=(*leading, T))
    pad = (
        np.broadcast_to(np.arange(2)[:, None], (2, 5))
        if len(leading) == 2
        else np.zeros(leading, int)
    )
    for positions in POSITIONS:
        model = language_model(half, positions)
        Y = np.asarray(model(native(half, tokens), pad=native(half, pad)))
        assert Y.shape == (*leading, T, VOCAB)
        for i in np.ndindex(*leading):
            np.testing.assert_allclose(
                Y[i][pad[i] :],
                np.asarray(model(native(half, tokens[i][pad[i] :]))),
                rtol=1e-9,
                atol=1e-11,
            )


@settings(deadline=None, max_examples=60)
@given(
    cuts=st.sets(st.integers(1, T - 1)),
    positions=st.sampled_from(POSITIONS),
    block=st.sampled_from([1, 3, 128]),
    padded=st.booleans(),
    norm=st.sampled_from(["post", "pre", "both"]),
    half=st.sampled_from([tn, tt]),
)
def test_a_cache_changes_nothing_however_the_tokens_come(
    cuts, positions, block, padded, norm, half
):
    model, tokens = language_model(half, positions, norm), some_tokens()
    pad = native(half, T - LENGTHS) if padded else None
    cache, parts = half.key_value_caches(block), []
    for part in np.split(tokens, sorted(cuts), axis=-1):
        parts.append(np.asarray(model(native(half, part), pad=pad, cache=cache)))
    whole = np.asarray(model(native(half, tokens), pad=pad))
    np.testing.assert_allclose(
        np.concatenate(parts, axis=-2), whole, rtol=1e-9, atol=1e-11
    )


@all_pairs(
    positions=POSITIONS,
    norm=["post", "pre", "both"],
    gated=[False, True],
    fused=[False, True],
)
def test_the_module_is_the_function_with_parameters_of_its_own(
    positions, norm, gated, fused
):
    sizes = {"d_ff": D_FF, "H_kv": H_KV, "d_k": D_K, "d_v": D_V}
    module = tt.LanguageModel(
        VOCAB, T_MAX, D, H, L, positions, norm=norm, gated=gated, fused=fused, **sizes
    ).double()
    # moves across with no transpose
    P = {name: p.numpy() for name, p in module.state_dict().items()}
    tokens, pad = some_tokens(), T - LENGTHS
    ours = tn.language_model(tokens, P, H, H_KV, positions, norm, pad=pad)
    with torch.no_grad():
        theirs = module(torch.from_numpy(tokens), pad=torch.from_numpy(pad))
    np.testing.assert_allclose(theirs.numpy(), ours, rtol=1e-7, atol=1e-9)
    said = tt.generate(
        module, torch.from_numpy(tokens), 5, lengths=torch.from_numpy(LENGTHS)
    )
    model = partial(
        tn.language_model, P=P, H=H, H_kv=H_KV, positions=positions, norm=norm
    )
    np.testing.assert_array_equal(
        said.numpy(), tn.generate(model, tokens, 5, lengths=LENGTHS)
    )


@HALVES
@EVERY
@pytest.mark.parametrize("temperature", [0, 0.8])
def test_generation_is_the_same_without_a_cache(half, positions, temperature):
    n, tokens, model = (
        T_MAX + 1 - T,
        native(half, some_tokens()),
        language_model(half, positions),
    )
    drawn = [
        half.generate(
            model,
            tokens,
            n,
            temperature=temperature,
            top_k=7,
            rng=generator(half),
            cached=cached,
        )
        for cached in (True, False)
    ]
    assert tuple(drawn[0].shape) == (B, n)
    np.testing.assert_array_equal(np.asarray(drawn[0]), np.asarray(drawn[1]))
    assert len(np.unique(np.asarray(drawn[0]))) > 2, (
        "a model that always says the same tests nothing"
    )


@HALVES
@EVERY
@pytest.mark.parametrize("cached", [True, False])
def test_a_prompt_goes_on_alone_as_it_does_in_a_batch(half, positions, cached):
    n, tokens, model = 6, some_tokens(), language_model(half, positions)
    lengths = native(half, LENGTHS)
    # what stands in the padding is never looked at
    rubbish = np.where(np.arange(T) < LENGTHS[:, None], tokens, 10**6)
    for prompts in (tokens, rubbish):
        batch = np.asarray(
            half.generate(
                model, native(half, prompts), n, lengths=lengths, cached=cached
            )
        )
        for i, length in enumerate(LENGTHS):
            alone = half.generate(model, native(half, tokens[i, :length]), n)
            np.testing.assert_array_equal(batch[i], np.asarray(alone))


@EVERY
def test_both_halves_say_the_same(positions):
    ours = tn.generate(language_model(tn, positions), some_tokens(), 9, lengths=LENGTHS)
    theirs = tt.generate(
        language_model(tt, positions),
        torch.from_numpy(some_tokens()),
        9,
        lengths=torch.from_numpy(LENGTHS),
    )
    np.testing.assert_array_equal(ours, theirs.numpy())


@HALVES
@pytest.mark.parametrize("cached", [True, False])
def test_a_learned_table_ends_and_says_so(half, cached):
    model, tokens = language_model(half, "learned"), some_tokens()
    # the last token is not read
    half.generate(model, native(half, tokens), T_MAX - T + 1, cached=cached)
    with pytest.raises(
        ValueError, match=f"T: expected at most T_max = {T_MAX}, .*got {T_MAX + 1}"
    ):
        half.generate(model, native(half, tokens), T_MAX - T + 2, cached=cached)
    short = native(half, LENGTHS[1:2])
    # padding takes no positions
    half.generate(
        model, native(half, tokens[1:2]), T_MAX - 2 + 1, lengths=short, cached=cached
    )
    for positions in POSITIONS[1:]:
        half.generate(
            language_model(half, positions),
            native(half, tokens[:1]),
            T_MAX - T + 2,
            cached=cached,
        )


@HALVES
def test_no_tokens_asked_for_and_inputs_left_alone(half):
    tokens = some_tokens()
    given_, before = native(half, tokens), tokens.copy()
    assert tuple(half.generate(language_model(half), given_, 0).shape) == (B, 0)
    half.generate(
        language_model(half, "learned"), given_, 3, lengths=native(half, LENGTHS)
    )
    np.testing.assert_array_equal(np.asarray(given_), before)


@HALVES
def test_a_cache_remembers_what_is_counted(half):
    cache, n = half.key_value_caches(block=5), 4
    model = language_model(half, "rotary")
    model(native(half, some_tokens()), cache=cache)
    for t in range(n):
        model(native(half, some_tokens(seed=t, shape=(B, 1))), cache=cache)
    counted = cost.model(T + n, D, H, L, VOCAB, D_FF, H_KV, d_k=D_K, d_v=D_V)
    assert sum(cache[l].elements for l in range(L)) == B * counted.memory["cache"]
    assert len(cache[0]) == T + n
    assert cache[0].keys.shape[-2] == 15, "three blocks of 5"


@HALVES
def test_a_cache_refuses_what_does_not_fit(half):
    cache = half.KeyValueCache()
    K, V = (
        native(half, np.zeros((B, H_KV, 2, D_K))),
        native(half, np.zeros((B, H_KV, 2, D_V))),
    )
    cache.extend(K, V)
    for wrong, message in (
        (
            (K[..., :1, :], V),
            r"V: expected (..., T, d_v) = (..., 1, d_v), got (3, 2, 2, 5)",
        ),
        ((K[:1], V[:1]), r"K: expected (3, 2, 'T', 4) as before, got (1, 2, 2, 4)"),
        ((K, V[..., :1]), r"V: expected (3, 2, 'T', 5) as before, got (3, 2, 2, 1)"),
        ((K[0, 0], V), r"K: expected (..., H_kv, T, d_k), got (2, 4)"),
    ):
        with pytest.raises(ValueError, match=re.escape(message)):
            cache.extend(*wrong)
    assert len(cache) == 2
    with pytest.raises(
        ValueError, match="block: expected a whole number, at least 1, got 0"
    ):
        half.KeyValueCache(block=0)


def test_gradients_pass_through_the_model():
    P = {
        name: torch.from_numpy(p).requires_grad_()
        for name, p in parameters("pre").items()
    }
    tokens = torch.from_numpy(some_tokens())
    logits = tt.language_model(
        tokens, P, H, H_KV, "learned", "pre", pad=torch.from_numpy(T - LENGTHS)
    )
    tt.cross_entropy(logits[:, -1], tokens[:, 0]).backward()
    assert all(p.grad.isfinite().all() and p.grad.abs().max() > 0 for p in P.values())


logits_and_settings = given(
    logits=st.lists(st.floats(-30, 30, width=32), min_size=1, max_size=VOCAB),
    temperature=st.sampled_from([0, 0.3, 1.0, 5.0]),
    top_k=st.none() | st.integers(1, VOCAB + 2),
    top_p=st.none() | st.floats(0.05, 1.0, exclude_min=True),
)


@settings(deadline=None, max_examples=150)
@logits_and_settings
def test_the_distribution_keeps_the_likeliest_and_no_more(
    logits, temperature, top_k, top_p
):
    logits = np.array(logits)
    p = tn.token_distribution(logits, temperature, top_k, top_p)
    np.testing.assert_allclose(
        tt.token_distribution(
            torch.from_numpy(logits), temperature, top_k, top_p
        ).numpy(),
        p,
        rtol=1e-9,
    )
    assert p.sum() == pytest.approx(1)
    kept = p > 0
    assert kept[logits.argmax()]
    if temperature == 0:
        assert kept.sum() == 1
        return
    full = tn.softmax(logits / temperature)
    # in proportion
    np.testing.assert_allclose(
        p[kept] / full[kept], p[kept][0] / full[kept][0], rtol=1e-9
    )
    assert not kept.all() or (top_k or VOCAB) >= kept.sum()
    if (~kept).any():
        assert logits[~kept].max() <= logits[kept].min()
    if top_k is not None:
        assert kept.sum() <= top_k
    if top_p is None:
        assert kept.sum() == min(top_k or VOCAB, len(logits))
    else:
        among = np.sort(full)[::-1][:top_k]
        among, n = among / among.sum(), kept.sum()
        assert among[:n].sum() > top_p - 1e-9
        assert among[: n - 1].sum() < top_p + 1e-9


@HALVES
def test_corners_of_the_distribution(half):
    def chances(logits, **options):
        return np.asarray(
            half.token_distribution(native(half, np.array(logits)), **options)
        )

    # exactly k of equals, the first
    np.testing.assert_array_equal(chances([1.0, 1.0, 1.0], top_k=2), [0.5, 0.5, 0])
    np.testing.assert_array_equal(chances([1.0, 1.0, 0.0], temperature=0), [1, 0, 0])
    np.testing.assert_array_equal(chances([0.0, 1.0], temperature=1e-300), [0, 1])
    np.testing.assert_array_equal(chances([1000.0, 1000.0, -np.inf]), [0.5, 0.5, 0])
    np.testing.assert_array_equal(chances([0, 0]), [0.5, 0.5])
    # p is a share of the k
    np.testing.assert_array_equal(
        chances(np.log([4.0, 3, 2, 1]), top_k=2, top_p=0.5), [1, 0, 0, 0]
    )
    # 1 keeps all
    assert chances([0.0, -60.0], top_p=1.0)[1] > 0
    assert chances(np.array([2.0, 1.0], np.float32)).dtype == np.float32
    # too many for sums of half precision
    many = chances(np.zeros(50_000, np.float16), top_p=0.5)
    assert many.dtype == np.float16
    assert abs((many > 0).sum() - 25_000) < 300


@HALVES
def test_drawn_tokens_follow_their_chances(half):
    p, n, rng = np.array([0.5, 0, 0.3, 0.2, 0]), 20_000, generator(half)
    drawn = np.asarray(half.sample(native(half, np.broadcast_to(p, (n, 5))), rng))
    assert drawn.shape == (n,)
    np.testing.assert_allclose(np.bincount(drawn, minlength=5) / n, p, atol=0.015)
    assert set(drawn) == {0, 2, 3}
    again = np.asarray(
        half.sample(native(half, np.broadcast_to(p, (n, 5))), generator(half))
    )
    np.testing.assert_array_equal(drawn, again)
    one = half.sample(native(half, np.array([0.0, 7.0])), rng)
    assert one.shape == ()
    assert int(one) == 1


def test_the_smallest_draw_of_all_takes_no_token_without_a_chance():
    class Zero(np.random.Generator):
        def random(self, shape):
            return np.zeros(shape)

    class Almost(np.random.Generator):
        def random(self, shape):
            return np.full(shape, np.nextafter(1, 0))

    p = np.array([[0, 0.1, 0.2, 0.7 - 1e-16, 0], [0, 0.3, 0, 0, 0]])
    np.testing.assert_array_equal(tn.sample(p, Zero(np.random.PCG64())), [1, 1])
    np.testing.assert_array_equal(tn.sample(p, Almost(np.random.PCG64())), [3, 1])


@HALVES
def test_errors_name_the_argument(half):
    model, tokens = language_model(half), native(half, some_tokens())
    P = {name: native(half, p) for name, p in parameters().items()}

    def go(**options):
        return half.generate(model, tokens, 2, **options)

    def read(tokens=tokens, without=(), **options):
        return half.language_model(
            tokens,
            {k: p for k, p in P.items() if k not in without},
            H,
            H_KV,
            norm="pre",
            **options,
        )

    for call, message in (
        (
            lambda: go(temperature=1.0),
            (
                "rng: expected a .*Generator to draw with, got NoneType; or pass "
                "temperature=0"
            ),
        ),
        (
            lambda: go(temperature=-1),
            "temperature: expected a number from 0 on, got -1",
        ),
        (
            lambda: go(temperature=float("nan")),
            "temperature: expected a number from 0 on, got nan",
        ),
        (lambda: go(top_k=0), "top_k: expected a whole number, at least 1, got 0"),
        (lambda: go(top_p=0), "top_p: expected a chance above 0, at most 1, got 0"),
        (lambda: go(top_p=1.1), "top_p: expected a chance above 0, at most 1, got 1.1"),
        (
            lambda: go(lengths=native(half, np.array([7, 0, 5]))),
            r"lengths: expected whole numbers from 1 to T = 7, .*got \[7, 0, 5\]",
        ),
        (
            lambda: go(lengths=native(half, np.array([7, 8, 5]))),
            r"lengths: .*got \[7, 8, 5\]",
        ),
        (
            lambda: go(lengths=native(half, np.array([7, 2]))),
            r"lengths: .*shape \(3,\), got \[7, 2\]",
        ),
        (
            lambda: go(lengths=native(half, np.array([7.0, 2, 5]))),
            "lengths: expected whole numbers",
        ),
        (
            lambda: half.generate(model, native(half, np.zeros((B, 0), int)), 2),
            "T: expected a whole number, at least 1, got 0",
        ),
        (
            lambda: half.generate(model, native(half, np.zeros((B, T))), 2),
            "tokens: expected whole numbers, got dtype .*float64",
        ),
        (
            lambda: half.generate(model, tokens, -1),
            "n: expected a whole number, at least 0, got -1",
        ),
        (
            lambda: read(positions="sine"),
            "positions: expected one of learned, .*, got 'sine'",
        ),
        (
            lambda: read(without=("P",)),
            "P: expected E, P, layers.0, layers.1 for positions='learned', got no P",
        ),
        (
            lambda: read(without=[k for k in P if k.startswith("layers.0")]),
            "P: .*got no layers.0",
        ),
        (
            lambda: read(without=[k for k in P if k.startswith("layers")]),
            "P: .*got no layers.0",
        ),
        (lambda: read(without=("layers.1.W_O",)), "P: expected W_Q .*got no W_O"),
        (
            lambda: read(pad=native(half, np.array([0, 1]))),
            r"pad: expected one number for each sequence .* \(3,\), got \(2,\)",
        ),
        (
            lambda: half.sample(native(half, np.array([0.0, 0.0])), generator(half)),
            "p: expected chances, none negative and some above 0",
        ),
        (
            lambda: half.sample(native(half, np.array([2.0, -1.0])), generator(half)),
            "p: expected chances, none negative and some above 0",
        ),
        (
            lambda: half.token_distribution(native(half, np.array([np.nan, 1]))),
            "logits: expected a finite number as the largest",
        ),
        (
            lambda: half.token_distribution(native(half, np.array([-np.inf]))),
            "logits: expected a finite number as the largest",
        ),
        (
            lambda: half.token_distribution(native(half, np.zeros((2, 0)))),
            "vocab: expected a whole number, at least 1, got 0",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    with pytest.raises(
        IndexError, match=f"tokens: expected 0 to {VOCAB - 1}, got .* to {VOCAB}"
    ):
        read(native(half, np.array([[0, VOCAB]])))
