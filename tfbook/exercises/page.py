"""How an exercise looks on a page and in a notebook."""

import html
from dataclasses import dataclass

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from tfbook.exercises.exercise import Exercise, source

SPELT = {
    "alibi": "ALiBi",
    "ffn": "FFN",
    "jacobian": "Jacobian",
    "rnn": "RNN",
    "swiglu": "SwiGLU",
}


@dataclass(frozen=True)
class Box:
    """The task, its difficulty, and a hint that opens."""

    exercise: Exercise

    def __repr__(self):
        name, difficulty = self.exercise.name, self.exercise.difficulty
        return f"Exercise {name}, difficulty {difficulty} of 5"

    def _repr_html_(self):
        e = self.exercise
        stars = "●" * e.difficulty + "○" * (5 - e.difficulty)
        return (
            f'<div class="tfb-exercise mathjax_process" id="exercise-{e.name}">'
            f'<p class="tfb-difficulty"><span aria-hidden="true">{stars}</span> '
            f"difficulty {e.difficulty} of 5</p><p>{e.task}</p>"
            f"<details><summary>Hint</summary><p>{e.hint}</p></details></div>"
        )


@dataclass(frozen=True)
class Reveal:
    """The solution's source, closed until it is asked for; the plain text does not give
    it away.
    """

    exercise: Exercise

    def __repr__(self):
        return f"Solution of {self.exercise.name} (opens on the page and in a notebook)"

    def _repr_html_(self):
        code = highlight(
            source(self.exercise.solution),
            PythonLexer(),
            HtmlFormatter(nowrap=True),
        )
        name = html.escape(self.exercise.name)
        return (
            f'<details class="tfb-solution" id="solution-{name}">'
            "<summary>Solution</summary>"
            '<div class="highlight-python notranslate"><div class="highlight">'
            f"<pre>{code}</pre></div></div></details>"
        )


@dataclass(frozen=True)
class Solutions:
    """Exercises with their solutions, each below its task; a title leads to its place
    in the chapter, where the page is known.
    """

    exercises: tuple
    page: str = ""

    def __repr__(self):
        return "\n".join(map(repr, map(Reveal, self.exercises)))

    def _repr_html_(self):
        return "".join(self._entry(exercise) for exercise in self.exercises)

    def _entry(self, exercise):
        title = html.escape(title_of(exercise.name))
        if self.page:
            title = f'<a href="{self.page}.html#exercise-{exercise.name}">{title}</a>'
        shown = Box(exercise)._repr_html_() + Reveal(exercise)._repr_html_()
        return (
            f'<div class="tfb-entry" data-level="{exercise.difficulty}"><h3>{title}'
            f"</h3>{shown}</div>"
        )


def title_of(name):
    """An exercise's name as a title.

    Examples
    --------
    >>> title_of("rnn-jacobian"), title_of("layer-norm")
    ('RNN Jacobian', 'Layer norm')
    """
    title = " ".join(SPELT.get(word, word) for word in name.split("-"))
    return title[0].upper() + title[1:]
