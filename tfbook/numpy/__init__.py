"""The mathematics of the Transformer as plain functions of NumPy arrays."""

from tfbook.numpy.attention import (
    attention_scores,
    attention_weights,
    scaled_dot_product_attention,
    weighted_mean,
)
from tfbook.numpy.cache import (
    KeyValueCache,
    cached_attention,
    key_value_caches,
)
from tfbook.numpy.convolution import conv1d
from tfbook.numpy.decoding import generate, left_pad
from tfbook.numpy.embedding import embed
from tfbook.numpy.feed_forward import feed_forward, gated_feed_forward
from tfbook.numpy.functions import cross_entropy, gelu, relu, silu, softmax
from tfbook.numpy.gradients import (
    cross_entropy_vjp,
    embed_vjp,
    feed_forward_vjp,
    gated_feed_forward_vjp,
    gelu_vjp,
    layer_norm_vjp,
    linear_vjp,
    multi_head_attention_vjp,
    relu_vjp,
    repeat_heads_vjp,
    residual_vjp,
    rms_norm_vjp,
    scaled_dot_product_attention_vjp,
    silu_vjp,
    softmax_vjp,
    transformer_layer_vjp,
    transformer_vjp,
)
from tfbook.numpy.heads import merge_heads, repeat_heads, split_heads
from tfbook.numpy.init import init_layer
from tfbook.numpy.layer import residual, transformer, transformer_layer
from tfbook.numpy.masks import causal_mask, padding_mask
from tfbook.numpy.model import language_model
from tfbook.numpy.multi_head import multi_head_attention, multi_head_weights
from tfbook.numpy.normalization import layer_norm, rms_norm
from tfbook.numpy.positions import (
    alibi_bias,
    learned_positions,
    sinusoidal_positions,
)
from tfbook.numpy.recurrent import lstm, recurrent_attention, rnn
from tfbook.numpy.rotary import rotary, rotary_attention, rotary_frequencies
from tfbook.numpy.sampling import sample, token_distribution
from tfbook.numpy.streaming import streaming_attention
