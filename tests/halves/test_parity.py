"""Both halves of the package are one: every public name of them, walked with the calls
of ``cases``.
"""

import copy
import inspect
import re
from fnmatch import fnmatch

import numpy as np
import pytest
import torch
from calls import Arguments, native
from cases import CASES, ONE_HALF_ONLY
from numpy.testing import assert_allclose, assert_array_equal

import tfbook.numpy
import tfbook.torch

HALVES = {"numpy": tfbook.numpy, "torch": tfbook.torch}
LEADING = [(), (3,), (2, 3)]


def public(half):
    names = (
        name
        for name, value in vars(half).items()
        if callable(value) and not name.startswith("_")
    )
    return {
        name
        for name in names
        if not any(fnmatch(name, pattern) for pattern in ONE_HALF_ONLY)
    }


NAMES = sorted(public(tfbook.numpy) | public(tfbook.torch))
EVERY_CALL = pytest.mark.parametrize(
    ("name", "way"),
    [
        pytest.param(name, way, id=f"{name}-{i}")
        for name in NAMES
        for i, way in enumerate(CASES.get(name, []))
    ],
)
EACH_HALF = pytest.mark.parametrize("half", HALVES.values(), ids=HALVES)


def answer(half, name, way):
    """What a half answers to one call, as NumPy arrays."""
    args, options = native(half, list(way.args)), native(half, way.options)
    Y = getattr(half, name)(*args, **options)
    return arrays(way.then(Y, lambda X: native(half, X)) if way.then else Y)


def arrays(Y):
    """A flat list of all arrays in an answer."""
    if Y is None:
        return []
    if isinstance(Y, (list, tuple)):
        return [y for part in Y for y in arrays(part)]
    return [Y.detach().numpy() if isinstance(Y, torch.Tensor) else np.asarray(Y)]


def each_array(X, f):
    """The same arguments with f done to every array."""
    if isinstance(X, dict):
        return {name: each_array(x, f) for name, x in X.items()}
    if isinstance(X, (list, tuple)):
        return type(X)(each_array(x, f) for x in X)
    return f(X) if isinstance(X, np.ndarray) else X


@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_in_both_halves_and_has_a_case(name):
    missing = [key for key, half in HALVES.items() if not hasattr(half, name)]
    assert not missing, (
        f"{name} is not in tfbook.{missing[0]}; write it, or give a reason in"
        " ONE_HALF_ONLY"
    )
    assert CASES.get(name), f"{name} has no case; add a line to tests/halves/cases.py"


def test_the_table_names_nothing_that_is_not_there():
    everything = set(vars(tfbook.numpy)) | set(vars(tfbook.torch))
    assert set(CASES) <= everything
    for pattern, reason in ONE_HALF_ONLY.items():
        assert reason
        assert any(fnmatch(name, pattern) for name in everything), pattern
        both = set(vars(tfbook.numpy)) & set(vars(tfbook.torch))
        assert not any(fnmatch(name, pattern) for name in both), pattern


@pytest.mark.parametrize("name", NAMES)
def test_signatures_are_one(name):
    ours, theirs = (signature(getattr(half, name)) for half in HALVES.values())
    assert ours == theirs


def signature(f):
    """Names, kinds and defaults; a default that is a function or a dtype goes by its
    name.
    """
    kinds = [
        (p.name, p.kind, p.default) for p in inspect.signature(f).parameters.values()
    ]
    return [
        (name, kind, getattr(default, "__name__", str(default).removeprefix("torch.")))
        for name, kind, default in kinds
    ]


@EACH_HALF
@pytest.mark.parametrize("name", NAMES)
def test_the_docstring_names_every_parameter(name, half):
    f = getattr(half, name)
    documented = [
        part.lstrip("*") for names, _ in entries(f, "Parameters") for part in names
    ]
    assert sorted(documented) == sorted(inspect.signature(f).parameters)


@EVERY_CALL
@pytest.mark.parametrize("leading", LEADING)
def test_results_are_equal_and_shaped_as_the_docstring_states(name, way, leading):
    a = Arguments(leading)
    way = way(a)
    before = copy.deepcopy(way)
    ours = answer(tfbook.numpy, name, way)
    assert_unchanged(way, before, "numpy")
    theirs = answer(tfbook.torch, name, way)
    assert_unchanged(way, before, "torch")
    assert len(ours) == len(theirs)
    for y, z in zip(ours, theirs):
        assert y.shape == z.shape
        assert y.dtype == z.dtype
        assert_allclose(z, y, rtol=1e-10, atol=1e-10)
    for half in HALVES.values():
        assert_shapes(getattr(half, name), way, ours, a)


def assert_unchanged(way, before, half):
    for x, was in zip(arrays_in(way), arrays_in(before)):
        assert_array_equal(x, was, err_msg=f"an input was changed by {half}")


def arrays_in(way):
    found = []
    each_array([list(way.args), way.options], found.append)
    return found


