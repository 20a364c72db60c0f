"""Models trained on 64 tokens and read past them: what is stored is whole and can be
found again, and the figure draws it.
"""

import re
from pathlib import Path

import numpy as np
import pytest
import torch
from browser import launched, visit, why_not

from tfbook.experiments import positions as trained
from tfbook.experiments.positions import __main__ as train_positions
from tfbook.widgets.position_lengths import DRAWN, ENDS, READS, lengths

CHAPTER = (
    Path(__file__).resolve().parents[2]
    / "_build/html/chapters/05-tokens-and-positions.html"
)


def test_the_record_is_whole():
    record = trained.record()
    assert record["command"].startswith("python -m tfbook.experiments.positions")
    assert [(m["seed"], m["reader"]) for m in record["models"]] == [
        (seed, reader) for seed in trained.SEEDS for reader in trained.READERS
    ]
    assert (record["steps"], record["stride"]) == (
        train_positions.STEPS,
        train_positions.STRIDE,
    )
    # byte frequencies alone: 3.25
    assert all(m["seconds"] > 0 and 1 < m["last_loss"] < 3.2 for m in record["models"])
    sizes = {m["reader"]: m["parameters"] for m in record["models"]}
    assert max(sizes.values()) < 1.07 * min(sizes.values())
    for reader, size in sizes.items():
        assert sum(p.size for p in trained.load(reader).values()) == size
    for scheme, loss in trained.losses().items():
        assert loss.shape == (len(trained.SEEDS), trained.READ)
        ends = trained.TRAINED if scheme == "learned" else trained.READ
        assert (np.isfinite(loss) == (np.arange(trained.READ) < ends)).all()
    assert trained.load("learned")["P"].shape == (trained.TRAINED, trained.SIZE["d"])
    assert not any("P" in trained.load(scheme) for scheme in trained.READERS[1:])


@pytest.mark.parametrize("scheme", trained.READERS)
def test_a_stored_model_costs_what_was_written_down(scheme):
    asked, right = trained.windows(
        trained.tokens()[1], trained.READ, train_positions.STRIDE
    )
    # in NumPy; it was PyTorch that read
    found = trained.loss_by_position(
        trained.load(scheme), scheme, asked[:, :64], right[:, :64]
    )
    np.testing.assert_allclose(found, trained.losses()[scheme][0, :64], atol=2e-3)


@pytest.mark.parametrize("scheme", trained.READERS[1:])
def test_far_past_the_end_too(scheme):
    asked, right = trained.windows(
        trained.tokens()[1], trained.READ, 20 * train_positions.STRIDE
    )
    module = train_positions.begin(scheme)
    module.load_state_dict(
        {name: torch.tensor(p) for name, p in trained.load(scheme).items()}
    )
    with torch.no_grad():
        logits = module(torch.tensor(asked))
    far = torch.nn.functional.cross_entropy(
        logits[:, 256:].flatten(0, 1), torch.tensor(right[:, 256:]).flatten()
    ).item()
    stored = trained.losses()[scheme][0, 256:].mean()
    np.testing.assert_allclose(far, stored, atol=0.25)  # of fewer texts
    np.testing.assert_allclose(
        trained.loss_by_position(trained.load(scheme), scheme, asked, right)[
            256:
        ].mean(),
        far,
        atol=1e-3,
    )


def test_a_learned_table_ends():
    asked, _ = trained.windows(trained.tokens()[1][:200], trained.TRAINED + 1, 100)
    with pytest.raises(
        ValueError, match="at most T_max = 64, the rows of the table P, got 65"
    ):
        trained.loss_by_position(trained.load("learned"), "learned", asked, asked)


def test_what_is_read_was_not_learned_from():
    learned_from, held_out = (bytes(part.astype(np.uint8)) for part in trained.tokens())
    assert len(learned_from) > 200_000
    excerpts = [held_out[i : i + 60] for i in range(0, len(held_out) - 60, 500)]
    assert np.mean([excerpt in learned_from for excerpt in excerpts]) < 0.05


@pytest.mark.parametrize(("reader", "least"), [("rotary", 3.6), ("lstm", 3.7)])
def test_training_lowers_the_loss(reader, least):
    losses = train_positions.train(reader, seed=5, steps=25)[1]
    assert losses[0] == pytest.approx(np.log(trained.VOCAB), abs=0.3)
    assert np.mean(losses[-3:]) < least


def test_the_lstm_carries_its_state_past_the_trained_length():
    P, (asked, _) = (
        trained.load("lstm"),
        trained.windows(trained.tokens()[1][:1200], 200, 50),
    )
    whole = trained.recurrent_logits(asked, P)
    h_c, parts = None, []
    for token in asked.T:  # one token at a time, with nothing but the state kept
        logits, h_c = one_token(token, P, h_c)
        parts.append(logits)
    np.testing.assert_allclose(np.stack(parts, axis=1), whole, atol=1e-4)
    # it is not begun anew
    assert (
        np.abs(trained.recurrent_logits(asked[:, 64:], P) - whole[:, 64:])[:, 0].max()
        > 0.1
    )


