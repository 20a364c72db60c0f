"""The claims ledger in a browser: a verdict can be chosen; its claims alone stay."""

import pytest
from browser import BOOK, visit

from tfbook.notebook.claims import RULINGS
from tfbook.notebook.ledger import ledger

PAGE = BOOK / "chapters" / "claims.html"
SHOWN = """(kind) => [...document.querySelectorAll(`.tfb-ledger ${kind}`)]
  .filter((node) => node.checkVisibility()).map((node) => node.dataset.ruling)"""


@pytest.fixture(scope="module")
def page(browser):
    assert PAGE.exists(), "there is no book in _build/html: run make book"
    with visit(browser, PAGE.as_uri()) as visited:
        yield visited.page


@pytest.mark.parametrize("ruling", RULINGS)
def test_a_verdict_leaves_its_claims_alone(page, ruling):
    page.locator(f'.tfb-ledger input[value="{ruling}"]').check()
    n = ledger(BOOK.parents[1] / "chapters").count()[ruling]
    assert page.evaluate(SHOWN, "tbody tr") == [ruling] * n
    for table in page.locator(".tfb-ledger table").all():
        assert table.is_visible() == bool(table.locator("tbody tr:visible").count())


def test_all_brings_every_claim_back(page):
    page.locator('.tfb-ledger input[value="imprecise"]').check()
    page.locator('.tfb-ledger input[value=""]').check()
    counts = ledger(BOOK.parents[1] / "chapters").count()
    assert len(page.evaluate(SHOWN, "tbody tr")) == sum(counts.values())
