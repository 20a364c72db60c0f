"""What a reader can move: each knows the values that the page offers, and which ones a
kernel takes.
"""


class Slider:
    """A whole number. The page offers ``values``; a kernel takes any from the least to
    ``most``, unless there is nothing ``between``, where the values may have decimals.
    """

    def __init__(self, name, label, values, most=None, between=True):
        self.name, self.label, self.values, self.most, self.between = (
            name,
            label,
            list(values),
            most or max(values),
            between,
        )

    def spec(self):
        return {
            "kind": "slider",
            "name": self.name,
            "label": self.label,
            "values": self.values,
            "least": min(self.values),
            "most": self.most,
            "between": self.between,
        }

    def takes(self, value):
        if not self.between:
            return type(value) in (int, float) and value in self.values
        return type(value) is int and min(self.values) <= value <= self.most


class Switch:
    """On or off."""

    def __init__(self, name, label):
        self.name, self.label, self.values = name, label, [False, True]

    def spec(self):
        return {
            "kind": "switch",
            "name": self.name,
            "label": self.label,
            "values": self.values,
        }

    def takes(self, value):
        return type(value) is bool


class Choice(Switch):
    """One of a few named values."""

    def __init__(self, name, label, values):
        self.name, self.label, self.values = name, label, list(values)

    def spec(self):
        return super().spec() | {"kind": "choice"}

    def takes(self, value):
        return value in self.values
