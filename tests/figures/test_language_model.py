"""The language model of the page: in a real browser, every array that JavaScript
computes on the way is NumPy's.
"""

import json
from functools import partial

import numpy as np
import pytest

from tfbook import numpy as tf
from tfbook.experiments import language
from tfbook.text import encode
from tfbook.widgets import YourText
from tfbook.widgets.bundle import bundle
from tfbook.widgets.quantized import packed, quantize, rounded
from tfbook.widgets.your_text import context

FUNCTIONS = (
    "attention_scores, attention_weights, causal_mask, feed_forward, gelu,"
    " key_value_cache, language_model, layer_norm, merge_heads, rotary, sample,"
    " softmax, split_heads, token_distribution"
)
SCRIPT = bundle(
    f'import {{ {FUNCTIONS} }} from "./language_model.js";\n'
    'import { dequantize, parameters } from "./quantized.js";\n'
    f"globalThis.model = {{ {FUNCTIONS}, dequantize, parameters }};\n"
)
HELPERS = """
globalThis.rows = (X) => X[0]?.length ? X.map(rows) : Float64Array.from(X);
const list = (_, X) => ArrayBuffer.isView(X) ? [...X] : X;
globalThis.plain = (X) => JSON.parse(JSON.stringify(X, list));
globalThis.readAll = (packed, parts, H) => {
  const P = model.parameters(packed);
  const caches = P.layers.map(() => model.key_value_cache(H));
  return plain(parts.map((part) => model.language_model(part, P, H, caches)));
};
"""
CLOSE = partial(np.testing.assert_allclose, rtol=0, atol=1e-5)


def random_model(vocab=11, d=12, d_ff=20, L=2, seed=0):
    """Parameters of which none is at its start: shifts, scales and biases count."""
    rng = np.random.default_rng(seed)
    of = lambda *shape: rng.standard_normal(shape) / np.sqrt(shape[0])
    layer = {
        "W_Q": (d, d),
        "W_K": (d, d),
        "W_V": (d, d),
        "W_O": (d, d),
        "W_1": (d, d_ff),
        "b_1": (d_ff,),
        "W_2": (d_ff, d),
        "b_2": (d,),
        "gamma_1": (d,),
        "beta_1": (d,),
        "gamma_2": (d,),
        "beta_2": (d,),
    }
    P = {f"layers.{l}.{n}": 3 * of(*s) for l in range(L) for n, s in layer.items()}
    return P | {"E": 3 * of(vocab, d), "gamma_f": 3 * of(d), "beta_f": of(d)}


def by_numpy(tokens, P, H):
    """Every array on the way from tokens to logits, from the package's functions."""
    X = tf.embed(tokens, P["E"])
    mask, arrays, layers = tf.causal_mask(len(tokens)), {"embedded": X}, []
    for l in range(1 + max(int(n.split(".")[1]) for n in P if n.startswith("layers"))):
        layer = {n.split(".")[2]: P[n] for n in P if n.startswith(f"layers.{l}.")}
        a = {"normal_1": tf.layer_norm(X, layer["gamma_1"], layer["beta_1"])}
        Q, K, V = (tf.split_heads(a["normal_1"] @ layer[W], H) for W in WEIGHTS)
        a |= {"Q": tf.rotary(Q), "K": tf.rotary(K), "V": V}
        a["S"] = tf.attention_scores(a["Q"], a["K"])
        a["A"] = tf.attention_weights(a["Q"], a["K"], mask)
        a["merged"] = tf.merge_heads(tf.weighted_mean(a["A"], V, mask))
        a["attended"] = a["merged"] @ layer["W_O"]
        a["Z"] = X + a["attended"]
        a["normal_2"] = tf.layer_norm(a["Z"], layer["gamma_2"], layer["beta_2"])
        a["hidden"] = tf.gelu(a["normal_2"] @ layer["W_1"] + layer["b_1"])
        a["output"] = a["hidden"] @ layer["W_2"] + layer["b_2"]
        X = a["Y"] = a["Z"] + a["output"]
        layers.append(a)
    normal = tf.layer_norm(X, P["gamma_f"], P["beta_f"])
    return arrays | {"layers": layers, "normal_f": normal, "logits": normal @ P["E"].T}


WEIGHTS = ("W_Q", "W_K", "W_V")
# where the arrays of several calls meet; keys and values are those of all calls
AXES = {"Q": 1, "K": None, "V": None}


