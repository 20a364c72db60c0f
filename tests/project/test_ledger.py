"""The ledger says what the chapters say."""

import json
import re
from pathlib import Path

import pytest

from tfbook.notebook.claims import RULINGS, evidence, verdict
from tfbook.notebook.ledger import STORED, ledger
from tfbook.notebook.ledger import _verdict as read

CHAPTERS = Path(__file__).resolve().parents[2] / "chapters"
BOXES = re.compile(r'class=\\"tfb-verdict mathjax_process\\" id=\\"claim-([\w-]+)\\"')


@pytest.mark.parametrize("ruling", RULINGS)
@pytest.mark.parametrize(
    "how",
    [
        {},
        {"refuted_by": r"\(a > b\), or “c” & d.", "control": "<none>: 0.5", "seeds": 5},
        {"control": "Mean pooling: 51 %."},
    ],
)
def test_a_box_is_read_as_it_was_written(ruling, how):
    claim, reason = r"\(a < b\) & “so” on", 'It\'s \\(x^2 > 1\\).\nThen "this".'
    given = verdict("a-name", claim, ruling, reason, **how)
    page = given._repr_html_()
    assert read(STORED.search(f"<p>{page}</p><div></div>")) == given
    assert ("<details" in page) == bool(how)


def test_every_box_of_every_chapter_is_there_once():
    found = [v.name for chapter in ledger(CHAPTERS).chapters for v in chapter.verdicts]
    boxes = [
        name
        for path in sorted(CHAPTERS.glob("[0-9]*.ipynb"))
        for name in BOXES.findall(path.read_text(encoding="utf-8"))
    ]
    assert len(found) > 5
    assert found == boxes
    assert len(set(found)) == len(found), "a claim has two verdicts"


def test_what_is_read_is_the_verdict():
    first = ledger(CHAPTERS).chapters[0]
    assert all(v.ruling in RULINGS and v.claim and v.reason for v in first.verdicts)
    assert "&" not in "".join(v.claim for v in first.verdicts)


def test_evidence_is_on_a_claim_that_has_its_verdict_elsewhere():
    book = ledger(CHAPTERS)
    where = {v.name: c.page for c in book.chapters for v in c.verdicts}
    for chapter in book.chapters:
        for _, name in chapter.evidence:
            assert where[name] != chapter.page, f"{name} has its verdict in the chapter"


def test_a_row_names_the_chapters_with_further_evidence(tmp_path):
    boxes = {
        "01-one": verdict("a-claim", "It is so.", "holds", "Measured."),
        "02-two": evidence("a-claim", "It is so.", "Measured again.", "x"),
    }
    for page, box in boxes.items():
        cells = [
            {"cell_type": "markdown", "source": [f"# {page}"]},
            {
                "cell_type": "code",
                "source": [],
                "outputs": [{"data": {"text/html": box._repr_html_()}}],
            },
        ]
        text = json.dumps({"cells": cells})
        (tmp_path / f"{page}.ipynb").write_text(text, encoding="utf-8")
    book = ledger(tmp_path)
    assert [(c.page, at) for c, at in book.elsewhere("a-claim")] == [
        ("02-two", "evidence-a-claim-x")
    ]
    page = book._repr_html_()
    assert page.count('id="row-a-claim"') == 1
    assert '<a href="02-two.html#evidence-a-claim-x">02-two</a>' in page
    box = boxes["02-two"]._repr_html_()
    assert "claims.html#row-a-claim" in box
    assert "<q>It is so.</q>" in box


def test_counts_and_links():
    book = ledger(CHAPTERS)
    page = book._repr_html_()
    assert sum(book.count().values()) == page.count("#claim-") == page.count("<tr id=")
    for ruling, n in book.count().items():
        assert f"</strong> {ruling}</label>" in page
        assert page.count(f'data-ruling="{ruling}"><td>') == n
    for chapter in book.chapters:
        assert (CHAPTERS / f"{chapter.page}.ipynb").exists()


def test_without_chapters_it_says_where_it_belongs(tmp_path):
    with pytest.raises(FileNotFoundError, match="run this in a clone of it"):
        ledger(tmp_path)


# What is known of the source's statements, before any experiment: the chapters must
# come to the same.
KNOWN = {
    "self-attention-is-permutation-invariant": "imprecise",  # equivariant
    # true of learned tables
    "maximum-length": "imprecise",
    # 64.6 % at GPT-3's sizes
    "ffn-eighty-per-cent": "does not hold",
    "ffn-majority-of-parameters": "holds under assumptions",  # 8 d² of 12 d²
    # after, before, or both: three forms
    "norm-before-and-after-each-block": "imprecise",
    # 4096 for 1024: the big model
    "inner-dimension": "holds under assumptions",
    # for fixed weights
    "attention-is-linear-in-values": "holds under assumptions",
    # W_V, W_O and residuals do more
    "stacking-re-averages": "imprecise",
    # projections; streaming
    "attention-time-and-memory": "imprecise",
    # not when it writes
    "one-sequential-step": "holds under assumptions",
    # independent, mean 0, variance 1
    "variance-stays-near-one": "holds under assumptions",
    "norm-after-each-addition": "holds under assumptions",  # 2017 and BERT
    # layer by layer, without a mask
    "global-receptive-field": "holds under assumptions",
    "long-range-dependencies": "holds under assumptions",
    # no GPU was timed, and a recurrent matrix may stay on the chip
    "parallelizable-on-gpus": "not tested here",
}


@pytest.mark.parametrize("name", KNOWN)
def test_what_is_known_of_a_claim_is_what_its_chapter_says(name):
    assert {
        v.name: v.ruling
        for chapter in ledger(CHAPTERS).chapters
        for v in chapter.verdicts
    }[name] == KNOWN[name]
