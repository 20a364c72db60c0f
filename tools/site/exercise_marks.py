"""The names of each chapter's exercises on every page, as a Sphinx extension.

``assets/marks.js`` reads them, so that it can say "3 of 5 exercises" of a chapter on
the pages of the others.
"""

import json

from tfbook.exercises import catalogue


def exercises_by_chapter():
    """The names of the exercises of every chapter, by its number, in the order of the
    book.
    """
    chapters = {}
    for exercise in catalogue().values():
        chapters.setdefault(exercise.chapter, []).append(exercise.name)
    return chapters


def setup(app):
    """Called by Sphinx, which ``_config.yml`` tells of this module."""
    app.add_js_file(
        None, body=f"window.tfbookExercises = {json.dumps(exercises_by_chapter())};"
    )
    return {"parallel_read_safe": True, "parallel_write_safe": True}
