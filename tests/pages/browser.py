"""The built book in a real browser, and what can be wrong with a page: each check
returns a list of faults, empty where all is well.
"""

import os
import re
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from axe_playwright_python.sync_playwright import Axe
from chromium import TYPESET, executable, launched  # noqa: F401 (tests take them from here)
from serve import server

ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "_build" / "html"
# The pages that the book must have: named after its sources, so that a test of a page
# fails where the book is not built.
CHAPTERS = [
    f"chapters/{path.stem}.html"
    for path in sorted(ROOT.glob("chapters/[0-9][0-9]-*.ipynb"))
]
READ = [
    f"chapters/{name}.html"
    for name in re.findall(
        r"chapters/([\w-]+)", (ROOT / "_toc.yml").read_text(encoding="utf-8")
    )
]
PAGES = [*READ, "genindex.html", "search.html"]
AXE = Axe().axe_script


def why_not():
    """Why no browser test can run here, or an empty string; where CI runs there is no
    excuse.
    """
    if executable() or os.environ.get("CI"):
        return ""
    return (
        "no Chromium on the PATH: install the package chromium (or google-chrome) to "
        "run the tests of the pages"
    )


@contextmanager
def served(folder):
    """The address of a server of a folder, on this machine."""
    with server(folder, ports=(0,)) as here:
        threading.Thread(target=here.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{here.server_port}"
        here.shutdown()


def is_local(address):
    """True for what this machine answers itself."""
    parts = urlsplit(address)
    return parts.scheme in {"file", "data", "blob", "about"} or parts.hostname in {
        "127.0.0.1",
        "localhost",
    }


@dataclass
class Visit:
    """A page that was opened, and what it complained of and asked for on the way."""

    page: object
    faults: list = field(default_factory=list)

    def watch(self):
        """Write down errors, and stop every request that would leave this machine."""
        self.page.on(
            "console",
            lambda message: (
                message.type == "error"
                and self.faults.append(f"console: {message.text}")
            ),
        )
        self.page.on("pageerror", lambda error: self.faults.append(f"script: {error}"))
        self.page.on(
            "response",
            lambda answer: (
                answer.status >= 400
                and self.faults.append(f"{answer.status}: {answer.url}")
            ),
        )
        self.page.route("**/*", self._pass)
        return self

    def _pass(self, route):
        if is_local(route.request.url):
            return route.continue_()
        self.faults.append(f"another host: {route.request.url}")
        return route.abort()


@contextmanager
def visit(browser, address, width=1200, theme="light", wait=0):
    """Open a page at a width and in a theme (None: nothing remembered), wait until its
    formulas are set, and ``wait`` milliseconds more.
    """
    context = browser.new_context(
        viewport={"width": width, "height": 900}, reduced_motion="reduce"
    )
    if theme:  # None: as on a first visit, with nothing remembered
        context.add_init_script(
            f"try {{ localStorage.setItem('mode', '{theme}');"
            f" localStorage.setItem('theme', '{theme}'); }} catch {{ }}"
        )
    visited = Visit(context.new_page()).watch()
    visited.page.goto(address)
    visited.page.evaluate(TYPESET)
    visited.page.wait_for_timeout(wait)
    yield visited
    context.close()


def raw_maths(page):
    """Formulas that a reader would see as source, and macros that MathJax does not
    know.
    """
    return page.evaluate(r"""() => {
      const faults = [];
      for (const math of document.querySelectorAll("span.math, div.math"))
        if (!math.querySelector("mjx-container")) faults.push(`not typeset: ${math.textContent.trim().slice(0, 60)}`);
      for (const error of document.querySelectorAll("mjx-merror, [data-mjx-error]")) faults.push(`error: ${error.textContent}`);
      for (const text of document.querySelectorAll("mjx-assistive-mml mtext"))
        if (text.textContent.includes("\\")) faults.push(`unknown macro: ${text.textContent}`);
      const walker = document.createTreeWalker(document.querySelector("main") ?? document.body, NodeFilter.SHOW_TEXT);
      for (let node; (node = walker.nextNode());) {
        if (node.parentElement.closest("pre, code, script, style, textarea, mjx-container")) continue;
        if (/\$|\\[([a-zA-Z]/.test(node.data)) faults.push(`source in the text: ${node.data.trim().slice(0, 60)}`);
      }
      return faults;
    }""")  # noqa: E501


def unnamed_pictures(page):
    """Pictures that a screen reader would meet without a word for them."""
    return page.evaluate("""() => {
      const faults = [];
      for (const picture of document.querySelectorAll("img, canvas, svg")) {
        if (picture.parentElement.closest("svg") || picture.closest("[aria-hidden=true]")) continue;
        if (["presentation", "none"].includes(picture.getAttribute("role")) || !picture.getClientRects().length) continue;
        const said = (name) => picture.getAttribute(name);
        const pointed = document.getElementById(said("aria-labelledby") ?? "")?.textContent;
        const name = said("aria-label") || pointed || said("alt") || picture.querySelector(":scope > title")?.textContent;
        if (!name?.trim()) faults.push(`no name: ${picture.outerHTML.slice(0, 80)}`);
      }
      return faults;
    }""")  # noqa: E501


def overflow(page):
    """What makes the page scroll sideways, or is cut off at its edge."""
    return page.evaluate("""() => {
      const width = innerWidth, faults = [];
      const root = document.documentElement.scrollWidth;
      if (root > width) faults.push(`the page is ${root} px wide`);
      const held = (node) => { // inside a box that scrolls by itself, or clips on purpose
        for (let box = node.parentElement; box && box !== document.body; box = box.parentElement) {
          const holds = /auto|scroll|hidden|clip/.test(getComputedStyle(box).overflowX);
          if (holds && box.getBoundingClientRect().right <= width + 1) return true;
        }
        return false;
      };
      for (const node of document.querySelectorAll("main *")) {
        const box = node.getBoundingClientRect();
        if (box.width && box.right > width + 1 && getComputedStyle(node).visibility !== "hidden" && !held(node))
          faults.push(`${node.tagName.toLowerCase()}.${node.className} ends at ${Math.round(box.right)} px`);
      }
      const walker = document.createTreeWalker(document.querySelector("main") ?? document.body, NodeFilter.SHOW_TEXT);
      for (let node; (node = walker.nextNode());) { // words beyond the edge of a box that hides what is beyond
        const range = document.createRange();
        range.selectNodeContents(node);
        const text = range.getBoundingClientRect();
        if (!node.data.trim() || !text.width || node.parentElement.closest("mjx-container, script, style")) continue;
        for (let box = node.parentElement; box && box !== document.body; box = box.parentElement) {
          const { overflowX, overflowY, display, visibility } = getComputedStyle(box), edge = box.getBoundingClientRect();
          if (visibility === "hidden" || Math.min(edge.width, edge.height) <= 2) break; // for screen readers alone
          if (/auto|scroll/.test(overflowX + overflowY)) break; // it scrolls
          if (display === "inline" && box.localName !== "svg") continue; // it holds nothing back
          const beside = /hidden|clip/.test(overflowX) && (text.left < edge.left - 1 || text.right > edge.right + 1);
          const room = text.height / 3, tall = text.top < edge.top - room || text.bottom > edge.bottom + room;
          const above = /hidden|clip/.test(overflowY) && tall;
          if (beside || above) faults.push(`cut off: ${node.data.trim().slice(0, 40)}`);
        }
      }
      return faults.slice(0, 5);
    }""")  # noqa: E501


SAME_INK = """() => { // in code and formulas: text that has the colours and the size of an earlier text of the same block
  const paper = (node, block) => {
    const { backgroundColor, opacity } = getComputedStyle(node);
    return `${backgroundColor} ${opacity} ${node === block ? "" : paper(node.parentElement, block)}`;
  };
  for (const block of document.querySelectorAll("pre, mjx-container")) {
    const seen = new Set();
    for (const node of block.querySelectorAll("*")) {
      const { color, fontSize, fontWeight } = getComputedStyle(node);
      const ink = `${color} ${fontSize} ${fontWeight} ${paper(node, block)}`;
      const written = [...node.childNodes].some((child) => child.nodeType === Node.TEXT_NODE && child.data.trim());
      node.toggleAttribute("data-same-ink", written && seen.has(ink));
      if (written) seen.add(ink);
    }
  }
}"""  # noqa: E501


def inaccessible(page, within=None, contrast=True):
    """What axe-core calls moderate or worse, good practice included; ``within``: only
    in what this selector matches; ``contrast``: colours too, the slowest rule by far.
    """
    if page.evaluate("typeof axe === 'undefined'"):
        page.evaluate(AXE)
    page.evaluate(SAME_INK)
    found = page.evaluate(
        """async ([within, contrast]) => {
      axe.configure({ rules: [{ id: "color-contrast", selector: ":not([data-same-ink])" }] });
      const options = { preload: false, resultTypes: ["violations"], rules: { "color-contrast": { enabled: contrast } } };
      return (await axe.run(within ?? document, options)).violations;
    }""",  # noqa: E501
        [within, contrast],
    )
    return [
        f"{rule['id']}: {node['html'][:90]}:"
        f" {node['failureSummary'].splitlines()[-1].strip()[:160]}"
        for rule in found
        if rule["impact"] != "minor"
        for node in rule["nodes"][:3]
    ]


def unreachable(page):
    """What scrolls sideways by itself, and neither it nor anything in it can have the
    focus, so that a keyboard cannot scroll it.
    """
    return page.evaluate(
        """() => [...document.querySelectorAll("body *")].filter((node) => {
      const scrolls = node.scrollWidth > node.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(node).overflowX);
      const held = node.tabIndex >= 0 || node.querySelector("a[href], button, input, select, [tabindex='0']");
      return scrolls && node.checkVisibility() && !held;
    }).map((node) => `${node.localName}.${node.className}: ${node.textContent.trim().slice(0, 40)}`)"""  # noqa: E501
    )
