"""Print a function's own source into a page, so that what is read is what runs."""

import ast
import inspect
import re
import textwrap

WIDTH = 78  # characters that a page shows of a line of code


def show(*functions, docstring=False):
    """Show the source of functions as the package has it.

    Parameters
    ----------
    *functions : function or class
        What to show.
    docstring : bool
        Show docstrings whole; otherwise the first sentence is kept.

    Returns
    -------
    IPython.display.Markdown
        A code block that notebooks and the built book colour in their own way.

    Examples
    --------
    >>> from tfbook.numpy import relu
    >>> print(show(relu).data)
    ```python
    @shapes(x="...")
    def relu(x):
        \"\"\"Keep what is positive: max(x, 0).\"\"\"
        return np.maximum(x, 0)
    ```
    """
    # only here: the package itself needs no notebook
    from IPython.display import Markdown

    return Markdown(
        "```python\n"
        + "\n\n\n".join(source(f, docstring) for f in functions)
        + "\n```"
    )


def source(function, docstring=False):
    """The source of a function as text, its docstring cut to the first sentence by
    default.
    """
    text = inspect.cleandoc(
        "\n" + inspect.getsource(inspect.unwrap(function))
    ).strip()
    if docstring:
        return text
    lines = text.splitlines()
    tree = ast.parse(text)
    for node in reversed(list(ast.walk(tree))):
        if isinstance(
            node, ast.FunctionDef | ast.ClassDef
        ) and ast.get_docstring(node):
            said = node.body[0]
            indent = " " * said.col_offset
            top = node is tree.body[0]  # a twin's docstring is derived
            whole = (
                inspect.getdoc(function) if top else ast.get_docstring(node)
            )
            sentence = " ".join(whole.partition("\n\n")[0].split())
            sentence = f'"""{_plain(sentence)}"""'
            lines[said.lineno - 1 : said.end_lineno] = textwrap.wrap(
                sentence,
                WIDTH,
                initial_indent=indent,
                subsequent_indent=indent,
            )
    return "\n".join(lines)


def _plain(sentence):
    """A sentence without the formulas and the markup that a docstring may have: the
    code below it says the same.
    """
    return re.sub(
        r":\w+:`([^`]*)`", r"\1", re.sub(r":? :math:`[^`]*`", "", sentence)
    )
