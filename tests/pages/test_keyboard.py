"""The book without a mouse: the Tab key reaches everything once, in the order of the
page, and one always sees where one is.
"""

from contextlib import contextmanager

import pytest
from browser import BOOK, served, visit

CHAPTER = "chapters/03-scaled-dot-product-attention.html"

# what a keyboard must reach, in the order of the page; of the answers to one question,
# the first
STOPS = """() => {
  const names = new Set();
  const wanted =
    'a[href], button, input, select, textarea, summary, [tabindex="0"]';
  return [...document.querySelectorAll(wanted)].filter((node) => {
    if (!node.checkVisibility({ visibilityProperty: true })) return false;
    if (node.disabled || node.tabIndex < 0 || node.inert) return false;
    if (node.type === "radio") return !names.has(node.name) && names.add(node.name);
    return true;
  });
}"""
NAMES = f"""() => ({STOPS})().map((node) => {{
  const words = node.textContent.trim().slice(0, 30);
  const name = node.getAttribute("aria-label") ?? words;
  return `${{node.localName}}.${{node.className}} ${{name}}`;
}})"""
HERE = """() => { // where the focus is, and whether that is seen
  const node = document.activeElement;
  if (!node || node === document.body) return null;
  const ring = (box) => {
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(box);
    const outlined = outlineStyle !== "none" && parseFloat(outlineWidth) >= 2;
    return outlined || /0px 0px 0px [2-9]/.test(boxShadow);
  };
  // a radio button for screen readers alone: its label shows the ring
  const hidden = node.getBoundingClientRect().width < 4;
  const seen = hidden ? node.closest("label") : node;
  const { top, bottom, left, right } = seen.getBoundingClientRect();
  const onScreen = bottom > 0 && top < innerHeight && right > 0 && left < innerWidth;
  // a figure draws its buttons anew: they are counted anew
  const stop = (STOPS)().indexOf(node), what = `${node.localName}.${node.className}`;
  return { stop, ring: ring(seen), onScreen, what };
}""".replace("STOPS", STOPS)


@pytest.fixture(scope="module")
def address():
    assert (BOOK / CHAPTER).exists(), "there is no book in _build/html: run make book"
    with served(BOOK) as host:
        yield f"{host}/{CHAPTER}"


@contextmanager
def opened(browser, address):
    with visit(browser, address, wait=800) as visited:
        yield visited.page
        assert visited.faults == []


@pytest.fixture
def fresh(browser, address):
    """The chapter, just opened: nothing has the focus."""
    with opened(browser, address) as page:
        yield page


@pytest.fixture(scope="module")
def chapter(browser, address):
    """The chapter, opened once for the tests that put the focus somewhere by
    themselves.
    """
    with opened(browser, address) as page:
        yield page


def test_tab_reaches_everything_once_and_in_order_and_leaves(fresh):
    wanted, stops = fresh.evaluate(NAMES), []
    assert len(wanted) > 100
    for _ in range(len(wanted) + 1):
        fresh.keyboard.press("Tab")
        here = fresh.evaluate(HERE)
        if here is None:
            break
        assert here["ring"], f"nothing shows that the focus is on {here['what']}"
        assert here["onScreen"], f"the focus is out of sight on {here['what']}"
        stops.append(here["stop"])
    else:
        pytest.fail("the Tab key does not leave the page")
    assert [wanted[at] for at in sorted(set(range(len(wanted))) - set(stops))] == []
    assert stops == sorted(stops)


def test_shift_and_tab_go_back(fresh):
    for key in ("Tab", "Tab", "Tab", "Shift+Tab"):
        fresh.keyboard.press(key)
    assert fresh.evaluate("document.activeElement.className") == "navbar-brand logo"


def test_the_first_link_leads_to_the_text(fresh):
    fresh.keyboard.press("Tab")
    assert (
        fresh.evaluate("document.activeElement.textContent") == "Skip to main content"
    )
    assert fresh.locator("#pst-skip-link").bounding_box()["y"] >= 0, "it is not seen"
    fresh.keyboard.press("Enter")
    fresh.keyboard.press("Tab")
    assert fresh.evaluate(
        "document.querySelector('main').contains(document.activeElement)"
    )


