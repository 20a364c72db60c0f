"""Who looks for a component by one of its usual names finds the chapter that explains
it.
"""

import book_pages
import pytest
from browser import visit

TERMS = book_pages.terms(
    (book_pages.ROOT / "chapters" / "glossary.md").read_text(encoding="utf-8")
)
FIRST = {  # what is typed, and where the first result leads
    "GQA": "04#sharing-keys-and-values",
    "MQA": "04#sharing-keys-and-values",
    "grouped query attention": "04",
    "multi-head attention": "04",
    "induction head": "04#what-trained-heads-do",
    "rotary": "05#rotary-turn-do-not-add",
    "RoPE": "05#rotary-turn-do-not-add",
    "ALiBi": "05#alibi-a-price-for-distance",
    "positional encoding": "05",
    "sinusoidal": "05",
    "embedding": "05",
    "vocabulary": "05",
    "flash attention": "10#attention-without-the-matrix",
    "FlashAttention": "10#attention-without-the-matrix",
    "online softmax": "10#attention-without-the-matrix",
    "KV cache": "10#writing-one-token-at-a-time",
    "quadratic complexity": "10",
    "layer norm": "07#layer-normalisation-by-hand",
    "LayerNorm": "07",
    "RMSNorm": "07#against-batch-and-rms-normalisation",
    "residual": "07",
    "skip connection": "07",
    "pre-norm": "07#three-places-for-a-norm",
    "learning rate warm-up": "07",
    "SwiGLU": "06#how-to-bend",
    "GELU": "06",
    "feed-forward": "06",
    "MLP": "06",
    "softmax temperature": "02#a-lookup-that-weighs",
    "cross attention": "02#one-sequence-or-two",
    "cross-attention": "02",
    "seq2seq": "02",
    "causal mask": "03#masks-who-may-attend-to-whom",
    "scaled dot-product attention": "03",
    "softmax": "03",
    "receptive field": "01",
    "RNN": "01",
    "LSTM": "07#the-highway-of-the-lstm",
    "transformer block": "08",
    "perplexity": "12#what-is-minimised",
    "BPE": "12#longer-tokens",
    "nucleus sampling": "12#writing",
    "bfloat16": "11#half-the-bytes",
    "roofline": "11#two-limits",
    "tensor parallel": "14#cut-the-heads",
    "ring attention": "14#cut-the-sequence",
    "data parallel": "14",
    "backpropagation": "09",
}


@pytest.fixture(scope="module")
def search(browser, address):
    """Searches on the built search page; gives what is found, as chapter#heading."""
    with visit(browser, f"{address}/search.html?q=softmax") as visited:
        visited.page.locator("#search-results li a").first.wait_for()

        def ask(words):
            return visited.page.evaluate(
                """(words) => {
              const found = Search._performSearch(...Search._parseQuery(words));
              return found.reverse().map(([page, , heading]) => page + (heading ?? ""));
            }""",
                words,
            )

        yield ask
        assert visited.faults == []


@pytest.mark.parametrize("words", FIRST)
def test_the_first_result_is_the_right_place(words, search):
    chapter, _, heading = FIRST[words].partition("#")
    first = search(words)[0]
    assert first.startswith(f"chapters/{chapter}-")
    assert not heading or first.endswith(f"#{heading}")


def test_every_name_of_the_glossary_leads_to_its_chapter(search):
    lost = {
        name: (where, found[:3])
        for names, where, _ in TERMS
        for name in names
        if not (found := search(name))
        or not any(f"chapters/{where}" in page for page in found[:2])
    }
    assert lost == {}


def test_a_result_says_what_its_page_is_about(browser, address):
    with visit(browser, f"{address}/search.html?q=GQA", wait=500) as visited:
        assert (
            "What can several attentions do"
            in visited.page.locator("#search-results li .context").first.inner_text()
        )
        assert visited.faults == []


def test_every_term_stands_once():
    names = [name.lower() for entry, _, _ in TERMS for name in entry]
    assert len(names) == len(set(names))
    assert len(TERMS) > 60
