"""Vectors through the layers of the book: spectrograms, the classifier, words and
vectors in one row; and each broken on purpose.
"""

import numpy as np
import pytest
import torch

import tfbook.numpy
from tfbook.data import images, named_digits, patches
from tfbook.data.melodies import melodies
from tfbook.data.spectrogram import spectrogram
from tfbook.torch.sequences import MixedModel, SequenceClassifier, mixed_loss
from tfbook.torch.training import train


@pytest.mark.parametrize(("periods", "loud"), [(1, 0.5), (5, 2.0), (9, 1.0)])
def test_a_pure_tone_stands_in_its_channel(periods, loud):
    time = np.arange(100) / 20
    S = spectrogram(loud * np.sin(2 * np.pi * periods * time + 0.7), size=20, hop=10)
    assert S.shape == (9, 11)
    expected = np.zeros(11)
    expected[[periods - 1, periods, periods + 1]] = loud / 2, loud, loud / 2
    for channel in (0, 10):  # here the mirrored neighbour falls on the same place
        if abs(periods - channel) == 1:
            expected[channel] = S[0, channel]
    np.testing.assert_allclose(S, np.broadcast_to(expected, S.shape), atol=1e-12)


def test_frames_are_those_of_the_sound():
    waves = np.random.default_rng(0).standard_normal((2, 3, 57)).astype(np.float32)
    S = spectrogram(waves, size=16, hop=5)
    assert S.shape == (2, 3, 9, 9)
    assert S.dtype == np.float32
    np.testing.assert_allclose(
        S[1, 2, 4], spectrogram(waves[1, 2, 20:36], size=16)[0], rtol=1e-5
    )
    assert spectrogram(waves, size=16).shape[-2] == 1 + (57 - 16) // 8


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.zeros(7), 8), "waves: expected at least size = 8 samples, got 7"),
        ((np.zeros(9), 1), "size: expected"),
        ((np.zeros(9), 4, 0), "hop: expected"),
    ],
)
def test_sound_that_does_not_fit_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        spectrogram(*arguments)


def test_melodies_return_in_half_of_the_cases():
    frames, returns, notes = melodies(40, seed=3)
    assert frames.shape == (40, 7, 64)
    np.testing.assert_array_equal(returns, notes[:, 0] == notes[:, -1])
    assert returns.sum() == 20
    assert not returns[:20].all()  # in no order
    first, again = frames[returns == 1][:, 0], frames[returns == 1][:, -1]
    assert (first.argmax(-1) == again.argmax(-1)).all()


@pytest.mark.parametrize("positions", [True, False])
def test_the_classifier_is_the_numpy_half_s_stack(positions):
    torch.manual_seed(0)
    model = SequenceClassifier(
        d_in=3, classes=5, T_max=9, d=8, H=2, L=2, positions=positions
    )
    P = {name: p.detach().numpy() for name, p in model.named_parameters()}
    X = np.random.default_rng(1).standard_normal((4, 7, 3)).astype(np.float32)
    tokens = X @ P["W_in"] + P["b_in"] + (P["P"][:7] if positions else 0)
    layers = [
        {
            name.split(".")[2]: p
            for name, p in P.items()
            if name.startswith(f"layers.{l}.")
        }
        for l in (0, 1)
    ]
    Y = tfbook.numpy.transformer(
        tokens, layers, 2, final_norm=(P["gamma_f"], P["beta_f"]), norm="pre"
    )
    np.testing.assert_allclose(
        model(torch.tensor(X)).detach(),
        Y.mean(axis=-2) @ P["W_out"] + P["b_out"],
        atol=1e-5,
    )


def test_without_positions_order_is_lost():
    X, order = torch.randn(2, 7, 3), torch.tensor([3, 0, 6, 2, 5, 1, 4])
    for positions in (True, False):
        torch.manual_seed(0)
        model = SequenceClassifier(
            d_in=3, classes=5, T_max=7, d=8, H=2, L=1, positions=positions
        )
        assert torch.allclose(model(X), model(X[:, order]), atol=1e-6) == (
            not positions
        )


def test_vectors_of_another_size_are_refused():
    with pytest.raises(ValueError, match="X: expected"):
        SequenceClassifier(d_in=3, classes=5, T_max=7, d=8, H=2, L=1)(
            torch.randn(2, 7, 4)
        )
    with pytest.raises(ValueError, match="vectors: expected"):
        MixedModel(vocab=5, d_in=3, T_max=7, d=8, H=2, L=1)(
            torch.zeros(7, dtype=int), torch.randn(7, 4)
        )


def returns(broken=None):
    """Train to hear whether a melody returns, with something broken; the share of right
    answers on others.
    """
    torch.manual_seed(0)
    torch.set_num_threads(1)
    (X, y, _), (unheard, right, _) = melodies(1200), melodies(400, seed=1)
    model = SequenceClassifier(
        d_in=64,
        classes=2,
        T_max=7,
        d=32,
        H=4,
        L=1,
        positions=broken != "positions dropped",
    )
    if broken == "labels shuffled":
        y = np.random.default_rng(2).permutation(y)
    if broken == "no attention":
        model.layers[0].W_O.data.zero_()
        model.layers[0].W_O.requires_grad_(False)
    if broken == "heads without keys":
        model.layers[0].W_K.data.zero_()
        model.layers[0].W_K.requires_grad_(False)

    def batches(rng):
        drawn = rng.integers(len(X), size=64)
        return X[drawn], y[drawn]

    train(model, batches, steps=150, rate=0.01)
    with torch.no_grad():
        return (model(torch.tensor(unheard)).argmax(dim=-1).numpy() == right).mean()


def test_a_melody_s_return_is_heard():
    assert returns() > 0.97


