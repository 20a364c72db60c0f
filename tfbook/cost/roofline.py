"""The roofline: what a chip can reach at most, given how many FLOPs a computation does
for each byte that it moves.
"""

from dataclasses import dataclass

SIZES = {"float32": 4, "bfloat16": 2, "float16": 2}  # bytes of a number


@dataclass(frozen=True)
class Chip:
    """A device and its two limits.

    Attributes
    ----------
    peak : dict of str to float
        FLOP/s of matrix products, by the dtype of the numbers.
    bandwidth : float
        Bytes/s to and from main memory.
    block : int
        Bytes of memory on the chip that one block of queries may use.

    Examples
    --------
    >>> chip = Chip({"float16": 100e12}, 1e12, 2**16)
    >>> chip.ridge("float16")
    100.0
    >>> chip.attainable(10, "float16"), chip.attainable(1000, "float16")
    (10000000000000.0, 100000000000000.0)
    """

    peak: dict[str, float]
    bandwidth: float
    block: int

    def ridge(self, dtype):
        """The intensity, in FLOPs a byte, from which on arithmetic is the limit and not
        memory.
        """
        return self.peak[dtype] / self.bandwidth

    def attainable(self, intensity, dtype):
        """FLOP/s at most, at an intensity."""
        return min(self.peak[dtype], intensity * self.bandwidth)

    def seconds(self, traffic, dtype):
        """The least possible time of the arithmetic, and of the memory; both may pass
        at once, so the longer one counts.
        """
        return traffic.flops / self.peak[
            dtype
        ], traffic.bytes / self.bandwidth


# Peaks without sparsity; float32 without tensor cores, float16 and bfloat16 on them.
# `block`: shared memory of one multiprocessor.
CHIPS = {
    # NVIDIA T4 (2018). bfloat16 is not in its tensor cores: what it reaches in float32
    "T4": Chip(
        {"float32": 8.1e12, "bfloat16": 8.1e12, "float16": 65e12},
        320e9,
        64 * 2**10,
    ),
    # NVIDIA A100 80 GB SXM (2020)
    "A100": Chip(
        {"float32": 19.5e12, "bfloat16": 312e12, "float16": 312e12},
        2039e9,
        164 * 2**10,
    ),
    # NVIDIA H100 SXM (2022)
    "H100": Chip(
        {"float32": 67e12, "bfloat16": 989e12, "float16": 989e12},
        3350e9,
        228 * 2**10,
    ),
    # no product, an assumption: 8 cores, 16 multiply-adds in each of 4·10⁹ cycles; two
    # channels of memory; a cache of 1 MB a core
    "laptop": Chip(dict.fromkeys(SIZES, 1e12), 80e9, 2**20),
}
