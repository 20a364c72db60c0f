"""Chromium or Chrome, as it is found on the PATH, for the tests of the pages and for
the scripts that print or draw.
"""

import shutil
from contextlib import contextmanager

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
TYPESET = (
    "async () => { await window.MathJax?.startup?.promise; await document.fonts.ready; "
    "}"
)


def executable():
    """The path of a Chromium, or None: first the one that is made to run without a
    window, which opens a page in half the time.
    """
    names = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
    return next(filter(None, map(shutil.which, names)), None)


@contextmanager
def launched():
    """A browser that is closed at the end."""
    from playwright.sync_api import sync_playwright

    assert executable(), "no Chromium on the PATH"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable(), args=FLAGS)
        yield browser
        browser.close()
