"""The same functions on PyTorch tensors, under the same names; modules that hold
parameters and call them.
"""

from tfbook.torch.attention import (
    attention_scores,
    attention_weights,
    scaled_dot_product_attention,
    weighted_mean,
)
from tfbook.torch.cache import (
    KeyValueCache,
    cached_attention,
    key_value_caches,
)
from tfbook.torch.convolution import conv1d
from tfbook.torch.decoding import generate, left_pad
from tfbook.torch.device import device
from tfbook.torch.embedding import embed
from tfbook.torch.feed_forward import feed_forward, gated_feed_forward
from tfbook.torch.functions import cross_entropy, gelu, relu, silu, softmax
from tfbook.torch.heads import merge_heads, repeat_heads, split_heads
from tfbook.torch.kernels.fused import fused_attention
from tfbook.torch.language_model import LanguageModel, Transformer
from tfbook.torch.layer import residual, transformer, transformer_layer
from tfbook.torch.masks import causal_mask, padding_mask
from tfbook.torch.model import language_model
from tfbook.torch.modules import (
    FeedForward,
    LayerNorm,
    MultiHeadAttention,
    TransformerLayer,
)
from tfbook.torch.multi_head import multi_head_attention, multi_head_weights
from tfbook.torch.normalization import layer_norm, rms_norm
from tfbook.torch.positions import (
    alibi_bias,
    learned_positions,
    sinusoidal_positions,
)
from tfbook.torch.recurrent import lstm, recurrent_attention, rnn
from tfbook.torch.rotary import rotary, rotary_attention, rotary_frequencies
from tfbook.torch.sampling import sample, token_distribution
from tfbook.torch.streaming import streaming_attention
