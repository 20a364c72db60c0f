"""What the cost explorer counts: each column takes the controls that it depends on, no
others.
"""

from tfbook import cost
from tfbook.widgets.published import BYTES, parts, short, whole


class Counts:
    """Columns of numbers, from :mod:`tfbook.cost`."""

    # ---- sizes ----

    def heads(self, d, d_k, H_kv):
        H = d // d_k
        return [H, {"H": H, "H/2": H // 2, "1": 1}[H_kv]]

    def d_ff(self, d, ff_ratio):
        return ff_ratio * d

    def layer(self, T, d, d_k, H_kv="H", ff_ratio=4):
        H, H_kv = self.heads(d, d_k, H_kv)
        return cost.layer(T, d, H, self.d_ff(d, ff_ratio), H_kv)

    # ---- FLOPs ----

    def shares(self, T, d, d_k, H_kv, ff_ratio):
        """Per cent of a layer: projections, scores and mix, FFN."""
        one = self.layer(T, d, d_k, H_kv, ff_ratio)
        return [round(100 * n / one.total_flops, 1) for n in parts(one)]

    def projections(self, T, d, d_k, H_kv, L):
        return short(L * parts(self.layer(T, d, d_k, H_kv))[0])

    def mix(self, T, d, L):
        return short(L * parts(cost.layer(T, d, 1))[1])

    def ffn(self, T, d, ff_ratio, L):
        return short(
            L * parts(cost.layer(T, d, 1, self.d_ff(d, ff_ratio)))[2]
        )

    def logits(self, T, d, vocab):
        return short(cost.model(T, d, 1, 1, vocab).flops["logits"])

    def whole(self, model, T):
        return whole(model, T)

    # ---- memory of all layers ----

    def scores(self, T, d, d_k, L):
        return short(L * BYTES * self.layer(T, d, d_k).memory["scores"]) + "B"

    def streaming(self, T, d, d_k, L):
        return (
            short(L * BYTES * self.layer(T, d, d_k).memory["streaming"]) + "B"
        )

    def cache(self, T, d, d_k, H_kv, L):
        return (
            short(L * BYTES * self.layer(T, d, d_k, H_kv).memory["cache"])
            + "B"
        )

    # ---- one layer against a recurrent one and a convolution ----

    def attention(self, T, d, d_k, H_kv):
        return short(sum(parts(self.layer(T, d, d_k, H_kv))[:2]) / T)

    def others(self, d):
        return [
            short(other.total_flops)
            for other in (cost.rnn(1, d), cost.conv(1, d, k=3))
        ]

    def steps(self, T):
        return [
            row.sequential_steps
            for row in (
                cost.layer(T, 1, 1),
                cost.rnn(T, 1),
                cost.conv(T, 1, k=3),
            )
        ]

    def path(self, T):
        return [
            row.path_length
            for row in (
                cost.layer(T, 1, 1),
                cost.rnn(T, 1),
                cost.conv(T, 1, k=3),
            )
        ]
