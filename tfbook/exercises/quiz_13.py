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
        "Ten causal convolutions of width 2, with gaps of 1, 2, 4, … 512, can see a "
        "card 512 places back. Why did they not answer at that distance?",
        (
            "Their training found no way from a guess to what they see",
            (
                "They reach 1023 places. At short distances the same network does "
                "learn part of it, with the same steps."
            ),
        ),
        {
            "Their receptive field is too small": (
                "It is 1024 places, twice what is needed. A test holds that the "
                "gradient arrives."
            ),
            "They had fewer parameters than each of the other "
            "networks": "All four networks have as many, within 2 %.",
            "The digits are not in their vocabulary": (
                "They read the same tokens, and do better than a guess at short "
                "distances."
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
