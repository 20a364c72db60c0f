"""What a page tells those that link to it, and that its own links lead somewhere."""

import re
import subprocess
import sys
from html import unescape
from xml.etree import ElementTree

import address
import book_pages
import pytest
from browser import BOOK, READ, ROOT, served

HOME = book_pages.home()


def said(page):
    """What the head of a page says, by name."""
    head = (BOOK / page).read_text(encoding="utf-8").partition("</head>")[0]
    return {
        name: unescape(value)
        for name, value in re.findall(
            r'<meta (?:name|property)="([\w:]+)" content="([^"]*)"', head
        )
    }


def test_home_follows_the_one_address(tmp_path):
    owner, name = address.slug().split("/")
    assert f"https://{owner}.github.io/{name}/" == HOME
    (tmp_path / "_config.yml").write_text(
        "repository:\n  url: https://github.com/Some-One/another.book\n",
        encoding="utf-8",
    )
    assert book_pages.home(tmp_path) == "https://some-one.github.io/another.book/"


@pytest.mark.parametrize("page", READ)
def test_a_link_to_a_page_shows_what_it_is_about(page):
    found = said(page)
    assert 40 <= len(found["description"]) <= 160, (
        "the tables of chapters/index.md say what each page is about, in a line"
    )
    assert not re.search(r"[$\\*`]", found["description"])
    assert found["og:description"] == found["description"]
    assert found["og:title"]
    assert found["og:url"] == HOME + page
    assert f'<link rel="canonical" href="{HOME}{page}"' in (BOOK / page).read_text(
        encoding="utf-8"
    )
    assert found["og:site_name"] == "The Transformer, computed"
    assert found["og:type"] == ("book" if page == "chapters/index.html" else "article")
    picture = found["og:image"].removeprefix(HOME)
    assert (BOOK / picture).is_file()
    assert found["og:image:alt"].startswith("The first screen of")
    assert found["twitter:card"] == "summary_large_image"


def test_each_page_has_a_description_of_its_own():
    assert len({said(page)["description"] for page in READ}) == len(READ)


def test_sitemap_has_every_page_once():
    tree = ElementTree.parse(BOOK / "sitemap.xml")
    found = [
        url.text
        for url in tree.iter("{http://www.sitemaps.org/schemas/sitemap/0.9}loc")
    ]
    assert sorted(found) == sorted(HOME + page for page in READ)


def test_glossary_is_linked_from_the_chapters():
    for page in READ:
        if re.match(r"chapters/0[1-9]-", page):
            assert "glossary.html#term-" in (BOOK / page).read_text(encoding="utf-8"), (
                page
            )


# ---- links to other hosts: make links ----


@pytest.fixture
def other(tmp_path):
    (tmp_path / "there.html").write_text("here", encoding="utf-8")
    with served(tmp_path) as here:
        yield here


def test_links_finds_the_broken_one(other, tmp_path):
    book = tmp_path / "book"
    book.mkdir()
    (book / "page.html").write_text(
        f'<a href="{other}/there.html">a</a> '
        f'<a class="x" href="{other}/gone.html#a">b</a>',
        encoding="utf-8",
    )
    done = subprocess.run(
        [sys.executable, ROOT / "tools/check/links.py", book],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert (
        f"{other}/gone.html: 404\n    on page.html\n2 links to other hosts, 1 broken"
        in done.stdout
    )
    (book / "page.html").write_text(
        f'<a href="{other}/there.html">a</a>', encoding="utf-8"
    )
    done = subprocess.run(
        [sys.executable, ROOT / "tools/check/links.py", book],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "1 links to other hosts, 0 broken\n")
