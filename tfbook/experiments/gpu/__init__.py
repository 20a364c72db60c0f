"""What ``__main__.py`` measured on a GPU, where somebody has run it on one and kept the
result.
"""

from pathlib import Path

from tfbook.experiments import stored

COMMAND = "python -m tfbook.experiments.gpu"
FILE = Path(__file__).parent / "gpu.json"


def record(file=FILE):
    """What the script wrote down, or None where it has not run on a GPU yet.

    Parameters
    ----------
    file : Path
        Another file that the script wrote.

    Returns
    -------
    dict or None
        ``device``, ``torch``, ``command`` and ``date``; ``peak``, FLOP/s of a matrix
        product by dtype, and ``bandwidth``, bytes/s of a copy; ``attention``, of each
        form, dtype and T the milliseconds of a call, and the bytes that it adds to
        memory at most; ``learning``, the milliseconds in which attention and an LSTM
        learn from the same tokens, by width and batch; ``compiled``, the
        milliseconds of the plain form with and
        without ``torch.compile``, or why there are none.

    Examples
    --------
    >>> record(Path("nowhere.json")) is None
    True
    """
    return stored.record(file) if file.exists() else None
