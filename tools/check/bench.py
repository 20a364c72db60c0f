"""Time and weigh attention and layers on this CPU, all forms side by side in one run:
NumPy, PyTorch and its own, fused and not.

    python tools/check/bench.py [--lengths 256 1024 4096] [--turns 5] [--threads 1]

PyTorch's Timer measures each form in blocks of calls. The forms take turns, which is
our own loop: other programs and a changing clock rate then affect all forms alike. Read
the ratios rather than the times. NumPy and PyTorch get the same number of threads
(default: 1, since NumPy's elementwise functions never use more). With one thread the
processor's time is measured, which other programs do not add to; with several, the wall
clock's. NumPy asks for huge pages where an array is large, PyTorch does not, and where
memory is scattered it takes longer to get them than to fill them: both get common pages
here (set NUMPY_MADVISE_HUGEPAGE=1 to see). Prints a table, and writes bench.json and
bench.png to _build/bench/.
"""

import argparse
import json
import os
import platform
import statistics
import time
from pathlib import Path

# NumPy reads them when it is imported
for tuning in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
    os.environ.pop(tuning, None)
os.environ.setdefault("NUMPY_MADVISE_HUGEPAGE", "0")

import numpy as np  # noqa: E402
import torch  # noqa: E402
from peak_memory import peak_memory  # noqa: E402
from threadpoolctl import threadpool_limits  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn.attention import SDPBackend, sdpa_kernel  # noqa: E402
from torch.utils.benchmark import Measurement, Timer  # noqa: E402

import tfbook.numpy as tn  # noqa: E402
import tfbook.torch as tt  # noqa: E402

H, D_K = 8, 64
D = H * D_K
# the longest sequence whose backward pass is run: the plain forms keep several T × T
# matrices a head
BACKWARD_TO = 2048
OUT = Path(__file__).parents[2] / "_build" / "bench"
ATTENTION, MULTI_HEAD, LAYER = "attention", "multi-head attention", "layer"


def unfused(Q, K, V):
    """PyTorch's own attention by way of the T × T matrix."""
    with sdpa_kernel(SDPBackend.MATH):
        return nn.functional.scaled_dot_product_attention(Q, K, V)


def forms(T, backward):
    """Of each group, what to run, by name; the ratios are to the last of its group."""
    rng = np.random.default_rng(0)
    Q, K, V, dY = rng.standard_normal((4, 1, H, T, D_K), dtype=np.float32)
    q, k, v = (torch.from_numpy(X).requires_grad_(backward) for X in (Q, K, V))
    X = torch.from_numpy(
        rng.standard_normal((1, T, D), dtype=np.float32)
    ).requires_grad_(backward)
    torch.manual_seed(0)
    mha, layer = tt.MultiHeadAttention(D, H), tt.TransformerLayer(D, H)
    mha_fused, layer_fused = (
        tt.MultiHeadAttention(D, H, fused=True),
        tt.TransformerLayer(D, H, fused=True),
    )
    nn_mha = nn.MultiheadAttention(D, H, bias=False, batch_first=True).train(backward)
    # its fast path in eval
    nn_layer = nn.TransformerEncoderLayer(
        D, H, 4 * D, dropout=0, batch_first=True
    ).train(backward)
    modules = mha, layer, mha_fused, layer_fused, nn_mha, nn_layer

    def run(f, *args, **options):
        def forward():
            with torch.no_grad():
                f(*args, **options)

        def both():
            for leaf in (
                q,
                k,
                v,
                X,
                *(p for module in modules for p in module.parameters()),
            ):
                leaf.grad = None
            Y = f(*args, **options)
            (Y[0] if isinstance(Y, tuple) else Y).sum().backward()

        return both if backward else forward

    numpy_forms = {
        "NumPy plain": lambda: tn.scaled_dot_product_attention(Q, K, V),
        "NumPy streaming": lambda: tn.streaming_attention(Q, K, V),
    }
    if backward:  # the streaming form has none in NumPy
        numpy_forms = {
            "NumPy plain": lambda: tn.scaled_dot_product_attention_vjp(dY, Q, K, V)
        }
    return {
        ATTENTION: (
            numpy_forms
            | {
                "torch plain": run(tt.scaled_dot_product_attention, q, k, v),
                "torch streaming": run(tt.streaming_attention, q, k, v),
                "torch unfused": run(unfused, q, k, v),
                "torch fused": run(nn.functional.scaled_dot_product_attention, q, k, v),
            }
        ),
        MULTI_HEAD: {
            "MultiHeadAttention": run(mha, X),
            "MultiHeadAttention fused": run(mha_fused, X),
            "nn.MultiheadAttention": run(nn_mha, X, X, X, need_weights=False),
        },
        LAYER: {
            "TransformerLayer": run(layer, X),
            "TransformerLayer fused": run(layer_fused, X),
            "nn.TransformerEncoderLayer": run(nn_layer, X),
        },
    }


