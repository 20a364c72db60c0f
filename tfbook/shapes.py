"""The contract at the door: ``@shapes`` checks and names every argument.

A contract gives each argument a form. ``"... T d_k"`` is a real array whose last axes
are ``T`` and ``d_k``, with any leading axes in front. A size has one value in a call,
and the leading axes of all arguments broadcast together. ``"d H*d_k"`` has no leading
axes, and d_k is what H leaves. ``"int ... T"`` holds whole numbers, ``"int *"`` in any
shape. A ``mask`` is
boolean; a ``mask`` and a ``bias`` with leading axes may have 1 in place of any size.
An axis ``_`` has any size.
``"...H_kv T_k d_k"`` may have fewer heads (the last leading axis) than the arrays
before it, as key/value heads do; their number must be a divisor. With
``"...H T_k d_k"`` each head is also repeated for the query heads that share it,
0 0 1 1.
``"... T_k d = X"`` is X where nothing is given. Other forms: ``"size"`` (from 1 on),
``"count"`` (from 0 on), ``"divides H"``, ``"number"``, ``"positive"``, ``"flag"``.
"""

import functools
import inspect
import math
import numbers
import operator
import types


def shapes(arrays, returns=None, **forms):
    """Return a decorator that checks a function's arguments against their forms.

    Parameters
    ----------
    arrays : object
        How a half reads its arrays: ``floats``, ``integers`` and ``booleans`` take an
        argument's name, its value and an array to go with; ``alike`` takes a dict of
        all real arrays and returns them as they go together, or raises; ``repeat``
        gives each head of an array n times in a row. ``WORDS`` says what a docstring
        calls an argument of each kind, and an ``answer``.
    returns : str, optional
        The form of the answer; not checked at a call, tests hold answers against it.
    **forms : str
        The form of each argument that is to be checked.

    Returns
    -------
    callable
        The decorator. The decorated function has the attributes ``contract`` and
        ``returns``.

    Raises
    ------
    ValueError
        At a call that breaks the contract: says which argument, what was expected and
        what came.
    """

    def decorate(function):
        contract = Contract(function, arrays, forms)

        def door(*args, **kwargs):
            args, kwargs = contract.enter(args, kwargs)
            return function(*args, **kwargs)

        door = _in_module_of(function, door)
        door.contract, door.returns = forms, returns
        door.__doc__ = documented(function, arrays.WORDS, forms, returns)
        return door

    return decorate


def _in_module_of(function, door):
    """The door as a function of the other's module, where doctest looks for it."""
    moved = types.FunctionType(
        door.__code__,
        function.__globals__,
        function.__name__,
        None,
        door.__closure__,
    )
    return functools.update_wrapper(moved, function)


def documented(function, words, forms, returns):
    """The docstring, with the type and the shape of each argument from its form."""
    if function.__doc__ is None:
        return None
    signature, lines = inspect.signature(function).parameters, []
    for line in inspect.cleandoc(function.__doc__).splitlines():
        if line in forms:
            optional = ", optional" if signature[line].default is None else ""
            line = f"{line} : {described(line, forms[line], words)}{optional}"
        elif line == words["answer"] and returns:
            line = (
                f"{line}, shape {Form('', returns).written.replace('*', '·')}"
            )
        lines.append(line)
    return "\n".join(lines)


def described(name, form, words):
    """The type and the shape of an argument, as a docstring says them."""
    if form in TYPES:
        return TYPES[form]
    if form.startswith("divides "):
        return "int"
    form = Form(name, form)
    if form.axes in ([], [["_"]]) and not form.free:
        return f"{words[form.kind]}, any shape"
    shaped = (
        "broadcasts to" if form.broadcasts or name == "positions" else "shape"
    )
    return f"{words[form.kind]}, {shaped} {form.written.replace('*', '·')}"


# take the dtype of what they go to
FREE = {"bias", "positions", "frequencies", "P", "h_0", "c_0"}


