"""What an import brings with it, each in a fresh interpreter."""

import subprocess
import sys

import pytest

HEAVY = {"torch", "matplotlib", "ipywidgets", "anywidget", "scipy", "sklearn", "pandas"}


def loaded_by(module):
    """Top-level packages in sys.modules after an import."""
    code = (
        f"import sys, {module}; print(*{{name.partition('.')[0] for name in"
        " sys.modules})"
    )
    return set(
        subprocess.run(
            [sys.executable, "-W", "error", "-c", code],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
    )


def test_tfbook_loads_nothing_heavy():
    assert not loaded_by("tfbook") & (HEAVY | {"numpy"})


@pytest.mark.parametrize("module", ["tfbook.numpy"])
def test_numpy_half_loads_numpy_alone(module):
    loaded = loaded_by(module)
    assert "numpy" in loaded
    assert not loaded & HEAVY


def test_torch_half_needs_no_plotting_nor_widgets():
    assert not loaded_by("tfbook.torch") & {"matplotlib", "ipywidgets", "anywidget"}


PAGES = [
    "widgets",
    "exercises",
    *(f"notebook.{name}" for name in ("plots", "claims", "show", "ledger")),
]


@pytest.mark.parametrize("module", [f"tfbook.{name}" for name in PAGES])
def test_pages_and_figures_need_no_torch(module):
    assert "torch" not in loaded_by(module), "a browser has none"
