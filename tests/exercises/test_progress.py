"""The bar of a long run: there while someone watches, and nothing of it left in what is
compared.
"""

import io
import sys

import nbformat
from nbclient import NotebookClient

from tfbook.notebook.progress import progress

CELL = """
import time
from tfbook.notebook.progress import progress
with progress(4, unit="step") as bar:
    for _ in range(4):
        time.sleep(0.6)
        bar.set_postfix_str("loss 1.234", refresh=False)
        bar.update()
print("done")
"""


def test_a_notebook_sees_it_move_and_keeps_a_line_without_time():
    seen = []

    class Watcher(NotebookClient):
        def process_message(self, message, cell, index):
            if message["msg_type"] in ("display_data", "update_display_data"):
                seen.append(message["content"]["data"]["text/plain"])
            return super().process_message(message, cell, index)

    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CELL)])
    Watcher(notebook, timeout=60, kernel_name="python3").execute()
    shown, printed = notebook.cells[0].outputs
    # nbval compares the first, the page has the last
    assert seen[0] == seen[-1] == shown["data"]["text/plain"] == "4 steps"
    assert any("loss 1.234" in text and "2/4" in text for text in seen)
    assert (printed["name"], printed["text"]) == ("stdout", "done\n")


class Screen(io.StringIO):
    def __init__(self, terminal):
        super().__init__()
        self.terminal = terminal

    def isatty(self):
        return self.terminal


def test_a_terminal_sees_it_and_a_file_does_not(monkeypatch):
    for terminal in (True, False):
        screen = Screen(terminal)
        monkeypatch.setattr(sys, "stderr", screen)
        with progress(3, done=1) as bar:
            bar.update()
            bar.refresh()
        assert ("2/3" in screen.getvalue()) == terminal
        assert bool(screen.getvalue()) == terminal
