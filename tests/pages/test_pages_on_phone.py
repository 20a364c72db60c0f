"""Each page of the built book, as its reader meets it on a phone."""

import pytest
from browser import PAGES, inaccessible, overflow, unreachable, visit
from whole_page import of


@pytest.fixture(scope="module")
def on_phone(request, browser, address):
    with visit(browser, f"{address}/{request.param}", width=360, wait=100) as visited:
        yield visited


@of("on_phone", PAGES)
def test_page_is_accessible_on_a_phone(on_phone):
    # colours are those of a wide page
    assert inaccessible(on_phone.page, contrast=False) == []


@of("on_phone", PAGES)
@pytest.mark.parametrize("width", [360, 320])
def test_page_fits_a_phone_and_what_scrolls_on_it_can_be_reached(on_phone, width):
    on_phone.page.set_viewport_size({"width": width, "height": 900})
    on_phone.page.wait_for_timeout(100)
    assert overflow(on_phone.page) == []
    assert unreachable(on_phone.page) == []
