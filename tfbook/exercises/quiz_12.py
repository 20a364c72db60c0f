"""The quiz of chapter 12, training."""

from tfbook.exercises.quiz import choice

QUIZ = [
    choice(
        "A model's loss is 2 bits a character. What does that say?",
        (
            "It is as unsure as among 4 characters alike",
            "2 bits are the logarithm, to base 2, of a perplexity of 4.",
        ),
        {
            "It is right about every second character": (
                "Chances, not hits, make the loss. Four equal chances give 2 bits, and "
                "a hit in one of four."
            ),
            "It names two characters, one of which is "
            "right": "That would be 1 bit, if both were equally likely.",
            "Its text takes 2 bits of memory a character": (
                "It could be packed into as much, but the weights are not counted in "
                "this."
            ),
        },
    ),
    choice(
        "Your language model reaches a loss of 0.02 bits within a minute, and writes "
        "nonsense. The likeliest reason is",
        (
            "each token sees the one it is to guess",
            (
                "A mask that lets the future in, or targets that are not shifted: "
                "copying is easy to learn, and of no use for writing."
            ),
        ),
        {
            "it has learned the text by heart": (
                "Then it would write the text. And that takes longer than a minute."
            ),
            "the learning rate is too high": "That makes the loss large.",
            "the temperature at which it writes is too "
            "high": "It changes what is written, not the loss.",
        },
    ),
    choice(
        "The loss on the training text still falls, that on held-out text has begun to "
        "rise. What helps?",
        (
            "Stopping here, or more text",
            (
                "What it learns from now on is about this text alone. More text gives "
                "it less to learn by heart."
            ),
        ),
        {
            "Training on: both will fall again": (
                "Sometimes they do, in much longer runs. Here the held-out loss only "
                "rose."
            ),
            "A larger model": "It learns by heart faster.",
            "Testing on the training text, whose loss is "
            "lower": "A lower number of no use: the model has seen the answers.",
        },
    ),
    choice(
        "Model A reads characters and has 2.4 bits a token. Model B reads byte pairs, "
        "3 characters each, and has 6 bits a token. Which is better?",
        (
            "B",
            "6 bits for 3 characters are 2 bits a character, less than 2.4.",
        ),
        {
            "A": "Its tokens are shorter. Per character it needs more bits.",
            "They cannot be compared": (
                "Both give the same text a chance. Bits for the same characters "
                "compare."
            ),
            "A, since its perplexity is "
            "lower": "Perplexity is for each token, and the tokens differ.",
        },
    ),
    choice(
        "A program is killed while it saves a checkpoint. Why is the old one still "
        "whole?",
        (
            "The new one is written elsewhere, then takes its name",
            "Renaming either has happened or has not. There is no half.",
        ),
        {
            "Files are written in one stroke": (
                "A large file takes many writes, and a kill may come between any two."
            ),
            "The format has a checksum": (
                "It would tell that the file is broken, not bring the old one back."
            ),
            "The program catches the signal, and finishes what it has "
            "begun": "SIGKILL cannot be caught, and neither can a power cut.",
        },
    ),
]
