"""The quiz of chapter 01, why attention."""

from tfbook.exercises.quiz import choice

QUIZ = [
    choice(
        "A sequence has 100 tokens. Over how many hops does the first token reach the "
        "last output in an RNN, and in one layer of attention?",
        (
            "100 and 1",
            (
                "In the RNN it enters the state once and is handed on 99 times. In "
                "attention the last output reads it directly."
            ),
        ),
        {
            "1 and 100": (
                "The other way round: the RNN hands a token on from state to state."
            ),
            "100 and 100": (
                "Attention compares all pairs, but each pair meets at once, in one hop."
            ),
            "1 and 1": (
                "The last state of an RNN holds the first token only because 99 states "
                "between them handed it on."
            ),
        },
    ),
    choice(
        "Five causal convolutions of kernel width 3 are stacked. How many inputs does "
        "an output see?",
        ("11", "Each layer reaches 2 positions further back: 1 + 5 · 2."),
        {
            "15": "Neighbouring kernels overlap: each layer adds k − 1 = 2, not k = 3.",
            "243": (
                "That would be 3⁵. Reaches add up; only gaps that grow from layer to "
                "layer make them multiply."
            ),
            "3": "That is one layer. Its inputs have seen further back themselves.",
        },
    ),
    choice(
        "Why can an RNN not compute all its states at the same time?",
        (
            "The state at t needs the state at t − 1 as an input",
            "With the tanh between them, no state can be had before the one before it.",
        ),
        {
            "It needs more multiplications than attention": (
                "For long sequences it needs fewer. They have to wait for one another, "
                "that is all."
            ),
            "Its weights are different at every "
            "position": "They are the same at every position, as in a convolution.",
            "Its memory would not suffice": (
                "The state is small. What is missing is not room, but the state before."
            ),
        },
    ),
    choice(
        "You shuffle the tokens of a sentence. What happens to how strongly <i>it</i>"
        " attends to <i>cat</i>, without positions?",
        (
            "Nothing: the weight moves along with the two tokens",
            (
                "It depends on what the two tokens hold, not on where they stand. The "
                "weight of a convolution stays with the distance."
            ),
        ),
        {
            "It falls with their new distance": (
                "Nothing in a dot product of two tokens knows how far apart they stand."
            ),
            "It is now that of whatever stands at their old places": (
                "That is how a convolution behaves: its weight belongs to the distance."
            ),
            "It is drawn anew": (
                "Attention has no randomness. The same two tokens have the same score."
            ),
        },
    ),
    choice(
        "T is doubled, d stays. What happens to the scores of one attention layer, and "
        "to the steps of an RNN?",
        (
            "Four times as many scores, twice as many steps",
            (
                "Attention pays for its short paths with T² scores, the RNN for its "
                "small state with T steps in a row."
            ),
        ),
        {
            "Twice as many scores, twice as many "
            "steps": "Each of twice as many queries meets twice as many keys.",
            "Four times as many scores, as many "
            "steps": "An RNN takes one step for each token.",
            "Twice as many scores, four times as many steps": "The other way round.",
        },
    ),
    choice(
        "The gradient of the last state of a plain RNN with respect to the first input "
        "is nearly zero. What does that mean for training?",
        (
            "The weights are hardly ever changed because of what the first token was",
            (
                "What cannot be felt cannot be learned, even though the state could "
                "hold it."
            ),
        ),
        {
            "The first token has been forgotten for good, whatever the weights": (
                "With other weights it may be kept. The trouble is that training gets "
                "no hint of which."
            ),
            "The loss is nearly zero": (
                "A small gradient with respect to one input says nothing of the loss."
            ),
            "The first token is not part of the "
            "computation": "It is: the derivative is small, not zero.",
        },
    ),
    choice(
        "The spectral norm of W<sub>h</sub> in a tanh RNN is 1.1. What follows for the "
        "derivative of the last state with respect to the first, 60 steps before?",
        (
            "It is at most 1.1<sup>60</sup>; it may still vanish",
            (
                "The norm of a product is at most the product of the norms. Where tanh "
                "is flat, its slopes shrink more than W<sub>h</sub> stretches."
            ),
        ),
        {
            "It explodes: it is 1.1<sup>60</sup>, about 300": (
                "Only if every slope of tanh is 1 and every step stretches the same "
                "direction. The bound holds from above alone."
            ),
            "It vanishes, since no slope of tanh exceeds 1": (
                "With small states the slopes are nearly 1, and W<sub>h</sub> stretches "
                "at each step."
            ),
            "Nothing at all: only the gates of an LSTM have a "
            "bound": "The bound is that of any product of matrices.",
        },
    ),
    choice(
        "Attention without positions and a mean of all tokens both answer a task "
        "perfectly. What does that say about attention?",
        (
            "This task does not need it: nothing has to be looked up",
            (
                "The mean has no queries and keys. A task that tells the two apart has "
                "several candidates, and names one."
            ),
        ),
        {
            "Attention has learned to find the one token that matters here": (
                "Perhaps, but the answer does not show it: the mean finds nothing, and "
                "is right too."
            ),
            "A mean is a kind of attention, so it looks up as well": (
                "Its weights are even whatever the tokens hold. That is what a look-up "
                "is not."
            ),
            "The path of one layer is what makes a task easy": (
                "Both have that path. On a task with several candidates only one of "
                "them succeeds."
            ),
        },
    ),
]
