"""What the PyTorch half expects of its tensors; shapes are checked by the NumPy half's own rules."""

import torch


def floats(name, X):
    """Return X if it is a tensor of floating-point numbers; integers and booleans become float64, as in NumPy."""
    if not isinstance(X, torch.Tensor):
        raise ValueError(f"{name}: expected a torch.Tensor, got {type(X).__name__}; pass torch.as_tensor({name})")
    if X.is_complex():
        raise ValueError(f"{name}: expected real numbers, got dtype {X.dtype}")
    return X if X.is_floating_point() else X.double()


def broadcast(*shapes):
    """The shape that leading axes broadcast to."""
    return tuple(torch.broadcast_shapes(*shapes))
