"""The mathematics of the Transformer as plain functions of NumPy arrays."""

from tfbook.numpy.attention import (
    attention_scores,
    attention_weights,
    scaled_dot_product_attention,
    weighted_mean,
)
from tfbook.numpy.convolution import conv1d
from tfbook.numpy.functions import cross_entropy, gelu, relu, silu, softmax
from tfbook.numpy.heads import merge_heads, repeat_heads, split_heads
from tfbook.numpy.masks import causal_mask, padding_mask
from tfbook.numpy.multi_head import multi_head_attention, multi_head_weights
from tfbook.numpy.recurrent import lstm, recurrent_attention, rnn
from tfbook.numpy.streaming import streaming_attention
