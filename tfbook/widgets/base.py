"""What every live figure shares: controls, a table for the static page, answers from a
kernel for any other value.

A figure is a subclass with ``controls`` and ``compute`` (all the mathematics), and a
JavaScript module of the same name whose ``figure`` draws what ``compute`` returned,
with a style sheet of that name where it needs one. On a page with no kernel the figure
looks its values up in a table of every setting. Where that would be too many, it has
``columns`` in place of ``compute``.
"""

import inspect
import itertools
import json
from pathlib import Path
from typing import ClassVar

import anywidget
import numpy as np
import traitlets

from tfbook.notebook import palette
from tfbook.widgets.bundle import bundle, lean
from tfbook.widgets.packing import pack
from tfbook.widgets.page import page

HERE = Path(__file__).parent
ENTRY = """import { render } from "./base.js";
import { figure } from "./NAME.js";
import { place } from "./place.js";
export default { render: (context) => render(figure, context) };
"""


def style(*names):
    """The palette and style sheets beside this file, those that there are."""
    paths = [HERE / f"{name}.css" for name in names]
    sheets = [
        path.read_text(encoding="utf-8") for path in paths if path.exists()
    ]
    return palette.css() + "".join(map(lean, sheets))


def table(caption, head, rows):
    """The HTML of a figure's table."""
    return f"<table><caption>{caption}</caption><tr>{head}</tr>{rows}</table>"


class Figure(anywidget.AnyWidget):
    """A live figure.

    Parameters
    ----------
    **start
        The setting to begin with, one value for each control that is not to begin at
        its default.

    Raises
    ------
    ValueError
        Where a setting does not exist, or a value is not one that its control takes.
    """

    controls = ()  # Slider, Switch, Choice
    # names of methods: each gives one column of the table and takes the controls that
    # it depends on, no others
    columns = ()
    default: ClassVar = {}  # the setting to begin with
    title = ""  # what a screen reader calls the figure
    decimals = 3  # of the arrays that compute returns
    sheets = ("base",)  # style sheets, before that of the figure's own module

    # ipywidgets 7, on Colab, has one that would leave the HTML out
    _ipython_display_ = None

    spec = traitlets.Dict().tag(sync=True)
    # the setting at present; reading it tells what the reader chose
    state = traitlets.Dict().tag(sync=True)

    def __init_subclass__(cls, **kwargs):
        # anywidget subclasses once more for itself
        if "compute" in vars(cls) or "columns" in vars(cls):
            module = cls.__module__.rpartition(".")[2]
            cls._drawing = bundle(
                f'import {{ figure }} from "./{module}.js";\n'
            )
            cls._esm = bundle(ENTRY.replace("NAME", module))
            cls._css = style(*cls.sheets, module)
        super().__init_subclass__(**kwargs)

    def __init__(self, **start):
        unknown = set(start) - {control.name for control in self.controls}
        if unknown:
            names = ", ".join(control.name for control in self.controls)
            raise ValueError(
                f"{', '.join(sorted(unknown))}: not a setting of {type(self).__name__},"
                f" which has {names}"
            )
        state = self.check({**self.default, **start})
        cls = type(self)
        if "_table" not in vars(cls):  # the same for every figure of a class
            cls._table = self.table()
        super().__init__(
            state=state,
            spec={
                "title": self.title,
                "controls": [c.spec() for c in self.controls],
                "start": state,
                "constants": self.constants(),
                "ramps": [palette.ramp(), palette.ramp(dark=True)],
                "table": cls._table,
            },
        )
        self.on_msg(self._answer)

    def compute(self, **setting):
        """Return what the figure shows at a setting: a dict of numbers, strings, lists
        and arrays (NaN where there is nothing).
        """
        if not self.columns:
            raise NotImplementedError
        return {
            name: getattr(self, name)(
                **{c: setting[c] for c in self.depends_on(name)}
            )
            for name in self.columns
        }

    def constants(self):
        """Return what the drawing needs whatever the setting."""
        return {}

    def still(self):
        """Return the HTML that stands in where no script runs."""
        raise NotImplementedError

    @classmethod
    def settings(cls, names=None):
        """Every setting that the page offers of all controls, or of those named, in the
        table's order.
        """
        controls = [
            control
            for control in cls.controls
            if names is None or control.name in names
        ]
        return [
            dict(zip((c.name for c in controls), values))
            for values in itertools.product(*(c.values for c in controls))
        ]

    @classmethod
    def depends_on(cls, column):
        """Names of the controls that a column depends on: the parameters of its
        method.
        """
        return [
            name
            for name in inspect.signature(getattr(cls, column)).parameters
            if name != "self"
        ]

    def column(self, name):
        """Each value that a column takes, once, and which of them stands at each
        setting of the controls that it depends on.
        """
        settings = self.settings(self.depends_on(name))
        rows = [
            json.dumps(pack(getattr(self, name)(**setting), self.decimals))
            for setting in settings
        ]
        indices = {
            row: index for index, row in enumerate(dict.fromkeys(rows))
        }
        at = pack(np.array([indices[row] for row in rows]), 0)
        return {
            "controls": list(settings[0]),
            "values": [json.loads(row) for row in indices],
            "at": at,
        }

    def table(self):
        """What ``compute`` returns at every setting of the page, packed, a column for
        each name.
        """
        if self.columns:
            return {name: self.column(name) for name in self.columns}
        rows = [
            pack(self.compute(**setting), self.decimals)
            for setting in self.settings()
        ]
        return {name: [row[name] for row in rows] for name in rows[0]}

    def check(self, state):
        """Return the setting if it has a value for each control, which takes it, or
        raise ValueError.
        """
        names = [control.name for control in self.controls]
        if not isinstance(state, dict) or state.keys() != set(names):
            raise ValueError(
                f"setting: expected a value of each of {', '.join(names)}, got"
                f" {state!r}"
            )
        for control in self.controls:
            if not control.takes(state[control.name]):
                raise ValueError(
                    f"{control.name}: expected {control.values} or a value between, got"
                    f" {state[control.name]!r}"
                )
        return state

    def _answer(self, _, question, buffers):
        """A live page asks for a setting that is not in its table."""
        if question.get("ask") is None:
            self.send({"alive": True})
            return
        number = question.get("number")
        try:
            value = pack(
                self.compute(**self.check(question["ask"])), self.decimals
            )
        except (
            Exception
        ) as error:  # a reader who waits for an answer gets one
            self.send(
                {
                    "number": number,
                    "error": str(error) or type(error).__name__,
                }
            )
            if not isinstance(error, ValueError):
                raise
        else:
            self.send({"number": number, "value": value})

    def __repr__(self):
        setting = ", ".join(
            f"{name}={value!r}" for name, value in self.state.items()
        )
        return f"{type(self).__name__}({setting})"

    def _repr_mimebundle_(self, **kwargs):
        data, metadata = super()._repr_mimebundle_(**kwargs)
        return {
            **data,
            "text/plain": repr(self),
            "text/html": self.page(),
        }, metadata

    def page(self):
        """The figure as a piece of HTML that needs no kernel, no server and no other
        file.
        """
        return page(self)
