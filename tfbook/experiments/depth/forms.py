"""How a gradient fares on its way down a stack: five forms of a layer, measured
alike.
"""

import numpy as np
import torch

from tfbook.numpy import init_layer
from tfbook.torch.attention import scaled_dot_product_attention
from tfbook.torch.feed_forward import feed_forward
from tfbook.torch.functions import relu
from tfbook.torch.layer import residual, transformer_layer
from tfbook.torch.multi_head import multi_head_attention

NORMS = "post", "pre", "both"
FORMS = "none", "residual", *NORMS
# no gradient through attention nor through the network: what is left is the direct path
CUT = {
    "attention": (
        lambda *args, **options: scaled_dot_product_attention(
            *args, **options
        ).detach()
    ),
    "activation": lambda x: relu(x).detach(),
}


def layer_of_form(
    X, P, H, form, attention=scaled_dot_product_attention, activation="relu"
):
    """Apply a layer in one of five forms: without residuals, with residuals alone, or
    with normalisation in one of three places.

    Parameters
    ----------
    X : Tensor, shape (..., T, d)
    P : dict of Tensor
        As in :func:`transformer_layer`; the first two forms leave ``gamma`` and
        ``beta`` aside.
    H : int
        Heads.
    form : {"none", "residual", "post", "pre", "both"}
    attention, activation
        As in :func:`transformer_layer`.

    Returns
    -------
    Tensor, shape (..., T, d)

    Raises
    ------
    ValueError
        Where no form has that name.

    Examples
    --------
    >>> P = layers_of_form("residual", L=1, d=4, H=2)[0]
    >>> X = torch.ones(3, 4, dtype=torch.float64)
    >>> Z = layer_of_form(X, P, 2, "residual")
    >>> torch.equal(Z, layer_of_form(X, P, 2, "none"))
    False
    """
    if form not in FORMS:
        raise ValueError(
            f"form: expected one of {', '.join(FORMS)}, got {form!r}"
        )
    if form in NORMS:
        return transformer_layer(
            X, P, H, norm=form, attention=attention, activation=activation
        )

    def attend(X):
        return multi_head_attention(
            X, P["W_Q"], P["W_K"], P["W_V"], P["W_O"], H, attention=attention
        )

    def mlp(Z):
        return feed_forward(
            Z, P["W_1"], P["b_1"], P["W_2"], P["b_2"], activation
        )

    if form == "none":
        return mlp(attend(X))
    return residual(residual(X, attend), mlp)


def layers_of_form(form, L, d, H, rng=None, small=False):
    """Make the parameters of a stack, in float64.

    Parameters
    ----------
    form : str
        As in :func:`layer_of_form`.
    L, d, H : int
        Layers, channels and heads.
    rng : Generator or int, optional
        As in :func:`tfbook.numpy.init_layer`.
    small : bool
        Divide ``W_O`` and ``W_2``, the last matrices of the two branches, by √(2L).

    Returns
    -------
    list of dict of Tensor

    Examples
    --------
    >>> len(layers_of_form("pre", L=3, d=4, H=2))
    3
    """
    rng, layers = np.random.default_rng(rng), []
    for _ in range(L):
        P = init_layer(d, H, norm=form if form in NORMS else "post", rng=rng)
        if small:
            P |= {name: P[name] / (2 * L) ** 0.5 for name in ("W_O", "W_2")}
        layers.append({name: torch.tensor(p) for name, p in P.items()})
    return layers


def states(X, layers, H, form, **options):
    """Keep the tokens before the first layer and after each.

    Parameters
    ----------
    X : Tensor, shape (..., T, d)
    layers, H, form, **options
        As in :func:`layer_of_form`.

    Returns
    -------
    list of Tensor, shape (..., T, d)
        L + 1 of them; the first requires a gradient.
    """
    kept = [X.detach().requires_grad_()]
    for P in layers:
        kept.append(layer_of_form(kept[-1], P, H, form, **options))
    return kept


def gradients(kept, G):
    """Send a gradient G back from the last of a list of states: what arrives at each.

    Parameters
    ----------
    kept : list of Tensor
        Each made from the one before.
    G : Tensor, shape of the last

    Returns
    -------
    list of Tensor
        Zeros where no path leads down.
    """
    if not kept[-1].requires_grad:
        return [*map(torch.zeros_like, kept[:-1]), G]
    return list(
        torch.autograd.grad(kept[-1], kept, G, materialize_grads=True)
    )


def measure(form, L, d=64, H=4, T=32, seed=0, small=False):
    """Measure an untrained stack at every depth.

    Parameters
    ----------
    form, L, d, H, small
        As in :func:`layers_of_form`.
    T : int
        Tokens, independent and normal.
    seed : int

    Returns
    -------
    dict of ndarray, shape (L + 1,)
        ``gradient``, the norm of what arrives of a random gradient of norm 1 sent back
        from the top; ``own``, of that the part that the tokens do not have in common;
        ``direct``, the part that took no branch; ``scale``, the root mean square of the
        activations; ``spread``, the share of their norm that the tokens do not have in
        common.

    Examples
    --------
    >>> measure("pre", L=3, d=8, H=2, T=5)["direct"].round(
    ...     6
    ... )  # the direct path of a pre-norm stack is the identity
    array([1., 1., 1., 1.])
    """
    rng = np.random.default_rng(seed)
    layers = layers_of_form(form, L, d, H, rng, small)
    X, G = torch.tensor(rng.standard_normal((2, T, d)))
    G = G / G.norm()
    kept, cut = states(X, layers, H, form), states(X, layers, H, form, **CUT)
    with torch.no_grad():
        arrived = gradients(kept, G)
        columns = {
            "gradient": [g.norm() for g in arrived],
            "own": [apart(g).norm() for g in arrived],
            "direct": [g.norm() for g in gradients(cut, G)],
            "scale": [X.square().mean().sqrt() for X in kept],
            "spread": [apart(X).norm() / X.norm() for X in kept],
        }
    return {
        name: torch.stack(column).numpy() for name, column in columns.items()
    }


def apart(X):
    """What the tokens do not have in common: each less the mean of all."""
    return X - X.mean(dim=-2, keepdim=True)
