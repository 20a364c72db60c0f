"""The book without a network: under a strict policy, without cookies, and from one file
that was unpacked anywhere.
"""

import re
import zipfile

import pytest
from browser import BOOK, served, visit
from pack import NAME, files, pack
from speed import hosted

CHAPTER = "chapters/03-scaled-dot-product-attention.html"
# Inline scripts and styles hold each figure's table and drawing, and the theme's first
# word on light or dark: a page is whole by itself, also from the disk, where a browser
# loads no module from a file. Nothing is made into code at run time: `unsafe-eval` is
# not here.
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' "
    "'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; object-src 'none'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    """The book's archive, unpacked in a folder whose name is not plain."""
    folder = tmp_path_factory.mktemp("über den Äther")
    with zipfile.ZipFile(BOOK / f"{NAME}.zip") as archive:
        archive.extractall(folder)
    return folder / NAME


@pytest.fixture(scope="module")
def addresses(unpacked):
    """Where the book is read: under the policy, and unpacked on the disk."""
    with hosted(BOOK, POLICY) as address:
        yield {"policy": address, "disk": unpacked.as_uri()}


def use(page):
    """Do what a reader does: move a figure, answer a question, open a solution, change
    the theme. Says what did not answer.
    """
    silent = []
    figure = page.locator(".tfb[data-live]").first
    before = figure.inner_html()
    figure.locator("input[type=range]:visible").first.press("ArrowLeft")
    if figure.inner_html() == before:
        silent.append("figure")
    page.locator(".Quiz label[data-correct=true]").first.click()
    if (
        "correct"
        not in page.locator(".Quiz .Feedback").first.get_attribute("class").split()
    ):
        silent.append("quiz")
    solution = page.locator("details.tfb-solution").first
    solution.locator("summary").click()
    if not solution.locator(":scope > :not(summary)").first.is_visible():
        silent.append("solution")
    paper = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(paper)
    for _ in range(3):  # light, dark, the system's
        page.locator("button.theme-switch-button").first.click()
        if page.evaluate(paper) != light:
            break
    else:
        silent.append("theme")
    if not page.locator("mjx-container").count():
        silent.append("formulas")
    return silent


@pytest.mark.parametrize("where", ["policy", "disk"])
def test_everything_works(where, browser, addresses):
    with visit(browser, f"{addresses[where]}/{CHAPTER}", wait=600) as visited:
        assert use(visited.page) == []
        assert visited.faults == []
        assert visited.page.context.cookies() == []
        assert visited.page.evaluate("document.cookie") == ""


@pytest.mark.parametrize("where", ["policy", "disk"])
def test_search_works(where, browser, addresses):
    with visit(browser, f"{addresses[where]}/{CHAPTER}") as visited:
        visited.page.keyboard.press("Control+k")
        visited.page.keyboard.type("GQA")
        visited.page.keyboard.press("Enter")
        found = visited.page.locator("#search-results li a").first
        found.wait_for(timeout=5000)
        assert "04-many-heads" in found.get_attribute("href")
        assert visited.faults == []


def test_the_policy_is_felt(browser, tmp_path):
    (tmp_path / "index.html").write_text(
        "<!doctype html><title>x</title><script>eval('1')</script>", encoding="utf-8"
    )
    with (
        hosted(tmp_path, POLICY) as address,
        visit(browser, f"{address}/index.html") as visited,
    ):
        assert any("unsafe-eval" in fault for fault in visited.faults)
    with (
        served(tmp_path) as address,
        visit(browser, f"{address}/index.html") as visited,
    ):
        assert visited.faults == []


def test_the_archive_has_one_folder_and_all_that_its_pages_ask_for(unpacked):
    with zipfile.ZipFile(BOOK / f"{NAME}.zip") as archive:
        assert {name.partition("/")[0] for name in archive.namelist()} == {NAME}
    for page in unpacked.glob("**/*.html"):
        text = page.read_text(encoding="utf-8")
        assert f'{NAME}.zip"' not in text, page.name
        for target in re.findall(r'(?:href|src)="(?![a-z]+:|#)([^"#?$]+)["#?]', text):
            assert (page.parent / target).resolve().exists() or "/lite/" in target, (
                f"{page.name}: {target}"
            )


def test_the_same_book_gives_the_same_bytes(tmp_path):
    small = tmp_path / "book"
    for path in files(BOOK):
        if path.suffix in {".html", ".css"}:
            target = small / path.relative_to(BOOK)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    pack(small, tmp_path / "one.zip")
    for path in small.rglob("*.css"):
        path.touch()
    pack(small, tmp_path / "two.zip")
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
