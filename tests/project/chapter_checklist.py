"""What a chapter has, besides what every notebook keeps to. Each rule takes a Chapter
and returns what is missing and what to do.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

from checklist import code, read, tags, text

from tfbook.exercises import QUIZZES, catalogue

ROOT = Path(__file__).resolve().parents[2]
LISTS = {  # where a chapter is named, and how
    "_toc.yml": "chapters/{}\n",
    "README.md": "](chapters/{}.ipynb)",
    "chapters/index.md": "]({})",
    "chapters/solutions.ipynb": 'solutions("{:.2}")',
}
FIRST_SCREEN = 4  # cells: the guard, the question, the figure, and one line more
LABEL = re.compile(r"^\$\$ \((eq-[\w-]+)\)", re.MULTILINE)


def lists():
    """The texts in which every chapter is named."""
    found = {name: (ROOT / name).read_text(encoding="utf-8") for name in LISTS}
    found["chapters/solutions.ipynb"] = "\n".join(
        source for _, _, source in code(read(ROOT / "chapters/solutions.ipynb"))
    )
    return found


@dataclass
class Chapter:
    """A notebook, the name of its file, the texts that list it, and the labels of
    equations that other chapters have.
    """

    name: str
    notebook: dict
    lists: dict = field(default_factory=lists)
    taken: set = field(default_factory=set)

    @property
    def prose(self):
        return "\n".join(
            text(cell)
            for cell in self.notebook["cells"]
            if cell["cell_type"] == "markdown"
        )

    @property
    def headings(self):
        return re.findall(r"^(#+) (.+)$", self.prose, re.MULTILINE)

    def section(self, title):
        """The prose below a heading, as far as the next."""
        found = re.search(
            rf"^## {title}\n(.*?)(?=^#|\Z)", self.prose, re.MULTILINE | re.DOTALL
        )
        return found[1] if found else ""

    def html(self, i):
        outputs = self.notebook["cells"][i].get("outputs", [])
        return "".join(
            "".join(output.get("data", {}).get("text/html", "")) for output in outputs
        )


def labels(notebook):
    """The labels of its equations."""
    return LABEL.findall(
        "\n".join(
            text(cell) for cell in notebook["cells"] if cell["cell_type"] == "markdown"
        )
    )


def opens_with_a_question(chapter):
    opening = text(chapter.notebook["cells"][1])
    faults = (
        []
        if opening.startswith("# ")
        else ["the second cell begins with the title: # …"]
    )
    if "?" not in opening:
        faults.append(
            "the second cell asks no question: say what the reader will know at the "
            "end, as a question"
        )
    if not re.search(r"\*\*.+?\*\*", opening, re.DOTALL):
        faults.append("the second cell says in **bold** what to try on the figure")
    return faults


def live_figure_on_the_first_screen(chapter):
    if any('class="tfb" data-figure=' in chapter.html(i) for i in range(FIRST_SCREEN)):
        return []
    return [
        f"no live figure in the first {FIRST_SCREEN} cells: show one below the question"
    ]


def headings_in_order(chapter):
    levels = [len(marks) for marks, _ in chapter.headings]
    faults = (
        []
        if levels.count(1) == 1
        else [
            f"{levels.count(1)} titles: one # at the top, ## for sections, ### within"
            " them"
        ]
    )
    return faults + [
        f"“{title}” skips a level: give it one # less"
        for before, (marks, title) in zip(levels, chapter.headings[1:])
        if len(marks) > before + 1
    ]


def equations_have_labels_of_their_own(chapter):
    found = labels(chapter.notebook)
    faults = (
        []
        if found
        else [
            "no equation has a label: write $$ (eq-name) behind the one that matters "
            "most"
        ]
    )
    repeated = {
        label for label in found if label in chapter.taken or found.count(label) > 1
    }
    return faults + [
        f"{label} is the label of another equation of the book: choose another name"
        for label in sorted(repeated)
    ]


def verdicts_below_their_experiments(chapter):
    given = [
        (i, source)
        for i, _, source in code(chapter.notebook)
        if re.search(r"^(?:verdict|evidence)\(", source, re.MULTILINE)
    ]
    faults = (
        []
        if given
        else [
            "no verdict: end the experiment for a claim with verdict(name, claim, "
            "ruling, reason), or with evidence(name, text) where another chapter rules"
        ]
    )
    return faults + [
        f"cell {i}: nothing holds the verdict: assert in its cell what the cells above"
        " have shown"
        for i, source in given
        if "assert " not in source
    ]


def verdicts_say_what_would_refute_them(chapter):
    return [
        f"cell {i}: give the verdict {field}="
        for i, _, source in code(chapter.notebook)
        if re.search(r"^verdict\(", source, re.MULTILINE)
        for field in ("refuted_by", "control")
        if f"{field}=" not in source
    ]


def quiz_of_three(chapter):
    asked = re.findall(
        r'^quiz\("(\d\d)"\)',
        "\n".join(source for _, _, source in code(chapter.notebook)),
        re.MULTILINE,
    )
    if not asked or "Check yourself" not in [title for _, title in chapter.headings]:
        return [
            'no quiz: ## Check yourself, and below it quiz("NN") from'
            " tfbook/exercises/quiz_NN.py"
        ]
    return [
        f"quiz {number} has {len(QUIZZES[number])} questions: write three or more"
        for number in asked
        if len(QUIZZES[number]) < 3
    ]


def exercises_that_help(chapter):
    cells = code(chapter.notebook)
    asked = [
        (i, found[1])
        for i, _, source in cells
        if (found := re.search(r'^exercise\("([\w-]+)"\)', source, re.MULTILINE))
    ]
    faults = (
        []
        if len(asked) >= 2
        else [
            f"{len(asked)} exercises: write two or more in"
            " tfbook/exercises/chapter_NN.py"
        ]
    )
    owned = [
        name for name, entry in catalogue().items() if entry.chapter == chapter.name[:2]
    ]
    if owned and owned != [name for _, name in asked]:
        faults.append(
            f"the catalogue has {', '.join(owned)} for it: show these, in one order"
            " here and there"
        )
    for i, name in asked:
        entry = catalogue().get(name)
        if not entry:
            faults.append(
                f"{name} is not in the catalogue: register its file in"
                " tfbook/exercises/__init__.py"
            )
        elif (
            not entry.hint or len(entry.mistakes) < 2 or not 1 <= entry.difficulty <= 5
        ):
            faults.append(
                f"{name}: give it a hint, a difficulty from 1 to 5 and two mistakes or"
                " more that the check names"
            )
        if not any(
            "exercise" in tags(cell) and f'check("{name}"' in source
            for j, cell, source in cells
            if j > i
        ):
            faults.append(
                f"{name}: below its task, a cell tagged exercise with the empty"
                f' function and check("{name}", …)'
            )
        if not any(f'solution("{name}")' in source for j, _, source in cells if j > i):
            faults.append(f'{name}: below its check, solution("{name}")')
    return faults


def ends_with_summary_and_sources(chapter):
    faults = (
        []
        if [title for _, title in chapter.headings][-2:] == ["Summary", "Sources"]
        else ["end with ## Summary and ## Sources"]
    )
    if len(re.findall(r"^- ", chapter.section("Summary"), re.MULTILINE)) < 3:
        faults.append(
            "the summary has three points or more, each a line that begins with - "
        )
    if "{cite:" not in chapter.section("Sources"):
        faults.append(
            "the sources cite nothing: {cite:t}`key`, with the key in "
            "chapters/references.bib"
        )
    return faults


def listed(chapter):
    faults = []
    for name, form in LISTS.items():
        if form.format(chapter.name) not in chapter.lists[name]:
            faults.append(
                f"{name} does not name it: add {form.format(chapter.name).strip()}"
            )
    return faults


CHAPTER = [
    opens_with_a_question,
    live_figure_on_the_first_screen,
    headings_in_order,
    equations_have_labels_of_their_own,
    verdicts_below_their_experiments,
    verdicts_say_what_would_refute_them,
    quiz_of_three,
    exercises_that_help,
    ends_with_summary_and_sources,
    listed,
]