def test_theme_changes(chapter):
    chapter.locator(".bd-header-article button.theme-switch-button").focus()
    seen = {chapter.evaluate("document.documentElement.dataset.mode")}
    for _ in range(3):
        chapter.keyboard.press("Enter")
        seen.add(chapter.evaluate("document.documentElement.dataset.mode"))
    assert seen == {"light", "dark", "auto"}


def test_menus_open_walk_and_close(chapter):
    for menu in chapter.locator(".bd-header-article .dropdown").all():
        menu.locator("button.dropdown-toggle").focus()
        chapter.keyboard.press("Enter")
        chapter.keyboard.press("ArrowDown")
        assert menu.evaluate(
            "(node) => "
            "node.querySelector('.dropdown-menu').contains(document.activeElement)"
        )
        assert chapter.evaluate(HERE)["ring"]
        chapter.keyboard.press("Escape")
        assert not menu.locator(".dropdown-menu").is_visible()


def test_hints_and_solutions_open_and_close(chapter):
    folded = [
        chapter.locator(".tfb-exercise details").first,
        chapter.locator("details.tfb-solution").first,
    ]
    for details in folded:
        details.locator("summary").focus()
        for key, is_open in (("Enter", True), ("Space", False)):
            chapter.keyboard.press(key)
            assert details.evaluate("(node) => node.open") == is_open


def test_arrows_go_through_the_answers_of_a_question(chapter):
    question = chapter.locator(".Quiz").first
    question.locator("input[type=radio]").first.focus()
    chapter.keyboard.press("Space")
    said = {question.locator(".Feedback").inner_text()}
    for _ in range(question.locator("input[type=radio]").count() - 1):
        chapter.keyboard.press("ArrowDown")
        said.add(question.locator(".Feedback").inner_text())
    assert len(said) > 1
    assert question.locator("label.correctButton, label.incorrectButton").count()


# and leaves the chapter: the last that shares it
def test_search_opens_answers_and_closes(chapter):
    button = chapter.locator("button.search-button__button").first
    button.focus()
    chapter.keyboard.press("Enter")
    field = chapter.locator("#pst-search-dialog input[type=search]")
    field.wait_for(state="visible")
    assert field.evaluate("(node) => node === document.activeElement")
    chapter.keyboard.press("Escape")
    field.wait_for(state="hidden")
    assert button.evaluate("(node) => node === document.activeElement")
    chapter.keyboard.press("Enter")
    chapter.keyboard.type("softmax")
    chapter.keyboard.press("Enter")
    chapter.wait_for_url("**/search.html?q=softmax*")
    chapter.locator("#search-results li a").first.wait_for(timeout=5000)


def test_side_bar_opens_and_closes_on_a_phone(browser, address):
    with visit(browser, address, width=390) as visited:
        page = visited.page
        toggle, link = (
            page.locator(".bd-header-article button.primary-toggle"),
            page.locator("nav.bd-links a").first,
        )
        toggle.focus()
        page.keyboard.press("Enter")
        link.wait_for(state="visible")
        for _ in range(40):  # all of it, and no further than the browser's own controls
            page.keyboard.press("Tab")
            inside = (
                "document.activeElement === document.body || "
                "document.activeElement.closest('dialog, .bd-sidebar') !== null"
            )
            assert page.evaluate(inside)
        page.keyboard.press("Escape")
        link.wait_for(state="hidden")
        assert toggle.evaluate("(node) => node === document.activeElement")


def test_a_button_that_a_figure_draws_anew_keeps_the_focus(browser, address):
    with visit(browser, address.replace(CHAPTER, "chapters/figures.html")) as visited:
        figure = visited.page.locator("[data-figure=LayerSteps]").first
        step = figure.locator(".tfb-stage button").nth(3)
        step.focus()
        visited.page.keyboard.press("Enter")
        assert step.get_attribute("aria-pressed") == "true"
        assert step.evaluate("(node) => node === document.activeElement")
        heads = visited.page.locator(
            "[data-figure=AttentionExplorer] .tfb-heads button"
        ).first
        heads.focus()
        visited.page.evaluate("document.documentElement.dataset.theme = 'dark'")
        visited.page.wait_for_timeout(100)
        assert heads.evaluate("(node) => node === document.activeElement")
