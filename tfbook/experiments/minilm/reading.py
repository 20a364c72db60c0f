"""What passes through a trained BERT: scores, the stream of vectors, the inner channels
of its networks, and what its heads are needed for. A model is one of
``tfbook.pretrained``, a text is a string.
"""

import copy

import numpy as np

from tfbook.numpy.check_model import model_layers


def tokens_of(model, text):
    """A text as one sequence of tokens, shape (1, T)."""
    return np.array([model.tokenizer.encode(text).ids])


def shuffled(model, seed):
    """The same model with the numbers of every matrix and table in random order: as
    large as those that were learned, and without what was learned.
    """
    rng = np.random.default_rng(seed)
    P = {}
    for name, X in model.P.items():
        if X.ndim == 2:
            order = rng.permutation(X.shape[0] * X.shape[1])
            X = X.reshape(-1)[order].reshape(X.shape)
        P[name] = X
    return with_parameters(model, P)


def with_parameters(model, changed):
    """The same model with some parameters changed."""
    other = copy.copy(model)
    other.P = model.P | changed
    return other


def passing(model, text):
    """Of one text: the hidden states (L + 1, T, d), the scores (L, H, T, T), and what
    goes into GELU and comes out, (L, T, d_ff) each.
    """
    half, scores, before, after = model.half, [], [], []

    def attend(Q, K, V, mask=None, bias=None, scale=None):
        scores.append(half.attention_scores(Q, K, bias, scale)[0])
        return half.scaled_dot_product_attention(Q, K, V, mask, bias, scale)

    def gelu(x):
        before.append(x[0])
        after.append(half.gelu(x)[0])
        return half.gelu(x)

    X = model.hidden(tokens_of(model, text))[0]
    states, form = [X[0]], model.form | {"activation": gelu}
    for P in model_layers(model.P):
        X = half.transformer_layer(X, P, model.H, attention=attend, **form)
        states.append(X[0])
    return tuple(
        np.array([np.asarray(x) for x in found])
        for found in (states, scores, before, after)
    )


def cosine(X, Y):
    """Between the vectors of X and those of Y."""
    norm = np.linalg.norm
    return (X * Y).sum(-1) / norm(X, axis=-1) / norm(Y, axis=-1)


def spread_of_scores(passed):
    """Standard deviation of the scores of each layer, (texts, L): of all of a text's,
    and of those that one query compares.
    """
    together = [S.std(axis=(1, 2, 3)) for _, S, *_ in passed]
    of_a_query = [S.std(axis=3).mean(axis=(1, 2)) for _, S, *_ in passed]
    return np.array(together), np.array(of_a_query)


def stream(passed):
    """Along the hidden states, (texts, L + 1) each: the mean norm of a token, its
    cosine with where it began, with the state before, and with the other tokens of its
    text.
    """
    rows = {"norm": [], "start": [], "before": [], "others": []}
    for X, *_ in passed:
        T, before = X.shape[1], X[[0, *range(len(X) - 1)]]
        rows["norm"].append(np.linalg.norm(X, axis=-1).mean(axis=-1))
        rows["start"].append(cosine(X, X[:1]).mean(axis=-1))
        rows["before"].append(cosine(X, before).mean(axis=-1))
        pairs = cosine(X[:, :, None], X[:, None]).sum(axis=(1, 2))
        rows["others"].append((pairs - T) / (T * (T - 1)))
    return {name: np.array(row) for name, row in rows.items()}


def awake(passed):
    """Of the inner channels, (texts, L) each: the share that comes to GELU above 0, and
    the share that carries nine tenths of the squares of what GELU gives a token.
    """
    above, carrying = [], []
    for *_, before, after in passed:
        above.append((before > 0).mean(axis=(1, 2)))
        squares = -np.sort(-(after**2), axis=-1)
        share = np.cumsum(squares, axis=-1) / squares.sum(
            axis=-1, keepdims=True
        )
        carrying.append((share < 0.9).mean(axis=(1, 2)))
    return np.array(above), np.array(carrying)


def parameters(model):
    """How many numbers are in the tables, in attention, in the networks, in norms."""
    counts = dict.fromkeys(("tables", "attention", "networks", "norms"), 0)
    for name, X in model.P.items():
        last = name.rpartition(".")[2]
        kind = (
            "norms"
            if last.startswith(("gamma", "beta"))
            else "tables"
            if last == name
            else "networks"
            if last[-1] in "12"
            else "attention"
        )
        counts[kind] += int(np.prod(X.shape))
    return counts


def vectors(model, texts):
    """The vector of each text, (texts, d): the mean of its last hidden states, as the
    model was trained to be read.
    """
    rows = [
        np.asarray(model(tokens_of(model, text)))[0].mean(axis=0)
        for text in texts
    ]
    return np.array(rows)


def order_felt(model, texts, seed, positions=True):
    """Cosine of the vectors of each text and of the same words in random order."""
    if not positions:
        model = with_parameters(model, {"P": 0 * model.P["P"]})
    rng, found = np.random.default_rng(seed), []
    for text in texts:
        tokens = tokens_of(model, text)
        mixed = tokens.copy()
        mixed[0, 1:-1] = rng.permutation(tokens[0, 1:-1])
        X, Y = (np.asarray(model(t))[0].mean(axis=0) for t in (tokens, mixed))
        found.append(cosine(X, Y))
    return np.array(found)


def margins(model, triples, states=None):
    """Of each triple, how much nearer the paraphrase is than the look-alike: a
    difference of cosines. With ``states``, from the vectors of that hidden state.
    """
    found = []
    for triple in triples:
        if states is None:
            a, b, c = vectors(model, triple)
        else:
            a, b, c = (
                np.asarray(model.hidden(tokens_of(model, text))[states])[
                    0
                ].mean(0)
                for text in triple
            )
        found.append(cosine(a, b) - cosine(a, c))
    return np.array(found)


def without_heads(model, heads):
    """The same model in which some heads (layer, head) give nothing: their rows of W_O
    are 0.
    """
    changed = {}
    for l, h in heads:
        name = f"layers.{l}.W_O"
        W = changed.get(name)
        if W is None:
            W = model.P[name] + 0  # a copy, of either half
        d_v = W.shape[0] // model.H
        W[h * d_v : (h + 1) * d_v] = 0
        changed[name] = W
    return with_parameters(model, changed)


def interval(values, seed=0, draws=2000):
    """The middle 95 % of the mean, over the texts that might have been written instead:
    a bootstrap.
    """
    rng = np.random.default_rng(seed)
    values = np.asarray(values)
    means = values[rng.integers(len(values), size=(draws, len(values)))].mean(
        axis=1
    )
    return [float(x) for x in np.quantile(means, [0.025, 0.975])]
