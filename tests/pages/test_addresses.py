"""The address holds a setting: a link opens it, and follows the figure that it
names.
"""

import pytest
from browser import visit
from gallery import gallery, on

from tfbook.widgets import AttentionExplorer, MaskExplorer, ScaleExplorer


@pytest.fixture
def page_of(tmp_path):
    """The address of a page that shows some figures and nothing else."""

    def write(*figures):
        path = tmp_path / "index.html"
        body = "".join(figure.page() for figure in figures)
        path.write_text(
            "<!doctype html><html lang=en><meta charset=utf-8><title>Figures</title>"
            f"<body>{body}",
            encoding="utf-8",
        )
        return path.as_uri()

    return write


def chosen(figure, names="TdH"):
    return [
        figure.locator(f".tfb-slider input[name={name}]").get_attribute(
            "aria-valuetext"
        )
        for name in names
    ]


def hashed(page):
    return page.evaluate("location.hash")


def test_a_link_sets_the_figure_that_it_names(browser, page_of):
    with visit(
        browser,
        f"{page_of(AttentionExplorer())}#figure=AttentionExplorer&T=6&H=4&d=7&scale=false",
    ) as visited:
        page = visited.page
        assert chosen(page) == ["6", "32", "4"]  # there is no d = 7 on the page
        assert not page.locator("input[name=scale]").is_checked()
        page.get_by_role("button", name="copy link").click()
        assert (
            hashed(page)
            == "#figure=AttentionExplorer&T=6&d=32&H=4&H_kv=H&scale=false&causal=false"
        )
        # "link copied", or "link in the address bar"
        page.get_by_role("button", name="link ").wait_for()
        page.get_by_role("button", name="reset").click()
        assert chosen(page) == ["12", "32", "2"]
        page.evaluate("location.hash = '#figure=AttentionExplorer&T=3'")
        page.wait_for_function("document.querySelectorAll('[data-q]').length === 9")
        page.evaluate("location.hash = '#figure=Another&T=6'")
        page.wait_for_timeout(50)
        assert chosen(page)[0] == "3"
        assert visited.faults == []


def test_the_name_may_be_left_out_where_there_is_one_figure(browser, page_of):
    with visit(browser, f"{page_of(AttentionExplorer())}#T=6&H=4") as visited:
        assert chosen(visited.page) == ["6", "32", "4"]
        visited.page.evaluate("location.hash = '#T=3'")
        visited.page.wait_for_function(
            "document.querySelectorAll('[data-q]').length === 9"
        )
    with visit(
        browser,
        f"{page_of(AttentionExplorer(), ScaleExplorer(scale=True))}#T=6&scale=false",
    ) as visited:
        page = visited.page
        assert chosen(on(page, AttentionExplorer)) == ["12", "32", "2"]
        assert [
            box.is_checked() for box in page.locator("input[name=scale]").all()
        ] == [True, True]
        page.evaluate("location.hash = '#scale=false&T=3'")
        page.wait_for_timeout(50)
        assert [
            box.is_checked() for box in page.locator("input[name=scale]").all()
        ] == [True, True]


def test_two_of_a_kind_have_links_of_their_own(browser, page_of):
    page = page_of(AttentionExplorer(), AttentionExplorer(T=3))
    with visit(browser, f"{page}#figure=AttentionExplorer.2&T=6") as visited:
        page = visited.page
        first, second = page.locator("[data-figure=AttentionExplorer]").all()
        assert [chosen(first)[0], chosen(second)[0]] == ["12", "6"]
        first.get_by_role("button", name="copy link").click()
        assert hashed(page).startswith("#figure=AttentionExplorer&T=12&")
        second.get_by_role("button", name="copy link").click()
        assert hashed(page).startswith("#figure=AttentionExplorer.2&T=6&")
        page.evaluate("location.hash = '#figure=AttentionExplorer&T=3'")
        page.wait_for_timeout(50)
        assert [chosen(first)[0], chosen(second)[0]] == ["3", "6"]


def follows(page, text):
    page.wait_for_function(
        "(text) => location.hash.includes(text)", arg=text, timeout=3000
    )


def test_a_linked_address_follows_the_sliders(browser):
    with gallery(browser) as visited:
        page, mask, scale = (
            visited.page,
            on(visited.page, MaskExplorer),
            on(visited.page, ScaleExplorer),
        )
        mask.get_by_label("tokens in the cache").fill("1")
        page.wait_for_timeout(400)
        assert hashed(page) == "", "no one asked for a link"
        mask.get_by_role("button", name="copy link").click()
        assert "cached=2" in hashed(page)
        mask.get_by_label("tokens in the cache").fill("3")
        follows(page, "cached=5")
        scale.get_by_label("width of a head").fill("0")
        page.wait_for_timeout(400)
        assert hashed(page).startswith("#figure=MaskExplorer&"), (
            "the address is that of the figure that was linked to last"
        )


def test_an_address_that_was_opened_follows_and_is_written_now_and_then(
    browser, page_of
):
    with visit(
        browser,
        f"{page_of(AttentionExplorer(), ScaleExplorer())}#figure=AttentionExplorer&T=6",
    ) as visited:
        page = visited.page
        page.evaluate("""() => {
          window.written = 0;
          const real = history.replaceState.bind(history);
          history.replaceState = (...all) => { window.written++; real(...all); };
          const range = document.querySelector("input[name=d]");
          for (let i = 0; i < 200; i++) {
            range.value = i % 4;
            range.dispatchEvent(new Event("input", { bubbles: true }));
          }
        }""")
        follows(page, "d=64")
        assert "figure=AttentionExplorer&T=6" in hashed(page)
        assert page.evaluate("window.written") <= 20, (
            "a browser refuses an address that changes a hundred times"
        )
        page.evaluate("location.hash = '#a-section'")
        page.locator("input[name=d]").fill("0")
        page.wait_for_timeout(400)
        assert hashed(page) == "#a-section"
