"""Heads and the five questions over random seeds: what ``__main__.py`` measured of
models with one to eight heads a layer.
"""

from pathlib import Path

from tfbook.experiments import stored

# of the sizes examined, every head of a model is removed in turn
WIDTHS, EXAMINED = (16, 32, 64), ((32, 4), (64, 8))
FILE = Path(__file__).parents[1] / "seeds.json"


def record():
    """What the study wrote down: the command, seeds and versions, and of each model the
    rates tried and, seed by seed, the measures.
    """
    return stored.record(FILE)


def runs(d, H):
    """What is recorded of the models with width d and H heads, seed by seed."""
    return next(
        model["runs"]
        for model in record()["models"]
        if (model["d"], model["H"]) == (d, H)
    )
