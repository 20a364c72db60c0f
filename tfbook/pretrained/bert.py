"""BERT: Devlin et al., arXiv 1810.04805."""

from tfbook.numpy.check_heads import per_head
from tfbook.pretrained.settings import activation

LAYER = {
    "W_Q": ("attention.self.query.weight", "(d, d)"),
    "b_Q": ("attention.self.query.bias", "(d,)"),
    "W_K": ("attention.self.key.weight", "(d, d)"),
    "b_K": ("attention.self.key.bias", "(d,)"),
    "W_V": ("attention.self.value.weight", "(d, d)"),
    "b_V": ("attention.self.value.bias", "(d,)"),
    "W_O": ("attention.output.dense.weight", "(d, d)"),
    "b_O": ("attention.output.dense.bias", "(d,)"),
    "gamma_1": ("attention.output.LayerNorm.weight", "(d,)"),
    "beta_1": ("attention.output.LayerNorm.bias", "(d,)"),
    "W_1": ("intermediate.dense.weight", "(d_ff, d)"),
    "b_1": ("intermediate.dense.bias", "(d_ff,)"),
    "W_2": ("output.dense.weight", "(d, d_ff)"),
    "b_2": ("output.dense.bias", "(d,)"),
    "gamma_2": ("output.LayerNorm.weight", "(d,)"),
    "beta_2": ("output.LayerNorm.bias", "(d,)"),
}


def bert(config, tensors):
    """The parameters of a BERT, and its form: an encoder, post-norm, with segments and
    a norm after the embedding. What its tasks put on top is left out.
    """
    d, L = config.size("hidden_size"), config.size("num_hidden_layers")
    H = config.size("num_attention_heads")
    per_head("config.json: hidden_size", d, H, "num_attention_heads")
    config.one_of("is_decoder", False, default=False)
    config.one_of("add_cross_attention", False, default=False)
    config.one_of("position_embedding_type", "absolute", default="absolute")
    tensors.sizes = {
        "d": d,
        "d_ff": config.size("intermediate_size"),
        "vocab": config.size("vocab_size"),
        "T_max": config.size("max_position_embeddings", 512),
        "kinds": config.size("type_vocab_size", 2),
    }
    tensors.without(
        "bert.",
        "pooler.",
        "cls.",
        "classifier.",
        "qa_outputs.",
        ".position_ids",
    )
    tensors.rename({"LayerNorm.gamma": "LayerNorm.weight"})  # of the first
    tensors.rename({"LayerNorm.beta": "LayerNorm.bias"})  # BERTs' files
    take, at = tensors.take, "embeddings."
    P = {
        "E": take(f"{at}word_embeddings.weight", "(vocab, d)"),
        "P": take(f"{at}position_embeddings.weight", "(T_max, d)"),
        "S": take(f"{at}token_type_embeddings.weight", "(kinds, d)"),
        "gamma_e": take(f"{at}LayerNorm.weight", "(d,)"),
        "beta_e": take(f"{at}LayerNorm.bias", "(d,)"),
    }
    for l in range(L):
        for ours, (theirs, form) in LAYER.items():
            P[f"layers.{l}.{ours}"] = tensors.linear(
                f"encoder.layer.{l}.{theirs}", form
            )
    return P, {
        "H": H,
        "norm": "post",
        "activation": activation(config, "hidden_act", "gelu"),
        "eps": config.number("layer_norm_eps", 1e-12),
    }
