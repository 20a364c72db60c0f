"""Chapter 09: answers as a reader might write them."""

import numpy as np
from answers import scaled, soft


def weights(Q, K):
    return soft(scaled(Q, K))


def by_jacobian(dA, Q, K, V):
    """Query by query, with the whole Jacobian of its softmax."""
    dQ = np.zeros_like(Q)
    for *leading, t in np.ndindex(Q.shape[:-1]):
        q, k, v = Q[(*leading, t)], K[tuple(leading)], V[tuple(leading)]
        a = weights(q[None], k)[0]
        dQ[(*leading, t)] = (
            k.T @ (np.diag(a) - np.outer(a, a)) @ v @ dA[(*leading, t)] / len(q) ** 0.5
        )
    return dQ


def softmax_as_sigmoid(dA, Q, K, V):
    a, d = weights(Q, K), dA @ np.moveaxis(V, -1, -2)
    return (a - a**2) * d @ K / Q.shape[-1] ** 0.5


def centred(dA, Q, K, V):
    a, d = weights(Q, K), dA @ np.moveaxis(V, -1, -2)
    return a * (d - np.average(d, axis=-1)[..., None]) @ K / Q.shape[-1] ** 0.5


WRONG = {
    "network-gradient": [
        (
            lambda dY, Z, a, b, c, e: ((Z @ a + b > 0) * (dY @ c.T)) @ a.T,
            "way around is missing",
        ),
        (lambda dY, Z, a, b, c, e: dY + dY @ (a @ c).T, "ReLU is forgotten"),
        (
            lambda dY, Z, a, b, c, e: dY + (np.sign(Z @ a).clip(0) * (dY @ c.T)) @ a.T,
            "depends on b_1",
        ),
        (
            lambda dY, Z, a, b, c, e: dY + (Z @ a + b).clip(0) * (dY @ c.T) @ a.T,
            "slope there is 1",
        ),
        (lambda dY, Z, a, b, c, e: 2 * dY, "Not yet"),
        (lambda dY, Z, a, b, c, e: dY.copy(), "Only the way around"),
    ],
    "query-gradient": [
        (softmax_as_sigmoid, "own weight alone"),
        (centred, "plain one"),
        (
            lambda dA, Q, K, V: by_jacobian(dA, Q, K, V) * Q.shape[-1] ** 0.5,
            "scale is missing on the way back",
        ),
        (
            lambda dA, Q, K, V: (
                weights(Q, K) * (dA @ np.moveaxis(V, -1, -2)) @ K / Q.shape[-1] ** 0.5
            ),
            "weighted mean of dα",
        ),
        (
            lambda dA, Q, K, V: np.einsum("...tk,...td->...kd", weights(Q, K), dA),
            "gradient of the values",
        ),
    ],
}
RIGHT = {
    "network-gradient": [
        lambda dY, Z, a, b, c, e: dY + np.where(Z @ a + b > 0, dY @ c.T, 0) @ a.T
    ],
    "query-gradient": [by_jacobian],
}
