"""Modules of JavaScript as one: a figure reaches its page, and anywidget, as one
script, also from ``file://``.

It knows modules as Biome formats them, with named imports from ``"./name.js"`` at the
top and every declaration of its own at the margin. The book's build needs no Node.
"""

import re
from pathlib import Path

HERE = Path(__file__).parent
IMPORT = re.compile(
    r'^import \{([^}]+)\} from "\./(\w+)\.js";\n', re.MULTILINE
)
EXPORT = re.compile(
    r"^export ((?:async )?(?:function|class|const) (\w+))", re.MULTILINE
)
SPARE = re.compile(r"^ *(?://.*|/\*\*.*\*/)?\n|^ +", re.MULTILINE)


def bundle(entry, folder=HERE):
    """Join a module and all that it imports.

    Parameters
    ----------
    entry : str
        The module's source, whose exports are those of the whole.
    folder : Path
        Where the modules are that it imports.

    Returns
    -------
    str
        One module without imports: each imported module stands once, before those that
        import it, in a scope of its own, without its comments and its indentation.

    Raises
    ------
    ValueError
        Where an import finds no module or no such name in it, where imports go round
        in a circle, where two modules export the same name, or where a line is not
        understood.
    """
    modules = {}  # in the order of the bundle, as text
    _add_imports(modules, {}, "entry", entry, Path(folder), ())
    return "".join(modules.values()) + _body("entry", entry)


def exports(source):
    """The names that a module exports."""
    return [name for _, name in EXPORT.findall(source)]


def _add_imports(modules, owners, name, source, folder, above):
    """Add what a module imports.

    ``above`` are the modules that import it, ``owners`` says which exports a name.
    """
    for wanted, other in IMPORT.findall(source):
        path = folder / f"{other}.js"
        if not path.exists():
            raise ValueError(
                f"{name}.js: there is no module {other}.js to import"
            )
        if other in (*above, name):
            circle = " → ".join([*above, name, other])
            raise ValueError(f"{circle}: imports go round in a circle")
        text = path.read_text(encoding="utf-8")
        for missing in set(re.findall(r"\w+", wanted)) - set(exports(text)):
            raise ValueError(f"{name}.js: {other}.js exports no {missing}")
        if other in modules:
            continue
        _add_imports(modules, owners, other, text, folder, (*above, name))
        for one in exports(text):
            if owners.setdefault(one, other) != other:
                raise ValueError(
                    f"{one}: exported by {owners[one]}.js and {other}.js"
                )
        modules[other] = _scoped(other, text)


def _scoped(name, source):
    """A module as a function that runs at once and gives what it exports."""
    given = "{ " + ", ".join(exports(source)) + " }"
    return f"const {given} = (() => {{\n{_body(name, source)}return {given};\n}})();\n"


def _body(name, source):
    """A module without imports, comments and indentation; its exports are declared."""
    text = EXPORT.sub(r"\1", IMPORT.sub("", source))
    for line in text.splitlines():
        alien = re.match(r"import\b|export\b(?! default )", line)
        # a template of several lines keeps its spaces
        if alien or line.count("`") % 2:
            raise ValueError(
                f"{name}.js: a line that a bundle may not have: {line}"
            )
    return SPARE.sub("", text)


def lean(css):
    """A style sheet with one rule a line and no comments."""
    css = re.sub(r"/\*.*?\*/\n?", "", css, flags=re.DOTALL)
    css = re.sub(r"\n +", " ", css)  # the lines of a rule
    return re.sub(r"\n+", "\n", css.replace("\n}", " }")).lstrip()
