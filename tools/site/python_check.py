"""Say what to do where this Python cannot make the book's environment. Runs on any
Python 3, and on Python 2.
"""

import sys

if sys.version_info < (3, 11):
    sys.exit(
        "The book needs Python 3.11 or newer, and this is %d.%d. If a newer one is"
        " installed, name it: make PYTHON=python3.12" % sys.version_info[:2]
    )
try:
    import ensurepip  # noqa: F401
    import venv  # noqa: F401
except ImportError:
    sys.exit(
        "This Python comes without its venv module. On Debian and Ubuntu: sudo apt "
        "install python3-venv. Then run make again."
    )
