"""Answers to the exercises of chapter 12, written in other ways: the right pass, the
wrong are named.
"""

import math

import numpy as np
import pytest
import torch
from answers import expect_refused

from tfbook.exercises import catalogue, check
from tfbook.numpy import cross_entropy, token_distribution
from tfbook.text.byte_pairs import merge
from tfbook.torch.training import schedule


def by_package(logits, targets, n):
    return float(cross_entropy(logits, targets)) * len(targets) / math.log(2) / n


def by_torch(logits, targets, n):
    logits, targets = torch.tensor(logits), torch.tensor(targets)
    return (
        torch.nn.functional.cross_entropy(logits, targets, reduction="sum").item()
        / math.log(2)
        / n
    )


def by_probabilities(logits, targets, n):
    p = torch.tensor(logits).softmax(dim=-1)
    return -p[torch.arange(len(targets)), torch.tensor(targets)].log2().sum().item() / n


def by_text(tokens, pair, new):
    """Tokens as words of a text, each between bars."""
    joined = "".join(f"|{token}|" for token in tokens).replace(
        f"|{pair[0]}||{pair[1]}|", f"|{new}|"
    )
    return np.array([int(token) for token in joined.strip("|").split("||")])


def merge_where(tokens, new, meets):
    merged, i = [], 0
    while i < len(tokens):
        both = i + 1 < len(tokens) and meets(tokens[i], tokens[i + 1])
        merged.append(new if both else tokens[i])
        i += 1 + both
    return merged


def by_nucleus(p, share):
    return token_distribution(np.log(p), top_p=share)


def by_search(p, share, side="left"):
    order = np.argsort(p)[::-1]
    order = order[: np.searchsorted(np.cumsum(p[order]), share, side) + 1]
    kept = np.zeros_like(p)
    kept[order] = p[order] / p[order].sum()
    return kept


def by_loop(p, share):
    kept, total = np.zeros(len(p)), 0.0
    for i in sorted(range(len(p)), key=lambda i: -p[i]):
        if total >= share:
            break
        kept[i] = p[i]
        total += p[i]
    return kept / total


def by_angle(step, steps, warmup, highest):
    if step + 1 <= warmup:
        return highest / warmup * (step + 1)
    return highest * math.cos(math.pi / 2 * (step - warmup) / (steps - warmup)) ** 2


RIGHT = [
    ("bits-per-character", by_package),
    ("bits-per-character", by_torch),
    ("merge-pair", lambda t, pair, new: np.array(merge(tuple(t), pair, new))),
    ("merge-pair", by_text),
    (
        "merge-pair",
        lambda t, pair, new: merge_where(t, new, lambda *both: both == pair),
    ),
    ("top-p", by_nucleus),
    ("top-p", by_search),
    ("top-p", by_loop),
    ("learning-rate", by_angle),
]
WRONG = [
    (
        "bits-per-character",
        lambda logits, targets, n: float(cross_entropy(logits, targets)) / math.log(2),
        "for each token",
    ),
    (
        "bits-per-character",
        lambda logits, targets, n: float(cross_entropy(logits, targets)),
        "nats for each token",
    ),
    (
        "bits-per-character",
        lambda logits, targets, n: by_package(logits, targets, 1),
        "divide it by n",
    ),
    (
        "bits-per-character",
        lambda logits, targets, n: (
            by_package(logits, targets, len(targets)) * n / len(targets)
        ),
        "changed places",
    ),
    (
        "bits-per-character",
        lambda logits, targets, n: 2 ** by_package(logits, targets, len(targets)),
        "perplexity",
    ),
    ("bits-per-character", by_probabilities, "A small chance becomes 0"),
    (
        "bits-per-character",
        lambda logits, targets, n: by_package(logits - logits.min(), targets, n) + 1e-3,
        "Not yet",
    ),
    (
        "merge-pair",
        lambda t, pair, new: merge_where(
            t, new, lambda a, b: a <= pair[0] and b == pair[1]
        ),
        "Not yet",
    ),
    (
        "merge-pair",
        lambda t, pair, new: merge_where(
            t, new, lambda a, b: a == pair[0] and b >= pair[1]
        ),
        "Not yet",
    ),
    (
        "merge-pair",
        lambda t, pair, new: by_text(t[::-1], pair[::-1], new)[::-1],
        "from the left",
    ),
    (
        "merge-pair",
        lambda t, pair, new: by_text(by_text(t, pair, new), pair[::-1], new),
        "Not yet",
    ),
    ("merge-pair", lambda t, pair, new: t, "Not yet"),
    (
        "top-p",
        lambda p, share: by_search(p, share, "right"),
        "the share or more is enough",
    ),
    (
        "top-p",
        lambda p, share: np.where(p >= share, p, 0) / max(p[p >= share].sum(), 1e-9),
        "Not yet",
    ),
    (
        "top-p",
        lambda p, share: token_distribution(np.log(p), top_p=min(share + 0.1, 1)),
        "Not yet",
    ),
    ("top-p", lambda p, share: by_loop(p, share) * by_loop(p, share).max(), "Not yet"),
    (
        "learning-rate",
        lambda step, steps, warmup, highest: round(
            by_angle(step, steps, warmup, highest), 4
        ),
        "Not yet",
    ),
    (
        "learning-rate",
        lambda step, steps, warmup, highest: (
            highest * schedule(step, steps, warmup / steps)
        ),
        "Not yet",
    ),
    (
        "learning-rate",
        lambda step, steps, warmup, highest: by_angle(step, steps, warmup, 2 * highest),
        "Not yet",
    ),
    (
        "learning-rate",
        lambda step, steps, warmup, highest: by_angle(step, steps, 1, highest),
        "Not yet",
    ),
    (
        "learning-rate",
        lambda step, steps, warmup, highest: by_angle(
            max(step, warmup), steps, warmup, highest
        ),
        "Not yet",
    ),
]


@pytest.mark.parametrize(("name", "answer"), RIGHT)
def test_a_right_answer_written_another_way_passes(name, answer):
    assert check(name, answer)


@pytest.mark.parametrize(("name", "answer", "words"), WRONG)
def test_a_wrong_answer_written_anew_is_named(name, answer, words):
    expect_refused(name, answer, words)


def test_solutions_do_what_the_tasks_say():
    solutions = {
        name: catalogue()[name].solution
        for name in ("top-p", "learning-rate", "merge-pair")
    }
    p = np.array([0.1, 0.4, 0.3, 0.2])
    np.testing.assert_allclose(solutions["top-p"](p, 0.6), [0, 4 / 7, 3 / 7, 0])
    np.testing.assert_allclose(solutions["top-p"](p, 0.71), [0, 4 / 9, 3 / 9, 2 / 9])
    rates = [solutions["learning-rate"](step, 100, 10, 1.0) for step in range(100)]
    assert rates[0] == pytest.approx(0.1)
    assert rates[9] == rates[10] == 1
    assert rates[55] == pytest.approx(0.5)
    assert solutions["merge-pair"](np.array([4, 4, 4]), (4, 4), 9).tolist() == [9, 4]
