"""The split explorer: one layer over p processes, cut by its batch, its heads or its
sequence.
"""

from functools import partial
from typing import ClassVar

from tfbook.cost.communication import (
    data_parallel,
    sequence_parallel,
    tensor_parallel,
)
from tfbook.widgets.base import Figure, table
from tfbook.widgets.controls import Choice, Slider, Switch

B, D_K, MOST = 8, 128, 8  # sequences of a step; channels of a head; processes
CUTS = {
    "batch": data_parallel,
    "batch, sharded": partial(data_parallel, sharded=True),
    "heads": tensor_parallel,
    "sequence": sequence_parallel,
}
# bytes of a parameter: itself, its gradient and two tables of Adam, 4 bytes each
LEARNED = 16
NUMBER = 2  # bytes of an activation, and of a number that is sent


class SplitExplorer(Figure):
    """What each process holds, what it sends, and, where the keys go round a ring,
    which block of scores it computes.

    Parameters
    ----------
    cut : {"batch", "batch, sharded", "heads", "sequence"}
        Where the layer is cut; sharded: its parameters too, which are gathered when
        they are needed.
    p : int
        Processes.
    process : int
        Whose blocks are shown filled; p where there are fewer.
    step : int
        Of the ring, where the sequence is cut; p where there are fewer.
    T, d : int
        Tokens of each of the 8 sequences, and channels: d / 128 heads.
    shared : bool
        8 key/value heads, in place of one for each head.

    Raises
    ------
    ValueError
        Where a value is not one that its control takes.
    """

    title = "Where to cut a layer"
    controls = (
        Choice("cut", "cut", [*CUTS]),
        Slider("p", "p processes", [1, 2, 4, 8], between=False),
        Slider("process", "process", range(1, MOST + 1), between=False),
        Slider("step", "ring step", range(1, MOST + 1), between=False),
        Slider("T", "T tokens", [2**n for n in range(10, 18)], between=False),
        Slider("d", "d", [1024, 2048, 4096, 8192], between=False),
        Switch("shared", "8 key/value heads"),
    )
    default: ClassVar = {
        "cut": "sequence",
        "p": 4,
        "process": 2,
        "step": 2,
        "T": 8192,
        "d": 4096,
        "shared": False,
    }
    columns = (
        "mine",
        "grid",
        "whose",
        "idle",
        "sent",
        "total",
        "memory",
        "held",
    )

    def mine(self, cut, p, process, d):
        """In words, which part the process has."""
        if cut == "sequence":
            return f"part {min(process, p)} of {p} of every sequence"
        name, n = ("heads", d // D_K) if cut == "heads" else ("sequences", B)
        each, last = n // p, min(process, p) * (n // p)
        return (
            f"{name if each > 1 else name[:-1]}"
            f" {last if each == 1 else f'{last - each + 1} to {last}'} of {n}"
        )

    def grid(self, cut, p, step):
        """Of each process the blocks of its scores: now, done, later, never; one block
        where it needs no other's keys.
        """
        if cut != "sequence":
            return [["now"]] * p
        now = self.whose(p, step)
        done = [self.whose(p, before) for before in range(1, min(step, p))]
        state = lambda r, s: (
            "never"
            if s > r
            else (
                "now"
                if now[r - 1] == s
                else "done"
                if any(k[r - 1] == s for k in done)
                else "later"
            )
        )
        return [
            [state(r, s) for s in range(1, p + 1)] for r in range(1, p + 1)
        ]

    def whose(self, p, step):
        """Whose keys each process has in a step of the ring."""
        return [(r - min(step, p)) % p + 1 for r in range(1, p + 1)]

    def idle(self, cut, p, step):
        """Processes that have nothing to do in this step, as all keys that they have
        come later than their queries.
        """
        return (
            sum(s > r for r, s in enumerate(self.whose(p, step), 1))
            if cut == "sequence"
            else 0
        )

    def shares(self, p, T, d, shared):
        sizes = {
            "T": T,
            "d": d,
            "H": d // D_K,
            "H_kv": 8 if shared else d // D_K,
            "p": p,
            "B": B,
        }
        return [count(**sizes) for count in CUTS.values()]

    def sent(self, p, T, d, shared):
        """Of each cut the MB that a process sends in a step of learning: forwards,
        backwards, gradients of parameters.
        """
        return [
            [round(NUMBER * n / 1e6, 1) for n in share.sent.values()]
            for share in self.shares(p, T, d, shared)
        ]

    def total(self, p, T, d, shared):
        return [
            round(NUMBER * share.total_sent / 1e6, 1)
            for share in self.shares(p, T, d, shared)
        ]

    def memory(self, p, T, d, shared):
        """Of each cut the GB that a process holds: what is learned, and activations,
        without scores, which are streamed.
        """
        shares = [share.memory for share in self.shares(p, T, d, shared)]
        return [
            [
                round(LEARNED * share["params"] / 1e9, 2),
                round(NUMBER * share["activations"] / 1e9, 2),
            ]
            for share in shares
        ]

    def held(self, p, T, d, shared):
        return [
            round(sum(parts), 2) for parts in self.memory(p, T, d, shared)
        ]

    def constants(self):
        return {"cuts": [*CUTS], "B": B}

    def still(self):
        setting = {
            name: self.state[name] for name in ("p", "T", "d", "shared")
        }
        sent, memory, total, held = (
            getattr(self, name)(**setting)
            for name in ("sent", "memory", "total", "held")
        )
        names = (
            "forwards",
            "backwards",
            "gradients",
            "sent, MB",
            "learned",
            "activations",
            "held, GB",
        )
        head = "".join(f"<th scope=col>{name}</th>" for name in names)
        rows = "".join(
            f"<tr><th scope=row>{cut}</th>"
            + "".join(f"<td>{n:g}</td>" for n in (*s, t, *m, h))
            + "</tr>"
            for cut, s, t, m, h in zip(CUTS, sent, total, memory, held)
        )
        sizes = (
            f"d = {setting['d']}, {B} sequences of {setting['T']} tokens,"
            f" {setting['p']} processes"
        )
        caption = f"What a process sends and holds of one layer: {sizes}"
        return table(caption, f"<td></td>{head}", rows)
