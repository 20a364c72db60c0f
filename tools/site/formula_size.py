"""How much room a formula will take when it is typeset, estimated from its source, so
that the text around it stays where it is.
"""

import html
import re

# NAMES take no room themselves, SIGNS have a space on both sides
NAMES = (
    r"\\(?:mathrm|mathbf|mathbb|mathcal|text|left|right|tilde|hat|sqrt|t?frac|big|Big)"
    r"\b"
)
SIGNS = r"=|\+|-|<|>|\\(?:in|times|cdot|le|ge|approx|to|odot|sim|propto|ne|quad)\b"
SCRIPT = r"[_^](\{[^{}]*\}|\\[a-zA-Z]+|.)"
COMMAND = r"\\[a-zA-Z]+"


def width(source):
    """Width of a formula in a line, in em. Over the book's formulas the mean error is
    half an em.
    """
    bare = re.sub(NAMES, "", source)
    signs = len(re.findall(SIGNS, bare))
    bare = re.sub(SIGNS, "", bare)
    small = sum(
        len(re.sub(COMMAND, "x", script).strip("{}").replace(" ", ""))
        for script in re.findall(SCRIPT, bare)
    )
    bare = re.sub(
        r"\\(tanh|cos|sin|log|exp|max|min)\b", r"\1", re.sub(SCRIPT, "", bare)
    )
    large = len(re.sub(r"\\.|[{}\s&]", "", re.sub(COMMAND, "x", bare)))
    return 0.75 * large + 0.5 * small + 1.3 * signs


def height(source):
    """Height of a formula on lines of its own, in em: of each row, as tall as its
    fractions and sums make it.
    """
    rows = source.split(r"\\")
    return sum(
        4.0 if r"\sum" in row else 3.5 if r"\frac" in row else 1.7 for row in rows
    )


def reserve_space(page):
    """A page's HTML where each formula says what room to keep for it (assets/book.css
    keeps it).
    """

    def inline(found):
        wide = width(html.unescape(found[2]))
        style = f' style="--tfb-wide:{wide:.1f}em"'
        return f'<span class="math{found[1]}{style}>{found[2]}</span>'

    def display(found):
        tall = height(html.unescape(found[2]))
        style = f' style="--tfb-tall:{tall:.1f}em"'
        return f'<div class="math{found[1]}{style}>{found[2]}</div>'

    page = re.sub(
        r'<span class="math( [^>]*")>(\\\(.*?\\\))</span>',
        inline,
        page,
        flags=re.DOTALL,
    )
    return re.sub(
        r'<div class="math( [^>]*")>(.*?)</div>', display, page, flags=re.DOTALL
    )