class Contract:
    """The forms of a function's arguments, taken apart once so that a call is cheap."""

    def __init__(self, function, arrays, forms):
        parameters = inspect.signature(function).parameters
        if unknown := set(forms) - set(parameters):
            raise ValueError(
                f"forms: expected arguments of {function.__name__}, got {unknown}"
            )
        self.arrays = arrays
        self.indices = {n: list(parameters).index(n) for n in forms}
        self.optional = {n for n in forms if parameters[n].default is None}
        self.plain = {n: PLAIN[f] for n, f in forms.items() if f in PLAIN}
        self.sizes = {n for n, f in forms.items() if f in ("size", "count")}
        self.divisors = {
            n: f[8:] for n, f in forms.items() if f.startswith("divides ")
        }
        rest = {
            n: f
            for n, f in forms.items()
            if n not in self.plain | self.divisors
        }
        self.defaults = {
            n: f.split(" = ")[1] for n, f in rest.items() if " = " in f
        }
        self.forms = {n: Form(n, f) for n, f in rest.items()}
        real = [
            n for n in parameters if n in self.forms and self.forms[n].is_real
        ]
        self.real = [n for n in real if n not in FREE]

    def enter(self, args, kwargs):
        """The arguments, converted, or a ValueError."""
        values = {
            n: args[p] for n, p in self.indices.items() if p < len(args)
        }
        values |= {n: kwargs[n] for n in self.indices if n in kwargs}
        for name in self.optional:
            if name in values and values[name] is None:
                del values[name]

        for name, check in self.plain.items():
            if name in values:
                values[name] = check(name, values[name])
        sizes = {name: values[name] for name in self.sizes if name in values}
        for name, of in self.divisors.items():
            if of not in sizes:
                break  # the function itself says that it is missing
            n = values.get(name, sizes[of])
            values[name] = sizes[name] = divides(name, n, of, sizes[of])

        found = {name: values[name] for name in self.forms if name in values}
        for name, other in self.defaults.items():
            if other in found:
                found.setdefault(name, found[other])
        leading, fitted = (), []
        for name, X in self._read(found).items():
            form, shape = self.forms[name], tuple(X.shape)
            n = form.sharing(shape, leading)
            leading = form.fit(shape, sizes, leading, fitted)
            values[name] = (
                self.arrays.repeat(X, n) if form.repeats and n > 1 else X
            )

        args = list(args)
        for name, value in values.items():
            at = self.indices[name]
            if at < len(args):
                args[at] = value
            else:
                kwargs[name] = value
        return args, kwargs

    def _read(self, found):
        """Every array as its kind; the real ones must go together."""
        like = next(
            (found[name] for name in self.real if name in found), None
        )
        read = {}
        for name, form in self.forms.items():
            if name in found:
                read[name] = getattr(self.arrays, form.kind)(
                    name, found[name], like
                )
        given = [n for n in self.real if n in read]
        given = [
            n
            for n in given
            if found.get(self.defaults.get(n)) is not found[n]
        ]
        real = {name: read[name] for name in given}
        return read | self.arrays.alike(real)


class Form:
    """The form of one array."""

    def __init__(self, name, form):
        words = form.partition(" = ")[0].split()
        kind = words.pop(0) if words[0] in KINDS else "real"
        self.name = name
        self.kind = (
            "booleans" if name == "mask" else KINDS.get(kind, "floats")
        )
        self.is_real = self.kind == "floats"
        self.free = words == ["*"]
        words = ["..."] if self.free else words
        self.shares, self.repeats = (
            words[0] in ("...H_kv", "...H"),
            words[0] == "...H",
        )
        words = ["...", *words[1:]] if self.shares else words
        self.leading = words[:1] == ["..."]
        self.axes = [axis.split("*") for axis in words[self.leading :]]
        words = ["n" if word == "_" else word for word in words]
        comma = "," * (len(words) == 1 and words != ["..."])
        self.written = f"({', '.join(words)}{comma})"
        self.broadcasts = self.leading and name in ("mask", "bias")

    def sharing(self, shape, leading):
        """How many query heads share each of this array's heads."""
        ahead = shape[: len(shape) - len(self.axes)]
        if not self.shares or not leading or not ahead:
            return 1
        H, H_kv = leading[-1], ahead[-1]
        return H // H_kv if 1 < H_kv < H and H % H_kv == 0 else 1

    def fit(self, shape, sizes, leading, fitted):
        """Add what the shape tells to the sizes; return the leading axes so far."""
        n = len(self.axes)
        if self.free:
            return leading
        if self.broadcasts:
            ends = zip(self.axes, ((1,) * n + shape)[-n:])
            target = (
                *leading,
                *(sizes.get(axis, end) for (axis,), end in ends),
            )
            if len(shape) == len(target) and shape == target:
                return leading
            expect_broadcast(self.name, shape, target, self.written, kept=n)
            return broadcast(shape[:-n], leading)
        if len(shape) < n or (len(shape) > n and not self.leading):
            expect(self.name, shape, self.written, **sizes)
        known = dict(sizes)
        for size, axis in zip(shape[len(shape) - n :], self.axes):
            if not _bind(self.name, size, axis, sizes):
                expect(self.name, shape, self.written, **known)
                expect(self.name, shape, self.written, **sizes)
        before = " and ".join(fitted)
        if self.leading:
            fitted.append(self.name)
        ahead, sharing = shape[: len(shape) - n], self.sharing(shape, leading)
        if sharing > 1:
            ahead = (*ahead[:-1], leading[-1])
        if not ahead or (len(ahead) == len(leading) and ahead == leading):
            return leading
        if leading:
            expect_broadcast(
                self.name, ahead, leading, f"the leading axes of {before}"
            )
        return broadcast(ahead, leading)


