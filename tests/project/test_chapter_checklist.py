"""Every chapter has what a chapter has; and each rule of the check list sees what it is
there for, and nothing else.
"""

import copy

import pytest
from address import slug
from chapter_checklist import CHAPTER, LISTS, Chapter, labels
from checklist import NOTEBOOK, code, read, tags, text
from test_notebooks import NOTEBOOKS, ROOT

CHAPTERS = [path for path in NOTEBOOKS if path.name[:2].isdigit()]
TEMPLATE = read(ROOT / "chapters/template.ipynb")


@pytest.fixture(scope="module")
def taken():
    """The labels of equations of each chapter."""
    return {path.stem: set(labels(read(path))) for path in CHAPTERS}


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
@pytest.mark.parametrize("rule", CHAPTER, ids=lambda rule: rule.__name__)
def test_chapter(rule, path, taken):
    others = set().union(*(found for name, found in taken.items() if name != path.stem))
    assert rule(Chapter(path.stem, read(path), taken=others)) == []


# ---- the template keeps to every rule; broken in one place, it breaks one ----


def chapter(notebook):
    """The template as if it were a chapter of the book."""
    return Chapter(
        "00-template",
        notebook,
        {name: form.format("00-template") for name, form in LISTS.items()},
        {"eq-attention"},
    )


def complaints(whole):
    """What each rule says of a chapter, where it says something."""
    said = {rule.__name__: rule(whole.notebook) for rule in NOTEBOOK} | {
        rule.__name__: rule(whole) for rule in CHAPTER
    }
    return {name: " ".join(faults) for name, faults in said.items() if faults}


def test_the_template_keeps_to_every_rule():
    assert complaints(chapter(TEMPLATE)) == {}


def find(whole, words):
    """The first cell that holds these words."""
    return next(cell for cell in whole.notebook["cells"] if words in text(cell))


def say(words, instead):
    """Other words in the first cell that holds these."""

    def spoil(whole):
        cell = find(whole, words)
        cell["source"] = [text(cell).replace(words, instead)]

    return spoil


def drop(words):
    """The first cell with these words without its text, so that the places of the
    others stay.
    """

    def spoil(whole):
        cell = find(whole, words)
        cell["source"], cell["cell_type"] = ["."], "markdown"
        for i, (_, cell, _) in enumerate(code(whole.notebook)):
            cell["execution_count"] = i + 1

    return spoil


def output(words, **new):
    def spoil(whole):
        find(whole, words)["outputs"] = [new]

    return spoil


def tag(words, *names):
    def spoil(whole):
        find(whole, words)["metadata"]["tags"] = list(names)

    return spoil


def keep_widgets(whole):
    whole.notebook["metadata"]["widgets"] = {}


def run_twice(whole):
    find(whole, "def by_hand")["execution_count"] = 99


def without_alt(whole):
    del find(whole, "plt.show()")["metadata"]["mystnb"]


def without_figure(whole):
    find(whole, "SoftLookup()")["outputs"] = []


def unlisted(name):
    def spoil(whole):
        whole.lists[name] = ""

    return spoil


