"""The quiz of chapter 02, attention as a soft lookup."""

from tfbook.exercises.quiz import choice

QUIZ = [
    choice(
        "A query scores three keys with 0, 0 and 10. The temperature rises from 1 to 1000. What becomes of the answer?",
        (
            "It goes from almost the third value to almost the plain mean of all three",
            "The scores become 0, 0 and 0.01, whose exponentials are nearly alike.",
        ),
        {
            "It goes from the plain mean to the third value": "That is what cooling does: low temperatures sharpen.",
            "Nothing: a factor of all scores cancels in the softmax": "A summand cancels. A factor does not; it is the temperature.",
            "It goes to 0, because all scores do": "Equal scores give equal weights, whatever their height: a third each.",
        },
    ),
    choice(
        "Why can a network not learn what to ask of a hard lookup?",
        (
            "Move the query a little and the answer stays as it is: the derivative is 0 almost everywhere",
            "Where it is not 0 there is a jump, and no derivative at all.",
        ),
        {
            "Argmax is slower than softmax": "It is no slower. It gives no direction.",
            "The answer is no number": "It is a value of the table, a vector like any other.",
            "The derivative is too large": "Between two jumps it is exactly 0.",
        },
    ),
    choice(
        "One key of a table is made twice as long, in the same direction. Queries of all directions ask, by dot product. What does the key gain?",
        (
            "It gains with queries that point its way, and loses with those that point away",
            "Its score doubles, and a negative score doubles too. By distance, a bias of −‖k‖²/2 would hold the length against it.",
        ),
        {
            "Nothing: only the direction of a key counts": "That holds for the cosine. The dot product grows with the length.",
            "It gains with every query": "With a query on the other side its score was negative, and is now more so.",
            "It loses with every query: it is farther away": "That would be a lookup by distance, for queries near the old place.",
        },
    ),
    choice(
        "A decoder of T steps attends to an encoder of T<sub>k</sub> states. Where do rows and columns of the attention matrix come from?",
        (
            "A row for each state of the decoder, a column for each state of the encoder",
            "Queries make rows, keys make columns: the shape is (T, T<sub>k</sub>).",
        ),
        {
            "A row for each state of the encoder, a column for each of the decoder": "The encoder is what is looked up: it gives the keys.",
            "Both from the decoder": "That would be self-attention of the decoder, with shape (T, T).",
            "Both from the encoder": "Then nothing that the decoder wants would have a say.",
        },
    ),
    choice(
        "At temperature τ, a query that asks by dot product sees one weight at 1 − 10⁻⁹. How large is the gradient of the answer with respect to the query?",
        (
            "Nearly 0: it is the covariance of values and keys under the weights, divided by τ",
            "Where one key has all the weight, nothing varies. A lookup that is sure of itself learns slowly.",
        ),
        {
            "Large: the lookup is sharp": "It is large where two keys compete, not where one has won.",
            "Exactly 1": "The weights sum to one; the gradient is another thing.",
            "It does not depend on the weights": "The weights are what the query moves, and a (v − y) has them as a factor.",
        },
    ),
]
