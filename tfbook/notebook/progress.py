"""A progress bar where someone watches, and nothing that a run leaves behind."""

import sys

from tqdm import tqdm


def progress(total, done=0, unit="step"):
    """Make a bar: in a terminal a line of its own, in a notebook an output that changes
    in place, else nothing is shown.

    Parameters
    ----------
    total : int
        Steps in all.
    done : int
        Steps that lie behind.
    unit : str
        What is counted.

    Returns
    -------
    tqdm.tqdm
        ``update()`` counts one, ``set_postfix_str(text)`` says more, leaving the
        ``with`` block closes it.

    Notes
    -----
    A notebook's output is the same before the first step and after the last,
    ``300 steps``: no time and no speed stays in it.

    Examples
    --------
    >>> with progress(3) as bar:
    ...     for _ in range(3):
    ...         bar.update()
    >>> bar.disable or bar.n == 3
    True
    """
    if in_notebook():
        return NotebookBar(total=total, initial=done, unit=unit, ncols=72)
    # None: no bar where stderr is no terminal
    return tqdm(
        total=total, initial=done, unit=unit, disable=None, leave=False
    )


def in_notebook():
    """Whether a Jupyter kernel runs this code."""
    shell = (
        sys.modules["IPython"].get_ipython()
        if "IPython" in sys.modules
        else None
    )
    return hasattr(shell, "kernel")


class NotebookBar(tqdm):
    """A bar as one output of a cell: plain text, written over at each move."""

    def __init__(self, **options):
        self.rest = f"{options['total']} {options['unit']}s"
        self.output = sys.modules["IPython"].display.display(
            {"text/plain": self.rest}, raw=True, display_id=True
        )
        super().__init__(file=sys.stderr, mininterval=0.5, **options)

    def display(self, msg=None, pos=None):
        """Write the bar over what the output shows."""
        self.output.update(
            {"text/plain": str(self) if msg is None else msg}, raw=True
        )

    def close(self):
        """Leave what stood there before the first step."""
        if not self.disable:
            self.disable = True
            self._decr_instances(self)
            self.output.update({"text/plain": self.rest}, raw=True)
