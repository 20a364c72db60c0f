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
      const faults = [], all = (selector) => document.querySelectorAll(selector);
      const say = (fault, { textContent }) =>
        faults.push(`${fault}: ${textContent.trim().slice(0, 60)}`);
      for (const math of all("span.math, div.math"))
        if (!math.querySelector("mjx-container")) say("not typeset", math);
      for (const error of all("mjx-merror, [data-mjx-error]")) say("error", error);
      for (const text of all("mjx-assistive-mml mtext"))
        if (text.textContent.includes("\\")) say("unknown macro", text);
      const code = "pre, code, script, style, textarea, mjx-container";
      const main = document.querySelector("main") ?? document.body;
      const walker = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
      for (let node; (node = walker.nextNode());) {
        if (node.parentElement.closest(code)) continue;
        if (/\$|\\[([a-zA-Z]/.test(node.data)) say("source in the text", node);
      }
      return faults;
    }""")


def unnamed_pictures(page):
    """Pictures that a screen reader would meet without a word for them."""
    return page.evaluate("""() => {
      const faults = [];
      for (const picture of document.querySelectorAll("img, canvas, svg")) {
        const said = (name) => picture.getAttribute(name);
        if (picture.parentElement.closest("svg")) continue;
        if (picture.closest("[aria-hidden=true]")) continue;
        if (["presentation", "none"].includes(said("role"))) continue;
        if (!picture.getClientRects().length) continue;
        const pointed = document.getElementById(said("aria-labelledby") ?? "");
        const title = picture.querySelector(":scope > title");
        const name = said("aria-label") || pointed?.textContent || said("alt")
          || title?.textContent;
        if (!name?.trim()) faults.push(`no name: ${picture.outerHTML.slice(0, 80)}`);
      }
      return faults;
    }""")


def overflow(page):
    """What makes the page scroll sideways, or is cut off at its edge."""
    return page.evaluate("""() => {
      const width = innerWidth, faults = [];
      const root = document.documentElement.scrollWidth;
      if (root > width) faults.push(`the page is ${root} px wide`);
      const around = function* (node) {
        let box = node.parentElement;
        for (; box && box !== document.body; box = box.parentElement) yield box;
      };
      // inside a box that scrolls by itself, or clips on purpose
      const held = (node) => {
        for (const box of around(node)) {
          const holds = /auto|scroll|hidden|clip/.test(getComputedStyle(box).overflowX);
          if (holds && box.getBoundingClientRect().right <= width + 1) return true;
        }
        return false;
      };
      for (const node of document.querySelectorAll("main *")) {
        const box = node.getBoundingClientRect(), right = Math.round(box.right);
        if (!box.width || box.right <= width + 1 || held(node)) continue;
        if (getComputedStyle(node).visibility !== "hidden")
          faults.push(`${node.localName}.${node.className} ends at ${right} px`);
      }
      // words beyond the edge of a box that hides what is beyond
      const main = document.querySelector("main") ?? document.body;
      const walker = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
      for (let node; (node = walker.nextNode());) {
        const range = document.createRange();
        range.selectNodeContents(node);
        const text = range.getBoundingClientRect();
        if (!node.data.trim() || !text.width) continue;
        if (node.parentElement.closest("mjx-container, script, style")) continue;
        for (const box of around(node)) {
          const style = getComputedStyle(box), edge = box.getBoundingClientRect();
          const hides = (axis) => /hidden|clip/.test(style[`overflow${axis}`]);
          // for screen readers alone
          if (style.visibility === "hidden") break;
          if (Math.min(edge.width, edge.height) <= 2) break;
          // it scrolls
          if (/auto|scroll/.test(style.overflowX + style.overflowY)) break;
          // it holds nothing back
          if (style.display === "inline" && box.localName !== "svg") continue;
          const margin = text.height / 3;
          const beside = text.left < edge.left - 1 || text.right > edge.right + 1;
          const above =
            text.top < edge.top - margin || text.bottom > edge.bottom + margin;
          if ((hides("X") && beside) || (hides("Y") && above))
            faults.push(`cut off: ${node.data.trim().slice(0, 40)}`);
        }
      }
      return faults.slice(0, 5);
    }""")


# in code and formulas: marks text that has the colours and the size of an earlier text
# of the same block
SAME_INK = """() => {
  const paper = (node, block) => {
    const { backgroundColor, opacity } = getComputedStyle(node);
    const behind = node === block ? "" : paper(node.parentElement, block);
    return `${backgroundColor} ${opacity} ${behind}`;
  };
  for (const block of document.querySelectorAll("pre, mjx-container")) {
    const seen = new Set();
    for (const node of block.querySelectorAll("*")) {
      const { color, fontSize, fontWeight } = getComputedStyle(node);
      const ink = `${color} ${fontSize} ${fontWeight} ${paper(node, block)}`;
      const written = [...node.childNodes].some(
        (child) => child.nodeType === Node.TEXT_NODE && child.data.trim());
      node.toggleAttribute("data-same-ink", written && seen.has(ink));
      if (written) seen.add(ink);
    }
  }
}"""


def inaccessible(page, within=None, contrast=True):
    """What axe-core calls moderate or worse, good practice included; ``within``: only
    in what this selector matches; ``contrast``: colours too, the slowest rule by far.
    """
    if page.evaluate("typeof axe === 'undefined'"):
        page.evaluate(AXE)
    page.evaluate(SAME_INK)
    found = page.evaluate(
        """async ([within, contrast]) => {
      const id = "color-contrast", selector = ":not([data-same-ink])";
      axe.configure({ rules: [{ id, selector }] });
      const options = { preload: false, resultTypes: ["violations"] };
      const rules = { [id]: { enabled: contrast } };
      return (await axe.run(within ?? document, { ...options, rules })).violations;
    }""",
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
      const wide = node.scrollWidth > node.clientWidth + 1;
      const scrolls = wide && /auto|scroll/.test(getComputedStyle(node).overflowX);
      const stops = "a[href], button, input, select, [tabindex='0']";
      const held = node.tabIndex >= 0 || node.querySelector(stops);
      return scrolls && node.checkVisibility() && !held;
    }).map(({ localName, className, textContent }) =>
      `${localName}.${className}: ${textContent.trim().slice(0, 40)}`)"""
    )
