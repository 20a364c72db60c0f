"""Small random models of every form that ``tfbook.pretrained`` reads, written by
transformers itself, and what transformers computes with them.
"""

from contextlib import contextmanager

import numpy as np
import torch
from transformers import (
    BertConfig,
    BertForMaskedLM,
    BertForQuestionAnswering,
    BertModel,
    GPT2Config,
    GPT2LMHeadModel,
    GPT2Model,
    LlamaConfig,
    LlamaForCausalLM,
)

vocab, d, L, H = 47, 24, 3, 4
BERT = dict(
    vocab_size=vocab,
    hidden_size=d,
    num_hidden_layers=L,
    num_attention_heads=H,
    intermediate_size=40,
    max_position_embeddings=32,
    layer_norm_eps=0.01,
)
GPT2 = dict(
    vocab_size=vocab,
    n_embd=d,
    n_layer=L,
    n_head=H,
    n_positions=32,
    layer_norm_epsilon=0.01,
    bos_token_id=0,
    eos_token_id=0,
)
LLAMA = dict(
    vocab_size=vocab,
    hidden_size=d,
    num_hidden_layers=L,
    num_attention_heads=H,
    num_key_value_heads=H,
    head_dim=8,
    intermediate_size=40,
    max_position_embeddings=64,
    rms_norm_eps=0.01,
    bos_token_id=0,
    eos_token_id=0,
)


def scaled(kind, **settings):
    """A Llama whose rotary frequencies are scaled."""
    rope = {"rope_type": kind, "rope_theta": 100.0, "factor": 4.0, **settings}
    return LlamaForCausalLM, LlamaConfig, {**LLAMA, "rope_parameters": rope}


YARN = {"original_max_position_embeddings": 16}
LLAMA3 = {
    "original_max_position_embeddings": 64,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
}
FORMS = {
    "bert": (BertModel, BertConfig, BERT),
    "bert with a head": (BertForMaskedLM, BertConfig, BERT),
    "bert for questions": (BertForQuestionAnswering, BertConfig, BERT),
    "bert with relu": (BertModel, BertConfig, {**BERT, "hidden_act": "relu"}),
    "gpt2": (GPT2LMHeadModel, GPT2Config, GPT2),
    "gpt2 without a head": (GPT2Model, GPT2Config, GPT2),
    "gpt2 untied": (
        GPT2LMHeadModel,
        GPT2Config,
        {**GPT2, "tie_word_embeddings": False, "n_inner": 20},
    ),
    "llama": (LlamaForCausalLM, LlamaConfig, LLAMA),
    "llama tied": (
        LlamaForCausalLM,
        LlamaConfig,
        {**LLAMA, "tie_word_embeddings": True, "rope_parameters": {"rope_theta": 7.0}},
    ),
    "llama with shared heads": (
        LlamaForCausalLM,
        LlamaConfig,
        {**LLAMA, "num_key_value_heads": 2},
    ),
    "llama with biases": (
        LlamaForCausalLM,
        LlamaConfig,
        {**LLAMA, "num_key_value_heads": 1, "attention_bias": True},
    ),
    "llama linear": scaled("linear"),
    "llama 3": scaled("llama3", **LLAMA3),
    "llama yarn": scaled("yarn", **YARN),
    "llama yarn, its factor given": scaled("yarn", **YARN, attention_factor=1.5),
    "llama yarn, two scales": scaled("yarn", **YARN, mscale=1.0, mscale_all_dim=0.5),
}
CAUSAL = [name for name in FORMS if not name.startswith("bert")]


def write(name, folder, dtype=torch.float32, **how):
    """Write a random model into a folder, and return it."""
    model_class, config_class, settings = FORMS[name]
    torch.manual_seed(0)
    model = model_class(config_class(**settings, attn_implementation="eager"))
    model = model.to(dtype).eval()
    with torch.no_grad():
        for p in model.parameters():  # no bias is 0, no scale is 1
            p += 0.2 * torch.randn(p.shape, dtype=dtype)
    model.save_pretrained(folder, **how)
    return model


@torch.no_grad()
def theirs(model, tokens, lengths=None, segments=None):
    """What transformers computes: the answer, hidden states and attention weights."""
    options = {}
    if lengths is not None:
        seen = np.arange(tokens.shape[1]) < lengths[:, None]
        options["attention_mask"] = torch.tensor(seen).long()
    if segments is not None:
        options["token_type_ids"] = torch.tensor(segments)
    out = model(
        torch.tensor(tokens),
        output_hidden_states=True,
        output_attentions=True,
        **options,
    )
    hidden = [X.numpy() for X in out.hidden_states]
    last = (
        hidden[-1] if "Bert" in type(model).__name__ else getattr(out, "logits", None)
    )
    if last is None:  # a GPT-2 without a head, which is tied
        last = out.last_hidden_state @ model.wte.weight.T
    return np.asarray(last), hidden, [A.numpy() for A in out.attentions]


@contextmanager
def in_float64(monkeypatch):
    """Within it, transformers computes everything in float64: it takes norms, angles
    and softmax of a model in float32, whatever the model's dtype.
    """
    with monkeypatch.context() as patch:
        patch.setattr(torch, "float32", torch.float64)
        patch.setattr(torch, "float", torch.float64)
        patch.setattr(torch.Tensor, "float", torch.Tensor.double)
        yield
