"""Code on a page fits it: nothing has to be scrolled sideways on a wide screen."""

import html
import re

import pytest
from browser import BOOK, CHAPTERS, PAGES

COLUMNS = 78
CODE = re.compile(r'<div class="highlight"><pre>(.*?)</pre>', re.DOTALL)


def long_lines(page):
    text = (html.unescape(re.sub(r"<[^>]+>", "", code)) for code in CODE.findall(page))
    return [line for code in text for line in code.splitlines() if len(line) > COLUMNS]


@pytest.mark.parametrize("page", PAGES)
def test_code_on_the_page_fits_78_columns(page):
    assert long_lines((BOOK / page).read_text(encoding="utf-8")) == []


def test_a_line_of_79_columns_is_seen():
    code = f'<div class="highlight"><pre>{"x" * 78}\n{"&lt;" * 79}\n</pre></div>'
    assert long_lines(code) == ["<" * 79]


def test_the_pages_show_code():
    pages = [(BOOK / page).read_text(encoding="utf-8") for page in CHAPTERS]
    assert all(CODE.search(page) for page in pages)
