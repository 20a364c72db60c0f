"""The quiz of chapter 09, gradients by hand."""

from tfbook.exercises.quiz import choice

QUIZ = [
    choice(
        "dS holds the gradient of the loss with respect to the scores. What do the "
        "entries of one of its rows sum to?",
        (
            "0",
            (
                "Adding the same to all scores of a query changes no weight, so it "
                "cannot change the loss."
            ),
        ),
        {
            "1": "That is what the weights sum to.",
            "The sum of the row of dα": (
                "The softmax takes off the mean of that row, weighted by α, before it "
                "goes on."
            ),
            "It depends on the loss": "The entries do. Their sum does not.",
        },
    ),
    choice(
        "The gradient of the loss with respect to X + f(X) is G. f is a layer that has "
        "died: it gives 0 whatever comes in. The gradient with respect to X is",
        (
            "G",
            (
                "The sum hands G to both summands. The way around f is open, whatever "
                "f does."
            ),
        ),
        {
            "0": "Nothing comes back through f. But X is also added as it is.",
            "G / 2": (
                "A sum does not share a gradient out. Each summand gets all of it."
            ),
            "2 G": "That would be so if f were the identity.",
        },
    ),
    choice(
        "Y = X W. You know dY, and want dW. Which matrix of the forward pass must have "
        "been kept?",
        (
            "X",
            (
                "dW = Xᵀ dY: an entry of W multiplies a channel of X, in every token."
            ),
        ),
        {
            "W": "W is what dX = dY Wᵀ needs.",
            "Y": (
                "A product's gradients need its two factors, never its result. A "
                "softmax and a norm are other cases."
            ),
            "None of them": (
                "The slope with respect to W is X: without X it cannot be known."
            ),
        },
    ),
    choice(
        "In which of these layers does the part of the gradient that goes around the "
        "functions keep its norm exactly?",
        (
            "In pre-norm",
            "Its norms are inside the functions; around them there is only a sum.",
        ),
        {
            "In post-norm": (
                "A norm follows each sum, so all of the gradient passes through its "
                "Jacobian."
            ),
            "In both": (
                "The norm of post-norm follows the sum: there is no way around it."
            ),
            "In neither": "The two forms differ in just this.",
        },
    ),
]
