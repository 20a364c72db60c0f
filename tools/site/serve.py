"""Serve the built book on a free port of this machine and, where there is a screen,
open it: serve.py FOLDER
"""

import functools
import http.server
import os
import sys
import webbrowser
from pathlib import Path


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves files afresh each time, without a line for each request."""

    def end_headers(self):
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def log_message(self, *_):
        pass


def server(folder, ports=(8000, 0)):
    """A server of a folder on the first port that is free; 0 takes any."""
    for port in ports:
        try:
            return http.server.ThreadingHTTPServer(
                ("127.0.0.1", port), functools.partial(Handler, directory=str(folder))
            )
        except OSError:
            if port == ports[-1]:
                raise


def has_screen():
    """True where opening a browser would show it to the person at the keyboard."""
    if "SSH_CONNECTION" in os.environ or "CI" in os.environ:
        return False
    return sys.platform in ("darwin", "win32") or bool(
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )


def main(folder):
    if not Path(folder, "index.html").is_file():
        sys.exit(f"{folder} holds no built book: run `make book` first.")
    with server(folder) as book:
        address = f"http://127.0.0.1:{book.server_port}/"
        print(f"The book is at {address}\nCtrl-C ends it.", flush=True)
        if has_screen():
            webbrowser.open(address)
        try:
            book.serve_forever()
        except KeyboardInterrupt:
            print()


if __name__ == "__main__":
    main(*sys.argv[1:])
