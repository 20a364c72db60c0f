"""Exercises of chapter 12, training: loss in bits, byte pairs, the learning rate,
top-p; those on sequences have a file of their own.
"""

import numpy as np

from tfbook.exercises.exercise import Exercise

# ---- bits per character ----


def bits_per_character(logits, targets, n):
    shifted = logits - logits.max(axis=-1, keepdims=True)
    log_Z = np.log(np.exp(shifted).sum(axis=-1))
    nats = log_Z - shifted[np.arange(len(targets)), targets]  # of each token
    return nats.sum() / np.log(2) / n


def _bits_per_token(logits, targets, n):
    return bits_per_character(logits, targets, n) * n / len(targets)


def _nats_per_token(logits, targets, n):
    return _bits_per_token(logits, targets, n) * np.log(2)


def _log_of_the_mean(logits, targets, n):
    shifted = logits - logits.max(axis=-1, keepdims=True)
    p = np.exp(shifted) / np.exp(shifted).sum(axis=-1, keepdims=True)
    return (
        -np.log2(p[np.arange(len(targets)), targets].mean())
        * len(targets)
        / n
    )


def _may_overflow(logits, targets, n):
    p = np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)
    return -np.log2(p[np.arange(len(targets)), targets]).sum() / n


def _log_of_zero(logits, targets, n):
    p = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return (
        -np.log2(p[np.arange(len(targets)), targets] / p.sum(axis=-1)).sum()
        / n
    )


def _bits_cases(rng):
    sizes = ((5, 7, 13), (3, 11, 4), (1, 2, 1))
    cases = [
        (3 * rng.standard_normal((T, vocab)), rng.integers(vocab, size=T), n)
        for T, vocab, n in sizes
    ]
    large, apart = (
        1000 + rng.standard_normal((4, 6)),
        rng.standard_normal((4, 5)),
    )
    apart[2, 1] = 900  # all other chances of this row are 0 in a float
    return [
        *cases,
        (large, rng.integers(6, size=4), 9),
        (apart, np.array([1, 4, 0, 2]), 7),
    ]


# ---- merge a pair ----


def merge_pair(tokens, pair, new):
    merged, i = [], 0
    while i < len(tokens):
        if (
            i + 1 < len(tokens)
            and tokens[i] == pair[0]
            and tokens[i + 1] == pair[1]
        ):
            merged.append(new)
            i += 2
        else:
            merged.append(tokens[i])
            i += 1
    return np.array(merged)


def _merged(
    tokens,
    pair,
    new,
    order=1,
    once=False,
    keep_second=False,
    overlap=False,
    either=False,
):
    tokens, pair, merged, i, done = (
        list(tokens)[::order],
        tuple(pair)[::order],
        [],
        0,
        False,
    )
    while i < len(tokens):
        here = tuple(tokens[i : i + 2])
        if (here == pair or (either and here == pair[::-1])) and not (
            once and done
        ):
            merged.append(new)
            done = True
            i += 1 if keep_second or overlap else 2
            if overlap and tuple(tokens[i : i + 2]) != pair:
                i += 1
        else:
            merged.append(tokens[i])
            i += 1
    return np.array(merged[::order])


def _again(tokens, pair, new):
    merged = _merged(tokens, pair, new)
    while len(shorter := _merged(merged, (new, new), new)) < len(merged):
        merged = shorter
    return merged


def _last_lost(tokens, pair, new):
    merged = _merged(tokens, pair, new)
    return (
        merged
        if tuple(tokens[-2:]) == tuple(pair)
        and len(merged) == len(_merged(tokens[:-2], pair, new)) + 1
        else merged[:-1]
    )


def _merge_cases(rng):
    return [
        (np.array([5, 1, 2, 1, 2, 7, 2, 1]), (1, 2), 9),
        (np.array([4, 4, 4, 6, 4, 4, 4, 4, 4]), (4, 4), 8),
        (np.array([3, 2, 3, 2, 3]), (3, 2), 10),
        (np.array([7, 5, 6]), (6, 7), 9),
        (np.array([2, 1, 1, 2, 1]), (2, 1), 3),
        (np.array([0, 2, 1, 2, 2, 2, 1, 0, 1, 3]), (1, 2), 7),
        (rng.integers(3, size=40), (0, 2), 5),
    ]


# ---- the learning rate ----


