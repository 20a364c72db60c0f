"""The picture that stands for a figure where no script runs: there is one, of the
figure as it is, small, with words for it.
"""

import io
import re
from base64 import b64decode

import pytest
from gallery import FIGURES
from PIL import Image

from tfbook.widgets.page import STILLS, made_from, page, taken


@pytest.mark.parametrize("figure", FIGURES)
def test_a_small_picture_stands_in_every_figure(figure):
    name, html = figure.__name__, page(figure()).partition("<script")[0]
    data, said = re.search(
        r'<img src="data:image/webp;base64,([^"]+)" alt="([^"]+)">', html
    ).groups()
    held = b64decode(data)
    assert held == (STILLS / f"{name}.webp").read_bytes()
    assert len(held) <= 25_000
    image = Image.open(io.BytesIO(held))
    assert 680 <= image.width <= 740
    assert len(image.convert("RGB").getcolors(image.width * image.height)) > 20, (
        "a blank picture"
    )
    assert len(said) > len(figure.title) + 10
    assert html.index("<img") < html.index("<table")


@pytest.mark.parametrize("figure", FIGURES)
def test_the_picture_is_of_the_figure_as_it_is(figure):
    assert taken()[figure.__name__]["from"] == made_from(figure()), (
        "the figure has changed: run tools/site/stills.py"
    )


def test_a_picture_is_out_of_date_when_drawing_style_or_numbers_change():
    figure = FIGURES[0]()
    now = made_from(figure)
    for change in (
        {"_drawing": "x"},
        {"_css": "x"},
        {"compute": lambda **setting: {"n": 1}},
        {"state": figure.settings()[0]},
    ):
        other = FIGURES[0]()
        for name, value in change.items():
            setattr(other, name, value)
        assert made_from(other) != now, change


def test_there_is_no_picture_too_many():
    names = {figure.__name__ for figure in FIGURES}
    assert {path.stem for path in STILLS.glob("*.webp")} == set(taken()) == names


@pytest.mark.parametrize("scripts", [False, True])
def test_the_picture_is_seen_until_a_script_runs(scripts, browser, tmp_path):
    path = tmp_path / "index.html"
    head = (
        "<!doctype html><html lang=en><meta charset=utf-8><title>A figure</title><body>"
    )
    path.write_text(head + FIGURES[0]().page(), encoding="utf-8")
    context = browser.new_context(
        java_script_enabled=scripts, viewport={"width": 390, "height": 900}
    )
    page = context.new_page()
    page.goto(path.as_uri())
    if scripts:
        page.locator(".tfb-stage > *").first.wait_for()
        assert page.locator("img").count() == page.locator(".tfb-still").count() == 0
    else:
        picture = page.get_by_role("img")
        assert picture.is_visible()
        assert picture.get_attribute("alt") == taken()[FIGURES[0].__name__]["alt"]
        box = picture.bounding_box()
        assert 300 < box["width"] <= 374
        assert box["height"] > 100
    context.close()
