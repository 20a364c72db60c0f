"""tfbook: the Transformer, each component first in NumPy and then in PyTorch.

Nothing heavy is imported here. Ask for what you need: ``tfbook.numpy``,
``tfbook.torch``, ``tfbook.cost``.
"""

__version__ = "0.1.0"
