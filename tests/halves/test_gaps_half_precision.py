"""Gradients by hand in float16 and float32: the float64 gradient of the same numbers,
rounded, and never 0 for want of width.
"""

import inspect

import numpy as np
import pytest
from numpy.testing import assert_allclose

import tfbook.numpy as tn

d, d_ff, T = 8, 12, 5
CAUSAL = tn.causal_mask(T)


def draw(*shape, size=1.0, seed=0):
    return size * np.random.default_rng([seed, *shape]).standard_normal(shape)


dY, X, W = draw(T, d, seed=9), draw(T, d), draw(d, d, size=0.3)
HEADS = [draw(d, d, size=0.3, seed=i) for i in range(4)]
NETWORK = [draw(d, d_ff, size=0.3), draw(d_ff), draw(d_ff, d, size=0.3), draw(d)]
GATED = [
    draw(d, d_ff, size=0.3),
    draw(d, d_ff, size=0.3, seed=1),
    draw(d_ff, d, size=0.3),
]
GAMMA, BETA = 1 + draw(d, size=0.1), draw(d)
CASES = {  # the gradient, and its arrays; dY is drawn of the answer's shape
    "relu_vjp": (tn.relu_vjp, (dY, X)),
    "gelu_vjp": (tn.gelu_vjp, (dY, X)),
    "silu_vjp": (tn.silu_vjp, (dY, X)),
    "softmax_vjp": (tn.softmax_vjp, (dY, X)),
    "linear_vjp": (tn.linear_vjp, (dY, X, W)),
    "layer_norm_vjp": (tn.layer_norm_vjp, (dY, X, GAMMA, BETA)),
    "rms_norm_vjp": (tn.rms_norm_vjp, (dY, X, GAMMA)),
    "cross_entropy_vjp": (
        lambda dL, logits: tn.cross_entropy_vjp(dL, logits, np.arange(T)),
        (np.array(1.0), X),
    ),
    "scaled_dot_product_attention_vjp": (
        lambda dY, *arrays: tn.scaled_dot_product_attention_vjp(
            dY, *arrays, mask=CAUSAL
        ),
        (dY, X, draw(T, d, seed=1), draw(T, d, seed=2)),
    ),
    "multi_head_attention_vjp": (
        lambda dY, *arrays: tn.multi_head_attention_vjp(dY, *arrays, H=2, mask=CAUSAL),
        (dY, X, *HEADS),
    ),
    "feed_forward_vjp": (tn.feed_forward_vjp, (dY, X, *NETWORK)),
    "gated_feed_forward_vjp": (tn.gated_feed_forward_vjp, (dY, X, *GATED)),
}


def gradients(name, dtype, scale=1.0):
    """In a dtype, all arrays rounded to float16 first, so that every dtype sees the
    same numbers; the tokens times ``scale``.
    """
    f, arrays = CASES[name]
    dY, first, *rest = (x.astype(np.float16).astype(dtype) for x in arrays)
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        found = f(dY, first * dtype(scale), *rest)
    return found if isinstance(found, tuple) else (found,)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_a_gradient_is_the_wide_one_rounded(name, dtype):
    wide, eps = gradients(name, np.float64), float(np.finfo(dtype).eps)
    for narrow, right in zip(gradients(name, dtype), wide, strict=True):
        assert narrow.dtype == dtype
        assert_allclose(narrow, right, atol=12 * eps * abs(right).max())


@pytest.mark.parametrize("scale", [2.0**-9, 2.0**9], ids=["small", "large"])
@pytest.mark.parametrize("name", ["layer_norm_vjp", "rms_norm_vjp"])
def test_a_norm_has_gradients_where_squares_leave_float16(name, scale):
    wide = gradients(name, np.float64, scale)
    for narrow, right in zip(gradients(name, np.float16, scale), wide, strict=True):
        assert abs(right).max() > 0
        assert_allclose(
            narrow, right, atol=12 * float(np.finfo(np.float16).eps) * abs(right).max()
        )


def test_no_gradient_is_left_out():
    names = {name for name in vars(tn) if name.endswith("_vjp")}
    made_of_these = {
        "residual_vjp",
        "embed_vjp",
        "repeat_heads_vjp",
        "transformer_layer_vjp",
        "transformer_vjp",
    }
    assert names == set(CASES) | made_of_these


@pytest.mark.parametrize(
    "name",
    sorted(
        name for name in vars(tn) if name.endswith("_vjp") and hasattr(tn, name[:-4])
    ),
)
def test_options_have_the_defaults_of_the_function(name):
    of_vjp, of_function = (
        inspect.signature(getattr(tn, f)).parameters
        for f in (name, name.removesuffix("_vjp"))
    )
    for option in of_vjp.keys() & of_function.keys():
        assert of_vjp[option].default == of_function[option].default, option
