"""Models that transformers wrote compute here what they compute there."""

import hashlib

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal
from published import CAUSAL, FORMS, in_float64, theirs, vocab, write
from transformers import BertModel, LlamaConfig, LlamaForCausalLM
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

import tfbook.numpy
import tfbook.torch
from tfbook.pretrained import load, minilm

HALVES = {"numpy": tfbook.numpy, "torch": tfbook.torch}
EACH_HALF = pytest.mark.parametrize("half", HALVES)
EVERY_FORM = pytest.mark.parametrize("name", FORMS)


def inputs(half, seed=0, B=3, T=11):
    rng = np.random.default_rng(seed)
    tokens = rng.integers(0, vocab, (B, T))
    lengths = np.array([T, 5, 1])[:B]
    mask = HALVES[half].padding_mask(
        lengths if half == "numpy" else torch.tensor(lengths), T
    )
    return tokens, lengths, mask


def assert_equal(model, wanted, tokens, tol, **options):
    answer, hidden, weights = wanted
    np_ = lambda X: np.asarray(X.detach() if isinstance(X, torch.Tensor) else X)
    assert_allclose(np_(model(tokens, **options)), answer, rtol=tol, atol=tol)
    for ours, other in (
        (model.hidden(tokens, **options), hidden),
        (model.attention(tokens, **options), weights),
    ):
        assert len(ours) == len(other)
        for X, Y in zip(ours, other):
            assert np_(X).dtype == answer.dtype
            assert_allclose(np_(X), Y, rtol=tol, atol=tol)


@EACH_HALF
@EVERY_FORM
def test_float32(name, half, tmp_path):
    reference = write(name, tmp_path)
    tokens, lengths, mask = inputs(half)
    model = load(tmp_path, half)
    assert_equal(model, theirs(reference, tokens), tokens, 1e-4)
    wanted = theirs(reference, tokens, lengths)
    assert_equal(model, wanted, tokens, 1e-4, mask=mask)


@EACH_HALF
@EVERY_FORM
def test_float64(name, half, tmp_path, monkeypatch):
    tokens, lengths, mask = inputs(half)
    with in_float64(monkeypatch):
        reference = write(name, tmp_path, torch.float64)
        plain = theirs(reference, tokens)
        masked = theirs(reference, tokens, lengths)
    model = load(tmp_path, half)
    assert_equal(model, plain, tokens, 1e-8)
    assert_equal(model, masked, tokens, 1e-8, mask=mask)


PUBLISHED_SCALINGS = {  # base, factor, positions of training
    "linear": ("linear", 10000.0, 4.0, None),
    "Llama 3.2": ("llama3", 500000.0, 32.0, 8192),
    "YaRN on Llama 2": ("yarn", 10000.0, 16.0, 4096),
    "YaRN at a larger base": ("yarn", 1000000.0, 4.0, 32768),
}


@EACH_HALF
@pytest.mark.parametrize("name", PUBLISHED_SCALINGS)
@pytest.mark.parametrize("d_k", [64, 128])
def test_every_frequency_of_published_scalings(name, half, d_k):
    scaling, base, factor, trained = PUBLISHED_SCALINGS[name]
    rope = {"rope_type": scaling, "rope_theta": base, "factor": factor}
    if trained:
        rope["original_max_position_embeddings"] = trained
    if scaling == "llama3":
        rope |= {"low_freq_factor": 1.0, "high_freq_factor": 4.0}
    config = LlamaConfig(
        head_dim=d_k,
        max_position_embeddings=int(factor * (trained or 4096)),
        rope_parameters=rope,
    )
    wanted, _ = ROPE_INIT_FUNCTIONS[scaling](config, "cpu")
    ours = HALVES[half].rotary_frequencies(d_k, base, scaling, factor, trained)
    assert_allclose(ours, wanted, rtol=1e-5)
    slower = HALVES[half].rotary_frequencies(d_k, base) / ours
    if scaling != "linear":  # some pairs are between the two
        assert ((slower > 1.01) & (slower < 0.99 * factor)).sum() > 2


@EACH_HALF
def test_segments(half, tmp_path):
    reference = write("bert", tmp_path)
    tokens, *_ = inputs(half)
    segments = (np.arange(tokens.size) % 3 == 0).reshape(tokens.shape).astype(int)
    wanted = theirs(reference, tokens, segments=segments)
    assert_equal(load(tmp_path, half), wanted, tokens, 1e-4, segments=segments)
    assert abs(wanted[0] - theirs(reference, tokens)[0]).max() > 0.1


