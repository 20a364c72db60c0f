"""The quiz of chapter 13, beyond text."""

from tfbook.exercises.quiz import choice

QUIZ = [
    choice(
        "Two cards lie far back, each a capital and one of eight digits. A network has "
        "kept both digits, but not which belongs to which. How often is it right?",
        (
            "9 times in 16",
            (
                "Half of the time it names the right one; otherwise the other, which "
                "is the same digit by chance once in 8: 1/2 + 1/2 · 1/8."
            ),
        ),
        {
            "2 times in 16": "That is a guess by one that has kept nothing.",
            "8 times in 16": (
                "Nearly: the wrong card shows the right digit now and then."
            ),
            "Always": "It would have to know which of the two was asked for.",
        },
    ),
    choice(
        "Eight causal convolutions of width 2, with gaps of 1, 2, 4, … 128, can see a "
        "card 128 positions back. Why did they not solve the look-up there?",
        (
            "Training did not find a solution in 2000 steps",
            (
                "They reach 255 positions, so the card is in sight. The same network learns more of the task "
                "where the card is close, with the same number of steps."
            ),
        ),
        {
            "Their receptive field is too small": (
                "It is 256 positions, twice what is needed. A test checks that the "
                "gradient arrives."
            ),
            "They had fewer parameters than each of the other networks": (
                "All six networks have the same number, within 2 %."
            ),
            "The digits are not in their vocabulary": (
                "They read the same tokens as the other networks, and do better than a "
                "guess."
            ),
        },
    ),
    choice(
        "In mean pooling every token's path to the answer is as short as in attention. "
        "Why does it fail at the look-up over 128 positions?",
        (
            "Its weights do not depend on the question",
            (
                "Every token has the same weight in the mean, so that the asked card "
                "has a share of 1/129. Attention gives it most of the weight, because "
                "its key matches the query."
            ),
        ),
        {
            "It cannot see the first half of the row": (
                "The mean is over all tokens, the cards among them."
            ),
            "It does not know in which order the tokens come": (
                "Nor does the transformer without positions, which solves it."
            ),
            "It has no nonlinear part": (
                "It has two feed-forward networks, one before the mean and one after."
            ),
        },
    ),
    choice(
        "A transformer without positions reads the patches of a picture, and their "
        "outputs are averaged. You shuffle the patches. The answer",
        (
            "does not change at all",
            (
                "Attention is equivariant, the average does not care for order. "
                "Nothing tells the network where a patch was."
            ),
        ),
        {
            "changes a little, by rounding and by neighbours": (
                "There are no neighbours: every patch attends to every other, wherever "
                "it stands."
            ),
            "is a guess": "It is the same as before the shuffle, right or wrong.",
            "changes only if it was trained on pictures": (
                "What it was trained on is in the weights. Order is not in its input."
            ),
        },
    ),
    choice(
        "Does the last note of a melody repeat the first? A linear classifier on the "
        "same frames is right half of the time, however long it is trained. Why?",
        (
            "Whether two notes are alike is no sum of what each says alone",
            (
                "For each pitch of the first note another last note is right. A "
                "weighted sum gives every last note the same bonus whatever came first."
            ),
        ),
        {
            "The frames do not hold the pitch": (
                "They do: the same classifier hears whether the melody ends higher."
            ),
            "It has too few parameters": "More of them would still be summed.",
            "It does not know the order of the frames": (
                "It has a weight of its own for every channel of every frame."
            ),
        },
    ),
]
