"""The source, line by line: every claim of the ledger is reached from a statement."""

from pathlib import Path

from tfbook.notebook.source_text import source_text, statements

CHAPTERS = Path(__file__).resolve().parents[2] / "chapters"


def names():
    return [n for _, lines in statements() for _, names in lines for n in names]


def test_statements_and_claims_are_the_same_set():
    claims = {name for name in names() if not name.endswith(".html")}
    assert claims == set(source_text(CHAPTERS).verdicts())


def test_definitions_lead_to_a_chapter():
    for page in (name for name in names() if name.endswith(".html")):
        assert (CHAPTERS / page).with_suffix(".ipynb").exists()


def test_no_statement_stands_twice():
    quotes = [quote for _, lines in statements() for quote, _ in lines]
    assert len(set(quotes)) == len(quotes)
    assert max(map(len, quotes)) < 130  # short quotations


def test_a_statement_shows_the_ruling_of_its_claim():
    found = source_text(CHAPTERS)
    page = found._repr_html_()
    for name, (verdict, chapter) in found.verdicts().items():
        link = f'<a href="{chapter}.html#claim-{name}">'
        assert f'data-ruling="{verdict.ruling}">{link}' in page
