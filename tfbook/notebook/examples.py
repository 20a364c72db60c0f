"""One layer in numbers small enough to follow by hand: three tokens, four channels, one
head, six channels inside the network.

They are chosen so that what comes out is round. Queries are in units of ln 2, and a
score of n·ln 2 is a weight of 2ⁿ before it is divided by the sum of its row: the
weights are quarters and tenths. What enters a norm has a standard deviation that one
can take in the head. Channel 1 of a token says "noun", 2 "verb", 3 "pronoun"; channel 4
is 1 for every token.
"""

from math import log

import numpy as np

TOKENS = ["cat", "slept", "it"]
H = 1
X = np.array(
    [
        [1.0, 0.0, 0.0, 1.0],  # cat
        [0.0, 1.0, 0.0, 1.0],  # slept
        [0.0, 0.0, 1.0, 1.0],  # it
    ]
)
LAYER = {
    "W_Q": (
        log(2)
        * np.array(
            [
                [0.0, 1.0, 0.0, 0.0],  # a noun looks for a verb
                [1.0, 0.0, 0.0, 0.0],  # a verb looks for a noun
                [3.0, 0.0, 0.0, 0.0],  # a pronoun does too, and more
                [0.0, 0.0, 0.0, 0.0],
            ]
        )
    ),
    "W_K": np.diag([2.0, 2.0, 2.0, 0.0]),
    "W_V": np.array(
        [
            [4.0, -1.0, -4.0, -1.0],
            [2.0, -1.0, 4.0, 1.0],
            [-4.0, 1.0, -4.0, 1.0],
            [-1.0, 0.0, 3.0, 0.0],
        ]
    ),
    "W_O": np.eye(4),  # one head: nothing to bring together
    "W_1": np.array(
        [
            [-1.0, 0.0, -1.0, 0.0, -1.0, 0.0],
            [0.0, -1.0, 1.0, 0.0, 0.0, 0.0],
            [0.0, -1.0, 0.0, 0.0, 0.0, 0.0],
            [0.0, -1.0, 1.0, 1.0, 0.0, -1.0],
        ]
    ),
    "b_1": np.array([0.0, 0.0, 0.0, 0.0, 1.0, 0.0]),
    "W_2": np.array(
        [
            [1.0, 1.0, 0.0, 1.0],
            [1.0, 0.0, 0.0, 0.0],
            [0.0, 0.0, 1.0, 1.0],
            [0.0, 0.0, 1.0, 1.0],
            [-1.0, 1.0, -1.0, 0.0],
            [-1.0, -1.0, 0.0, 0.0],
        ]
    ),
    "b_2": np.array([0.0, 0.0, 0.0, 1.0]),
    "gamma_1": np.ones(4),
    "beta_1": np.zeros(4),
    "gamma_2": np.ones(4),
    "beta_2": np.zeros(4),
}
