"""Each page of the built book, as its reader meets it from the disk."""

import pytest
from browser import BOOK, CHAPTERS, PAGES, visit
from whole_page import figures_move, of, quiz_answers, stays_quiet


@pytest.fixture(scope="module")
def from_disk(request, browser):
    with visit(browser, (BOOK / request.param).as_uri(), wait=800) as visited:
        yield visited


@of("from_disk", PAGES)
def test_page_on_the_disk_is_quiet_and_asks_no_other_host(from_disk):
    stays_quiet(from_disk)


@of("from_disk", CHAPTERS)
def test_quiz_of_a_page_on_the_disk_answers(from_disk):
    quiz_answers(from_disk)


@of("from_disk", CHAPTERS)
def test_figures_of_a_page_on_the_disk_move(from_disk):
    figures_move(from_disk)
