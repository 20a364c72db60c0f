"""Time attention on this machine, plain and streaming, in both halves: the best of five runs, in milliseconds."""

import time

import numpy as np
import torch

import tfbook.numpy
import tfbook.torch

LENGTHS, D_K = (128, 256, 512, 1024, 2048, 4096), 64


def milliseconds(f, *arguments, runs=5):
    """The shortest of several runs, after one to warm up."""
    f(*arguments)
    times = []
    for _ in range(runs):
        started = time.perf_counter()
        f(*arguments)
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        times.append(time.perf_counter() - started)
    return 1000 * min(times)


def main():
    device, rng = tfbook.torch.device(), np.random.default_rng(0)
    print(f"one head, d_k = {D_K}, float32; PyTorch on {device}, {torch.get_num_threads()} threads\n")
    print(f"{'T':>6} {'NumPy':>10} {'streaming':>10} {'PyTorch':>10} {'streaming':>10}")
    for T in LENGTHS:
        arrays = rng.standard_normal((3, T, D_K), dtype=np.float32)
        tensors = torch.from_numpy(arrays).to(device)
        times = [milliseconds(getattr(half, name), *X)
                 for half, X in ((tfbook.numpy, arrays), (tfbook.torch, tensors))
                 for name in ("scaled_dot_product_attention", "streaming_attention")]
        print(f"{T:>6}" + "".join(f" {t:>10.2f}" for t in times), flush=True)


if __name__ == "__main__":
    main()
