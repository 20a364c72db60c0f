"""Exercises of chapter 14, beyond one machine: matrices cut into blocks, sums of bytes,
and a ring of keys.
"""

import numpy as np

from tfbook.exercises.exercise import Exercise

# ---- a feed-forward network over p processes ----


def split_network(X, W_1, b_1, W_2, b_2, p):
    Y = 0
    for W, b, U in zip(
        np.split(W_1, p, axis=1), np.split(b_1, p), np.split(W_2, p, axis=0)
    ):
        Y = Y + np.maximum(X @ W + b, 0) @ U  # what one process computes
    return Y + b_2


def _terms(X, W_1, b_1, W_2, p, rectify=True):
    parts = zip(
        np.split(W_1, p, axis=1), np.split(b_1, p), np.split(W_2, p, axis=0)
    )
    return [
        (np.maximum(X @ W + b, 0) if rectify else X @ W + b) @ U
        for W, b, U in parts
    ]


def _rows_first(X, W_1, b_1, W_2, b_2, p):
    """X by columns and W_1 by rows: the activation is taken of a term, not of
    the sum.
    """
    hidden = sum(
        np.maximum(x @ W, 0)
        for x, W in zip(np.split(X, p, axis=1), np.split(W_1, p, axis=0))
    )
    return (hidden + b_1) @ W_2 + b_2


def _wrong_rows(X, W_1, b_1, W_2, b_2, p):
    hidden = np.maximum(X @ W_1 + b_1, 0)
    return (
        sum(
            h @ U
            for h, U in zip(
                np.split(hidden, p, axis=1), np.split(W_2, p, axis=0)[::-1]
            )
        )
        + b_2
    )


def _network_cases(rng):
    # T, d, d_ff, p
    sizes = [(5, 6, 8, 2), (7, 9, 12, 3), (3, 4, 10, 1), (5, 12, 8, 4)]
    return [
        (
            *(
                rng.standard_normal(s)
                for s in ((T, d), (d, d_ff), (d_ff,), (d_ff, d), (d,))
            ),
            p,
        )
        for T, d, d_ff, p in sizes
    ]


# ---- who is idle in a causal ring ----


def ring_work(p):
    busy = np.zeros((p, p), dtype=bool)
    for step in range(p):
        for rank in range(p):
            source = (rank - step) % p
            busy[step, rank] = source <= rank
    return busy


def _work(p, source, busy=lambda s, r: s <= r):
    return np.array(
        [
            [bool(busy(source(rank, step) % p, rank)) for rank in range(p)]
            for step in range(p)
        ]
    )


def _ring_cases(rng):
    return [(1,), (2,), (3,), (5,), (8,)]


# ---- bytes of a training step ----


def bytes_of_a_step(B, T, d, p, L, size):
    one_sum = 2 * (p - 1) * B * T * d // p
    return L * 4 * one_sum * size