@EACH_HALF
def test_sharded_files(half, tmp_path):
    reference = write("llama", tmp_path, max_shard_size="8KB")
    assert len(list(tmp_path.glob("model-*.safetensors"))) > 2
    tokens, *_ = inputs(half)
    assert_equal(load(tmp_path, half), theirs(reference, tokens), tokens, 1e-4)


@EACH_HALF
@pytest.mark.parametrize("name", [n for n in CAUSAL if "without" not in n])
def test_greedy_decoding_gives_the_same_tokens(name, half, tmp_path):
    reference = write(name, tmp_path)
    model, (tokens, lengths, _) = load(tmp_path, half), inputs(half)
    for b, n in enumerate(lengths):
        prompt = tokens[b : b + 1, :n]
        wanted = reference.generate(
            torch.tensor(prompt),
            attention_mask=torch.ones(prompt.shape, dtype=torch.long),
            max_new_tokens=9,
            min_new_tokens=9,
            do_sample=False,
            pad_token_id=0,
            eos_token_id=None,
        )[:, n:]
        given = prompt if half == "numpy" else torch.tensor(prompt)
        for cached in (True, False):
            found = HALVES[half].generate(model, given, 9, cached=cached)
            assert_array_equal(np.asarray(found), wanted.numpy())


def test_prompts_of_different_lengths_decode_as_they_do_alone(tmp_path):
    write("llama yarn", tmp_path)
    model, (tokens, lengths, _) = load(tmp_path), inputs("numpy")
    together = tfbook.numpy.generate(model, tokens, 6, lengths)
    for b, n in enumerate(lengths):
        alone = tfbook.numpy.generate(model, tokens[b, :n], 6)
        assert_array_equal(together[b], alone)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_files(dtype, tmp_path):
    reference = write("llama", tmp_path, dtype)
    wide = load(tmp_path, dtype="float32")
    assert_array_equal(
        wide.P["E"], reference.model.embed_tokens.weight.float().detach()
    )
    stored = np.float32 if dtype == torch.bfloat16 else np.float16
    assert load(tmp_path).P["E"].dtype == stored
    tokens, *_ = inputs("numpy")
    reference = LlamaForCausalLM.from_pretrained(
        tmp_path, dtype=torch.float32, attn_implementation="eager"
    )
    assert_equal(wide, theirs(reference, tokens), tokens, 1e-4)


@EVERY_FORM
def test_gradients_reach_every_parameter(name, tmp_path):
    write(name, tmp_path)
    model, (tokens, *_) = load(tmp_path, "torch"), inputs("torch")
    for p in model.P.values():
        p.requires_grad_()
    (model(tokens) ** 2).mean().backward()
    for key, p in model.P.items():
        assert p.grad is not None, key
        assert p.grad.isfinite().all(), key
        # a bias of the keys moves all scores of a query alike
        if not key.endswith("b_K") or model.turn:
            assert p.grad.abs().max() > 0, key


SENTENCES = [
    "The animal didn't cross the street because it was too tired.",
    "A short one.",
]


@pytest.fixture(scope="module")
def official():
    file = minilm() / "model.safetensors"
    assert hashlib.sha256(file.read_bytes()).hexdigest() == (
        "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
    )
    return BertModel.from_pretrained(minilm(), attn_implementation="eager").eval()


@EACH_HALF
@pytest.mark.parametrize(("dtype", "tol"), [("float32", 1e-4), ("float64", 1e-8)])
def test_minilm(official, half, dtype, tol):
    model = load(minilm(), half, dtype)
    ids = [model.tokenizer.encode(sentence).ids for sentence in SENTENCES]
    lengths = np.array([len(row) for row in ids])
    assert len(set(lengths)) == 2  # no padding, which tokenizer.json asks for
    T = lengths.max()
    tokens = np.array([row + [0] * (T - len(row)) for row in ids])
    mask = HALVES[half].padding_mask(
        lengths if half == "numpy" else torch.tensor(lengths), T
    )
    reference = official.to(getattr(torch, dtype))
    wanted = theirs(reference, tokens, lengths)
    assert_equal(model, wanted, tokens, tol, mask=mask)
