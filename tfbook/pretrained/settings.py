"""The settings of a published model, as its ``config.json`` has them."""

from tfbook.shapes import positive, whole


class Settings:
    """Settings by name; each is checked when it is asked for."""

    def __init__(self, values):
        self.values = values

    def get(self, name, default=None):
        """A setting, or the default where it is not given or null."""
        value = self.values.get(name)
        return default if value is None else value

    def size(self, name, default=None):
        """A whole number from 1 on."""
        value = self.get(name, default)
        if value is None:
            raise ValueError(
                f"config.json: {name}: expected a whole number, at least 1, got none"
            )
        return whole(f"config.json: {name}", value, least=1)

    def number(self, name, default):
        """A number above 0."""
        return positive(f"config.json: {name}", self.get(name, default))

    def one_of(self, name, *supported, default=None):
        """A setting that must be one of the values that are supported."""
        value = self.get(name, default)
        if not any(value is s or value == s for s in supported):
            raise self.unsupported(name, *supported)
        return value

    def unsupported(self, name, *supported):
        """The error about a setting that has another value."""
        return ValueError(
            f"config.json: {name}: expected {' or '.join(map(str, supported))}, got"
            f" {self.values.get(name)!r}, which is not supported"
        )


# ours, by the names that configurations use
ACTIVATIONS = {
    "gelu": "gelu",
    "gelu_python": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "relu": "relu",
    "silu": "silu",
    "swish": "silu",
}


def activation(config, name, default):
    """Our name of the activation that a setting names."""
    return ACTIVATIONS[config.one_of(name, *ACTIVATIONS, default=default)]