def _bytes(B, T, d, p, L, size, sums=4, n=None, factor=None):
    n = B * T * d if n is None else n
    return (
        L
        * sums
        * (2 * (p - 1) * n // p if factor is None else factor * n)
        * size
    )


def _byte_cases(rng):
    return [
        (1, 8, 12, 2, 1, 4),
        (3, 20, 16, 4, 2, 2),
        (8, 1024, 768, 8, 12, 2),
        (5, 30, 10, 5, 3, 4),
    ]


EXERCISES = [
    Exercise(
        "split-network",
        "14",
        2,
        r"Write <code>split_network(X, W_1, b_1, W_2, b_2, p)</code>: the feed-forward "
        r"network \(\mathrm{ReLU}(X W_1 + b_1)\, W_2 + b_2\) of <code>X</code> \((T, "
        r"d)\), with <code>W_1</code> \((d, d_{\mathrm{ff}})\) and <code>W_2</code> "
        r"\((d_{\mathrm{ff}}, d)\), as p processes compute it. Each has one of p equal "
        r"blocks of columns of \(W_1\), what belongs to it of \(b_1\) and \(W_2\), and "
        r"the outputs of all are summed. Go through the processes with a loop.",
        "A column of W_1 makes one hidden channel. Which part of b_1, and which part "
        "of W_2, does that channel meet? And how often may b_2 come?",
        split_network,
        {
            "b_2 is added by every process: after the sum it is there p times. Add it "
            "once.": lambda X, W_1, b_1, W_2, b_2, p: (
                sum(_terms(X, W_1, b_1, W_2, p)) + p * b_2
            ),
            "b_2 is missing: it is added once, after the "
            "sum.": lambda X, W_1, b_1, W_2, b_2, p: sum(
                _terms(X, W_1, b_1, W_2, p)
            ),
            "This is the term of the first process: the outputs of all are "
            "summed.": lambda X, W_1, b_1, W_2, b_2, p: (
                _terms(X, W_1, b_1, W_2, p)[0] + b_2
            ),
            "The terms are summed, not averaged: together they are the product over "
            "all hidden channels.": lambda X, W_1, b_1, W_2, b_2, p: (
                sum(_terms(X, W_1, b_1, W_2, p)) / p + b_2
            ),
            "The activation is missing.": lambda X, W_1, b_1, W_2, b_2, p: (
                sum(_terms(X, W_1, b_1, W_2, p, rectify=False)) + b_2
            ),
            "The outputs are summed, not put side by side: each process has a term of "
            "every output channel.": lambda X, W_1, b_1, W_2, b_2, p: (
                np.concatenate(_terms(X, W_1, b_1, W_2, p), axis=-1)
            ),
            "W_1 is cut by rows: each process then has a term of a channel, and ReLU "
            "of a sum is not the sum of ReLUs.": _rows_first,
            "Each block of columns of W_1 goes with the block of rows of W_2 at the "
            "same place.": _wrong_rows,
        },
        _network_cases,
    ),
    Exercise(
        "ring-work",
        "14",
        3,
        r"Write <code>ring_work(p)</code>: an array (p, p) of booleans that tells of "
        r"each step of a causal ring (rows) which processes (columns) have a block of "
        r"scores to compute. Steps and processes count from 0. In step 0 each process "
        r"has its own keys; after each step it hands the keys that it has to the next "
        r"process, and the last hands them to the first. Tokens are in the order of "
        r"the processes.",
        "Write down for p = 3 whose keys each process has, step by step. Where do all "
        "of them come later than its own queries?",
        ring_work,
        {
            "The keys go the other way: in step 1, process 1 has the keys of process "
            "0.": lambda p: _work(p, lambda rank, step: rank + step),
            "A process meets its own keys too, in step 0: half of that block is "
            "allowed.": lambda p: _work(
                p, lambda rank, step: rank - step, lambda s, r: s < r
            ),
            "This tells where the keys come from later processes: those are the ones "
            "that the mask hides.": lambda p: _work(
                p, lambda rank, step: rank - step, lambda s, r: s >= r
            ),
            "Nobody is idle here: under a causal mask, a block whose keys all come "
            "later is not computed.": lambda p: np.ones((p, p), dtype=bool),
            "Rows and columns are exchanged: steps are rows, processes are "
            "columns.": lambda p: ring_work(p).T,
            "The ring has turned once too often: in step 0 each process has its own "
            "keys.": lambda p: _work(p, lambda rank, step: rank - step - 1),
        },
        _ring_cases,
    ),
    Exercise(
        "bytes-of-a-step",
        "14",
        3,
        r"Write <code>bytes_of_a_step(B, T, d, p, L, size)</code>: the bytes that one "
        r"of p processes sends while L layers, cut by heads, learn from B sequences of "
        r"T tokens, each token d numbers. Each layer sums the tokens of the whole "
        r"batch twice forwards and twice backwards. A sum of n numbers over a ring is "
        r"\(2 (p - 1)\, n / p\) sent by each process; a number has <code>size</code> "
        r"bytes, and p divides n.",
        "How many numbers are summed at a time, and how often in a layer?",
        bytes_of_a_step,
        {
            "This is half: gradients of the tokens are summed too, and each piece of a "
            "sum goes round twice.": lambda *sizes: _bytes(*sizes, sums=2),
            "This is one sum a layer: there are four, two forwards and two "
            "backwards.": lambda *sizes: _bytes(*sizes, sums=1),
            "A process does not send its whole tensor to each other one: it sends p − "
            "1 of p pieces, twice.": lambda B, T, d, p, L, size: _bytes(
                B, T, d, p, L, size, factor=p - 1
            ),
            "A process does not send the piece that stays: p − 1 of p pieces, "
            "twice.": lambda B, T, d, p, L, size: _bytes(
                B, T, d, p, L, size, factor=2
            ),
            "Those are the gradients of the parameters, as when the batch is cut: here "
            "tokens are summed.": lambda B, T, d, p, L, size: (
                L * (2 * (p - 1) * 12 * d * d // p) * size
            ),
            "This is one sequence: a batch has B.": lambda B, T, d, p, L, size: (
                _bytes(1, T, d, p, L, size)
            ),
            "This is one layer: there are L.": lambda B, T, d, p, L, size: (
                _bytes(B, T, d, p, 1, size)
            ),
            "This is what all processes send together.": lambda B, T, d, p, L, size: (
                p * _bytes(B, T, d, p, L, size)
            ),
            "Those are numbers, not bytes.": lambda B, T, d, p, L, size: (
                _bytes(B, T, d, p, L, 1)
            ),
        },
        _byte_cases,
    ),
]
