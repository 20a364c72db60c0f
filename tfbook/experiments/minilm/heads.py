"""What the heads of a trained model attend to: tokens that a position alone picks,
words that grammar ties together, and what *it* stands for.
"""

import numpy as np

from tfbook.experiments.minilm.reading import tokens_of

KINDS = "previous", "next", "itself", "[CLS]", "[SEP]"
RELATIONS = (
    "adjective to noun",
    "noun to adjective",
    "verb to object",
    "object to verb",
)


def read(model, text):
    """The weights of every head (L, H, T, T), and the words of the tokens."""
    A = model.attention(tokens_of(model, text))
    words = model.tokenizer.encode(text).tokens
    return np.array([np.asarray(a)[0] for a in A]), words


def by_position(A):
    """Mean weight of each head (L, H) on the tokens that a position alone picks, and
    what uniform attention would give.
    """
    at = np.arange(A.shape[-1])
    return {
        "previous": A[..., at[1:], at[:-1]].mean(axis=-1),
        "next": A[..., at[:-1], at[1:]].mean(axis=-1),
        "itself": A[..., at, at].mean(axis=-1),
        "[CLS]": A[..., 0].mean(axis=-1),
        "[SEP]": A[..., -1].mean(axis=-1),
        "uniform": np.full(A.shape[:2], 1 / len(at)),
    }


def kinds(model, texts):
    """:func:`by_position` of each text, (texts, L, H) by kind."""
    found = [by_position(read(model, text)[0]) for text in texts]
    return {kind: np.array([f[kind] for f in found]) for kind in found[0]}


def pairs_of(words, adjectives, objects):
    """Relation, and the positions of the two words that it ties together: adjectives
    come as "old>king poor>country", objects as "ruled>country".
    """
    for name, given in (
        ("adjective to noun", adjectives),
        ("verb to object", objects),
    ):
        back = " to ".join(reversed(name.split(" to ")))
        for pair in given.split():
            i, j = (words.index(word) for word in pair.split(">"))
            yield name, i, j
            yield back, j, i


def relations(model, parsed):
    """The weight of each head along each relation, (pairs, L, H), and, as its control,
    over the same distance from the other words of the sentence.
    """
    along = {name: [] for name in RELATIONS}
    beside = {name: [] for name in RELATIONS}
    for text, adjectives, objects in parsed:
        A, words = read(model, text)
        inside = range(1, len(words) - 1)  # not [CLS], not [SEP]
        for name, i, j in pairs_of(words, adjectives, objects):
            others = [t for t in inside if t != i and t + j - i in inside]
            if others:
                to = [t + j - i for t in others]
                along[name].append(A[:, :, i, j])
                beside[name].append(A[:, :, others, to].mean(axis=-1))
    array = lambda found: {name: np.array(X) for name, X in found.items()}
    return array(along), array(beside)


def it_to_nouns(model, ambiguous):
    """The weights from "it", (sentences, 2 endings, 2 nouns, L, H): with the first
    ending it stands for the first noun, with the second for the second.
    """
    rows = []
    for text, *meant in ambiguous:
        nouns, endings = zip(*(m.split() for m in meant))
        row = []
        for ending in endings:
            A, words = read(model, text.format(ending))
            it = words.index("it")
            row.append([A[:, :, it, words.index(noun)] for noun in nouns])
        rows.append(row)
    return np.array(rows)


def right(weights):
    """Whether each head gives the noun that is meant more than the other, (sentences, 2
    endings, L, H). A head that always prefers the first noun is right half the time.
    """
    first = weights[:, 0, 0] > weights[:, 0, 1]
    second = weights[:, 1, 1] > weights[:, 1, 0]
    return np.stack([first, second], axis=1)


def shift(weights):
    """How much weight moves to the noun that is meant when the ending changes,
    (sentences, L, H): 0 for a head that does not read the ending.
    """
    to_first = weights[:, 0, 0] - weights[:, 1, 0]
    to_second = weights[:, 1, 1] - weights[:, 0, 1]
    return (to_first + to_second) / 2


def best_by_chance(effects, seed=0, draws=2000):
    """The 95 % quantile of the best head's mean effect where the sign of each
    sentence's is random: what the best of so many heads reaches with no effect.
    """
    rng = np.random.default_rng(seed)
    effects = effects.reshape(len(effects), -1)
    signs = rng.choice([-1.0, 1.0], (draws, len(effects)))
    return float(
        np.quantile((signs @ effects / len(effects)).max(axis=1), 0.95)
    )
