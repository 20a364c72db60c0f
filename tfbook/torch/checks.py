"""What the PyTorch half expects of its tensors; shapes are checked by the NumPy half's own rules."""

import torch


def floats(name, X):
    """Return X if it is a tensor of floating-point numbers; integers and booleans become float64, as in NumPy."""
    if not isinstance(X, torch.Tensor):
        raise ValueError(f"{name}: expected a torch.Tensor, got {type(X).__name__}; pass torch.as_tensor({name})")
    if X.is_complex():
        raise ValueError(f"{name}: expected real numbers, got dtype {X.dtype}")
    return X if X.is_floating_point() else X.double()


def alike(**tensors):
    """Return tensors as :func:`floats` does, or raise where devices or dtypes differ: torch does not promote products (autocast does)."""
    tensors = {name: floats(name, X) for name, X in tensors.items()}
    dtypes = {name: X.dtype for name, X in tensors.items()}
    devices = [str(X.device) for X in tensors.values()]
    if len(set(devices)) > 1:
        raise ValueError(f"{', '.join(tensors)}: expected one device, got {', '.join(devices)}; move them with .to(device)")
    device = next(iter(tensors.values())).device.type
    if len(set(dtypes.values())) > 1 and not torch.is_autocast_enabled(device):
        got = ", ".join(map(str, dtypes.values()))
        raise ValueError(f"{', '.join(tensors)}: expected one dtype, got {got}; convert them with .to(dtype)")
    return tensors.values()


def broadcast(*shapes):
    """The shape that leading axes broadcast to."""
    return tuple(torch.broadcast_shapes(*shapes))
