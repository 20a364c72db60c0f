"""The same functions on PyTorch tensors, under the same names; modules that hold parameters and call them."""

from tfbook.torch.attention import (
    attention_scores,
    attention_weights,
    scaled_dot_product_attention,
    weighted_mean,
)
from tfbook.torch.convolution import conv1d
from tfbook.torch.device import device
from tfbook.torch.functions import cross_entropy, gelu, relu, silu, softmax
from tfbook.torch.heads import merge_heads, repeat_heads, split_heads
from tfbook.torch.masks import causal_mask, padding_mask
from tfbook.torch.multi_head import multi_head_attention, multi_head_weights
from tfbook.torch.recurrent import lstm, recurrent_attention, rnn
from tfbook.torch.streaming import streaming_attention
