"""Gradients by hand: each function of the package, backwards."""

from tfbook.numpy.gradients.attention import (
    multi_head_attention_vjp,
    repeat_heads_vjp,
    scaled_dot_product_attention_vjp,
)
from tfbook.numpy.gradients.functions import (
    cross_entropy_vjp,
    gelu_vjp,
    linear_vjp,
    relu_vjp,
    silu_vjp,
    softmax_vjp,
)
from tfbook.numpy.gradients.layer import (
    residual_vjp,
    transformer_layer_vjp,
    transformer_vjp,
)
from tfbook.numpy.gradients.tokens import (
    embed_vjp,
    feed_forward_vjp,
    gated_feed_forward_vjp,
    layer_norm_vjp,
    rms_norm_vjp,
)
