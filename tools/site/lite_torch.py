"""Which cells of a notebook need PyTorch: those that name it or are tagged torch, and
those that use a result of one that does.
"""

import ast
import symtable
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def modules(node):
    """Modules that an import may load."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return []


@cache
def needs_torch(module):
    """True for PyTorch, for tfbook's PyTorch half, and for a module of tfbook that
    imports either at its head.
    """
    seen, ahead = set(), [module]
    while ahead:
        name = ahead.pop()
        if (
            name == "torch"
            or name.startswith("torch.")
            or f"{name}.".startswith("tfbook.torch.")
        ):
            return True
        if name.startswith("tfbook.") and name not in seen:
            seen.add(name)
            ahead += imported_at_the_head(name)
    return False


def imported_at_the_head(module):
    """The modules that a module or a package of tfbook imports when it is imported."""
    base = ROOT / module.replace(".", "/")
    path = base / "__init__.py" if base.is_dir() else base.with_suffix(".py")
    if not path.is_file():
        return []
    return [
        name
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        for name in modules(node)
    ]


def is_setting(statement):
    """True for a statement that does nothing but prepare PyTorch, such as its import or
    its number of threads.
    """
    return any(map(needs_torch, modules(statement))) or (
        isinstance(statement, ast.Expr)
        and ast.unparse(statement).startswith("torch.set_")
    )


def names(code):
    """Names that some code, a syntax tree, reads from outside, and names that it binds
    there.
    """
    top = symtable.symtable(ast.unparse(code), "cell", "exec")
    inner, read, bound = list(top.get_children()), set(), set()
    for symbol in top.get_symbols():
        if symbol.is_referenced():
            read.add(symbol.get_name())
        if symbol.is_assigned() or symbol.is_imported():
            bound.add(symbol.get_name())
    while inner:
        scope = inner.pop()
        inner += scope.get_children()
        read |= {
            symbol.get_name()
            for symbol in scope.get_symbols()
            if symbol.is_global() and symbol.is_referenced()
        }
    return read, bound


def needed(body):
    """Names that statements read before they bind them, and names that they bind."""
    read, bound = set(), set()
    for statement in body:
        # its head binds names for its body
        if isinstance(statement, ast.For | ast.With):
            heads = (
                [(statement.iter, statement.target)]
                if isinstance(statement, ast.For)
                else [
                    (item.context_expr, item.optional_vars) for item in statement.items
                ]
            )
            for value, target in heads:
                read |= names(value)[0] - bound
                bound |= {
                    node.id
                    for node in ast.walk(target or value)
                    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
                }
            inside = needed(statement.body)
        else:
            inside = names(statement)
        read |= inside[0] - bound
        bound |= inside[1]
    return read, bound


def without_setting(source):
    """The code without the statements that prepare PyTorch; comments beside the others
    stay.
    """
    lines = source.splitlines()
    for statement in ast.parse(source).body:
        if is_setting(statement):
            lines[statement.lineno - 1 : statement.end_lineno] = [None] * (
                statement.end_lineno - statement.lineno + 1
            )
    return "\n".join(line for line in lines if line is not None).strip("\n")


def cells_without_torch(cells):
    """What is left of each cell's code where there is no PyTorch: None for a cell that
    cannot run.
    """
    missing, left = set(), []
    for cell in cells:
        body = ast.parse(cell.source).body
        rest = [statement for statement in body if not is_setting(statement)]
        for statement in body:
            if is_setting(statement):
                missing |= names(statement)[1]
        read, bound = needed(rest)
        inside = (
            name
            for statement in rest
            for node in ast.walk(statement)
            for name in modules(node)
        )
        if (
            read & missing
            or any(map(needs_torch, inside))
            or not rest
            or "torch" in cell.metadata.get("tags", [])
        ):
            missing |= bound
            left.append(None)
        else:
            missing -= bound
            left.append(without_setting(cell.source))
    return left
