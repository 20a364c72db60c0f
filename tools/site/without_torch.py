"""Replace, in every chapter of this checkout, the cells that need PyTorch by a line
that says so: for Binder, which has none.
"""

import nbformat
from lite import ROOT, copy_of
from lite_markdown import Book


def main():
    paths = sorted((ROOT / "chapters").glob("[0-9][0-9]-*.ipynb"))
    book = Book(ROOT, tuple(path.stem for path in paths))
    for path in paths:
        notebook = nbformat.read(path, as_version=4)
        nbformat.write(
            copy_of(
                notebook, book, notebook.cells[0].source, notebook.metadata.kernelspec
            ),
            path,
        )


if __name__ == "__main__":
    main()
