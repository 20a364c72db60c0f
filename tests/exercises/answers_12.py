"""Chapter 12: answers as a reader might write them."""

import math

import numpy as np
import torch

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


WRONG = {
    "bits-per-character": [
        (
            lambda logits, targets, n: (
                float(cross_entropy(logits, targets)) / math.log(2)
            ),
            "for each token",
        ),
        (
            lambda logits, targets, n: float(cross_entropy(logits, targets)),
            "nats for each token",
        ),
        (lambda logits, targets, n: by_package(logits, targets, 1), "divide it by n"),
        (
            lambda logits, targets, n: (
                by_package(logits, targets, len(targets)) * n / len(targets)
            ),
            "changed places",
        ),
        (
            lambda logits, targets, n: 2 ** by_package(logits, targets, len(targets)),
            "perplexity",
        ),
        (by_probabilities, "A small chance becomes 0"),
        (
            lambda logits, targets, n: (
                by_package(logits - logits.min(), targets, n) + 1e-3
            ),
            "Not yet",
        ),
    ],
    "merge-pair": [
        (
            lambda t, pair, new: merge_where(
                t, new, lambda a, b: a <= pair[0] and b == pair[1]
            ),
            "Not yet",
        ),
        (
            lambda t, pair, new: merge_where(
                t, new, lambda a, b: a == pair[0] and b >= pair[1]
            ),
            "Not yet",
        ),
        (lambda t, pair, new: by_text(t[::-1], pair[::-1], new)[::-1], "from the left"),
        (
            lambda t, pair, new: by_text(by_text(t, pair, new), pair[::-1], new),
            "Not yet",
        ),
        (lambda t, pair, new: t, "Not yet"),
    ],
    "top-p": [
        (lambda p, share: by_search(p, share, "right"), "the share or more is enough"),
        (
            lambda p, share: (
                np.where(p >= share, p, 0) / max(p[p >= share].sum(), 1e-9)
            ),
            "Not yet",
        ),
        (
            lambda p, share: token_distribution(np.log(p), top_p=min(share + 0.1, 1)),
            "Not yet",
        ),
        (lambda p, share: by_loop(p, share) * by_loop(p, share).max(), "Not yet"),
    ],
    "learning-rate": [
        (
            lambda step, steps, warmup, highest: round(
                by_angle(step, steps, warmup, highest), 4
            ),
            "Not yet",
        ),
        (
            lambda step, steps, warmup, highest: (
                highest * schedule(step, steps, warmup / steps)
            ),
            "Not yet",
        ),
        (
            lambda step, steps, warmup, highest: by_angle(
                step, steps, warmup, 2 * highest
            ),
            "Not yet",
        ),
        (
            lambda step, steps, warmup, highest: by_angle(step, steps, 1, highest),
            "Not yet",
        ),
        (
            lambda step, steps, warmup, highest: by_angle(
                max(step, warmup), steps, warmup, highest
            ),
            "Not yet",
        ),
    ],
}
RIGHT = {
    "bits-per-character": [by_package, by_torch],
    "merge-pair": [
        lambda t, pair, new: np.array(merge(tuple(t), pair, new)),
        by_text,
        lambda t, pair, new: merge_where(t, new, lambda *both: both == pair),
    ],
    "top-p": [by_nucleus, by_search, by_loop],
    "learning-rate": [by_angle],
}