def in_turns(T, backward, turns, seconds, threads):
    """A Measurement of every form in every turn. Timer warms up and switches garbage
    collection off.
    """
    clock = time.process_time if threads == 1 else time.perf_counter
    options = {"timer": clock, "num_threads": threads}
    timers = {
        (group, name): Timer("f()", globals={"f": f}, **options)
        for group, names in forms(T, backward).items()
        for name, f in names.items()
    }
    measured = {form: [] for form in timers}
    for _ in range(turns):
        for form, timer in timers.items():
            measured[form].append(timer.blocked_autorange(min_run_time=seconds))
    return measured


def prepared(T, backward, group, name):
    """One form, after a short run that loads what is loaded only once."""
    forms(16, backward)[group][name]()
    return forms(T, backward)[group][name]


def measure(lengths, turns, seconds, threads):
    """One row for each form, pass and length. Memory first and in one thread: a process
    that has run more is not safe to fork.
    """
    passes = [
        (backward, T)
        for backward in (False, True)
        for T in lengths
        if not backward or T <= BACKWARD_TO
    ]
    rows = [
        {
            "pass": "forward and backward" if backward else "forward",
            "T": T,
            "group": group,
            "form": name,
            "bytes": peak_memory(prepared, T, backward, group, name),
        }
        for backward, T in passes
        for group, names in forms(16, backward).items()
        for name in names
    ]
    measured = {
        (backward, T): in_turns(T, backward, turns, seconds, threads)
        for backward, T in passes
    }
    for row in rows:
        of = measured[row["pass"] != "forward", row["T"]]
        mine = of[row["group"], row["form"]]
        *_, last = (turns for (group, _), turns in of.items() if group == row["group"])
        (merged,) = Measurement.merge(mine)
        row |= {
            "seconds": merged.median,
            "iqr": merged.iqr,
            "ratios": [a.median / b.median for a, b in zip(mine, last)],
        }
    return rows


def table(rows):
    """Print the median time with its interquartile range, the ratio to the last form of
    the group with its range over the turns, and the peak memory.
    """
    for (what, group), part in _grouped(rows, "pass", "group").items():
        print(
            f"\n{group}, {what}\n{'T':>6} {'':28} {'ms':>10} {'IQR':>8} {'ratio':>7}"
            f" {'from':>6} {'to':>6} {'MB':>9}"
        )
        for row in part:
            ms, iqr, ratios = 1000 * row["seconds"], 1000 * row["iqr"], row["ratios"]
            memory = "-" if row["bytes"] is None else f"{row['bytes'] / 1e6:.1f}"
            print(
                f"{row['T']:>6} {row['form']:28} {ms:>10.2f} {iqr:>8.2f}"
                f" {statistics.median(ratios):>7.2f} {min(ratios):>6.2f}"
                f" {max(ratios):>6.2f} {memory:>9}"
            )


def figure(rows, path):
    """Time and memory of attention over T, both axes in powers."""
    import matplotlib

    matplotlib.use("Agg")
    from tfbook.notebook.plots import plt

    rows = [row for row in rows if row["group"] == ATTENTION]
    colours = {form: f"C{n}" for n, (form,) in enumerate(_grouped(rows, "form"))}
    fig, axes = plt.subplots(2, 2, figsize=(9, 7), sharex=True, sharey="row")
    for i, (what, part) in enumerate(_grouped(rows, "pass").items()):
        for (form,), line in _grouped(part, "form").items():
            T = [row["T"] for row in line]
            axes[0, i].loglog(
                T,
                [row["seconds"] for row in line],
                "o-",
                color=colours[form],
                label=form,
            )
            axes[1, i].loglog(
                T,
                [max(row["bytes"] or 0, 1e5) for row in line],
                "o-",
                color=colours[form],
                label=form,
            )
        axes[0, i].set_title(what[0])
        axes[1, i].set_xscale("log", base=2)
        axes[1, i].set_xlabel("T (tokens)")
    axes[0, 0].set_ylabel("seconds")
    axes[1, 0].set_ylabel("peak memory (bytes)")
    axes[0, 0].legend()
    fig.savefig(path)


def _grouped(rows, *keys):
    groups = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in keys), []).append(row)
    return groups


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument(
        "--lengths",
        type=int,
        nargs="+",
        default=[256, 512, 1024, 2048, 4096],
        help="sequence lengths T",
    )
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument(
        "--seconds", type=float, default=0.1, help="each form in each turn"
    )
    parser.add_argument(
        "--threads", type=int, default=1, help="of NumPy and of PyTorch alike"
    )
    options = parser.parse_args()
    torch.set_num_threads(1)
    with threadpool_limits(options.threads):
        print(
            f"H = {H}, d_k = {D_K}, d = {D}, float32, {options.threads} thread(s),"
            f" {platform.machine()} CPU, NumPy {np.__version__}, torch"
            f" {torch.__version__}; ratio: to the last of each group"
        )
        rows = measure(options.lengths, options.turns, options.seconds, options.threads)
    table(rows)
    OUT.mkdir(parents=True, exist_ok=True)
    (OUT / "bench.json").write_text(
        json.dumps(
            {"threads": options.threads, "H": H, "d_k": D_K, "rows": rows}, indent=1
        )
    )
    figure(rows, OUT / "bench.png")
    print("\nwritten: _build/bench/bench.json, _build/bench/bench.png")


if __name__ == "__main__":
    main()
