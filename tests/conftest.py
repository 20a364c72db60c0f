"""What tests share: ``half`` takes and gives NumPy arrays, whichever half does the
work; ``browser`` opens pages.
"""

import numpy as np
import pytest
import torch
from browser import BOOK, launched, served, why_not

import tfbook.numpy
import tfbook.torch

# its doctests: it has none, and chapters/ has a module of the same name
collect_ignore = ["conftest.py"]

torch.set_num_threads(1)


def pytest_collection_modifyitems(items):
    """Mark what needs the built book and a browser, so that the rest can run
    without.
    """
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker("page")


class Half:
    """The functions of ``tfbook.numpy`` or ``tfbook.torch``, called with arrays and
    answering with arrays.
    """

    def __init__(self, module):
        self.module = module
        self.name = module.__name__.rpartition(".")[2]

    def __getattr__(self, function):
        f = getattr(self.module, function)
        return lambda *args, **options: self.array(
            f(
                *map(self.native, args),
                **{k: self.native(v) for k, v in options.items()},
            )
        )

    def native(self, X):
        """An array or a list as the half takes it; a tensor shares the array's memory
        where it can.
        """
        if self.name == "numpy" or not isinstance(X, (np.ndarray, list)):
            return X
        X = np.asarray(X)
        return torch.from_numpy(
            X if X.flags.writeable and min(X.strides, default=0) >= 0 else X.copy()
        )

    def array(self, Y):
        """An answer as a NumPy array."""
        return Y.detach().numpy() if isinstance(Y, torch.Tensor) else np.asarray(Y)


@pytest.fixture(
    scope="session", params=[tfbook.numpy, tfbook.torch], ids=["numpy", "torch"]
)
def half(request):
    return Half(request.param)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture(scope="module")
def browser():
    if why_not():
        pytest.skip(why_not())
    with launched() as browser:
        yield browser


@pytest.fixture(scope="session")
def address():
    """The address of a server of the built book."""
    with served(BOOK) as here:
        yield here
