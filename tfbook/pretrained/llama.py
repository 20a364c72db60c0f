"""Llama: Touvron et al., arXiv 2302.13971, and Grattafiori et al., arXiv 2407.21783."""

import math

from tfbook.numpy.check_heads import head_counts, per_head
from tfbook.pretrained.settings import Settings, activation

LAYER = {
    "gamma_1": ("input_layernorm.weight", "(d,)"),
    "W_Q": ("self_attn.q_proj.weight", "(H*d_k, d)"),
    "W_K": ("self_attn.k_proj.weight", "(H_kv*d_k, d)"),
    "W_V": ("self_attn.v_proj.weight", "(H_kv*d_k, d)"),
    "W_O": ("self_attn.o_proj.weight", "(d, H*d_k)"),
    "gamma_2": ("post_attention_layernorm.weight", "(d,)"),
    "W_gate": ("mlp.gate_proj.weight", "(d_ff, d)"),
    "W_up": ("mlp.up_proj.weight", "(d_ff, d)"),
    "W_down": ("mlp.down_proj.weight", "(d, d_ff)"),
}
BIASES = {
    "b_Q": ("self_attn.q_proj.bias", "(H*d_k,)"),
    "b_K": ("self_attn.k_proj.bias", "(H_kv*d_k,)"),
    "b_V": ("self_attn.v_proj.bias", "(H_kv*d_k,)"),
    "b_O": ("self_attn.o_proj.bias", "(d,)"),
}


def llama(config, tensors):
    """The parameters of a Llama, and its form: causal, pre-norm with RMS norms, gated,
    with rotary positions and shared key/value heads.
    """
    d, L = config.size("hidden_size"), config.size("num_hidden_layers")
    H = config.size("num_attention_heads")
    H, H_kv = head_counts(H, config.get("num_key_value_heads"))
    if config.get("head_dim"):
        d_k = config.size("head_dim")
    else:
        d_k = per_head(
            "config.json: hidden_size", d, H, "num_attention_heads"
        )
    config.one_of("mlp_bias", False, default=False)
    biased = config.one_of("attention_bias", True, False, default=False)
    tensors.sizes = {
        "d": d,
        "H": H,
        "H_kv": H_kv,
        "d_k": d_k,
        "d_ff": config.size("intermediate_size"),
        "vocab": config.size("vocab_size"),
    }
    tensors.without("model.", ".rotary_emb.inv_freq")
    take = tensors.take
    P = {
        "E": take("embed_tokens.weight", "(vocab, d)"),
        "gamma_f": take("norm.weight", "(d,)"),
    }
    for l in range(L):
        for ours, (theirs, form) in (
            LAYER | BIASES if biased else LAYER
        ).items():
            P[f"layers.{l}.{ours}"] = tensors.linear(
                f"layers.{l}.{theirs}", form
            )
    if config.one_of("tie_word_embeddings", True, False, default=False):
        tensors.drop("lm_head.weight")
    else:
        P["W_out"] = tensors.linear("lm_head.weight", "(vocab, d)")
    frequencies, attention_factor = rotary_form(config, d_k)
    return P, {
        "H": H,
        "H_kv": H_kv,
        "norm": "pre",
        "activation": activation(config, "hidden_act", "silu"),
        "eps": config.number("rms_norm_eps", 1e-6),
        "positions": "rotary",
        "frequencies": frequencies,
        # of queries and of keys, so that the scores have its square
        "scale": attention_factor**2 / math.sqrt(d_k),
    }


def rotary_form(config, d_k):
    """How queries and keys turn: the arguments of ``rotary_frequencies``, and the
    attention factor, which is 1 but for YaRN.
    """
    rope = Settings(
        config.get("rope_parameters") or config.get("rope_scaling") or {}
    )
    kind = rope.get("rope_type", rope.get("type", "default"))
    base = rope.number("rope_theta", config.get("rope_theta", 10000.0))
    for settings in (rope, config):
        settings.one_of("partial_rotary_factor", 1, default=1)
    form = {"d_k": d_k, "base": base}
    if kind == "default":
        return form, 1.0
    if kind not in ("linear", "llama3", "yarn"):
        raise ValueError(
            "config.json: rope_type: expected default or linear or llama3 or yarn, got"
            f" {kind!r}, which is not supported"
        )
    factor = rope.number("factor", None)
    form |= {"scaling": kind, "factor": factor}
    if kind == "linear":
        return form, 1.0
    form["trained"] = rope.size(
        "original_max_position_embeddings",
        config.get("max_position_embeddings"),
    )
    if kind == "llama3":
        rope.one_of("low_freq_factor", 1, default=1)
        rope.one_of("high_freq_factor", 4, default=4)
        return form, 1.0
    rope.one_of("beta_fast", 32, default=32)
    rope.one_of("beta_slow", 1, default=1)
    rope.one_of("truncate", True, default=True)
    return form, yarn_factor(rope, factor)


def yarn_factor(rope, factor):
    """What YaRN multiplies queries and keys by: as the settings give it, else as the
    paper computes it.
    """
    if rope.get("attention_factor"):
        return rope.number("attention_factor", None)
    of = lambda weight: 0.1 * weight * math.log(factor) + 1
    if rope.get("mscale") and rope.get("mscale_all_dim"):
        return of(rope.get("mscale")) / of(rope.get("mscale_all_dim"))
    return of(1)