def assert_shapes(f, way, answers, a):
    """Arguments and answers have the shapes of the docstring, its sizes being those of
    the call.
    """
    given = inspect.signature(f).bind(*way.args, **way.options).arguments
    sizes = a.sizes | {name: x for name, x in given.items() if isinstance(x, int)}
    if "T_k" in inspect.signature(f).parameters and "T_k" not in given:
        sizes["T_k"] = sizes["T"]
    for names, text in entries(f, "Parameters"):
        for name in names:
            stated = re.match(r"[\w ]*,? ?shape \(([^)]*)\)", text)
            if stated and isinstance(given.get(name), np.ndarray):
                assert_shape(
                    given[name].shape,
                    stated[1],
                    sizes,
                    a.leading,
                    f"{f.__name__}: {name}",
                )
    if way.then:
        return
    for (names, text), y in zip(entries(f, "Returns"), answers):
        if stated := re.search(r"shape \(([^)]*)\)", " ".join(names) + " " + text):
            assert_shape(y.shape, stated[1], sizes, a.leading, f"{f.__name__} returns")
        elif stated := re.search(r"shape of ``(\w+)``", " ".join(names)):
            assert y.shape == given[stated[1]].shape


def assert_shape(shape, stated, sizes, leading, what):
    axes = [
        axis.strip().replace("·", "*") for axis in stated.split(",") if axis.strip()
    ]
    if axes[:1] == ["..."]:
        n = len(shape) - len(axes) + 1
        lead, shape, axes = shape[:n], shape[n:], axes[1:]
        # (..., d) takes (..., T, d) too
        assert lead in (leading, (*leading, sizes["T"])), what
    for n, axis in zip(shape, axes, strict=True):
        try:
            assert n == eval(axis, {}, sizes), f"{what}: ({stated}) is {shape}"
        except NameError:
            raise AssertionError(
                f"{what}: ({stated}) has a size that calls.SIZES does not know"
            ) from None


def entries(f, section):
    """(names, text) of every entry of a section of a numpydoc docstring."""
    found = re.search(
        rf"^{section}\n-+\n(.*?)(?=^\S[^\n]*\n-+\n|\Z)", inspect.getdoc(f), re.M | re.S
    )
    for entry in re.split(r"^(?=\S)", found[1], flags=re.M) if found else []:
        if entry.strip():
            head, _, body = entry.partition("\n")
            names, colon, kind = head.partition(" : ")
            named = colon or section == "Parameters"
            yield (
                ([name.strip() for name in names.split(",")] if named else []),
                f"{kind if named else head} {body}",
            )


@EACH_HALF
@EVERY_CALL
def test_float32_stays_float32(name, way, half):
    narrow, wide = way(Arguments((3,), np.float32)), way(Arguments((3,)))
    for y, x in zip(answer(half, name, narrow), answer(half, name, wide)):
        takes_floats = (
            "dtype" in narrow.options
            or any(z.dtype == np.float32 for z in arrays_in(narrow))
            or narrow.then
        )
        assert y.dtype == (
            np.float32 if takes_floats and x.dtype == np.float64 else x.dtype
        )
        assert_allclose(y, x, rtol=1e-3, atol=1e-3)


@EACH_HALF
@EVERY_CALL
def test_views_give_what_copies_give(name, way, half):
    way = way(Arguments((2, 3)))
    expected = answer(half, name, way)
    for view in (every_other, transposed):
        of_views = copy.copy(way)
        of_views.args, of_views.options = (
            each_array(list(way.args), view),
            each_array(way.options, view),
        )
        assert not any(x.flags.c_contiguous and x.ndim > 1 for x in arrays_in(of_views))
        for y, x in zip(answer(half, name, of_views), expected):
            assert_allclose(y, x, rtol=1e-12, atol=1e-12)


def every_other(X):
    """The same numbers, with others between them in memory."""
    if X.ndim == 0:
        return X
    wide = np.repeat(X, 2, axis=-1)
    wide[..., 1::2] = (
        np.bitwise_not(wide[..., 1::2]) if X.dtype.kind in "ib" else np.nan
    )
    return wide[..., ::2]


def transposed(X):
    """The same numbers, the first axis running fastest in memory."""
    return np.asfortranarray(X)


@EVERY_CALL
def test_gradients_are_those_of_small_steps(name, way):
    way = way(Arguments((2,)))
    inputs = [
        torch.from_numpy(x).requires_grad_()
        for x in arrays_in(way)
        if x.dtype.kind == "f"
    ]
    if not inputs or not way.smooth or way.then:
        return

    def f(*inputs):
        given = iter(inputs)
        args, options = each_array(
            [list(way.args), way.options],
            lambda x: next(given) if x.dtype.kind == "f" else x,
        )
        return getattr(tfbook.torch, name)(
            *native(tfbook.torch, args), **native(tfbook.torch, options)
        )

    with torch.random.fork_rng():
        torch.manual_seed(0)  # fast mode draws a direction
        assert torch.autograd.gradcheck(f, inputs, fast_mode=True)
