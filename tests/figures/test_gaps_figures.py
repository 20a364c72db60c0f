"""Numbers of figures by another way to them, and what a kernel answers to a question
that it cannot read.
"""

import numpy as np
import pytest
import torch

from tfbook.widgets import AttentionExplorer, ScaleExplorer

# ---- keys in effect ----


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("H", [1, 4])
def test_spread_is_the_perplexity_of_the_weights(H, scale, causal):
    value = AttentionExplorer().compute(
        T=7, d=32, H=H, H_kv="H", scale=scale, causal=causal
    )
    A = torch.tensor(np.nan_to_num(value["weights"]))
    np.testing.assert_allclose(
        value["spread"], torch.distributions.Categorical(A).entropy().exp().mean(dim=-1)
    )
    assert value["visible"] == (4 if causal else 7)


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("d_k", [1, 64, 256])
def test_the_scale_s_numbers_are_torch_s(d_k, scale):
    value, rng = ScaleExplorer().compute(d_k=d_k, scale=scale), np.random.default_rng(1)
    q, K = (
        torch.tensor(rng.standard_normal(shape))
        for shape in ((400, 1, d_k), (400, 16, d_k))
    )
    S = torch.einsum("nid,njd->nj", q, K) / (d_k**0.5 if scale else 1)
    weights = torch.distributions.Categorical(logits=S)
    J = torch.func.vmap(torch.func.jacrev(lambda s: torch.softmax(s, dim=-1)))(S)
    assert value["spread"] == pytest.approx(
        weights.entropy().exp().mean().item(), abs=6e-4
    )
    assert value["deviation"] == pytest.approx(S.std(correction=0).item(), abs=6e-4)
    assert value["gradient"] == pytest.approx(
        torch.linalg.matrix_norm(J).mean().item(), abs=6e-4
    )
    largest = weights.probs.max(dim=-1).values
    assert value["weights"].max() == pytest.approx(largest.sort().values[200].item())
    assert (np.diff(value["weights"]) <= 0).all()
    assert value["share"].sum() == pytest.approx(1)


# ---- a question that is not whole ----


@pytest.fixture
def asked():
    """What a figure sends back to a page that asks."""
    figure, messages = AttentionExplorer(), []
    figure.send = lambda message, *_: messages.append(message)
    return lambda question: (figure._answer(None, question, []), messages.pop())[1]


WHOLE = {"T": 5, "d": 32, "H": 2, "H_kv": "H", "scale": True, "causal": False}


def test_a_whole_question_is_answered(asked):
    assert asked({"hello": True}) == {"alive": True}
    answer = asked({"ask": WHOLE, "number": 3})
    assert answer["number"] == 3
    assert answer["value"]["weights"]["array"].startswith("2,5,5")


@pytest.mark.parametrize(
    "question",
    [
        {},
        {"T": 5},
        {name: x for name, x in WHOLE.items() if name != "T"},
        WHOLE | {"more": 1},
        7,
        "T = 5",
        [5],
        True,
        WHOLE | {"T": None},
        WHOLE | {"T": [5]},
        WHOLE | {"H_kv": {}},
        WHOLE | {"T": 10**9},
    ],
    ids=str,
)
def test_a_question_that_is_not_whole_is_answered_with_what_is_missing(question, asked):
    answer = asked({"ask": question, "number": 3})
    assert answer["number"] == 3
    assert ": expected" in answer["error"]


def test_a_question_without_a_number_is_answered(asked):
    assert asked({"ask": WHOLE})["number"] is None
    assert "error" in asked({"ask": {}})


def test_a_fault_in_the_figure_itself_is_told_to_the_reader_and_raised():
    figure, messages = AttentionExplorer(), []
    figure.send = messages.append
    figure.compute = lambda **setting: 1 / 0
    with pytest.raises(ZeroDivisionError):
        figure._answer(None, {"ask": WHOLE, "number": 4}, [])
    assert messages == [{"number": 4, "error": "division by zero"}]


def test_a_figure_that_is_made_of_part_of_a_setting_has_the_rest_by_default():
    assert AttentionExplorer(T=5).state == AttentionExplorer.default | {"T": 5}
    with pytest.raises(
        ValueError, match="t: not a setting of AttentionExplorer, which has T, d, H"
    ):
        AttentionExplorer(t=5)
