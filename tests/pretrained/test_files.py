"""What is wrong with a folder is said by the name of what is wrong."""

import json
import pickle
import subprocess
import sys

import numpy as np
import pytest
from published import write
from safetensors.numpy import load_file, save_file

from tfbook.pretrained import load

FILE, INDEX = "model.safetensors", "model.safetensors.index.json"


@pytest.fixture
def folder(tmp_path):
    """A GPT-2's."""
    write("gpt2", tmp_path)
    return tmp_path


def change(folder, **changes):
    """Change settings of ``config.json``; None takes one away."""
    path = folder / "config.json"
    config = json.loads(path.read_text()) | changes
    path.write_text(json.dumps({k: v for k, v in config.items() if v is not None}))


def rewrite(folder, f):
    """Change the tensors of the file."""
    tensors = load_file(folder / FILE)
    f(tensors)
    save_file(tensors, folder / FILE)


NAME = "transformer.h.1.mlp.c_fc.weight"


def test_a_missing_tensor_is_named(folder):
    rewrite(folder, lambda tensors: tensors.pop(NAME))
    with pytest.raises(ValueError, match=r"^h\.1\.mlp\.c_fc\.weight: expected a tens"):
        load(folder)


def test_a_misnamed_tensor_is_named(folder):
    def rename(tensors):
        tensors["transformer.h.1.mlp.c_fk.weight"] = tensors[NAME]

    rewrite(folder, rename)
    with pytest.raises(ValueError, match=r"^h\.1\.mlp\.c_fk\.weight: expected no tens"):
        load(folder)


def test_a_misshapen_tensor_is_named(folder):
    def transpose(tensors):
        tensors[NAME] = np.ascontiguousarray(tensors[NAME].T)

    rewrite(folder, transpose)
    message = (
        r"h\.1\.mlp\.c_fc\.weight: expected \(d, d_ff\) = \(24, 96\), got \(96, 24\)"
    )
    with pytest.raises(ValueError, match=message):
        load(folder)


def test_numbers_of_another_kind_are_refused(folder):
    def whole(tensors):
        tensors[NAME] = tensors[NAME].astype(np.int32)

    rewrite(folder, whole)
    with pytest.raises(
        ValueError, match=r"c_fc\.weight: expected numbers as .* got I32"
    ):
        load(folder)


@pytest.mark.parametrize("cut", [1, 3000])
def test_a_truncated_file_names_a_tensor(folder, cut):
    held = (folder / FILE).read_bytes()
    (folder / FILE).write_bytes(held[:-cut])
    with pytest.raises(ValueError, match=r"^transformer\.\S+: expected .* cut short"):
        load(folder)


@pytest.mark.parametrize("content", [b"", b"\x08\x00", b"\x02" + b"\x00" * 7 + b"[]"])
def test_another_file_is_refused(folder, content):
    (folder / FILE).write_bytes(content)
    with pytest.raises(ValueError, match=r"model\.safetensors: expected a safetensors"):
        load(folder)


def test_a_pickle_is_not_opened(folder):
    class Bomb:
        def __reduce__(self):
            return exec, ("raise SystemExit",)

    (folder / FILE).unlink()
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(FileNotFoundError, match=r"pytorch_model\.bin is a pickle"):
        load(folder)


def test_a_folder_without_a_model_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"^config\.json: expected it in"):
        load(tmp_path)


@pytest.mark.parametrize("text", ["{", "[]"])
def test_settings_that_are_no_json_object_are_refused(folder, text):
    (folder / "config.json").write_text(text)
    with pytest.raises(ValueError, match=r"^config\.json: expected"):
        load(folder)


def test_another_half_is_refused(folder):
    with pytest.raises(
        ValueError, match="half: expected one of numpy, torch, got 'jax'"
    ):
        load(folder, "jax")


