"""Models that share key/value heads: what the script wrote down, and that it trains
what it says.
"""

import numpy as np
import torch

from tfbook.experiments import heads, shared_heads
from tfbook.experiments.heads import __main__ as train_heads
from tfbook.experiments.shared_heads import __main__ as train_shared_heads
from tfbook.numpy import multi_head_attention
from tfbook.text import characters, text


def test_record_has_every_model():
    assert [(m["H_kv"], m["seed"]) for m in shared_heads.record()["models"]] == [
        (H_kv, seed) for H_kv in (8, 4, 1) for seed in range(3)
    ]
    for name, most in (("loss", np.log(len(characters(text())))), ("right", 1)):
        measured = shared_heads.measured(name)
        assert list(measured) == [8, 4, 1]
        assert all(
            ((values > 0) & (values <= most)).all() and len(values) == 3
            for values in measured.values()
        )


def test_a_reader_with_shared_heads_attends_with_them():
    model = train_heads.Reader(16, 4, H_kv=2)
    attention, P = model.layers[0], heads.start(16, 4)
    assert attention.W_K.shape == attention.W_V.shape == (16, 8)
    X = np.random.default_rng(0).standard_normal((5, 16)).astype(np.float32)
    W_Q, W_K, W_V, W_O = (
        P[f"layers.0.{name}"] for name in ("W_Q", "W_K", "W_V", "W_O")
    )
    expected = multi_head_attention(X, W_Q, W_K[:, :8], W_V[:, :8], W_O, 4, 2)
    np.testing.assert_allclose(attention(torch.tensor(X)).detach(), expected, atol=1e-5)


def test_training_lowers_the_loss():
    first, later = (train_shared_heads.train_text(1, 0, steps) for steps in (1, 25))
    assert later < first - 0.3
    assert train_shared_heads.train_recall(1, 0, 60) > 0.15  # a guess: 0.1
