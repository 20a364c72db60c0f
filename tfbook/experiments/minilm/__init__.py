"""What a model that people use does with the sentences of this book, measured by
``__main__.py``: all-MiniLM-L6-v2, six post-norm layers of twelve heads, d = 384.
"""

from pathlib import Path

from tfbook.experiments import stored

FILE = Path(__file__).parent / "minilm.json"


def record():
    """What the script wrote down: the command, the model's SHA-256, every measure and
    its control.
    """
    return stored.record(FILE)
