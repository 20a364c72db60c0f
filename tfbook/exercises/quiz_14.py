"""The quiz of chapter 14, beyond one machine."""

from tfbook.exercises.quiz import choice

QUIZ = [
    choice(
        "The parameters of a model and what its optimizer keeps are too many for one "
        "GPU; a batch of one sequence would be small enough. Which cut does "
        "<em>not</em> help?",
        (
            "The batch, with every parameter on each GPU",
            (
                "Each process then holds all parameters, their gradients and the "
                "optimizer's tables, as before."
            ),
        ),
        {
            "The batch, with the parameters sharded": (
                "Each holds 1/p of everything that is learned, and gathers a layer "
                "when its turn comes."
            ),
            "The heads, and the inner channels": (
                "Each matrix is then cut, so each process holds about 1/p of it."
            ),
            "Between layers: some here, the others there": (
                "That is a pipeline. Each process then holds its own layers alone."
            ),
        },
    ),
    choice(
        "W<sub>1</sub> is cut by columns and W<sub>2</sub> by rows. Why not the "
        "other way round?",
        (
            "The activation needs whole hidden channels",
            (
                "A row-cut W<sub>1</sub> gives each process a term of every channel, "
                "and ReLU of a sum is not the sum of ReLUs. So there would be a "
                "second sum, before the activation."
            ),
        ),
        {
            "Columns are shorter than "
            "rows": "Both matrices have the same number of entries.",
            "The outputs would be in the wrong order": (
                "The order is no trouble. It is the nonlinearity between the two "
                "products."
            ),
            "Rows of W<sub>1</sub> do not fit the heads": "The network has no heads.",
        },
    ),
    choice(
        "Four processes hold the keys of 1000 tokens each, in order, under a causal "
        "mask. In which step of the ring is process 0, which has the first tokens, "
        "busy?",
        (
            "In the first alone, with its own keys",
            "All other keys come later than its queries. It still hands them on.",
        ),
        {
            "In all four": (
                "It holds keys in all four, but those of steps 2 to 4 are hidden by "
                "the mask."
            ),
            "In the last alone, when the ring is "
            "closed": "It begins with its own keys, and those it may look at.",
            "In none, as it has nothing to look back at": (
                "Each token attends to itself and to those before it in the same block."
            ),
        },
    ),
    choice(
        "Twice as many tokens in the batch. Whose traffic between processes stays the "
        "same?",
        (
            "That of the batch cut",
            (
                "It sends gradients of parameters, and their number does not depend on "
                "the tokens."
            ),
        ),
        {
            "That of the heads cut": "It sums all tokens four times a layer.",
            "That of the sequence cut": "It sends keys and values, of all tokens.",
            "That of none": (
                "Gradients of parameters are as many, however many tokens made them."
            ),
        },
    ),
    choice(
        "A process is killed between the forward and the backward pass. What does the "
        "last checkpoint have to hold so that the run ends as if nothing had happened?",
        (
            "The model, the optimizer's tables and the step",
            (
                "With the step the same batches are drawn again, and with the tables "
                "Adam takes the same steps."
            ),
        ),
        {
            "The model": (
                "Adam's two tables would begin at zero, and the first batches would "
                "come again."
            ),
            "The model and the activations of the step that broke off": (
                "The step is done again from its start. Its activations are made anew."
            ),
            "The part of the model that the dead process held": (
                "Here each process holds the whole, but its optimizer and its place in "
                "the data count as well."
            ),
        },
    ),
]