def _bind(name, size, axis, sizes):
    """Give an axis's one unknown factor its size; False where the axis does not fit."""
    if axis == ["_"]:
        return True
    known, unknown = 1, None
    for factor in axis:
        value = int(factor) if factor.isdigit() else sizes.get(factor)
        if value is None:
            unknown = factor
        else:
            known *= value
    if unknown is None:
        return size == known
    if size % known:
        raise ValueError(
            f"{name}: expected channels for {axis[0]} = {known} heads of one size, "
            f"got {size}, which {known} does not divide"
        )
    sizes[unknown] = size // known
    return True


# ---- what one argument may be, and the words where it is not ----


def is_number(x):
    """True for a real number that is not a truth value."""
    return isinstance(x, numbers.Real) and not isinstance(x, bool)


def number(name, x):
    """Return x as a float, or raise unless it is a finite real number."""
    if not is_number(x) or not math.isfinite(x):
        raise ValueError(
            f"{name}: expected a finite real number, got {x!r}; "
            "to scale by an array or a tensor, multiply Q by it"
        )
    return float(x)


def positive(name, x):
    """Return x as a float, or raise unless it is above 0."""
    if not is_number(x) or not x > 0:
        raise ValueError(f"{name}: expected a number above 0, got {x!r}")
    return float(x)


def whole(name, n, least=0):
    """Return n as an int, or raise unless it is a whole number from ``least`` on."""
    try:
        small = (
            isinstance(n, bool)
            or getattr(n, "ndim", 0)
            or operator.index(n) < least
        )
    except TypeError:
        small = True
    if small:
        raise ValueError(
            f"{name}: expected a whole number, at least {least}, got {n!r}"
        )
    return operator.index(n)


def flag(name, x):
    """Return x as a bool, or raise: another value in a flag's place is a mistake."""
    if not isinstance(x, bool) and type(x).__name__ not in ("bool", "bool_"):
        raise ValueError(
            f"{name}: expected True or False, got {type(x).__name__}"
        )
    return bool(x)


def divides(name, n, of, size):
    """Return n, or raise unless it divides the size of that name."""
    n = whole(name, n, least=1)
    if size % n:
        raise ValueError(
            f"{name}: expected a divisor of {of} = {size}, so that each key/value head "
            f"serves equally many, got {n}"
        )
    return n


def expect(name, shape, form, **sizes):
    """Raise unless a shape ends in the axes of a form such as "(..., T_k, d_k)".

    Examples
    --------
    >>> expect("W_O", (24, 16), "(H*d_v, d)", H=4, d_v=6, d=16)
    >>> expect("W_O", (16, 24), "(H*d_v, d)", H=4, d_v=6, d=16)
    Traceback (most recent call last):
    ValueError: W_O: expected (H*d_v, d) = (24, 16), got (16, 24)
    """
    shape = tuple(shape)
    axes = [
        axis.strip() for axis in form.strip("()").split(",") if axis.strip()
    ]
    leading = axes[:1] == ["..."]
    axes = axes[leading:]
    wanted = [_size(axis, sizes) for axis in axes]
    got = shape[len(shape) - len(axes) :] if leading else shape
    if len(got) == len(axes) and all(
        w in (None, g) for w, g in zip(wanted, got)
    ):
        return
    known = [axis if w is None else str(w) for axis, w in zip(axes, wanted)]
    known = ", ".join(["..."] * leading + known) + "," * (
        len(axes) + leading == 1
    )
    equals = "" if f"({known})" == form else f" = ({known})"
    raise ValueError(f"{name}: expected {form}{equals}, got {shape}")


def _size(axis, sizes):
    """The size of an axis such as ``d``, ``1`` or ``H*d_v``; None where unknown."""
    factors = [
        int(f) if f.isdigit() else sizes.get(f) for f in axis.split("*")
    ]
    return None if None in factors else math.prod(factors)


def expect_broadcast(name, shape, target, form, kept=0):
    """Raise unless a shape broadcasts to the target; ``kept`` axes (None: all) stay."""
    shape, target = tuple(shape), tuple(target)
    met = broadcast(shape, target)
    kept = len(met or ()) if kept is None else kept
    grown = (
        met and met[len(met) - kept :] != target[max(0, len(target) - kept) :]
    )
    if met is None or grown or len(met) < len(target):
        raise ValueError(
            f"{name}: expected a shape that broadcasts to {form} = {target}, "
            f"got {shape}"
        )


def broadcast(a, b):
    """The shape that two shapes broadcast to, or None."""
    n = max(len(a), len(b))
    a, b = (1,) * (n - len(a)) + tuple(a), (1,) * (n - len(b)) + tuple(b)
    if any(x != y and x != 1 and y != 1 for x, y in zip(a, b)):
        return None
    return tuple(y if x == 1 else x for x, y in zip(a, b))


PLAIN = {
    "size": functools.partial(whole, least=1),
    "count": whole,
    "number": number,
    "positive": positive,
    "flag": flag,
}
TYPES = {
    "size": "int",
    "count": "int",
    "number": "float",
    "positive": "float",
    "flag": "bool",
}
# the prefix, and the half's function
KINDS = {"int": "integers", "bool": "booleans"}
