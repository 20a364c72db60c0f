"""Stacks with and without residuals and norms learn 64 pairs by heart."""

import time
from itertools import product

import numpy as np
import torch

from tfbook.experiments.depth.forms import layers_of_form
from tfbook.experiments.study import fit, warmed_up
from tfbook.torch import feed_forward, layer_norm, multi_head_attention

D, H, T, BATCH, STEPS = 16, 2, 8, 8, 60
RATES, TRIED_WITH, SEEDS = (0.0003, 0.001, 0.003, 0.01), 5, range(5)
# L, residual, norm and small
ARMS = list(
    product((4, 12), (False, True), ("none", "post", "pre"), (False, True))
)


def layer(X, P, H, residual=True, norm="none", **options):
    """Apply a layer with residuals or without, and with a norm after each function,
    before it, or not at all.

    Parameters
    ----------
    X : Tensor, shape (..., T, d)
    P : dict of Tensor
        As in :func:`tfbook.torch.transformer_layer`.
    H : int
        Heads.
    residual : bool
    norm : {"none", "post", "pre"}
    **options
        Of :func:`tfbook.torch.multi_head_attention`.

    Returns
    -------
    Tensor, shape (..., T, d)
    """

    def attend(X):
        W = (P[name] for name in ("W_Q", "W_K", "W_V", "W_O"))
        return multi_head_attention(X, *W, H, **options)

    def mlp(X):
        return feed_forward(X, P["W_1"], P["b_1"], P["W_2"], P["b_2"])

    for f, n in (attend, 1), (mlp, 2):
        normalise = P[f"gamma_{n}"], P[f"beta_{n}"]
        Y = f(layer_norm(X, *normalise) if norm == "pre" else X)
        Y = X + Y if residual else Y
        X = layer_norm(Y, *normalise) if norm == "post" else Y
    return X


def losses(L, residual, norm, small, rate, seed, steps=STEPS):
    """Train one stack to answer each of 64 random tokens with the token before it; the
    mean squared error of every step. A guess of zero has 1.

    Nothing tells a layer the order of the tokens: what it learns are these 64 answers.
    """
    g = torch.Generator().manual_seed(seed)
    X = torch.randn(BATCH, T, D, generator=g, dtype=torch.float64)
    final = X.new_ones(D), X.new_zeros(D)
    X = layer_norm(X, *final)  # within reach of a stack that ends with a norm
    Y = X.roll(1, dims=-2)
    stack = layers_of_form("post", L, D, H, seed, small)
    weights = [*final, *(p for P in stack for p in P.values())]

    def loss():
        Z = X
        for P in stack:
            Z = layer(Z, P, H, residual, norm)
        Z = layer_norm(Z, *final) if norm == "pre" else Z
        return (Z - Y).square().mean()

    for p in weights:
        p.requires_grad_()
    return fit(weights, loss, steps, rate, warmed_up(0))


def study(arm):
    """One arm: the best rate for one seed, then the last losses of the others at it."""
    began = time.process_time()

    def last(rate, seed):
        loss = losses(*arm, rate, seed)[-1]
        return loss if np.isfinite(loss) else np.inf

    tried = [last(rate, TRIED_WITH) for rate in RATES]
    rate = RATES[np.argmin(tried)]
    result = {
        "arm": arm,
        "tried": tried,
        "rate": rate,
        "losses": [last(rate, seed) for seed in SEEDS],
        "seconds": time.process_time() - began,
    }
    print("   ", *arm, rate, np.round(result["losses"], 3), flush=True)
    return result
