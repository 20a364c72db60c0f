"""What each page of the built book costs its reader: speed.py [PAGE …]. Prints a table
and names what is over the budget.

Transfer is what a browser gets over the wire, headers included, from a server that
compresses as static hosts do, until the page has been scrolled to its end. The jumps of
the layout are the browser's own measure. So is the time of the largest paint, scaled to
a processor that is four times slower: what the page waited, plus four times the
processor time of its main thread. The trace tells that time from the time in which
other programs had the processor, so it hardly depends on what else runs; what the page
waited does, so the tests keep the processor's part alone.
"""

import functools
import gzip
import http.server
import json
import sys
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from chromium import launched
from serve import Handler

BOOK = Path(__file__).resolve().parents[2] / "_build" / "html"
FIRST = "chapters/index.html"
FIRST_MOST, MOST = 600, 1500  # kB that the first page, and any other, may transfer
# seconds to the largest paint; how much of the screen moves, and how far
PAINT, JUMP = 1.5, 0.05
SLOW = 4  # times slower than this machine
TRACED = ["toplevel", "blink.user_timing"]  # tasks, and when the navigation started
COMPRESSED = (".html", ".css", ".js", ".svg", ".json", ".xml", ".txt")

WATCH = """
  window.jumps = []; window.paint = 0;
  const watch = (type, each) =>
    new PerformanceObserver((list) => list.getEntries().forEach(each))
      .observe({ type, buffered: true });
  watch("largest-contentful-paint", ({ startTime }) => {
    window.paint = Math.max(window.paint, startTime);
  });
  const moved = ({ node, previousRect: from, currentRect: to }) =>
    `${from.y} -> ${to.y}: ${node?.outerHTML ?? node?.data}`.slice(0, 90);
  watch("layout-shift", ({ hadRecentInput, value, sources }) => {
    if (!hadRecentInput) window.jumps.push({ value, what: sources.map(moved) });
  });
"""
PICTURES = (
    "async () => { for (const image of document.images) { image.loading = 'eager'; "
    "await image.decode().catch(() => {}); } }"
)
READY = (
    "async () => { await window.MathJax?.startup?.promise; await document.fonts.ready; "
    "}"
)


@functools.lru_cache
def compressed(path, _changed):
    return gzip.compress(Path(path).read_bytes(), 6, mtime=0)


class Host(Handler):
    """Serves files as a static host does: what is text comes compressed, and may be
    kept. ``policy`` is sent with each.
    """

    protocol_version = "HTTP/1.1"
    policy = ""

    def do_GET(self):
        path = Path(self.translate_path(self.path))
        if not path.is_file():
            self.send_error(404)
            return
        squeeze = path.suffix in COMPRESSED and "gzip" in self.headers.get(
            "Accept-Encoding", ""
        )
        body = (
            compressed(str(path), path.stat().st_mtime_ns)
            if squeeze
            else path.read_bytes()
        )
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(str(path)))
        self.send_header("Content-Length", str(len(body)))
        if squeeze:
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        self.wfile.write(body)

    def end_headers(self):
        self.send_header("Cache-Control", "max-age=600")
        if self.policy:
            self.send_header("Content-Security-Policy", self.policy)
        http.server.SimpleHTTPRequestHandler.end_headers(self)


@contextmanager
def hosted(folder=BOOK, policy=""):
    """The address of such a server on this machine."""
    handler = functools.partial(
        type("Hosted", (Host,), {"policy": policy}), directory=str(folder)
    )
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as here:
        threading.Thread(target=here.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{here.server_port}"
        here.shutdown()


@dataclass(frozen=True)
class Cost:
    """What one visit cost; ``files`` are (bytes, address), ``jumps`` what moved. The
    largest paint ``waited`` and kept the slower processor ``busy``, both in seconds.
    """

    page: str
    kB: float
    files: list
    waited: float
    busy: float
    jumps: list

    @property
    def paint(self):
        return self.waited + self.busy

    @property
    def jump(self):
        return sum(jump["value"] for jump in self.jumps)

    def over(self):
        """What is over the budget."""
        most = FIRST_MOST if self.page == FIRST else MOST
        kept = {
            "transfer": self.kB <= most,
            "paint": self.paint <= PAINT,
            "jump": self.jump < JUMP,
        }
        return [name for name, holds in kept.items() if not holds]


def visit(browser, address, page, width=1200):
    """The cost of a first visit to a page, with nothing remembered."""
    context = browser.new_context(viewport={"width": width, "height": 900})
    tab = context.new_page()
    tab.add_init_script(WATCH)
    devtools = context.new_cdp_session(tab)
    devtools.send("Network.enable")
    names, files = {}, []
    devtools.on(
        "Network.requestWillBeSent",
        lambda event: names.setdefault(event["requestId"], event["request"]["url"]),
    )
    devtools.on(
        "Network.loadingFinished",
        lambda event: files.append(
            (event["encodedDataLength"], names[event["requestId"]])
        ),
    )
    browser.start_tracing(page=tab, categories=TRACED)
    tab.goto(f"{address}/{page}")
    tab.evaluate(READY)
    tab.wait_for_timeout(300)
    events = json.loads(browser.stop_tracing())["traceEvents"]
    paint, jumps = tab.evaluate("[window.paint, window.jumps]")
    tab.evaluate("() => scrollTo(0, document.documentElement.scrollHeight)")
    tab.evaluate(PICTURES)
    tab.wait_for_timeout(100)
    context.close()
    return Cost(
        page,
        sum(size for size, _ in files) / 1000,
        files,
        *slowed(events, address, paint),
        jumps,
    )


def slowed(events, address, paint):
    """What a paint, in milliseconds from the navigation on this machine, waited, and
    how long a processor that is ``SLOW`` times slower is busy before it; in seconds.
    """
    started = [
        event
        for event in events
        if event["name"] == "navigationStart" and address in json.dumps(event["args"])
    ][-1]
    thread, start = (started["pid"], started["tid"]), started["ts"]
    end = start + 1000 * paint  # microseconds, as all times of the trace
    tasks = [
        event
        for event in events
        if event["name"].endswith("RunTask")
        and (event["pid"], event["tid"]) == thread
        and start <= event["ts"] < end
        and "tdur" in event
    ]
    waited = 1000 * paint - sum(min(task["dur"], end - task["ts"]) for task in tasks)
    # the paint has not waited for a task that outlasts it
    busy = sum(task["tdur"] for task in tasks if task["ts"] + task["dur"] <= end)
    return max(waited, 0) / 1e6, SLOW * busy / 1e6


def pages():
    """The pages that are read, the first one first: those of the table of contents."""
    found = (
        path.relative_to(BOOK).as_posix() for path in (BOOK / "chapters").glob("*.html")
    )
    return sorted(found, key=lambda page: (page != FIRST, page))


def main(*names):
    over = False
    with launched() as browser, hosted() as address:
        print(
            f"{'page':50}{'files':>7}{'transfer':>10}{'largest paint':>15}{'jump':>8}"
        )
        for page in names or pages():
            cost = visit(browser, address, page)
            faults = cost.over()
            over = over or bool(faults)
            print(
                f"{page:50}{len(cost.files):7}{cost.kB:7.0f} kB{cost.paint:13.2f}"
                f" s{cost.jump:8.3f}  {', '.join(faults)}",
                flush=True,
            )
    print(
        f"budget: {FIRST_MOST} kB for the first page, {MOST} kB for any; {PAINT} s with"
        f" the processor {SLOW} times slower; {JUMP}"
    )
    return over


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