UNSUPPORTED = {
    "gpt2": {
        "model_type": "t5",
        "activation_function": "gelu_fast",
        "scale_attn_weights": False,
        "scale_attn_by_inverse_layer_idx": True,
        "add_cross_attention": True,
        "quantization_config": {"bits": 4},
        "n_embd": None,
        "n_layer": 0,
        "n_head": 5,
        "layer_norm_epsilon": -1,
    },
    "bert": {
        "is_decoder": True,
        "add_cross_attention": True,
        "position_embedding_type": "relative_key",
        "hidden_act": "mish",
        "num_attention_heads": 5,
    },
    "llama": {"mlp_bias": True, "hidden_act": "mish", "num_key_value_heads": 3},
}


@pytest.mark.parametrize(
    ("name", "setting", "value"),
    [(n, s, v) for n, settings in UNSUPPORTED.items() for s, v in settings.items()],
)
def test_an_unsupported_setting_is_named(tmp_path, name, setting, value):
    write(name, tmp_path)
    change(tmp_path, **{setting: value})
    ours = {"num_key_value_heads": "H_kv"}.get(setting, setting)
    with pytest.raises(ValueError, match=ours):
        load(tmp_path)


ROPE = {"rope_type": "yarn", "rope_theta": 100.0, "factor": 4.0}


@pytest.mark.parametrize(
    ("rope", "name"),
    [
        ({"rope_type": "dynamic"}, "rope_type"),
        ({"rope_type": "longrope"}, "rope_type"),
        ({"partial_rotary_factor": 0.5}, "partial_rotary_factor"),
        ({"beta_fast": 16}, "beta_fast"),
        ({"beta_slow": 2}, "beta_slow"),
        ({"truncate": False}, "truncate"),
        ({"factor": None}, "factor"),
        ({"rope_type": "llama3", "low_freq_factor": 2}, "low_freq_factor"),
        ({"rope_type": "llama3", "high_freq_factor": 8}, "high_freq_factor"),
    ],
)
def test_an_unsupported_rope_setting_is_named(tmp_path, rope, name):
    write("llama", tmp_path)
    change(tmp_path, rope_parameters=ROPE | rope)
    with pytest.raises(ValueError, match=name):
        load(tmp_path)


def test_settings_of_older_files_are_read(tmp_path):
    write("llama yarn", tmp_path)
    new = load(tmp_path)([[1, 2, 3]])
    rope = {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16}
    path = tmp_path / "config.json"
    config = json.loads(path.read_text())
    del config["rope_parameters"]
    path.write_text(json.dumps(config | {"rope_scaling": rope, "rope_theta": 100.0}))
    assert np.array_equal(load(tmp_path)([[1, 2, 3]]), new)


def test_masks_that_older_files_hold_are_left_out(folder):
    wanted = load(folder)([[1, 2, 3]])

    def add(tensors):
        for l in range(3):
            mask = np.tri(32, dtype=bool)[None, None]
            tensors[f"transformer.h.{l}.attn.bias"] = mask
            tensors[f"transformer.h.{l}.attn.masked_bias"] = np.array(-1e4, np.float32)

    rewrite(folder, add)
    assert np.array_equal(load(folder)([[1, 2, 3]]), wanted)


def test_names_of_the_first_berts_are_read(tmp_path):
    write("bert", tmp_path)
    wanted = load(tmp_path)([[1, 2, 3]])

    def rename(tensors):
        tensors["embeddings.position_ids"] = np.arange(32)[None]
        for name in list(tensors):
            for new, old in (("weight", "gamma"), ("bias", "beta")):
                if name.endswith(f"LayerNorm.{new}"):
                    tensors[name.removesuffix(new) + old] = tensors.pop(name)

    rewrite(tmp_path, rename)
    assert np.array_equal(load(tmp_path)([[1, 2, 3]]), wanted)


@pytest.fixture
def sharded(tmp_path):
    write("llama", tmp_path, max_shard_size="8KB")
    return tmp_path


def first_shard(folder):
    return min(folder.glob("model-*.safetensors"))


def test_a_missing_shard_is_named(sharded):
    shard = first_shard(sharded)
    shard.unlink()
    with pytest.raises(FileNotFoundError, match=f"^{shard.name}"):
        load(sharded)


