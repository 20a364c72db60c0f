"""Every pure function of the torch half goes through PyTorch's own transformations."""

import pytest
import torch
from calls import Arguments, native
from cases import CASES
from test_parity import NAMES

import tfbook.torch as tt

IMPURE = {  # what is not a function of arrays alone, and why
    "KeyValueCache": "remembers",
    "key_value_caches": "remembers",
    "cached_attention": "remembers",
    "generate": "each token depends on the last, and sampling draws",
    "sample": "draws",
    "language_model": "looks its cache up",
    "left_pad": "checks the lengths that it is given",
    "token_distribution": "checks the logits that it is given",
}
PURE = [name for name in NAMES if name in CASES and name not in IMPURE]
CALLS = [
    pytest.param(name, way, id=f"{name}-{i}")
    for name in PURE
    for i, way in enumerate(CASES[name])
]
EVERY_CALL = pytest.mark.parametrize(("name", "way"), CALLS)


def tensors(way):
    """The call's arguments, and its floating-point tensors in a list."""
    args, options = native(tt, list(way.args)), native(tt, way.options)
    found = []
    each(args, found.append), each(options, found.append)
    return args, options, found


def each(X, f):
    if isinstance(X, dict):
        return {name: each(x, f) for name, x in X.items()}
    if isinstance(X, (list, tuple)):
        return type(X)(each(x, f) for x in X)
    return f(X) if isinstance(X, torch.Tensor) else X


def flat(Y):
    return [Y] if isinstance(Y, torch.Tensor) else [y for part in Y for y in flat(part)]


@EVERY_CALL
@pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning")
def test_it_compiles_into_one_graph(name, way):
    args, options, _ = tensors(way(Arguments((2,))))
    f = getattr(tt, name)
    torch.compiler.reset()
    with torch.no_grad():
        compiled = torch.compile(f, fullgraph=True, backend="eager")(*args, **options)
        for y, x in zip(flat(compiled), flat(f(*args, **options)), strict=True):
            torch.testing.assert_close(y, x)


@EVERY_CALL
def test_it_has_shapes_on_the_meta_device(name, way):
    args, options, _ = tensors(way(Arguments((2,))))
    f = getattr(tt, name)
    want = flat(f(*args, **options))
    meta = lambda x: x.to("meta")
    got = flat(f(*each(args, meta), **each(options, meta)))
    assert [y.shape for y in got] == [y.shape for y in want]


@EVERY_CALL
def test_it_has_a_functional_gradient(name, way):
    args, options, found = tensors(way(Arguments((2,))))
    f, inputs = getattr(tt, name), [x for x in found if x.is_floating_point()]
    if not inputs:
        pytest.skip("takes no real numbers")

    def total(inputs):
        given = iter(inputs)
        put = lambda x: next(given) if x.is_floating_point() else x
        return sum(y.sum() for y in flat(f(*each(args, put), **each(options, put))))

    wanted = [x.detach().clone().requires_grad_() for x in inputs]
    if not total(wanted).requires_grad:
        pytest.skip("has no gradient")
    want = torch.autograd.grad(total(wanted), wanted, allow_unused=True)
    got = torch.func.grad(total)(inputs)
    for y, x in zip(got, want, strict=True):
        torch.testing.assert_close(y, torch.zeros_like(y) if x is None else x)


@EVERY_CALL
def test_it_maps_over_a_batch(name, way):
    ways = [way(Arguments((2,), seed=seed)) for seed in (0, 1)]
    given = [tensors(w) for w in ways]
    if not given[0][2]:
        pytest.skip("takes no tensors")
    f = getattr(tt, name)
    first = given[0][0], given[0][1]

    def apply(*found):
        rest = iter(found)
        put = lambda x: next(rest)
        return f(*each(first[0], put), **each(first[1], put))

    stacked = [torch.stack(pair) for pair in zip(given[0][2], given[1][2])]
    got = torch.func.vmap(apply)(*stacked)
    want = [f(*args, **options) for args, options, _ in given]
    for y, pair in zip(flat(got), zip(*map(flat, want)), strict=True):
        torch.testing.assert_close(y, torch.stack(pair))


@pytest.mark.parametrize("name", PURE)
def test_it_is_exported(name):
    args, options, found = tensors(CASES[name][0](Arguments((2,))))

    class Module(torch.nn.Module):
        def forward(self, *found):
            rest = iter(found)
            put = lambda x: next(rest)
            return getattr(tt, name)(*each(args, put), **each(options, put))

    with torch.no_grad():
        program = torch.export.export(Module(), tuple(found))
        want = getattr(tt, name)(*args, **options)
        got = program.module()(*found)
    for y, x in zip(flat(got), flat(want), strict=True):
        torch.testing.assert_close(y, x)


def test_every_impure_name_is_public_and_has_a_reason():
    assert set(IMPURE) <= set(NAMES)
    assert all(IMPURE.values())
