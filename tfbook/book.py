"""What the built book takes from the package: an extension of Sphinx that puts each chapter's exercises on every page.

``assets/progress.js`` reads them, so that it can say "3 of 5 exercises" of a chapter on the pages of the others.
"""

import json

from tfbook.exercises import catalogue


def exercises_by_chapter():
    """Return the names of the exercises of every chapter.

    Returns
    -------
    dict of str to list of str
        By the number of the chapter, in the order of the book.

    Examples
    --------
    >>> exercises_by_chapter()["03"]
    ['softmax', 'scaled-dot-product-attention', 'causal-mask', 'softmax-jacobian']
    """
    chapters = {}
    for exercise in catalogue().values():
        chapters.setdefault(exercise.chapter, []).append(exercise.name)
    return chapters


def setup(app):
    """Called by Sphinx, which ``_config.yml`` tells of this module."""
    app.add_js_file(None, body=f"window.tfbookExercises = {json.dumps(exercises_by_chapter())};")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
