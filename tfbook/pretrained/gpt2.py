"""GPT-2: Radford et al., 2019."""

import numpy as np

from tfbook.numpy.check_heads import per_head
from tfbook.pretrained.settings import activation

LAYER = {  # stored as we multiply, (in, out)
    "gamma_1": ("ln_1.weight", "(d,)"),
    "beta_1": ("ln_1.bias", "(d,)"),
    "W_O": ("attn.c_proj.weight", "(d, d)"),
    "b_O": ("attn.c_proj.bias", "(d,)"),
    "gamma_2": ("ln_2.weight", "(d,)"),
    "beta_2": ("ln_2.bias", "(d,)"),
    "W_1": ("mlp.c_fc.weight", "(d, d_ff)"),
    "b_1": ("mlp.c_fc.bias", "(d_ff,)"),
    "W_2": ("mlp.c_proj.weight", "(d_ff, d)"),
    "b_2": ("mlp.c_proj.bias", "(d,)"),
}


def gpt2(config, tensors):
    """The parameters of a GPT-2, and its form: causal, pre-norm, with learned
    positions.
    """
    d, L, H = (config.size(name) for name in ("n_embd", "n_layer", "n_head"))
    per_head("config.json: n_embd", d, H, "n_head")
    config.one_of("scale_attn_weights", True, default=True)
    for name in ("scale_attn_by_inverse_layer_idx", "add_cross_attention"):
        config.one_of(name, False, default=False)
    tensors.sizes = {
        "d": d,
        "d_ff": config.size("n_inner", 4 * d),
        "vocab": config.size("vocab_size"),
        "T_max": config.size("n_positions", 1024),
    }
    # masks, which some files hold beside the numbers
    tensors.without("transformer.", ".attn.bias", ".attn.masked_bias")
    take = tensors.take
    P = {
        "E": take("wte.weight", "(vocab, d)"),
        "P": take("wpe.weight", "(T_max, d)"),
        "gamma_f": take("ln_f.weight", "(d,)"),
        "beta_f": take("ln_f.bias", "(d,)"),
    }
    for l in range(L):
        for ours, (theirs, form) in LAYER.items():
            P[f"layers.{l}.{ours}"] = take(f"h.{l}.{theirs}", form)
        # queries, keys and values side by side
        W = np.split(take(f"h.{l}.attn.c_attn.weight", "(d, 3*d)"), 3, axis=1)
        b = np.split(take(f"h.{l}.attn.c_attn.bias", "(3*d,)"), 3)
        for n, which in enumerate("QKV"):
            P[f"layers.{l}.W_{which}"] = W[n]
            P[f"layers.{l}.b_{which}"] = b[n]
    if config.one_of("tie_word_embeddings", True, False, default=True):
        tensors.drop("lm_head.weight")
    else:
        P["W_out"] = tensors.linear("lm_head.weight", "(vocab, d)")
    return P, {
        "H": H,
        "norm": "pre",
        "activation": activation(config, "activation_function", "gelu_new"),
        "eps": config.number("layer_norm_epsilon", 1e-5),
        "positions": "learned",
    }