def one_token(token, P, h_c):
    """Logits (n, vocab), and the state and cell of each layer, written anew."""
    x, d, after = P["E"][token], P["E"].shape[1], []
    for l in range(trained.SIZE["L"]):
        h, c = h_c[l] if h_c else np.zeros((2, len(token), d))
        i, f, g, o = np.split(
            x @ P[f"layers.{l}.W_x"] + h @ P[f"layers.{l}.W_h"] + P[f"layers.{l}.b"],
            4,
            axis=1,
        )
        c = c / (1 + np.exp(-f)) + np.tanh(g) / (1 + np.exp(-i))
        x = np.tanh(c) / (1 + np.exp(-o))
        after.append((x, c))
    return x @ P["E"].T, after


@pytest.mark.parametrize("reader", trained.SCALED)
def test_two_models_of_a_reader_differ_in_their_start_alone(reader):
    starts = []
    for name in (reader, f"{reader}, small start"):
        torch.manual_seed(3)
        starts.append(train_positions.begin(name).state_dict())
    large, small = starts
    large["E"] /= trained.SIZE["d"] ** 0.5
    torch.testing.assert_close(large, small)


def test_curves_are_means_of_what_was_stored():
    for c, scheme in zip(lengths()["curves"], DRAWN, strict=True):
        loss = trained.losses()[scheme].mean(axis=0)
        assert c["loss"][-1] == pytest.approx(
            loss[ENDS[len(c["loss"]) - 2] : ENDS[len(c["loss"]) - 1]].mean(),
            abs=0.00051,
        )
        for T, read in zip(READS, c["reads"], strict=True):
            assert ENDS[read["points"] - 1] == min(
                T, 64 if scheme == "learned" else 512
            )
            assert read["ends"] == (scheme == "learned" and T > 64)
            assert read["ends"] or read["mean"] == pytest.approx(
                np.nanmean(loss[:T]), abs=0.00051
            )


@pytest.mark.skipif(bool(why_not()), reason=why_not() or "there is one")
def test_every_reading_length_is_drawn_on_the_built_page():
    assert CHAPTER.exists(), "there is no book in _build/html: run make book"
    told = lengths()
    with (
        launched() as browser,
        visit(
            browser, f"{CHAPTER.as_uri()}#figure=PositionExplorer&scheme=trained+models"
        ) as visited,
    ):
        page = visited.page
        figure = page.locator("[data-figure=PositionExplorer]").first
        assert not figure.get_by_label("T positions").is_visible()
        slider = figure.get_by_label("read at T")
        for index, T in enumerate(READS):
            slider.fill(str(index))
            lines = figure.locator("[data-scheme]").evaluate_all(
                "(nodes) => nodes.map((n) => ['data-scheme', 'd', 'class', "
                "'stroke-dasharray'].map((name) => n.getAttribute(name)))"
            )
            labels = dict(
                figure.locator("[data-mean]").evaluate_all(
                    "(nodes) => nodes.map((n) => [n.dataset.mean, n.textContent])"
                )
            )
            across = float(figure.locator(".tfb-position-trained").get_attribute("x1"))
            assert len(lines) == len(labels) == 6
            assert len({(role, dash) for _, _, role, dash in lines}) == 6, (
                "two lines look alike"
            )
            for name, path, role, _ in lines:
                (c,) = (c for c in told["curves"] if c["name"] == name)
                read = c["reads"][index]
                points = np.array(re.findall(r"([\d.]+) ([\d.]+)", path), float)
                assert len(points) == read["points"]
                np.testing.assert_allclose(
                    points[:, 0],
                    40
                    + (across - 40)
                    / told["trained"]
                    * np.array(c["at"][: len(points)]),
                    atol=0.06,
                )
                height = (
                    262
                    - (np.array(c["loss"][: len(points)]) - told["least"])
                    / (told["most"] - told["least"])
                    * 236
                )
                np.testing.assert_allclose(points[:, 1], height, atol=0.06)
                kind = "ends" if read["ends"] else "lost" if read["lost"] else "kept"
                shown = f"tfb-position-{kind}"
                assert role == shown
                assert labels[name] == (
                    f"{name}: ends" if read["ends"] else f"{name} {read['mean']:.2f}"
                )
            (best, low), (worst, high) = (
                told["said"][index]["best"],
                told["said"][index]["worst"],
            )
            words = (
                f"Trained at 64, read at {T}: a token costs {best} {low:.2f} nats,"
                f" {worst} {high:.2f}"
            )
            assert figure.locator(".tfb-headline").inner_text() == words
            assert words in figure.locator(".tfb-voice").inner_text()
        slider.focus()
        page.keyboard.press("ArrowLeft")
        assert "read at 256" in figure.locator(".tfb-headline").inner_text()
        assert visited.faults == []
