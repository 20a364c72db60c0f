"""Measure attention, a layer that learns, a matrix product and a copy on the device
found, and write down what came out.

    python -m tfbook.experiments.gpu [--out FILE] [--small] [--no-compile]

On a CUDA GPU it writes tfbook/experiments/gpu/gpu.json, which chapter 11 shows (a
minute; 4 GB of the GPU's memory). Elsewhere it measures the CPU with a wall clock and
small sizes, and writes only where --out says so. It has not been run on a GPU yet:
there is no gpu.json, and the chapter says that.
"""

import argparse
import json
from datetime import UTC, datetime
from itertools import product
from pathlib import Path

import torch

from tfbook.experiments import gpu
from tfbook.torch import (
    MultiHeadAttention,
    device,
    fused_attention,
    streaming_attention,
)
from tfbook.torch.kernels.measure import milliseconds, peak_bytes

DTYPES = {
    name: getattr(torch, name) for name in ("float32", "bfloat16", "float16")
}
HEADS, D_K = 16, 64


def plain(Q, K, V):
    """Scores, softmax, mix: three kernels."""
    return torch.softmax(Q @ K.mT * Q.shape[-1] ** -0.5, dim=-1) @ V


FORMS = {
    "plain": plain,
    "fused": fused_attention,
    "streaming": streaming_attention,
}


def limits(where, n, size):
    """FLOP/s of an n × n product in each dtype, and bytes/s of a copy of ``size``
    bytes, read and written.
    """
    peak = {}
    for name, dtype in DTYPES.items():
        A = torch.randn(n, n, device=where).to(dtype)
        peak[name] = (
            2 * n**3 / (milliseconds(lambda A=A: A @ A, where) / 1000)
        )
    X = torch.zeros(size // 4, device=where)
    Y = torch.empty_like(X)
    return {
        "peak": peak,
        "bandwidth": 2
        * size
        / (milliseconds(lambda: Y.copy_(X), where) / 1000),
    }


def attention(where, lengths):
    """Milliseconds and peak bytes of every form, dtype and length; None where it does
    not fit.
    """
    rows = []
    for name, dtype in DTYPES.items():
        for T in lengths:
            Q, K, V = (
                torch.randn(1, HEADS, T, D_K, device=where).to(dtype)
                for _ in range(3)
            )
            for form, f in FORMS.items():
                call = lambda f=f, Q=Q, K=K, V=V: f(Q, K, V)
                try:
                    ms, most = (
                        milliseconds(call, where),
                        peak_bytes(call, where),
                    )
                except torch.OutOfMemoryError:
                    ms = most = None
                rows.append(
                    {
                        "form": form,
                        "dtype": name,
                        "T": T,
                        "milliseconds": ms,
                        "bytes": most,
                    }
                )
                print(
                    f"    {form:9} {name:8} T {T:6}"
                    f" {'out of memory' if ms is None else f'{ms:9.3f} ms'}",
                    flush=True,
                )
    return rows


def learning(where, T, widths, batches):
    """Milliseconds of a forward and backward pass through T tokens: attention without
    its network, 8 T d² + 4 T² d FLOPs a sequence, and PyTorch's LSTM, 16 T d².

    The claim is that attention learns faster on a GPU; an LSTM that takes no longer
    would refute it. Both in their fastest kernel, bfloat16 on a GPU; nothing is tuned.
    """
    dtype = torch.bfloat16 if where.type == "cuda" else torch.float32
    rows = []
    for d, B in product(widths, batches):
        X = torch.randn(B, T, d, device=where, dtype=dtype)
        heads = MultiHeadAttention(d, max(1, d // D_K), fused=True).to(
            where, dtype
        )
        lstm = torch.nn.LSTM(d, d, batch_first=True).to(where, dtype)
        layers = {"attention": heads, "LSTM": lambda X, lstm=lstm: lstm(X)[0]}
        for name, layer in layers.items():

            def step(layer=layer, X=X):
                layer(X).float().square().mean().backward()

            with torch.enable_grad():
                ms = milliseconds(step, where)
            rows.append(
                {"d": d, "B": B, "T": T, "layer": name, "milliseconds": ms}
            )
            print(f"    {name:9} d {d:5} B {B:3} {ms:9.3f} ms", flush=True)
    return rows


def compiled(where, T):
    """The plain form as it is and after torch.compile, in milliseconds; or why there is
    none.
    """
    Q, K, V = (
        torch.randn(3, 1, HEADS, T, D_K, device=where)
        .to(torch.bfloat16 if where.type == "cuda" else torch.float32)
        .unbind()
    )
    try:
        f = torch.compile(plain)
        worst = (
            (f(Q, K, V).float() - plain(Q, K, V).float()).abs().max().item()
        )
    except (
        Exception
    ) as error:  # no C++ compiler, no Triton: whatever it is, it is said
        return {
            "why not": f"{type(error).__name__}: {str(error).splitlines()[0][:100]}"
        }
    times = [milliseconds(lambda g=g: g(Q, K, V), where) for g in (plain, f)]
    return {
        "T": T,
        "plain": times[0],
        "compiled": times[1],
        "largest difference": worst,
    }


def measure(where, small=False, compile=True):
    """Everything, as one record."""
    gpu_found = where.type == "cuda"
    lengths = (
        [64, 128]
        if small
        else [1024, 2048, 4096, 8192, 16384]
        if gpu_found
        else [256, 512, 1024]
    )
    widths, batches = (
        ([64], [1, 4]) if small else ([256, 1024, 2048], [1, 16, 64])
    )
    n, size = (
        (128, 2**20)
        if small
        else (8192, 2**30)
        if gpu_found
        else (1024, 2**27)
    )
    return {
        "device": (
            torch.cuda.get_device_name()
            if gpu_found
            else f"CPU, {torch.get_num_threads()} threads"
        ),
        "torch": torch.__version__.partition("+")[0],
        "command": gpu.COMMAND,
        "date": datetime.now(UTC).date().isoformat(),
        "heads": HEADS,
        "d_k": D_K,
        **limits(where, n, size),
        "attention": attention(where, lengths),
        "learning": learning(where, lengths[0], widths, batches),
        "compiled": (
            compiled(where, lengths[-1])
            if compile
            else {"why not": "not asked for"}
        ),
    }


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument(
        "--out",
        type=Path,
        help=(
            "where to write; default: gpu.json beside this file, on a CUDA GPU only"
        ),
    )
    parser.add_argument(
        "--small", action="store_true", help="sizes for a test"
    )
    parser.add_argument(
        "--no-compile", action="store_true", help="leave torch.compile out"
    )
    asked = parser.parse_args(arguments)
    where = device() if device().type == "cuda" else torch.device("cpu")
    with torch.no_grad():
        result = measure(where, asked.small, not asked.no_compile)
    out = asked.out or (gpu.FILE if where.type == "cuda" else None)
    if out:
        out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(
        f"{result['device']}:"
        f" {out or 'not a CUDA GPU, so nothing is kept; --out FILE keeps it'}"
    )


if __name__ == "__main__":
    main()
