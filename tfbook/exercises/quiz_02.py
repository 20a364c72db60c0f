"""The quiz of chapter 02, attention as a soft lookup."""

from tfbook.exercises.quiz import choice

QUIZ = [
    choice(
        "A query scores three keys with 0, 0 and 10. The temperature rises from 1 to "
        "1000. What becomes of the answer?",
        (
            "From almost the third value to almost the plain mean",
            "The scores become 0, 0 and 0.01, whose exponentials are nearly alike.",
        ),
        {
            "From almost the plain mean to almost the third "
            "value": "That is what cooling does: low temperatures sharpen.",
            "Nothing: a factor of all scores cancels in the softmax": (
                "A summand cancels. A factor does not; it is the temperature."
            ),
            "From almost the third value to 0, since all scores go to 0": (
                "Equal scores give equal weights, whatever their height: a third each."
            ),
        },
    ),
    choice(
        "Why can a network not learn what to ask of a hard lookup?",
        (
            "Its derivative is 0 almost everywhere",
            (
                "Move the query a little, and the answer stays as it is. Where it does "
                "not, it jumps, and there is no derivative at all."
            ),
        ),
        {
            "Argmax takes longer to compute than "
            "softmax": "It takes no longer. It gives no direction.",
            "Its answer is a name, not a vector that one can "
            "change": "It is a value of the table, a vector like any other.",
            "Its derivative is too large for stable "
            "steps": "Between two jumps it is exactly 0.",
        },
    ),
    choice(
        "One key of a table is made twice as long, in the same direction. Queries of "
        "all directions ask, by dot product. What does the key gain?",
        (
            "It gains with some queries and loses with others",
            (
                "Its score doubles, with queries that point its way; with those that "
                "point away a negative score doubles. By distance, a bias of −‖k‖²/2 "
                "would hold the length against it."
            ),
        ),
        {
            "Nothing: only the direction of a key counts in a dot product": (
                "That holds for the cosine. The dot product grows with the length."
            ),
            "It gains with every query": (
                "With a query on the other side its score was negative, and is now "
                "more so."
            ),
            "It loses with every query, since it is farther away now": (
                "That would be a lookup by distance, for queries near the old place."
            ),
        },
    ),
    choice(
        "A decoder of T steps attends to an encoder of T<sub>k</sub> states. Where "
        "do rows and columns of the attention matrix come from?",
        (
            (
                "A row for each state of the decoder, a column for each state of the "
                "encoder"
            ),
            "Queries make rows, keys make columns: the shape is (T, T<sub>k</sub>).",
        ),
        {
            "A row for each state of the encoder, a column for each of the "
            "decoder": "The encoder is what is looked up: it gives the keys.",
            "Both rows and columns from the decoder, which is the one that asks": (
                "That would be self-attention of the decoder, with shape (T, T)."
            ),
            "Both rows and columns from the encoder, since it is what is looked "
            "up": "Then nothing that the decoder wants would have a say.",
        },
    ),
    choice(
        "At temperature 1, a query that asks by dot product sees one weight at 1 − "
        "10⁻⁹. How large is the gradient of the answer with respect to the query?",
        (
            "Nearly 0, since hardly anything varies under these weights",
            (
                "It is the covariance of values and keys under the weights. A lookup "
                "that is sure of itself learns slowly."
            ),
        ),
        {
            "Large, since a lookup as sharp as this reacts to every move": (
                "It is large where two keys compete, not where one has won."
            ),
            "Exactly 1, the sum of the "
            "weights": "The weights sum to one; the gradient is another thing.",
            "It depends on keys and values, but not on the weights": (
                "The weights are what the query moves, and a (v − y) has them as a "
                "factor."
            ),
        },
    ),
]
