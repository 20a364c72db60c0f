"""The quiz of chapter 03, scaled dot-product attention."""

from tfbook.exercises.quiz import choice

QUIZ = [
    choice(
        "T = 6 queries meet T<sub>k</sub> = 10 keys, with d<sub>k</sub> = 16 and "
        "d<sub>v</sub> = 32. What is the shape of the attention matrix, and of the "
        "output?",
        (
            "(6, 10) and (6, 32)",
            (
                "A row for each query, a column for each key; then a row of values for "
                "each query."
            ),
        ),
        {
            "(10, 6) and (10, "
            "32)": "That has a row for each key. Each query gets a row.",
            "(6, 10) and (6, 16)": (
                "The output is a mean of values, so it has the values' width, "
                "d<sub>v</sub>."
            ),
            "(16, 16) and (6, 32)": (
                "The sum over d<sub>k</sub> is gone after the dot product: scores "
                "compare positions, not channels."
            ),
        },
    ),
    choice(
        "d<sub>k</sub> grows from 16 to 64, and you forget the scale. How much wider "
        "do the scores spread at initialisation?",
        (
            "Twice: their standard deviation is √d<sub>k</sub>",
            (
                "The variance of a sum of d<sub>k</sub> independent terms is "
                "d<sub>k</sub>; 64 / 16 = 4, and √4 = 2."
            ),
        ),
        {
            "Four times: their standard deviation is "
            "d<sub>k</sub>": "That is the variance. The spread is its root.",
            "Not at all: the entries still have variance 1": (
                "Each score sums d<sub>k</sub> products, and their variances add up."
            ),
            "Eight times: their standard deviation is "
            "√64": "That is the spread at 64. At 16 it was already 4.",
        },
    ),
    choice(
        "You add 5 to every score of one row. What happens to its weights?",
        (
            "Nothing",
            (
                "The factor e⁵ is in the numerator and in the denominator. That is also "
                "why the maximum may be subtracted."
            ),
        ),
        {
            "The largest weight grows": (
                "All exponentials grow by the same factor, and so does their sum."
            ),
            "They no longer sum to one": "The softmax divides by whatever the sum is.",
            "They all move towards 1/T": (
                "That is what dividing the scores by a large number does, not adding "
                "to them."
            ),
        },
    ),
    choice(
        "A model computes softmax first and then sets the weights of future tokens to "
        "0. What is wrong?",
        (
            (
                "The rows no longer sum to one, and the future has already had a say "
                "in how large the others are"
            ),
            (
                "Masked scores have to be −∞ before the softmax, so that the rest "
                "share all the weight."
            ),
        ),
        {
            "Nothing: the future has weight 0 either way": (
                "The weights that remain were divided by a sum that counted the future."
            ),
            "The future still gets "
            "weight": "It gets exactly 0. But the others do not sum to one.",
            "The gradient is not defined": "It is. The numbers are wrong all the same.",
        },
    ),
    choice(
        "One new query meets a cache of 7 keys and its own, T = 1 and T<sub>k</sub> "
        "= 8. Which causal mask is right?",
        (
            "Eight times True",
            "The last query stands at the last key: all that came before may be seen.",
        ),
        {
            "True, then seven times False": (
                "That aligns the query with the first key, as if nothing had come "
                "before."
            ),
            "Seven times False, then "
            "True": "A token may see what came before it, not only itself.",
            "None is needed, and any mask would be a mistake": (
                "None is needed, true; but this mask, all True, is no mistake."
            ),
        },
    ),
    choice(
        "At d<sub>k</sub> = 1024 and initialisation, you leave out the scale. How "
        "large is the gradient of the weights with respect to a query?",
        (
            "Nearly 0 for most queries, huge for a few",
            (
                "Most queries have one key with all the weight. The few that lie "
                "between two keys are moved √d<sub>k</sub> times as strongly as with "
                "the scale."
            ),
        ),
        {
            "Nearly 0 for every query, since the softmax is saturated": (
                "That is the median. A few queries lie between two keys of nearly "
                "equal score, and there nothing is saturated."
            ),
            "As large as with the scale, since the softmax normalises": (
                "It normalises the weights. How they react to a query depends on how "
                "far apart the scores are."
            ),
            "Larger for every query, since the scores are larger": (
                "Where one key has all the weight, moving the query changes nothing."
            ),
        },
    ),
    choice(
        "W<sub>Q</sub> and W<sub>K</sub> are both replaced by their double. The "
        "weights then are those of",
        (
            "a softmax with scores four times as large: sharper",
            (
                "The scores are bilinear: 2 · 2 = 4. Training can sharpen attention in "
                "this way in spite of the scale."
            ),
        ),
        {
            "the same softmax: a factor "
            "cancels": "A factor of the exponent does not cancel; a summand does.",
            "a softmax with scores twice as "
            "large": "Both sides of the dot product have doubled.",
            "a softmax with scores √d<sub>k</sub> times as "
            "large": "The factor is 2 · 2, whatever d<sub>k</sub> is.",
        },
    ),
]