def joined(parts, name):
    """One array of what several calls with one cache gave, the scores and weights of
    the first calls with nothing for later keys.
    """
    if name in ("K", "V"):
        return np.array(parts[-1][name])
    if name in ("S", "A"):
        T = len(parts[-1][name][0][0])
        wide = [
            np.pad(p[name], ((0, 0), (0, 0), (0, T - len(p[name][0][0]))))
            for p in parts
        ]
        return np.concatenate(wide, axis=1)
    return np.concatenate([np.array(p[name]) for p in parts], axis=int(name == "Q"))


def compare(parts, tokens, P, H):
    """Hold what the browser computed, in one call or in several, against NumPy."""
    expected = by_numpy(np.array(tokens), P, H)
    CLOSE(joined(parts, "embedded"), expected["embedded"])
    for l, arrays in enumerate(expected["layers"]):
        steps = [part["layers"][l] for part in parts]
        assert steps[0].keys() == arrays.keys()
        for name, X in arrays.items():
            # a score that the mask hides is not computed where its key is not there yet
            seen = np.tri(len(tokens), dtype=bool) if name == "S" else True
            CLOSE(
                np.where(seen, joined(steps, name), 0),
                np.where(seen, X, 0),
                err_msg=name,
            )
    for name in ("normal_f", "logits"):
        CLOSE(joined(parts, name), expected[name], err_msg=name)
    assert parts[0].keys() == expected.keys()


@pytest.fixture(scope="module")
def page(browser):
    page = browser.new_page()
    start(page, SCRIPT)
    yield page
    page.close()


def start(page, script):
    page.set_content("<!doctype html><title>x</title>")
    page.add_script_tag(type="module", content=script + HELPERS)
    page.wait_for_function("!!globalThis.readAll")


def read(page, P, tokens, H, cuts=()):
    """What the browser computes, part by part."""
    parts = [list(map(int, part)) for part in np.split(tokens, cuts)]
    return page.evaluate("(all) => readAll(...all)", [packed(P), parts, H])


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("H", "T"), [(1, 1), (2, 2), (3, 7), (6, 20)])
def test_every_array_of_a_random_model_is_numpys(H, T, seed, page):
    P = random_model(seed=seed)
    tokens = np.random.default_rng(seed).integers(11, size=T).tolist()
    compare(read(page, P, tokens, H), tokens, rounded(P), H)


TYPED = [
    "a",
    "The result of the exp",
    "\n\n   for x in range(10):\n",
    "”~°ß…" * 3,
    "def zzzqqq(self): return unforgettable " * 2,
]


@pytest.mark.parametrize("text", TYPED)
def test_every_array_of_the_trained_model_is_numpys(text, page):
    P, tokens = language.load(), context(encode(text, language.record()["vocabulary"]))
    tokens = tokens.tolist()
    parts = read(page, P, tokens, language.SIZES["H"])
    compare(parts, tokens, rounded(P), language.SIZES["H"])
    logits, A = language.read(tokens, rounded(P))
    CLOSE(parts[0]["logits"], logits)
    CLOSE([layer["A"] for layer in parts[0]["layers"]], A)


@pytest.mark.parametrize("cuts", [[1, 2, 3], [8], [4]])
def test_reading_on_gives_what_reading_at_once_gives(cuts, page):
    P, tokens = random_model(seed=5), [3, 1, 4, 1, 5, 9, 2, 6, 5]
    compare(read(page, P, tokens, 2, cuts), tokens, rounded(P), 2)


MUTATIONS = {
    "the scale is left out": ("dot(q, k) * scale", "dot(q, k)"),
    "post-norm": (
        "P.W_O, H, cache);\nconst Z",
        "P.W_O, H, cache);\nX = normal_1;\nconst Z",
    ),
    "the mask shows one key more": ("j <= i + T_k - T)", "j <= i + 1 + T_k - T)"),
    "the mask is aligned with the first key": ("j <= i + T_k - T)", "j <= i)"),
    "the mask does nothing": ("mask[i][j] ? s_j : -Infinity", "s_j"),
    "positions begin anew": ("T_read + t)", "t)"),
    "halves are turned": ("const angle = positions[t]", "const angle = -positions[t]"),
    "keys are not turned": ("...rotary(head, positions)]", "...head]"),
    "no eps": (" + eps)", ")"),
    "a bias is forgotten": ("h_i + b_1[i]", "h_i"),
    "gelu by tanh": (
        "erf(x_i / Math.SQRT2)",
        "Math.tanh(Math.sqrt(2 / Math.PI) * (x_i + 0.044715 * x_i ** 3))",
    ),
    "no residual": ("x_i + F[t][i]", "F[t][i]"),
    "no last norm": (
        "const normal_f = layer_norm(X, P.gamma_f, P.beta_f)",
        "const normal_f = X",
    ),
    "heads are interleaved": (
        "x.subarray(h * d_k, (h + 1) * d_k)",
        "x.filter((_, i) => i % H === h)",
    ),
}


