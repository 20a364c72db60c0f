"""Where tensors live."""

import torch


def device():
    """The fastest device at hand: a CUDA GPU, else Apple's, else the CPU.

    Returns
    -------
    torch.device

    Examples
    --------
    >>> device().type in {"cuda", "mps", "cpu"}
    True
    """
    if torch.cuda.is_available():
        return torch.device("cuda")
    if torch.backends.mps.is_available():
        return torch.device("mps")
    return torch.device("cpu")
