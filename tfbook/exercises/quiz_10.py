"""The quiz of chapter 10, the quadratic cost."""

from tfbook.exercises.quiz import choice

QUIZ = [
    choice(
        "A layer with d = 1024 and d<sub>ff</sub> = 4096 reads 512 tokens, then "
        "1024. Its FLOPs grow by a factor of",
        (
            "a little more than 2",
            (
                "At T = 512 = d / 2 the part with T² is 1/13 of the layer. It grows "
                "fourfold, all the rest doubles."
            ),
        ),
        {
            "4": (
                "That needs a T far beyond 6 d = 6144. Below it projections and "
                "network rule, and they double."
            ),
            "exactly 2, as much as the text does": (
                "Scores and mix grow fourfold, and they are 1/13 of the work here."
            ),
            "about 3": (
                "Where both parts are equal, at T = 6 d, doubling T makes 3 of 1. Here "
                "T is far smaller."
            ),
        },
    ),
    choice(
        "What does streaming attention save?",
        (
            "Memory: T² scores are never there together",
            (
                "Every score is still computed, once, and used at once. The result is "
                "the same."
            ),
        ),
        {
            "FLOPs: it skips the scores that are too small to "
            "matter": "It computes all T² of them. It is exact.",
            "Memory: it rounds the scores": (
                "Nothing is rounded that plain attention does not round. Only the "
                "order of the sums is another."
            ),
            "Steps: it needs no maximum": (
                "It needs the maximum of each row like any softmax, and finds it on "
                "the way."
            ),
        },
    ),
    choice(
        "A query has read keys with the scores 2 and 5. The next score is 4. What "
        "happens to Z, the sum of e<sup>s − m</sup>?",
        (
            "e<sup>−1</sup> is added",
            "m stays 5, so nothing shrinks, and the new term is e<sup>4 − 5</sup>.",
        ),
        {
            "It shrinks by e<sup>−1</sup>, then 1 is "
            "added": "That would be so if 4 were a new maximum.",
            "It shrinks by e<sup>−1</sup>, then e<sup>−1</sup> is "
            "added": "It shrinks only where the maximum rises.",
            "e<sup>4</sup> is added": (
                "All terms have m subtracted: it is what keeps them at 1 or less."
            ),
        },
    ),
    choice(
        "Attention is said to need O(1) sequential steps and an RNN O(T). Both write a "
        "text of 1000 tokens, one after another. Then",
        (
            "both take 1000 steps",
            (
                "Token 1001 cannot be read before it is written. What is parallel is "
                "reading a text that is there already."
            ),
        ),
        {
            "attention takes one "
            "step": "It would have to read tokens that do not exist yet.",
            "attention with a cache takes one step": (
                "The cache makes each step cheaper. There are still 1000 of them."
            ),
            "the RNN takes 1000 steps for each "
            "token": "It keeps its state, and takes one step for each token.",
        },
    ),
    choice(
        "On one core, an RNN of 64 channels does its FLOPs much more slowly than "
        "attention. Is that because each step waits for the one before?",
        (
            "It does not show that: with 1 channel the steps take nearly as long",
            (
                "Most of such a step is the calls from Python. Only controls tell "
                "calls, fetching and waiting apart."
            ),
        ),
        {
            "Yes: its steps follow one another, attention's do not": (
                "They do in a batch of 16 as well, and its rate is several times as "
                "high."
            ),
            "Yes, and on a GPU the difference is larger": (
                "One core has nothing that could be idle while it waits. What a GPU "
                "does has to be measured there."
            ),
            "It has more FLOPs to do": "It has fewer, and is often done earlier.",
        },
    ),
    choice(
        "With a key/value cache, what grows with the number of tokens read so far?",
        (
            "The cache, and the time for the next token, slowly",
            (
                "The new query meets T keys. But projections and network see one "
                "token, however long the text."
            ),
        ),
        {
            "Nothing: each token costs the "
            "same": "That is so for an RNN. Here the query meets all T keys.",
            "The time for the next token, as "
            "T²": "One query meets T keys: that is T, not T².",
            "The parameters": (
                "Keys and values are activations. Nothing is learned while writing."
            ),
        },
    ),
]
