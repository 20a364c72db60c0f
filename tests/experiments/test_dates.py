"""The dates that chapter 02 trains on, its model in both halves, and what the script
stored.
"""

import re
from datetime import date

import numpy as np
import pytest

import tfbook.numpy
from tfbook.experiments import dates


def drawn(held_out, n=400):
    return dates.pairs(np.random.default_rng(7), n, held_out)


def read(text):
    """The date that a person would read from one of the forms."""
    day, month, year = (
        re.search(pattern, text)[0]
        for pattern in (r"\b\d\d?\b", "[A-Z][a-z]+", r"\d{4}")
    )
    return date(int(year), 1 + dates.MONTHS.index(month), int(day)).isoformat()


@pytest.mark.parametrize("held_out", [False, True])
def test_each_target_is_the_date_of_its_source(held_out):
    sources, targets = drawn(held_out)
    assert [read(text) for text in sources] == targets
    assert {len(text) for text in targets} == {dates.T}
    assert max(map(len, sources)) <= dates.T_K


def test_no_held_out_day_is_trained_on():
    days = [
        {
            (date.fromisoformat(text) - dates.FIRST).days
            for text in drawn(held_out, 5000)[1]
        }
        for held_out in (False, True)
    ]
    assert not days[0] & days[1]
    assert {day % 10 for day in days[0]} == set(range(1, 10))
    assert {day % 10 for day in days[1]} == {0}


def test_all_forms_are_drawn():
    patterns = (
        r"\d+ [A-Z][a-z]+ \d{4}",
        r"[A-Z][a-z]+ \d+, \d{4}",
        r"\d{4}, [A-Z][a-z]+ \d+",
    )
    counts = [
        sum(bool(re.fullmatch(pattern, text)) for text in drawn(False)[0])
        for pattern in patterns
    ]
    assert min(counts) > 80
    assert sum(counts) == 400


def test_tokens_are_filled_on_the_left():
    (row,) = dates.tokens(["3 May 2021"], dates.T_K)
    assert row.shape == (dates.T_K,)
    assert (row[:-10] == dates.PAD).all()
    assert "".join(dates.VOCAB[token] for token in row[-10:]) == "3 May 2021"
    assert dates.PAD not in row[-10:]


@pytest.mark.parametrize(
    ("part", "found"), [("year", "2021"), ("month", "May"), ("day", "3")]
)
@pytest.mark.parametrize("text", ["3 May 2021", "May 3, 2021", "2021, May 3"])
def test_a_part_is_found_in_every_form(part, found, text):
    (at,) = dates.spoken([text], part)
    assert "".join(c for c, here in zip(text.rjust(dates.T_K), at) if here) == found
    assert (
        "2021-05-03"[dates.WRITTEN[part]]
        == {"year": "2021", "month": "05", "day": "03"}[part]
    )


def test_decoder_reads_what_came_before():
    assert dates.shifted(np.array([[5, 6, 7]])).tolist() == [[dates.PAD, 5, 6]]


@pytest.fixture(scope="module")
def model():
    texts, targets = drawn(True, 6)
    return (
        dates.tokens(texts, dates.T_K),
        dates.tokens(targets, dates.T),
        dates.start(3, d=5, d_h=7),
    )


def test_a_character_is_guessed_from_those_before_it_alone(model):
    source, target, P = model
    other = target.copy()
    other[:, 6:] = 1
    before, after = (dates.logits(source, dates.shifted(t), P) for t in (target, other))
    assert np.array_equal(before[:, :7], after[:, :7])
    assert not np.isclose(before[:, 7:], after[:, 7:]).all(axis=-1).any()


def test_filling_is_never_looked_at(model):
    source, target, P = model
    H_enc, H_dec = dates.states(source, dates.shifted(target), P)
    # what is not a number would show
    looked = np.where((source != dates.PAD)[..., None], H_enc, np.nan)
    C = tfbook.numpy.scaled_dot_product_attention(
        H_dec, H_enc, looked, (source != dates.PAD)[:, None]
    )
    assert np.allclose(
        dates.logits(source, dates.shifted(target), P),
        C @ P["W_C"] + H_dec @ P["W_D"],
        atol=1e-5,
    )


def test_without_attention_the_last_state_is_all(model):
    source, target, P = model
    H_enc, H_dec = dates.states(source, dates.shifted(target), P)
    expected = H_enc[:, -1:] @ P["W_C"] + H_dec @ P["W_D"]
    assert np.allclose(
        dates.logits(source, dates.shifted(target), P, attend=False),
        expected,
        atol=1e-5,
    )
    assert not np.allclose(
        dates.logits(source, dates.shifted(target), P), expected, atol=1e-2
    )


@pytest.mark.parametrize("attend", [True, False])
def test_halves_agree(model, attend):
    torch = pytest.importorskip("torch")
    import tfbook.torch

    source, target, P = model
    inputs = [torch.tensor(x) for x in (source, dates.shifted(target))]
    in_torch = dates.logits(
        *inputs, {name: torch.tensor(p) for name, p in P.items()}, tfbook.torch, attend
    )
    assert np.allclose(
        in_torch,
        dates.logits(source, dates.shifted(target), P, attend=attend),
        atol=1e-5,
    )


def test_writing_takes_the_best_character_each_time(model):
    source, _, P = model
    written = dates.write(source, P)
    assert written.shape == (6, dates.T)
    assert np.array_equal(
        dates.logits(source, dates.shifted(written), P).argmax(axis=-1), written
    )


def test_training_lowers_the_loss_and_repeats():
    pytest.importorskip("torch")
    first, second = (dates.train(1, True, 30) for _ in range(2))
    assert dates.loss(first) < dates.loss(dates.start(1)) - 0.5
    assert all(np.array_equal(first[name], second[name]) for name in first)


def test_record_is_what_the_script_says():
    from tfbook.experiments.dates import __main__ as script

    record = dates.record()
    assert record["steps"] == list(range(script.EVERY, script.STEPS + 1, script.EVERY))
    assert tuple(record["rates"]) == script.RATES
    for tried in record["tried"]:
        assert len(tried["losses"]) == len(script.RATES)
        assert tried["rate"] == script.RATES[np.argmin(tried["losses"])]
    assert script.TRIED_WITH not in script.SEEDS
    assert [(run["seed"], run["attend"]) for run in record["runs"]] == [
        (seed, attend) for seed in script.SEEDS for attend in (True, False)
    ]
    assert {len(run["accuracy"]) for run in record["runs"]} == {len(record["steps"])}


def test_rates_are_chosen_on_other_dates_than_are_reported():
    chosen, reported = dates.drawn(2**32 + 1), dates.held_out()
    days = [
        {(date.fromisoformat(read(text)) - dates.FIRST).days % 10 for text in texts}
        for texts, _, _ in (chosen, reported)
    ]
    assert days == [set(range(1, 10)), {0}]
    P = dates.start(0)
    assert dates.loss(P) == dates.loss(P, of=reported) != dates.loss(P, of=chosen)


def test_the_first_steps_of_the_record_repeat():
    pytest.importorskip("torch")
    first, record = dates.record()["runs"][0], dates.record()
    assert first["attend"]
    assert record["steps"][1] == 200
    rate = next(tried["rate"] for tried in record["tried"] if tried["attend"])
    P = dates.train(first["seed"], True, 200, learning_rate=rate)
    assert dates.accuracy(P) == pytest.approx(first["accuracy"][1], abs=0.15)