@pytest.mark.parametrize("where", ["none", "other"])
def test_a_tensor_that_is_not_where_the_index_says_is_named(sharded, where):
    index = json.loads((sharded / INDEX).read_text())
    name, file = next(iter(index["weight_map"].items()))
    if where == "none":
        index["weight_map"]["model.norm.bias"] = file
        name = "model.norm.bias"
    else:
        other = {f for f in index["weight_map"].values() if f != file}
        index["weight_map"][name] = min(other)
    (sharded / INDEX).write_text(json.dumps(index))
    with pytest.raises(ValueError, match=f"^{name}: expected in"):
        load(sharded)


def test_an_index_leads_to_no_other_folder(sharded):
    index = json.loads((sharded / INDEX).read_text())
    name = next(iter(index["weight_map"]))
    index["weight_map"][name] = "../model.safetensors"
    (sharded / INDEX).write_text(json.dumps(index))
    with pytest.raises(
        ValueError, match=r"names of \.safetensors files, got '\.\./mod"
    ):
        load(sharded)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("bert", {"pad": [0]}),
        ("bert", {"cache": {}}),
        ("gpt2", {"segments": [[0, 0, 0]]}),
        ("gpt2", {"segments": [[0, 0, 0]], "mask": [[True] * 3] * 3}),
        ("gpt2", {"pad": [0], "mask": [[True] * 3] * 3}),
    ],
)
def test_an_argument_that_has_no_effect_is_refused(tmp_path, name, options):
    write(name, tmp_path)
    with pytest.raises(
        ValueError, match=f"^{next(iter(options))}: expected none for a"
    ):
        load(tmp_path)([[1, 2, 3]], **options)


@pytest.mark.parametrize("half", ["numpy", "torch"])
@pytest.mark.parametrize(
    ("segments", "error", "message"),
    [
        ([[0, 2, 0]], IndexError, "segments: expected 0 to 1, got 0 to 2"),
        ([[0.0, 1.0, 0.0]], ValueError, "segments: expected whole numbers"),
        ([[0, 1]], ValueError, r"segments: expected .* = \(1, 3\), got \(1, 2\)"),
    ],
)
def test_segments_that_do_not_fit_are_named(tmp_path, half, segments, error, message):
    write("bert", tmp_path)
    with pytest.raises(error, match=f"^{message}"):
        load(tmp_path, half)([[1, 2, 3]], segments=segments)


@pytest.mark.parametrize("half", ["numpy", "torch"])
@pytest.mark.parametrize("name", ["bert", "gpt2"])
def test_a_mask_of_another_shape_is_named(tmp_path, half, name):
    write(name, tmp_path)
    message = r"^mask: expected .* = \(2, 3, 3\), got \(2, 3\)"
    with pytest.raises(ValueError, match=message):
        load(tmp_path, half)([[1, 2, 3]] * 2, mask=[[True] * 3] * 2)


@pytest.mark.parametrize("half", ["numpy", "torch"])
@pytest.mark.parametrize("name", ["bert", "gpt2"])
def test_a_token_without_a_sequence_is_refused(tmp_path, half, name):
    write(name, tmp_path)
    with pytest.raises(ValueError, match=r"^tokens: expected \(\.\.\., T\), got \(\)"):
        load(tmp_path, half)(1)


def test_a_mask_that_is_not_boolean_is_refused(folder):
    with pytest.raises(ValueError, match="mask: expected booleans"):
        load(folder)([[1, 2, 3]], mask=[[1, 1, 1]])


def test_no_tokenizer_where_the_folder_has_none(folder):
    assert load(folder).tokenizer is None
    (folder / "tokenizer.json").write_text("{}")
    with pytest.raises(ValueError, match=r"^tokenizer\.json: expected a tokenizer"):
        load(folder).tokenizer  # noqa: B018


@pytest.mark.parametrize("package", ["safetensors", "tokenizers"])
def test_a_missing_package_is_named(folder, package, monkeypatch):
    (folder / "tokenizer.json").write_text("{}")
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=f"expected the package {package}"):
        load(folder).tokenizer  # noqa: B018


def test_the_numpy_half_needs_no_torch(folder):
    code = (
        "import sys; from tfbook.pretrained import load;"
        f" load({str(folder)!r})([[1, 2]]); print('torch' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"