def rate(step, steps, warmup, highest):
    if step < warmup:
        return highest * (step + 1) / warmup
    return (
        highest * (1 + np.cos(np.pi * (step - warmup) / (steps - warmup))) / 2
    )


def _rate(
    step,
    steps,
    warmup,
    highest,
    ahead=1,
    half=np.pi,
    since=None,
    end=None,
    low=0.0,
):
    if step < warmup:
        return highest * (step + ahead) / warmup
    since, end = (
        warmup if since is None else since,
        steps if end is None else end,
    )
    return highest * (
        low
        + (1 - low) * (1 + np.cos(half * (step - since) / (end - since))) / 2
    )


def _no_warmup(step, steps, warmup, highest):
    return highest * (1 + np.cos(np.pi * step / steps)) / 2


def _rate_cases(rng):
    return [
        (0, 100, 10, 0.003),
        (6, 100, 13, 0.003),
        (9, 100, 10, 0.02),
        (10, 100, 10, 0.02),
        (11, 90, 11, 0.5),
        (37, 90, 11, 0.5),
        (70, 120, 20, 1.0),
        (99, 100, 10, 0.003),
        (45, 60, 30, 2.0),
    ]


# ---- top-p ----


def top_p(p, share):
    order = np.argsort(-p, kind="stable")  # likeliest first
    likelier = np.cumsum(p[order]) - p[order]  # what stands before each
    kept = np.zeros_like(p)
    kept[order[likelier < share]] = p[order[likelier < share]]
    return kept / kept.sum()


def _kept(p, share, keep, normalise=True):
    order = np.argsort(-p, kind="stable")
    sums = np.cumsum(p[order])
    chosen = order[keep(p[order], sums, share)]
    kept = np.zeros_like(p)
    kept[chosen] = p[chosen]
    return kept / kept.sum() if normalise else kept


def _unsorted(p, share):
    kept = np.where(np.cumsum(p) - p < share, p, 0)
    return kept / kept.sum()


def _unlikely_kept(p, share):
    order = np.argsort(p, kind="stable")
    kept = np.zeros_like(p)
    chosen = order[np.cumsum(p[order]) - p[order] < share]
    kept[chosen] = p[chosen]
    return kept / kept.sum()


def _alike(p, share):
    kept = top_p(p, share) > 0
    return kept / kept.sum()


def _softmaxed(p, share):
    kept = top_p(p, share)
    e = np.where(kept > 0, np.exp(p), 0)
    return e / e.sum()


def _top_p_cases(rng):
    cases = [
        (np.array([0.1, 0.4, 0.3, 0.2]), 0.6),
        (np.array([0.05, 0.5, 0.15, 0.3]), 0.3),
        (np.array([0.2, 0.25, 0.55]), 0.9),
    ]
    # sums that are exact, one of them the share
    cases.append((np.array([1, 4, 16, 2, 8, 1]) / 32, 0.75))
    return cases + [
        (rng.dirichlet(np.ones(n) / 2), share)
        for n, share in ((7, 0.75), (11, 0.5), (20, 0.97))
    ]


