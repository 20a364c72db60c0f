"""The quiz of chapter 04, many heads."""

from tfbook.exercises.quiz import choice

QUIZ = [
    choice(
        "A layer has d = 512 and H = 8 heads of width d / H. You change it to H = 16, "
        "again of width d / H. How many parameters has it now?",
        (
            "As many as before",
            (
                "W<sub>Q</sub>, W<sub>K</sub>, W<sub>V</sub> and W<sub>O</sub> stay "
                "512 × 512. Only the cuts between the heads move."
            ),
        ),
        {
            "Twice as many": (
                "Twice as many heads, each half as wide: the matrices keep their shape."
            ),
            "Half as many": (
                "A head's own matrices are half as wide, but there are twice as many "
                "heads."
            ),
            "It depends on T": (
                "No parameter of attention depends on the length of the sequence."
            ),
        },
    ),
    choice(
        "The contents of tokens are independent and fill all d channels. A head of "
        "width d<sub>k</sub> = d has to give each token the value of the token before "
        "it, whole, and that of the first token, whole. Can it?",
        (
            "No, whatever its weights are",
            (
                "It hands over one weighted mean of d numbers. No matrix makes 2d free "
                "numbers out of d. Only if the two contents lay in different channels "
                "could it."
            ),
        ),
        {
            "Yes, with weights ½ and ½": (
                "Then both values arrive, but added up: nothing can take the sum apart "
                "again."
            ),
            "Yes, if W<sub>V</sub> is wide enough": (
                "A wider matrix copies the same d numbers into more channels."
            ),
            "No: a head can attend to one token only": (
                "It can attend to both. But it hands over one mixture of the two, d "
                "numbers."
            ),
        },
    ),
    choice(
        "X has shape (T, d). Which line cuts it into heads of shape (H, T, "
        "d<sub>k</sub>)?",
        (
            "<code>X.reshape(T, H, d_k).swapaxes(0, 1)</code>",
            (
                "The channels of a token lie side by side, so the reshape may only cut "
                "the last axis; then the head axis moves forward."
            ),
        ),
        {
            "<code>X.reshape(H, T, d_k)</code>": (
                "The shape is right, but head 1 now holds all channels of the first "
                "tokens."
            ),
            "<code>X.reshape(T, d_k, H).transpose(2, 0, "
            "1)</code>": "That gives head h every H-th channel, not a run of them.",
            "<code>X.T.reshape(H, T, d_k)</code>": (
                "After the transpose the rows are channels, and the reshape mixes them "
                "with tokens."
            ),
        },
    ),
    choice(
        "You set the rows of W<sub>O</sub> that belong to head 3 to zero. What have "
        "you done?",
        (
            "Removed head 3",
            (
                "The output is a sum over heads, and head 3's summand is "
                "head<sub>3</sub> times these rows."
            ),
        ),
        {
            "Made head 3 attend evenly": (
                "Its weights are as they were. Nobody hears of them any more."
            ),
            "Removed the output channels of head 3": (
                "Rows belong to heads, columns to output channels. All channels are "
                "still written."
            ),
            "Changed every head a "
            "little": "The other summands stay exactly as they were.",
        },
    ),
    choice(
        "A model with 32 query heads shares 8 key/value heads. Against 32 of them, "
        "what is a quarter?",
        (
            "The cache, and the parameters of W<sub>K</sub> and W<sub>V</sub>",
            (
                "Both are in proportion to H<sub>kv</sub>. Queries, scores and "
                "W<sub>O</sub> are untouched."
            ),
        ),
        {
            "The cache and the FLOPs of the scores": (
                "Each of the 32 query heads still compares its query with every key."
            ),
            "All parameters of "
            "attention": "W<sub>Q</sub> and W<sub>O</sub> keep their size.",
            "The T × T matrices that are "
            "stored": "There is one for each query head, 32 as before.",
        },
    ),
    choice(
        "H = 4 query heads share H<sub>kv</sub> = 2 key/value heads. Which key/value "
        "head do query heads 1 to 4 read?",
        ("1 1 2 2", "Heads in a row share one: <code>np.repeat</code>."),
        {
            "1 2 1 2": (
                "That is <code>np.tile</code>. The shapes fit, no error is raised, "
                "and a trained model gives nonsense."
            ),
            "1 2 2 1": (
                "Each key/value head serves H / H<sub>kv</sub> query heads in a row."
            ),
            "Each reads both, and takes the mean": (
                "A query head reads one. The sharing is of keys and values, not of "
                "answers."
            ),
        },
    ),
]
