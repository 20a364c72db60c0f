"""The square root of d_k: how scores spread as queries and keys grow wider, and what a
softmax makes of it.
"""

from typing import ClassVar

import numpy as np

from tfbook.numpy import softmax
from tfbook.widgets.base import Figure
from tfbook.widgets.controls import Slider, Switch

# bins of width 1 around the whole numbers; the first and the last take what lies beyond
EDGES = np.arange(-40.5, 41)


class ScaleExplorer(Figure):
    """The distribution of random scores, and the weights of one query over 16 keys.

    Parameters
    ----------
    d_k : int
        Width of queries and keys.
    scale : bool
        Divide the scores by √d_k.

    Raises
    ------
    ValueError
        Where a value is not one that its control takes.
    """

    title = "Why divide by √dₖ"
    controls = (
        Slider(
            "d_k", "dₖ width of a head", [1, 4, 16, 64, 256, 1024], most=2048
        ),
        Switch("scale", "divide by √dₖ"),
    )
    default: ClassVar = {"d_k": 64, "scale": False}

    def compute(self, d_k, scale):
        rng = np.random.default_rng(1)
        q, K = (
            rng.standard_normal((400, 1, d_k)),
            rng.standard_normal((400, 16, d_k)),
        )
        # (400 queries, 16 keys)
        S = (K @ q.swapaxes(-1, -2))[..., 0] * (d_k**-0.5 if scale else 1)
        A = np.sort(softmax(S))[:, ::-1]
        J = A[:, :, None] * (np.eye(16) - A[:, None, :])
        # the query whose largest weight is the median
        typical = np.argsort(A[:, 0])[200]
        entropy = -(A * np.log(np.maximum(A, 1e-300))).sum(axis=-1)
        return {
            # of all scores, in each bin
            "share": np.histogram(S.clip(-40, 40), EDGES)[0] / S.size,
            "weights": A[typical],
            "spread": float(np.exp(entropy).mean().round(3)),
            "deviation": float(S.std().round(3)),
            "gradient": float(
                np.linalg.norm(J, axis=(-1, -2)).mean().round(3)
            ),
        }

    def still(self):
        rows = "".join(
            f"<tr><th scope=row>{setting['d_k']}</th>"
            f"<td>{'yes' if setting['scale'] else 'no'}</td>"
            f"<td>{value['deviation']:.1f}</td><td>{value['spread']:.1f}</td>"
            f"<td>{value['gradient']:.2f}</td></tr>"
            for setting in self.settings()
            for value in [self.compute(**setting)]
        )
        head = "".join(
            f"<th scope=col>{name}</th>"
            for name in (
                "dₖ",
                "divided",
                "deviation of scores",
                "keys in effect",
                "gradient",
            )
        )
        return (
            f"<table><caption>Random queries over 16 keys</caption><tr>{head}</tr>"
            f"{rows}</table>"
        )