EXERCISES = [
    Exercise(
        "bits-per-character",
        "12",
        2,
        r"Write <code>bits_per_character(logits, targets, n)</code>. A model has read "
        r"T tokens, which stand for n characters. <code>logits</code> \((T, V)\) are "
        r"its scores of what comes next, <code>targets</code> \((T,)\) what did come. "
        r"Return the cross-entropy in bits for each <em>character</em>, one number. "
        r"Logits may be large, and far apart.",
        "Sum the surprise of all tokens, not the mean. One bit is ln 2 nats. Take off "
        "each row's maximum before you exponentiate, and take no logarithm of a chance "
        "that may have become 0.",
        bits_per_character,
        {
            "This is in nats: a bit is ln 2 = 0.693 nats, so there are more bits than "
            "nats.": lambda logits, targets, n: (
                bits_per_character(logits, targets, n) * np.log(2)
            ),
            "This is for each token. The n characters share the surprise of all T "
            "tokens.": _bits_per_token,
            "This is in nats for each token: divide by ln 2, and by "
            "characters.": _nats_per_token,
            "Divide by ln 2, do not multiply: a bit is less than a nat, so there are "
            "more of them.": lambda logits, targets, n: (
                bits_per_character(logits, targets, n) * np.log(2) ** 2
            ),
            "T and n have changed places: the sum over tokens is divided by "
            "n.": lambda logits, targets, n: (
                bits_per_character(logits, targets, n)
                * (n / len(targets)) ** 2
            ),
            "This is the sum of all bits: divide it by n.": lambda logits, targets, n: (
                bits_per_character(logits, targets, n) * n
            ),
            "This is the perplexity, e to the mean of the "
            "nats.": lambda logits, targets, n: np.exp(
                _nats_per_token(logits, targets, n)
            ),
            "The sign: the logarithm of a chance is negative, surprise is "
            "not.": lambda logits, targets, n: (
                -bits_per_character(logits, targets, n)
            ),
            "Take the logarithm of each chance, then the mean. The logarithm of the "
            "mean hides a single bad guess.": _log_of_the_mean,
            "A logit is no logarithm of a chance yet: the softmax's sum is "
            "missing.": lambda logits, targets, n: (
                -logits[np.arange(len(targets)), targets].sum()
                / np.log(2)
                / n
            ),
            "exp overflows for large logits: take off each row's maximum "
            "first.": _may_overflow,
            "A small chance becomes 0 in a float, its logarithm −∞: take a logarithm "
            "of the softmax's sum alone.": _log_of_zero,
            "One maximum for all rows: the rows far below it become 0. Take off each "
            "row's own.": lambda logits, targets, n: _may_overflow(
                logits - logits.max(), targets, n
            ),
            "This is the surprise at the model's own first choice, not at the "
            "target.": lambda logits, targets, n: bits_per_character(
                logits, logits.argmax(axis=-1), n
            ),
        },
        _bits_cases,
    ),
    Exercise(
        "merge-pair",
        "12",
        2,
        r"Write <code>merge_pair(tokens, pair, new)</code>: a copy of "
        r"<code>tokens</code> \((T,)\) in which <code>new</code> stands for every "
        r"place where the two tokens of <code>pair</code> stand side by side, in this "
        r"order. Go from left to right; a token that has been merged is gone, so that "
        r"4 4 4 with the pair (4, 4) becomes <em>new</em> 4.",
        "Walk with an index of your own, which moves by two after a merge and by one "
        "otherwise. Mind the last token.",
        merge_pair,
        {
            "Go from the left: in 4 4 4 the first two are merged, not the last "
            "two.": lambda tokens, pair, new: _merged(
                tokens, pair, new, order=-1
            ),
            "Every place is merged, not the first alone.": lambda tokens, pair, new: (
                _merged(tokens, pair, new, once=True)
            ),
            "The second token of the pair is still there: move on by "
            "two.": lambda tokens, pair, new: _merged(
                tokens, pair, new, keep_second=True
            ),
            "A token that has been merged is gone: it cannot begin another "
            "pair.": lambda tokens, pair, new: _merged(
                tokens, pair, new, overlap=True
            ),
            "The order counts: (1, 2) is not (2, 1).": lambda tokens, pair, new: (
                _merged(tokens, pair, new, either=True)
            ),
            "What is new stays as it is: go through the tokens once.": _again,
            "Both tokens must be there, side by side: one alone stays what it "
            "is.": lambda tokens, pair, new: np.where(
                np.isin(tokens, pair), new, tokens
            ),
            "The last token is lost where it is not merged.": _last_lost,
        },
        _merge_cases,
    ),
    Exercise(
        "learning-rate",
        "12",
        2,
        r"Write <code>rate(step, steps, warmup, highest)</code>, a number. Steps count "
        r"from 0. In the first <code>warmup</code> steps the rate rises in a straight "
        r"line: step 0 has <code>highest / warmup</code>, step <code>warmup − 1</code> "
        r"has <code>highest</code>. From step <code>warmup</code> on, where it is "
        r"<code>highest</code> again, it falls along half a cosine that would reach 0 "
        r"at step <code>steps</code>.",
        "(1 + cos x) / 2 falls from 1 to 0 while x goes from 0 to π. Which share of "
        "the falling steps is done at a step?",
        rate,
        {
            "Step 0 has highest / warmup, not 0: a step with rate 0 is "
            "wasted.": lambda *a: _rate(*a, ahead=0),
            "Half a cosine, from 0 to π: a whole turn comes back up.": lambda *a: (
                _rate(*a, half=2 * np.pi)
            ),
            "(1 + cos x) / 2 with x up to π, which is flat at both ends; cos x up to "
            "π/2 ends in a steep fall.": lambda step, steps, warmup, highest: (
                highest * (step + 1) / warmup
                if step < warmup
                else highest
                * np.cos(np.pi / 2 * (step - warmup) / (steps - warmup))
            ),
            "Half of 1 + cos x: without the half it begins at twice the highest "
            "rate.": lambda step, steps, warmup, highest: (
                highest * (step + 1) / warmup
                if step < warmup
                else 2 * rate(step, steps, warmup, highest)
            ),
            "1 + cos x, then the half: a cosine alone becomes "
            "negative.": lambda step, steps, warmup, highest: (
                highest * (step + 1) / warmup
                if step < warmup
                else highest
                * np.cos(np.pi * (step - warmup) / (steps - warmup))
                / 2
            ),
            "The fall begins at warmup, not at step 0: count the steps since "
            "then.": lambda *a: _rate(*a, since=0),
            "The fall takes steps − warmup steps, and ends at "
            "steps.": lambda step, steps, warmup, highest: _rate(
                step, steps, warmup, highest, end=steps + warmup
            ),
            "This is a straight line down; asked is half a "
            "cosine.": lambda step, steps, warmup, highest: (
                highest * (step + 1) / warmup
                if step < warmup
                else highest * (steps - step) / (steps - warmup)
            ),
            "The warm-up is missing.": _no_warmup,
            "The two parts follow each other: this lets it fall while it "
            "rises.": lambda step, steps, warmup, highest: (
                min(1, (step + 1) / warmup)
                * _no_warmup(step, steps, warmup, highest)
            ),
            "cos takes radians: half a turn is π, not 180.": lambda *a: _rate(
                *a, half=180.0
            ),
            "After the warm-up it must fall.": lambda step, steps, warmup, highest: (
                highest * min(1, (step + 1) / warmup)
            ),
            "It would reach 0 at step steps, one after the "
            "last.": lambda step, steps, warmup, highest: _rate(
                step, steps, warmup, highest, end=steps - 1
            ),
        },
        _rate_cases,
        atol=1e-8,
    ),
    Exercise(
        "top-p",
        "12",
        3,
        r"Write <code>top_p(p, share)</code>: from chances <code>p</code> \((V,)\), "
        r"keep the fewest likeliest tokens whose chances sum to <code>share</code> "
        r"(less than 1) or more, give all others 0, and let the rest sum to 1. The "
        r"answer \((V,)\) is in the order of <code>p</code>.",
        "A token stays where those that are likelier sum to less than the share. Sort, "
        "sum, and put back in order.",
        top_p,
        {
            "The token that takes the sum to the share is kept too.": lambda p, share: (
                _kept(
                    p,
                    share,
                    lambda p, sums, share: (
                        (sums <= share) | (np.arange(len(p)) == 0)
                    ),
                )
            ),
            "One token too many: stop with the one that takes the sum to the "
            "share.": lambda p, share: _kept(
                p,
                share,
                lambda p, sums, share: (
                    np.r_[0, 0, sums[:-2]][: len(p)] < share
                ),
            ),
            "Where the sum is the share already, nothing more is kept: the share or "
            "more is enough.": lambda p, share: _kept(
                p, share, lambda p, sums, share: sums - p <= share
            ),
            "What is left must sum to 1.": lambda p, share: _kept(
                p,
                share,
                lambda p, sums, share: sums - p < share,
                normalise=False,
            ),
            "The sum of the likeliest counts, not each chance against the "
            "largest.": lambda p, share: _kept(
                p, share, lambda p, sums, share: p >= share * p.max()
            ),
            "The answer is in the order of p: put the tokens back.": lambda p, share: (
                np.sort(top_p(p, share))[::-1]
            ),
            "Sum in the order of likelihood: this takes the first tokens of the "
            "vocabulary.": _unsorted,
            "The likeliest first: this keeps the unlikely ones.": _unlikely_kept,
            "A share of the chances, not of the tokens.": lambda p, share: (
                _kept(
                    p,
                    share,
                    lambda p, sums, share: (
                        np.arange(len(p)) < np.ceil(share * len(p))
                    ),
                )
            ),
            "Those that stay keep their ratios: they are not all alike.": _alike,
            "p are chances already: divide by their sum, no softmax.": _softmaxed,
        },
        _top_p_cases,
    ),
]
