"""The quiz of chapter 07, residuals and normalisation."""

from tfbook.exercises.quiz import choice

QUIZ = [
    choice(
        "Each of 20 layers multiplies a small change of its input by 0.5. What does a "
        "residual around each of them make of the gradient at the bottom?",
        (
            "It grows by 1.5 a layer, to about 3300",
            (
                "1 + 0.5 in each layer, and 1.5²⁰ ≈ 3325. Without the residual it "
                "would be 0.5²⁰, a millionth."
            ),
        ),
        {
            "It is exactly 1: the direct path carries it": (
                "That is the direct path's share. What comes through the branches is "
                "added to it."
            ),
            "It still is a millionth: each layer halves "
            "it": "The layer does, its sum with the input does not.",
            "It grows by 0.5 a layer, to "
            "11": "The layers multiply: (1 + 0.5)²⁰, not 1 + 20 · 0.5.",
        },
    ),
    choice(
        "Which code is pre-norm?",
        (
            "<code>Z = X + attend(norm(X))</code>",
            (
                "The function reads normalised tokens, and X itself stays on the "
                "direct path."
            ),
        ),
        {
            "<code>Z = norm(X + attend(X))</code>": (
                "That is post-norm, the form of 2017: the norm stands on the direct "
                "path."
            ),
            "<code>Z = norm(X) + attend(norm(X))</code>": (
                "The norm is before the function, but also on the direct path: a "
                "common slip."
            ),
            "<code>Z = X + norm(attend(X))</code>": (
                "Here the function reads X as it is, and its answer is normalised."
            ),
        },
    ),
    choice(
        "A token is (3, 3, 3, 3), γ is all 2 and β is all 1. What does layer "
        "normalisation give?",
        (
            "(1, 1, 1, 1)",
            (
                "Nothing is left when the mean is gone: 0 / √(0 + ε) = 0, and then β. "
                "This is what ε is for."
            ),
        ),
        {
            "not a number: the variance is 0": "That would be so without ε.",
            "(2, 2, 2, 2)": "γ scales 0, and 0 it stays.",
            "(7, 7, 7, 7)": "The mean has to go first.",
        },
    ),
    choice(
        "You add 10 to every channel of a token. Which of the norms does not notice?",
        (
            "Layer normalisation alone",
            (
                "It subtracts the token's mean, and the 10 with it. RMS normalisation "
                "subtracts nothing."
            ),
        ),
        {
            "RMS normalisation alone": "It divides by √E[x²], which the 10 enlarges.",
            "Both": (
                "Both ignore a common factor (but for ε); only one ignores a common "
                "summand."
            ),
            "Neither": "The mean of the token is subtracted in one of them.",
        },
    ),
    choice(
        "A pre-norm stack at initialisation: how large are the activations after L "
        "layers, if each branch adds one of size about 1?",
        (
            "They grow as √L",
            (
                "Independent summands add their variances. A last norm brings the sum "
                "back, once."
            ),
        ),
        {
            "They stay at 1: each layer "
            "normalises": "What a branch reads is normalised. The sum never is.",
            "They grow as 2<sup>L</sup>": (
                "That is what happens without norms, where each branch grows with its "
                "input."
            ),
            "They shrink as "
            "1/√L": "The shares of single layers do, in a sum that grows.",
        },
    ),
    choice(
        "What takes the part of the LSTM's forget gate in a pre-norm Transformer?",
        (
            "Nothing: the factor on the direct path is 1",
            (
                "x + f(x) keeps all of x. The cell keeps f<sub>t</sub> of it, a "
                "number between 0 and 1."
            ),
        ),
        {
            "The softmax": (
                "It weighs other tokens' values inside a branch; it does not touch the "
                "direct path."
            ),
            "γ of the layer norm": (
                "In pre-norm γ scales what a branch reads, not what is carried on."
            ),
            "The ReLU": "It stands inside a branch.",
        },
    ),
]
