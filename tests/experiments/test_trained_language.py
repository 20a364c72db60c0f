"""The stored language model: its first steps are the script's, its numbers those of the
stored parameters, and it learned.
"""

import sys

import numpy as np
import pytest
import torch

from tfbook.experiments import language
from tfbook.experiments.language import __main__ as train_language
from tfbook.text.windows import all_windows, longest_overlap
from tfbook.torch.training import train

OTHER = pytest.mark.skipif(
    sys.version_info[:2] != (3, 11),
    reason="the text that is read differs between versions of Python",
)
RECORD = language.record()


@OTHER
def test_the_run_begins_as_the_script_s():
    vocabulary, tokens, held_out = train_language.parts()
    assert vocabulary == RECORD["vocabulary"]
    assert [len(tokens), len(held_out)] == RECORD["characters"]

    class Enough(Exception):
        pass

    def watch(model, step):
        if step in (0, 2, 10):
            loss = train_language.surprise(
                model, all_windows(held_out, train_language.T)
            )
            assert loss == pytest.approx(
                next(one for one in RECORD["shown"] if one["step"] == step)["held_out"],
                abs=3e-4,
            )
        if step == 10:
            raise Enough

    model, options = (
        train_language.fresh(len(vocabulary)),
        {"rate": train_language.RATE, "warmup": 0.05, "seed": train_language.SEED},
    )
    with pytest.raises(Enough):
        train(
            model,
            lambda rng: train_language.windows(
                tokens, train_language.T, train_language.BATCH, rng
            ),
            train_language.STEPS,
            watch=watch,
            **options,
        )


@OTHER
def test_stored_parameters_have_the_stored_losses():
    _, _, held_out = train_language.parts()
    P, whole = language.load(), all_windows(held_out, train_language.T)
    model, read = (
        train_language.fresh(len(RECORD["vocabulary"])),
        tuple(part[::20] for part in whole),
    )
    model.load_state_dict({name: torch.tensor(p) for name, p in P.items()})
    # stored in half precision
    assert train_language.surprise(model, whole) == pytest.approx(
        RECORD["shown"][-1]["held_out"], abs=1e-3
    )
    l, h = np.unravel_index(np.argmax(RECORD["without"]), np.shape(RECORD["without"]))
    without = train_language.nats(P, read, [(l, h)]) - train_language.nats(P, read)
    assert without == pytest.approx(np.max(RECORD["without"]), rel=0.05)
    behind = [
        i for i, character in enumerate(RECORD["vocabulary"]) if character.isspace()
    ]
    np.testing.assert_allclose(
        train_language.heads(P, read[0], behind),
        RECORD["shown"][-1]["heads"],
        atol=0.01,
    )


def test_the_model_learned_and_the_record_says_how():
    assert RECORD["command"] == "python -m tfbook.experiments.language"
    shown = {one["step"]: one for one in RECORD["shown"]}
    assert tuple(shown) == train_language.SHOWN
    assert [step for step, _ in RECORD["measured"]] == list(
        range(0, RECORD["steps"] + 1, 100)
    )
    for step, loss in RECORD["measured"]:
        if step in shown:
            assert shown[step]["held_out"] == pytest.approx(loss, abs=0.002)
    guesses = RECORD["baselines"]
    assert shown[0]["held_out"] > guesses["uniform"] - 0.1
    assert shown[RECORD["steps"]]["held_out"] < guesses["trigram"] - 0.5
    assert all(
        len(one["sample"]) == train_language.WRITTEN
        and one["next"][0][1] >= one["next"][-1][1]
        for one in RECORD["shown"]
    )


def test_heads_are_scored_where_they_look():
    rng, T = np.random.default_rng(0), 6
    tokens = np.array([[5, 0, 5, 6, 0, 7]])
    at = language.targets(tokens, blanks=[0], period=3)
    wanted = {
        "itself": range(6),
        "previous": [None, *range(5)],
        "two back": [None, None, 0, 1, 2, 3],
        "first": [None] * 3 + [0] * 3,
        "blank": [None, 1, 1, 1, 4, 4],
        "induction": [None] * 3 + [1, 2, 3],
    }
    for kind, keys in zip(at[0], wanted.values(), strict=True):
        for i, j in enumerate(keys):
            assert kind[i].nonzero()[0].tolist() == ([] if j is None else [j])
    # a head that looks there and nowhere else has score 1
    for k, name in enumerate(language.TARGETS):
        A = np.where(
            at[:, k].any(axis=-1, keepdims=True), at[:, k], rng.random((1, T, T))
        )[None, :, None]
        assert language.scores(A, at)[0, 0, k] == pytest.approx(1), name


def test_a_silent_head_says_nothing():
    P = language.load()
    tokens = language.noise(len(P["E"]), n=2)
    logits, A = language.read(tokens, P)
    assert A.shape == (3, 2, 4, 64, 64)
    np.testing.assert_allclose(A.sum(axis=-1), 1, rtol=1e-4)
    cut = {name: p.copy() for name, p in P.items()}
    cut["layers.1.W_O"][2 * 16 : 3 * 16] = 0  # the rows of head 3
    np.testing.assert_allclose(
        language.read(tokens, P, [(1, 2)])[0], language.read(tokens, cut)[0], atol=1e-4
    )
    assert abs(logits - language.read(tokens, cut)[0]).max() > 0.1


def test_the_readable_form_is_the_module():
    P = language.load()
    model = train_language.fresh(len(P["E"]))
    model.load_state_dict({name: torch.tensor(p) for name, p in P.items()})
    tokens = language.noise(len(P["E"]), n=2)
    with torch.no_grad():
        np.testing.assert_allclose(
            model(torch.tensor(tokens)), language.read(tokens, P)[0], atol=1e-3
        )


def test_longest_overlap_is_the_longest():
    rng = np.random.default_rng(1)
    for _ in range(50):
        a, b = ("".join(rng.choice(list("ab"), n)) for n in (12, 20))
        every = [a[i:j] for i in range(12) for j in range(i, 13) if a[i:j] in b]
        found = longest_overlap(a, b)
        assert found in every
        assert len(found) == max(map(len, every))
    assert longest_overlap("", "abc") == longest_overlap("xyz", "abc") == ""
