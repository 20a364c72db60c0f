"""Quizzes that work on the static page (jupyterquiz), with ids that do not change from
run to run.
"""

import random


def quiz(chapter):
    """Show the quiz of a chapter.

    Parameters
    ----------
    chapter : str
        Two digits, such as ``"03"``.

    Raises
    ------
    ValueError
        Where the chapter has no quiz.
    """
    from jupyterquiz import display_quiz

    from tfbook.exercises import QUIZZES

    if chapter not in QUIZZES:
        raise ValueError(
            f"chapter: expected one of {', '.join(QUIZZES)}, got {chapter!r}"
        )
    state = random.getstate()
    random.seed(chapter)  # jupyterquiz draws the id of its element from here
    display_quiz(QUIZZES[chapter], max_width=720, border_radius=4)
    random.setstate(state)


def choice(question, right, wrong):
    """One question of a quiz.

    Parameters
    ----------
    question : str
    right : tuple of str
        The answer, and why it is right.
    wrong : dict of str to str
        Other answers, each with what is wrong about it.

    Returns
    -------
    dict
        As jupyterquiz reads it.
    """
    answers = [{"answer": right[0], "correct": True, "feedback": right[1]}]
    answers += [
        {"answer": answer, "correct": False, "feedback": feedback}
        for answer, feedback in wrong.items()
    ]
    return {
        "question": question,
        "type": "multiple_choice",
        "answers": answers,
    }
