"""The quiz of chapter 05, tokens and positions."""

from tfbook.exercises.quiz import choice

QUIZ = [
    choice(
        "Self-attention without positions and without a mask reads <em>dog bites "
        "man</em>, then <em>man bites dog</em>. How do its outputs differ?",
        (
            "The rows change places; each word keeps its vector",
            "f(PX) = P f(X): equivariance. Who bites whom is lost.",
        ),
        {
            "Not at all: the two outputs are equal "
            "matrices": "That would be invariance. The rows move with the words.",
            "Every word gets another vector, since its neighbours change": (
                "Queries, keys and values are the same vectors, in another order, and "
                "a sum has no order."
            ),
            "Only <em>bites</em> keeps its vector": (
                "It also keeps its place; but all three keep their vectors."
            ),
        },
    ),
    choice(
        "A batch holds 10 tokens, 7 of them different, from a vocabulary of 50,000. "
        "How many rows of E get a gradient through the lookup?",
        (
            "7",
            (
                "A row that was not looked up has no part in the loss, and a row that "
                "was used twice gets the sum of two gradients."
            ),
        ),
        {
            "10": (
                "Three of the ten repeat a row that has been looked up already; its "
                "gradients add up."
            ),
            "50,000": (
                "That would be so if E also scored the output. Through the lookup "
                "alone the other rows have gradient 0."
            ),
            "All, since one-hot times E is a matrix "
            "product": "It is, and for its zeros the gradient is 0.",
        },
    ),
    choice(
        "What makes rotary's scores depend on distance alone?",
        (
            "Moving both one place on turns both by the same angle",
            (
                "Turned alike, two vectors keep their dot product. Only the difference "
                "of their angles is left, and angles are proportional to positions."
            ),
        ),
        {
            "The angles are the same for all pairs of channels": (
                "Each pair has a speed of its own. It would hold for any speeds."
            ),
            "The turned vectors are shorter the farther apart they "
            "stand": "A rotation keeps every length.",
            "Values are turned by the same angles as the "
            "keys": "Values are not turned, and have no part in the scores.",
        },
    ),
    choice(
        "A model with a learned table of 64 positions is asked to read 65 tokens. What "
        "happens?",
        (
            "An error: there is no row for the last token",
            "This is the one scheme here whose length is fixed in advance.",
        ),
        {
            "It reads them, but badly": (
                "Some schemes with a formula do, at some length. A table has no row to "
                "give."
            ),
            "It reads them as well as "
            "64": "With what vector would it mark the last one?",
            "It uses the last row again": (
                "A program could be written so; this model is not, and was not trained "
                "for it."
            ),
        },
    ),
    choice(
        "Two queries meet a cache of 5 keys and their own, T = 2 and T<sub>k</sub> = "
        "7. Where do the queries stand, for ALiBi as for rotary?",
        (
            "At 5 and 6",
            "The last query stands at the last key, as in a causal mask.",
        ),
        {
            "At 0 and 1": "Then each would be farthest from its own key.",
            "At 6 and 7": "Positions count from 0; seven keys stand at 0 to 6.",
            "It does not matter: only distances count": (
                "Distances between a query and its keys. They change if the queries "
                "move and the keys do not."
            ),
        },
    ),
    choice(
        "A causal model has no positions at all. How can it know where it is?",
        (
            "By how many keys its query meets",
            (
                "The mask breaks the symmetry, and a mean over more keys can be told "
                "from one over fewer: the token at position p sees p + 1 tokens."
            ),
        ),
        {
            "It cannot: attention has no order": (
                "Without a mask that is so. The mask tells tokens apart by how many "
                "they see."
            ),
            "The embedding of a token holds its "
            "position": "It is the same vector wherever the token stands.",
            "Residual connections carry the "
            "position": "They carry what is there. Nothing in the input is.",
        },
    ),
]
