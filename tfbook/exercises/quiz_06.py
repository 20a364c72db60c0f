"""The quiz of chapter 06, the feed-forward network."""

from tfbook.exercises.quiz import choice

QUIZ = [
    choice(
        "You change the third of ten tokens. Which rows of FFN(X) change?",
        ("The third", "The same network reads each token by itself."),
        {
            "All ten": "So it is in attention, where every query looks at every key.",
            "The third and all later ones": "So it is in attention with a causal mask.",
            "The third channel of every "
            "row": "Channels are mixed, tokens are not: it is the other axis.",
        },
    ),
    choice(
        "You leave ReLU out of FFN(x) = ReLU(x W₁ + b₁) W₂ + b₂, with d = 512 and d_ff "
        "= 2048. What is left?",
        (
            "One affine map, x W + b with W = W₁ W₂",
            "A product of two matrices is a matrix, whatever the width between them.",
        ),
        {
            "A map with four times as many degrees of freedom as a d × d matrix": (
                "W₁ W₂ is a d × d matrix: the width between leaves no trace."
            ),
            "The identity": "Only if W₁ W₂ happens to be it.",
            "A weaker network, that can still fit |x| if trained for "
            "longer": "No training makes an affine map bend.",
        },
    ),
    choice(
        "A sequence of a single token goes through 20 layers of attention with "
        "residuals, with no FFN and no normalisation. The output is",
        (
            "a linear function of the token",
            (
                "One key has weight 1 whatever its score: each layer is x + x W_V W_O. "
                "With a second token the weights depend on the token, and it would not "
                "be linear."
            ),
        ),
        {
            "a nonlinear function of it, since softmax is not linear": (
                "The softmax of one number is 1: there is nothing to bend with."
            ),
            "the token itself": (
                "Only the weight is 1; the value still goes through W_V and W_O."
            ),
            "zero: there is no other token to attend "
            "to": "A token attends to itself too.",
        },
    ),
    choice(
        "d = 768, d_ff = 3072. How wide is a SwiGLU network with as many weights?",
        ("2048", "3 · 768 · 2048 = 2 · 768 · 3072: two thirds of the width."),
        {
            "3072": "Three matrices of that width have 50 % more weights.",
            "1536": "Half the width would make it 3 · 768 · 1536, a quarter too few.",
            "1024": "That is a third of the width, and half of the weights.",
        },
    ),
    choice(
        "d_ff = 4d, full heads. When does the feed-forward network take less than half "
        "of a layer's FLOPs?",
        (
            "Beyond T = 2d tokens",
            "16d² against 8d² + 4Td a token: equal at T = 2d.",
        ),
        {
            "Never: it is two thirds": (
                "Two thirds is the limit for short sequences. Scores and mix grow with "
                "T."
            ),
            "Beyond T = d tokens": "There it is 16 of 28, still more than half.",
            "In small models, whatever the length": "What counts is T / d, not d.",
        },
    ),
]