@pytest.mark.parametrize(
    "broken",
    ["positions dropped", "labels shuffled", "no attention", "heads without keys"],
)
def test_a_broken_model_does_not_hear_it(broken):
    assert returns(broken) < 0.9


def test_a_guess_sees_nothing_that_comes_later():
    torch.manual_seed(0)
    model = MixedModel(vocab=5, d_in=3, T_max=8, d=8, H=2, L=2)
    words, vectors = torch.tensor([[1, -1, -1, 4, 0, -1, 2]]), torch.randn(1, 7, 3)
    other, others = words.clone(), vectors.clone()
    other[:, 4:], others[:, 4:] = torch.tensor([-1, 3, 3]), 1.0
    for before, after in zip(model(words, vectors), model(other, others)):
        assert torch.equal(before[:, :4], after[:, :4])
        assert not torch.isclose(before[:, 4:], after[:, 4:]).all(dim=-1).any()


def test_a_word_hides_the_vector_at_its_place():
    model = MixedModel(vocab=5, d_in=3, T_max=8, d=8, H=2, L=1)
    words, vectors = torch.tensor([1, -1, 4]), torch.randn(3, 3)
    other = vectors.clone()
    other[[0, 2]] = 9.0
    for before, after in zip(model(words, vectors), model(words, other)):
        assert torch.equal(before, after)


def test_the_loss_counts_words_and_vectors_apart():
    torch.manual_seed(0)
    model = MixedModel(vocab=5, d_in=2, T_max=8, d=8, H=2, L=1)
    words, vectors = torch.tensor([[1, -1, 3, -1, 0]]), torch.randn(1, 5, 2)
    logits, guesses = model(words[:, :-1], vectors[:, :-1])
    log = torch.log_softmax(logits[0], dim=-1)
    by_hand = (
        -(log[1, 3] + log[3, 0]) / 2,
        (
            (guesses[0, 0] - vectors[0, 1]) ** 2 + (guesses[0, 2] - vectors[0, 3]) ** 2
        ).sum()
        / 4,
    )
    for share in (0.0, 1.0, 3.0):
        torch.testing.assert_close(
            mixed_loss(model, (words, vectors), share), by_hand[0] + share * by_hand[1]
        )


def test_rows_hold_picture_and_name():
    X, y = images()
    words, vectors = named_digits.rows(X[:12], y[:12], np.arange(12) % 2 == 1)
    assert words.shape == (12, 23)
    assert ((words < 0).sum(axis=1) == 16).all()
    assert (vectors[words >= 0] == 0).all()
    for row, digit in zip(words, y):
        spelled = "".join(named_digits.VOCAB[word] for word in row[row >= 0])
        assert spelled[1:].rstrip(".") == named_digits.NAMES[digit]
    assert np.isclose(vectors.sum(axis=(1, 2)), X[:12].sum(axis=(1, 2))).all()


class Oracle:
    """Stands in for a model: writes the letters "one...", and expects patches that
    count up.
    """

    def __call__(self, words, vectors):
        logits, guesses = (
            torch.zeros(*words.shape, len(named_digits.VOCAB)),
            torch.zeros(vectors.shape),
        )
        t = words.shape[1]
        if 17 <= t < 23:
            logits[:, -1, named_digits.VOCAB.index("one..."[t - 17])] = 1
        guesses[:, -1] = 4 * (t - 7) + torch.arange(4.0)
        # after a picture come letters, or after a name nothing but patches
        assert (words >= 0)[:, 1 + 16 :].all()
        return logits, guesses


def test_names_are_written_and_pictures_drawn_in_order():
    assert named_digits.write_names(Oracle(), np.zeros((2, 8, 8))) == ["one", "one"]

    class Drawing(Oracle):
        def __call__(self, words, vectors):
            logits, guesses = torch.zeros(1), torch.zeros(vectors.shape)
            guesses[:, -1] = 4 * (words.shape[1] - 7) + torch.arange(4.0)
            return logits, guesses

    drawn = named_digits.draw_pictures(Drawing(), np.array([3, 5]))
    np.testing.assert_array_equal(patches(drawn, 2)[0].ravel(), np.arange(64))


def read_digits(broken=None):
    """Train on pictures and names in one row, with something broken: the share of
    pictures named right, of those unseen.
    """
    torch.manual_seed(0)
    torch.set_num_threads(1)
    X, y = images()
    X, y, unseen, right = X[:1440], y[:1440], X[1440:], y[1440:]
    model = MixedModel(len(named_digits.VOCAB), 4, named_digits.T, d=32, H=4, L=1)
    if broken == "labels shuffled":
        y = np.random.default_rng(2).permutation(y)
    if broken == "positions dropped":
        model.P.data.zero_()
        model.P.requires_grad_(False)

    def batches(rng):
        drawn = rng.integers(len(X), size=32)
        return named_digits.rows(X[drawn], y[drawn], np.zeros(32, bool))

    train(
        model,
        batches,
        steps=400,
        rate=0.01,
        loss=lambda model, *row: mixed_loss(model, row),
    )
    return np.mean(
        [
            name == named_digits.NAMES[digit]
            for name, digit in zip(named_digits.write_names(model, unseen), right)
        ]
    )


def test_pictures_are_named():
    assert read_digits() > 0.75


@pytest.mark.parametrize(
    "broken", ["positions dropped", "labels shuffled", "mask flipped"]
)
def test_a_broken_model_cannot_name_them(broken, monkeypatch):
    if broken == "mask flipped":
        from tfbook.torch import sequences

        causal = sequences.causal_mask
        # it sees the letters that it is to guess
        monkeypatch.setattr(sequences, "causal_mask", lambda T: causal(T).T)
    assert read_digits(broken) < 0.65
