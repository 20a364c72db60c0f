"""The quiz of chapter 08, one layer, step by step."""

from tfbook.exercises.quiz import choice

QUIZ = [
    choice(
        "Only the vector of token 2 is changed before a layer without a mask. Which "
        "rows of its output change?",
        (
            "All of them, as a rule",
            "Every token attends to token 2, and its key enters all weights.",
        ),
        {
            "Row 2 only": (
                "That is so for the network and the norms. Attention carries the "
                "change to the others."
            ),
            "Row 2 and those after it": "That needs a causal mask.",
            "All but row 2": (
                "Row 2 has its own vector in the residual sum, and its own query."
            ),
        },
    ),
    choice(
        "In step 4 of the example, what is added to F?",
        (
            "Z, the output of step 2",
            (
                "A residual adds what its own function was given, and the network was "
                "given Z."
            ),
        ),
        {
            "X, the input of the layer": "X was added in step 2. Its trace is in Z.",
            "A, the output of attention": "A is inside Z already.",
            "X + A, before the norm": (
                "That is what other forms do. In the example the network reads Z, and "
                "its residual adds Z."
            ),
        },
    ),
    choice(
        "d = 512, d<sub>ff</sub> = 2048, 8 heads, none shared. You double the heads "
        "to 16 and keep d. The parameters of the layer",
        (
            "stay the same",
            (
                "Each head is half as wide: H · d<sub>k</sub> is still d, and so are "
                "all shapes."
            ),
        ),
        {
            "double": (
                "More heads would cost more if each kept its width. Here "
                "d<sub>k</sub> = d / H."
            ),
            "grow by 4 d² / 2": "No matrix changes its shape.",
            "shrink, because heads are "
            "narrower": "They are narrower, but there are more of them.",
        },
    ),
    choice(
        "A hundred layers are stacked. Which of them must have the same d?",
        (
            "All: the residuals add input and output",
            (
                "X + A needs both of one shape, and so does Z + F. d<sub>ff</sub> "
                "and H may differ from layer to layer."
            ),
        ),
        {
            "None: each layer may choose": (
                "The layer's own residuals already need input and output of one width."
            ),
            "Only neighbours": (
                "Neighbours of neighbours are neighbours: then all have the same."
            ),
            "Only the first and the "
            "last": "The residual of each layer adds its input to its output.",
        },
    ),
]