@pytest.mark.parametrize("mutation", MUTATIONS)
def test_a_mutation_is_seen(mutation, browser):
    right, wrong = MUTATIONS[mutation]
    assert SCRIPT.count(right) == 1
    P, tokens, page = (
        random_model(seed=6),
        [3, 1, 4, 1, 5, 9, 2, 6, 5],
        browser.new_page(),
    )
    start(page, SCRIPT.replace(right, wrong))
    with pytest.raises(AssertionError):
        compare(read(page, P, tokens, 3, [4]), tokens, rounded(P), 3)
    page.close()


# ---- functions of their own ----


def call(page, name, *arguments):
    """What a function of the page makes of arrays and numbers."""
    arguments = [np.asarray(a).tolist() for a in arguments]
    code = "all.map((a) => Array.isArray(a) ? rows(a) : a)"
    return np.array(
        page.evaluate(f"(all) => plain(model.{name}(...{code}))", arguments)
    )


def test_gelu_is_exact_from_end_to_end(page):
    x = np.linspace(-9, 9, 2001)
    CLOSE(call(page, "gelu", x), tf.gelu(x), atol=1e-7)
    assert call(page, "gelu", np.zeros(1)) == [0]


def test_softmax_bears_large_scores(page):
    for s in ([1000.0, 1001.0], [-1000.0, -1001.0, 0.0], [3.0]):
        CLOSE(call(page, "softmax", s), tf.softmax(s), atol=1e-12)


@pytest.mark.parametrize(("T", "T_k"), [(1, 1), (3, 3), (1, 4), (2, 5)])
def test_the_mask_is_numpys(T, T_k, page):
    np.testing.assert_array_equal(
        call(page, "causal_mask", T, T_k), tf.causal_mask(T, T_k)
    )


@pytest.mark.parametrize("temperature", [0, 0.25, 1, 2])
@pytest.mark.parametrize("top_p", [0.01, 0.5, 0.9, 1])
def test_the_distribution_is_numpys(top_p, temperature, page, rng):
    for logits in (
        4 * rng.standard_normal(103),
        [1.0, 3.0, 3.0, 3.0],
        [-9.0],
        [0.0] * 10,
    ):
        p = call(page, "token_distribution", logits, temperature, top_p)
        CLOSE(p, tf.token_distribution(logits, temperature, top_p=top_p))
        np.testing.assert_array_equal(
            p > 0, tf.token_distribution(logits, temperature, top_p=top_p) > 0
        )


def test_tokens_are_drawn_as_numpy_draws_them(page, rng):
    class Fixed(np.random.Generator):
        def random(self, shape=None):
            return np.full(shape, self.u)

    p, generator = (
        tf.softmax(rng.standard_normal(9)) * (np.arange(9) % 3 > 0),
        Fixed(np.random.PCG64(0)),
    )
    for u in [0.0, *rng.random(50), 1 - 2**-53]:
        generator.u = u
        drawn = page.evaluate(
            "([p, u]) => model.sample(Float64Array.from(p), () => u)", [p.tolist(), u]
        )
        assert drawn == tf.sample(p, generator)
        assert p[drawn] > 0


# ---- parameters in 8 bits ----


def test_the_page_has_the_parameters_that_python_rounds(page, rng):
    for X in (
        rng.standard_normal((5, 7)),
        rng.standard_normal(4),
        np.zeros((2, 3)),
        np.array([[1e-9, -3.0]]),
    ):
        codes, scale = quantize(X)
        there = call(page, "dequantize", packed({"X": X})["X"])
        np.testing.assert_array_equal(there, codes * scale)
        assert abs(codes).max(initial=0) <= 127
        assert (abs(there - X) <= 0.501 * scale).all()


def test_the_model_fits_in_350_kB():
    held = json.dumps(YourText().spec["constants"], separators=(",", ":"))
    assert len(held) < 350_000