PRINTED = {"output_type": "stream", "name": "stdout"}
BROKEN = [
    (run_twice, "not_executed_in_order", "run make execute"),
    (
        output(
            "def by_hand",
            output_type="error",
            ename="ValueError",
            evalue="",
            traceback=[],
        ),
        "dirty_outputs",
        "mend it",
    ),
    (
        output("def by_hand", output_type="stream", name="stderr", text=["Warning"]),
        "dirty_outputs",
        "mend what it warns of: Warning",
    ),
    (keep_widgets, "dirty_outputs", "run make execute"),
    (
        output("def by_hand", text=["/home/someone/book"], **PRINTED),
        "paths_of_a_machine",
        "print no paths",
    ),
    (without_alt, "pictures_without_words", "say in metadata.mystnb.image.alt"),
    (
        say("Print the package's", "![](picture.png) Print the package's"),
        "pictures_without_words",
        "write what it shows",
    ),
    # a derivation may
    (say("def by_hand", "def softmax(S):\n    return S\n\n\ndef by_hand"), None, ""),
    (
        say("tie = ", "softmax = "),
        "public_names_defined_again",
        "import it, or tag the cell derivation",
    ),
    (
        say(slug(), "someone/else"),
        "guard_faults",
        "copy the first cell of chapters/template.ipynb",
    ),
    (say(" is None:", " == 3:"), "guard_faults", "does not look for tfbook"),
    (
        tag("importlib", "remove-input"),
        "guard_faults",
        "is not code tagged remove-cell",
    ),
    (
        tag("temperatures = ", "nbval-ignore-output"),
        "unexplained",
        "say why in a comment",
    ),
    (
        say("temperatures = ", "temperatures = " + " " * 50),
        "lines_too_wide",
        "break at 74",
    ),
    (
        output("def by_hand", text=["x" * 76], **PRINTED),
        "lines_too_wide",
        "break at 75",
    ),
    (
        say("# A title that", "A title that"),
        ("opens_with_a_question", "headings_in_order"),
        "begins with the title",
    ),
    (say("values?", "values."), "opens_with_a_question", "as a question"),
    (
        say("**Turn the temperature down, and see one value win.**", "Turn."),
        "opens_with_a_question",
        "what to try",
    ),
    (without_figure, "live_figure_on_the_first_screen", "show one below the question"),
    (
        say("## Check yourself", "#### Aside\n\n## Check yourself"),
        "headings_in_order",
        "skips a level",
    ),
    (
        say("## Check yourself", "# Again\n\n## Check yourself"),
        "headings_in_order",
        "2 titles",
    ),
    (
        say("$$ (eq-template)", "$$"),
        "equations_have_labels_of_their_own",
        "write $$ (eq-name)",
    ),
    (
        say("eq-template", "eq-attention"),
        "equations_have_labels_of_their_own",
        "choose another name",
    ),
    (
        say("control=", "seeds="),
        "verdicts_say_what_would_refute_them",
        "give the verdict control=",
    ),
    (
        say("\nverdict(\n", "\nprint(\n"),
        "verdicts_below_their_experiments",
        "end the experiment for a claim with verdict",
    ),
    (
        say(
            "assert np.all(np.diff(largest) > 0)\nassert largest[-1] > 0.95\nassert "
            "np.allclose(tie, [0.5, 0.5, 0])\n",
            "",
        ),
        "verdicts_below_their_experiments",
        "nothing holds the verdict",
    ),
    (
        say('quiz("03")', "print(3)"),
        "quiz_of_three",
        "## Check yourself, and below it quiz",
    ),
    (say("## Check yourself", "## Quiz"), "quiz_of_three", "## Check yourself"),
    (
        drop('exercise("softmax")'),
        "exercises_that_help",
        "1 exercises: write two or more",
    ),
    (
        say('exercise("softmax")', 'exercise("sofmax")'),
        "exercises_that_help",
        "sofmax is not in the catalogue",
    ),
    (tag('check("softmax"'), "exercises_that_help", "a cell tagged exercise"),
    (
        drop('solution("softmax")'),
        "exercises_that_help",
        'below its check, solution("softmax")',
    ),
    (
        say("## Sources", "## References"),
        "ends_with_summary_and_sources",
        "end with ## Summary and ## Sources",
    ),
    (
        say("- What to beware of", "What to beware of"),
        "ends_with_summary_and_sources",
        "three points or more",
    ),
    (
        say("{cite:t}`vaswani2017`", "a paper"),
        "ends_with_summary_and_sources",
        "the sources cite nothing",
    ),
    *((unlisted(name), "listed", f"{name} does not name it") for name in LISTS),
]


@pytest.mark.parametrize(("spoil", "rule", "words"), BROKEN)
def test_each_rule_sees_its_own_fault_and_says_what_to_do(spoil, rule, words):
    whole = chapter(copy.deepcopy(TEMPLATE))
    spoil(whole)
    assert whole != chapter(TEMPLATE), "nothing was broken"
    said = complaints(whole)
    assert set(said) == ({rule} if isinstance(rule, str) else set(rule or ()))
    assert not rule or words in " ".join(said.values())


@pytest.mark.parametrize("part", ["hint", "mistakes", "difficulty"])
def test_an_exercise_that_does_not_help(part, monkeypatch):
    import chapter_checklist

    from tfbook.exercises import catalogue

    entries = copy.copy(catalogue())
    entries["softmax"] = copy.copy(entries["softmax"])
    object.__setattr__(
        entries["softmax"], part, {"hint": "", "mistakes": {}, "difficulty": 0}[part]
    )
    monkeypatch.setattr(chapter_checklist, "catalogue", lambda: entries)
    assert set(said := complaints(chapter(TEMPLATE))) == {"exercises_that_help"}
    assert (
        "give it a hint, a difficulty from 1 to 5 and two mistakes"
        in said["exercises_that_help"]
    )


def test_exercises_that_no_chapter_shows(monkeypatch):
    import chapter_checklist

    from tfbook.exercises import catalogue

    entries = {
        name: entry
        for name, entry in catalogue().items()
        if name in ("softmax", "causal-mask")
    }
    for entry, number in ((entries["softmax"], "00"), (entries["causal-mask"], "03")):
        monkeypatch.setitem(entry.__dict__, "chapter", number)
    monkeypatch.setattr(chapter_checklist, "catalogue", lambda: entries)
    assert set(said := complaints(chapter(TEMPLATE))) == {"exercises_that_help"}
    assert "the catalogue has softmax for it" in said["exercises_that_help"]


def test_a_quiz_that_is_too_short(monkeypatch):
    import chapter_checklist

    monkeypatch.setitem(
        chapter_checklist.QUIZZES, "03", chapter_checklist.QUIZZES["03"][:2]
    )
    assert complaints(chapter(TEMPLATE)) == {
        "quiz_of_three": "quiz 03 has 2 questions: write three or more"
    }


def test_every_rule_was_broken():
    named = {
        name
        for _, rule, _ in BROKEN
        for name in ([rule] if isinstance(rule, str) else rule or ())
    }
    assert named == {rule.__name__ for rule in (*NOTEBOOK, *CHAPTER)}


def test_the_template_stands_outside_of_the_book():
    assert "template" not in (ROOT / "_toc.yml").read_text(encoding="utf-8")
    assert any("exercise" in tags(cell) for cell in TEMPLATE["cells"])
