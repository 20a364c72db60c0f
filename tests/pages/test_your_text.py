"""The language model of chapter 12 reads and writes on its own page, under a strict
policy and from the disk, with a keyboard alone.
"""

import pytest
from browser import BOOK, visit
from speed import hosted
from test_offline import POLICY

PAGE = "chapters/12-train-a-language-model.html"


@pytest.fixture(scope="module", params=["policy", "disk"])
def address(request):
    if request.param == "disk":
        yield BOOK.as_uri()
        return
    with hosted(BOOK, POLICY) as here:
        yield here


def test_a_text_is_typed_and_written_on(address, browser):
    with visit(browser, f"{address}/{PAGE}") as visited:
        figure = visited.page.locator("[data-figure=YourText]")
        area = figure.get_by_label("your text")
        area.focus()
        visited.page.keyboard.press("Control+a")
        visited.page.keyboard.type("This object is a q")
        headline = figure.locator(".tfb-headline")
        assert headline.inner_text().startswith("After “ect␣is␣a␣q” comes u")
        visited.page.keyboard.press("Tab")
        visited.page.keyboard.press("Space")
        visited.page.wait_for_function("document.activeElement.textContent === 'stop'")
        figure.get_by_role("button", name="write on").wait_for()
        assert len(area.input_value()) == len("This object is a q") + 200
        assert visited.faults == []


def test_a_link_keeps_the_temperature(address, browser):
    link = f"{address}/{PAGE}#figure=YourText&temperature=0.25&top_p=0.9"
    with visit(browser, link) as visited:
        outputs = visited.page.locator(
            "[data-figure=YourText] output"
        ).all_inner_texts()
        assert outputs == ["0.25", "0.9"]
        assert visited.faults == []
