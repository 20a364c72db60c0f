"""What a page prints of a function is what runs."""

import ast
import inspect

import pytest

import tfbook.numpy
import tfbook.torch
from tfbook.notebook.show import WIDTH, show, source

FUNCTIONS = [
    f
    for half in (tfbook.numpy, tfbook.torch)
    for f in vars(half).values()
    if inspect.isfunction(f)
]


def body(text):
    """The syntax tree without docstrings."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and ast.get_docstring(node):
            del node.body[0]
    return ast.dump(tree)


@pytest.mark.parametrize(
    "function", FUNCTIONS, ids=lambda f: f"{f.__module__}.{f.__name__}"
)
def test_shown_code_is_the_imported_code(function):
    shown = source(function)
    assert body(shown) == body(
        inspect.cleandoc("\n" + inspect.getsource(inspect.unwrap(function)))
    )
    assert ":math:" not in shown.partition('"""')[2].partition('"""')[0]
    said = ast.parse(shown).body[0].body[0]
    assert isinstance(said.value.value, str)
    assert all(
        len(line) <= WIDTH
        for line in shown.splitlines()[said.lineno - 1 : said.end_lineno]
    )


def test_docstring_whole():
    assert "Parameters" in source(tfbook.numpy.softmax, docstring=True)
    assert "Parameters" not in source(tfbook.numpy.softmax)


def test_several_functions_stand_in_one_block():
    shown = show(tfbook.numpy.relu, tfbook.numpy.silu).data
    assert shown.startswith('```python\n@shapes(x="...")\ndef relu')
    assert '\n\n\n@shapes(x="...")\ndef silu' in shown


def test_a_twin_shows_the_sentence_that_it_shares():
    shown = source(tfbook.torch.relu)
    assert shown.startswith("@twin(reference.relu)\ndef relu(x):")
    assert '"""Keep what is positive: max(x, 0)."""' in shown
    assert ">>>" not in shown
