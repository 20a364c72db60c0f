"""Training with nothing but arrays: the gradient of a language model's loss, by hand,
and the step that follows it.
"""

import numpy as np

from tfbook.numpy.check_model import model_layers
from tfbook.numpy.checks import expect, floats, integers
from tfbook.numpy.embedding import embed
from tfbook.numpy.functions import cross_entropy
from tfbook.numpy.gradients.functions import cross_entropy_vjp, linear_vjp
from tfbook.numpy.gradients.layer import transformer_vjp
from tfbook.numpy.gradients.tokens import embed_vjp
from tfbook.numpy.layer import transformer
from tfbook.numpy.masks import causal_mask


def loss_and_gradients(P, inputs, targets, H, norm="post"):
    r"""Cross-entropy of a language model with learned positions, and its gradient with
    respect to every parameter.

    Parameters
    ----------
    P : dict of array_like
        As in :func:`language_model`: ``E``, ``P``, ``layers.0.W_Q`` and so on;
        ``gamma_f beta_f`` where there is a last norm.
    inputs, targets : array_like of int, shape (..., T)
        Tokens, and the token that follows each.
    H : int
        Heads of every layer.
    norm : {"post", "pre", "both", "sandwich"}
        Of every layer.

    Returns
    -------
    loss : float
        In nats a token.
    gradients : dict of ndarray
        Keys and shapes of ``P``.

    Raises
    ------
    ValueError
        Where a parameter is missing or shapes do not fit.

    Notes
    -----
    ``E`` reads tokens and scores them too, so that its gradient is a sum of two.

    Examples
    --------
    >>> P = {
    ...     "E": np.eye(4),
    ...     "P": np.zeros((3, 4)),
    ...     "gamma_f": np.ones(4),
    ...     "beta_f": np.zeros(4),
    ... }
    >>> from tfbook.numpy import init_layer
    >>> P |= {
    ...     f"layers.0.{name}": p
    ...     for name, p in init_layer(d=4, H=2, norm="pre", rng=0).items()
    ... }
    >>> loss, gradients = loss_and_gradients(
    ...     P, inputs=[[3, 1, 2]], targets=[[1, 2, 3]], H=2
    ... )
    >>> loss > 0, gradients["E"].shape
    (True, (4, 4))
    """
    layers, inputs, E = (
        model_layers(P),
        integers("inputs", inputs),
        floats("E", P["E"]),
    )
    expect("inputs", inputs.shape, "(..., T)")
    T = inputs.shape[-1]
    table, options = (
        floats("P", P["P"])[:T],
        {"norm": norm, "mask": causal_mask(T)},
    )
    final_norm = (P["gamma_f"], P["beta_f"]) if "gamma_f" in P else None

    X = embed(inputs, E, table)  # forwards
    Y = transformer(X, layers, H, final_norm, **options)
    logits = Y @ E.T
    loss = cross_entropy(logits, targets)

    dlogits = cross_entropy_vjp(1.0, logits, targets)  # and back
    dY, dE_out = linear_vjp(dlogits, Y, E.T)
    dX, dlayers, *dfinal = transformer_vjp(
        dY, X, layers, H, final_norm, **options
    )
    dE_in, dtable = embed_vjp(dX, inputs, E, table)

    dP = np.zeros_like(P["P"])
    dP[:T] = dtable
    of_layers = {
        f"layers.{l}.{name}": d
        for l, dlayer in enumerate(dlayers)
        for name, d in dlayer.items()
    }
    of_final = {
        name: d
        for pair in dfinal
        for name, d in zip(("gamma_f", "beta_f"), pair)
    }
    return float(loss), {
        "E": dE_in + dE_out.T,
        "P": dP,
    } | of_final | of_layers


def adam(P, gradients, moments, step, rate, betas=(0.9, 0.95), eps=1e-8):
    r"""Change parameters in place by one step of Adam: the mean of a gradient over the
    root of the mean of its square.

    Parameters
    ----------
    P, gradients : dict of ndarray
        Parameters, and the gradient of each under the same key.
    moments : dict
        What is remembered of earlier steps; empty before the first.
    step : int
        Steps done before this one.
    rate : float
        About how far a parameter moves.
    betas : pair of float
        How long the two means remember: 1 / (1 − β) steps.
    eps : float
        Keeps a gradient of zero from being divided by zero.

    Notes
    -----
    Means that begin at zero are too small at first; division by :math:`1 -
    \beta^t` mends it.

    Source: Kingma and Ba, arXiv 1412.6980.

    Examples
    --------
    >>> P = {"x": np.array([1.0, 1.0])}
    >>> adam(P, {"x": np.array([1e-3, 50.0])}, {}, step=0, rate=0.1)
    >>> P["x"].round(3)  # the size of a gradient hardly counts, its sign does
    array([0.9, 0.9])
    """
    for name, g in gradients.items():
        mean, square = moments.get(name, (0.0, 0.0))
        mean = betas[0] * mean + (1 - betas[0]) * g
        square = betas[1] * square + (1 - betas[1]) * g**2
        moments[name] = mean, square
        mean_hat, square_hat = (
            mean / (1 - betas[0] ** (step + 1)),
            square / (1 - betas[1] ** (step + 1)),
        )
        P[name] -= rate * mean_hat / (np.sqrt(square_hat) + eps)
