"""Measure the stacks of ``depth.npz``: what becomes of a gradient at every depth, form
by form.

    python -m tfbook.experiments.depth

Seeds 0 to 6, depths 6 to 96, d = 64, H = 4, T = 32; 44 s of one core. At 96 layers,
medians as powers of ten: gradients at the bottom, activations and the spread of the
tokens at the top. "small" stacks start with W_O and W_2 divided by √(2L).

    none             gradient  -16.4  own  -16.7  direct   -inf  scale  -16.4  spread
    -15.6 none      small  gradient   -inf  own   -inf  direct   -inf  scale   -inf
    spread    nan residual         gradient   27.1  own   27.1  direct    0.0  scale
    21.8  spread  -12.2 residual  small  gradient    0.1  own    0.1  direct    0.0
    scale    0.1  spread   -0.0 post             gradient   -0.8  own   -1.0  direct
    -21.8  scale    0.0  spread  -13.8 post      small  gradient    0.0  own   -0.0
    direct   -0.1  scale    0.0  spread   -0.0 pre              gradient    0.8  own
    0.7  direct    0.0  scale    1.0  spread   -0.6 pre       small  gradient    0.1
    own    0.1  direct    0.0  scale    0.1  spread   -0.0 both             gradient
    1.1  own    0.9  direct    0.0  scale    1.1  spread   -0.6 both      small
    gradient    1.0  own    0.9  direct    0.0  scale    1.1  spread   -0.6
"""

import json
import time
import warnings

import numpy as np
import torch

from tfbook.experiments import depth
from tfbook.experiments.depth.forms import FORMS, measure

SIZES, SEEDS = {"d": 64, "H": 4, "T": 32}, range(7)


def stored(form, L, small):
    """Least, median and largest of all seeds, as logarithms: (measures, 3, L + 1)."""
    measured = [
        measure(form, L, seed=seed, small=small, **SIZES) for seed in SEEDS
    ]
    # (seeds, measures, L + 1)
    values = np.array(
        [[one[name] for name in depth.MEASURES] for one in measured]
    )
    with np.errstate(divide="ignore"), warnings.catch_warnings():
        # all NaN where activations are 0
        warnings.simplefilter("ignore", RuntimeWarning)
        order = np.log10(
            [
                np.nanmin(values, axis=0),
                np.nanmedian(values, axis=0),
                np.nanmax(values, axis=0),
            ]
        )
    # −0 becomes 0
    return order.swapaxes(0, 1).round(4).astype(np.float32) + 0


if __name__ == "__main__":
    torch.set_num_threads(1)
    began, arrays = time.process_time(), {}
    for form in FORMS:
        for small in (False, True):
            for L in depth.DEPTHS:
                arrays[f"{form}.{L}.{small}"] = stored(form, L, small)
            at_96 = dict(
                zip(depth.MEASURES, arrays[f"{form}.96.{small}"][:, 1])
            )
            print(
                f"    {form:9} {'small' if small else '     '}  gradient"
                f" {at_96['gradient'][0]:6.1f}  own {at_96['own'][0]:6.1f}  direct"
                f" {at_96['direct'][0]:6.1f}  scale {at_96['scale'][-1]:6.1f}  spread"
                f" {at_96['spread'][-1]:6.1f}",
                flush=True,
            )
    record = {
        "command": "python -m tfbook.experiments.depth",
        "seeds": list(SEEDS),
        **SIZES,
        "torch": torch.__version__.partition("+")[0],
    }
    np.savez_compressed(depth.FILE, record=json.dumps(record), **arrays)
    print(
        f"{depth.FILE.name}: {depth.FILE.stat().st_size:,} bytes,"
        f" {time.process_time() - began:.0f} s"
    )
