"""How fast the language model of chapter 12 writes on its page, in characters a second,
on this processor and on one that is four times slower: at least LEAST of them.

The browser slows itself down (Emulation.setCPUThrottlingRate). The figure draws every
frame while it writes; where a frame takes long, several characters come with it.
"""

import sys

from chromium import launched
from speed import BOOK, SLOW

PAGE = BOOK / "chapters/12-train-a-language-model.html"
LEAST = 30
WRITE = """async () => {
  const figure = document.querySelector("[data-figure=YourText]");
  const text = figure.querySelector("textarea"), n = text.value.length;
  const frame = () => new Promise(requestAnimationFrame);
  figure.querySelector(".tfb-stage button").click();
  const start = performance.now();
  while (text.value.length < n + 200) await frame();
  return 200_000 / (performance.now() - start);
}"""


def characters_a_second(browser, slow, page=PAGE):
    """How many the figure writes, from a fresh page on, past the longest context."""
    tab = browser.new_page(viewport={"width": 1200, "height": 900})
    devtools = tab.context.new_cdp_session(tab)
    devtools.send("Emulation.setCPUThrottlingRate", {"rate": slow})
    tab.goto(page.as_uri())
    tab.locator("[data-figure=YourText] textarea").scroll_into_view_if_needed()
    rate = tab.evaluate(WRITE)
    tab.close()
    return rate


def main():
    with launched() as browser:
        rates = {slow: characters_a_second(browser, slow) for slow in (1, SLOW)}
    for slow, rate in rates.items():
        print(f"{rate:5.0f} characters a second, processor {slow} times slower")
    print(f"at least {LEAST}, with the processor {SLOW} times slower")
    return rates[SLOW] < LEAST


if __name__ == "__main__":
    sys.exit(main())
