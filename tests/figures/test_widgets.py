"""The live figures, Python's side: what they compute, how it travels, what they
refuse.
"""

import json
import re

import numpy as np
import pytest
from figure_html import unpack
from gallery import FIGURES
from hypothesis import given
from hypothesis import strategies as st

from tfbook import cost
from tfbook.numpy import multi_head_weights
from tfbook.widgets import AttentionExplorer
from tfbook.widgets.packing import ALPHABET, pack


@given(
    st.lists(st.one_of(st.just(np.nan), st.floats(0, 1e6)), max_size=50),
    st.integers(1, 3),
)
def test_packing_keeps_the_decimals(values, decimals):
    back, kept = unpack(pack(np.array(values, float), decimals)["array"])
    assert kept == decimals
    np.testing.assert_array_equal(back, np.round(np.array(values) * 10**decimals))


@pytest.mark.parametrize("bad", [-0.1, np.inf])
def test_packing_refuses_what_it_cannot_hold(bad):
    with pytest.raises(ValueError, match="negative or infinite"):
        pack(np.array([bad]))


def test_alphabet_is_safe_in_html_and_json():
    assert len(set(ALPHABET)) == 88
    assert not set(ALPHABET) & set('"\\<&`')


@pytest.mark.parametrize("figure", FIGURES)
def test_table_holds_every_setting_in_150_kB(figure):
    table = figure().spec["table"]
    for column in table.values():
        rows = unpack(column["at"]["array"])[0] if figure.columns else column
        assert len(rows) == len(
            figure.settings(column["controls"] if figure.columns else None)
        )
    assert len(json.dumps(table)) < 150_000


@pytest.mark.parametrize("figure", FIGURES)
def test_page_is_the_same_each_time_and_asks_for_nothing(figure):
    page = figure().page()
    assert page == figure().page()
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", page)
    assert page.count("</script>") == 1
    assert "<table" in page.partition("<script")[0], (
        "where no script runs, something has to stand"
    )


@pytest.mark.parametrize("figure", FIGURES)
def test_text_form_has_no_address(figure):
    assert re.fullmatch(rf"{figure.__name__}\((\w+=\S+(, )?)+\)", repr(figure()))


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ({"t": 4}, "not a setting"),
        ({"T": 0}, "T: expected"),
        ({"T": 4.0}, "T: expected"),
        ({"T": True}, "T: expected"),
        ({"H": 3}, "multiple of H"),
        ({"scale": 1}, "scale: expected"),
        ({"d": 512}, "d: expected"),
        ({"H_kv": 2}, "H_kv: expected"),
        ({"d": 48, "H": 3, "H_kv": "H/2"}, "half of H"),
    ],
)
def test_bad_settings_are_refused(setting, words):
    with pytest.raises(ValueError, match=words):
        AttentionExplorer(**setting)


def asked(figure, **setting):
    """What a live page hears when it asks for a setting."""
    heard = []
    figure.send = heard.append
    figure._answer(figure, {"ask": {**figure.state, **setting}, "number": 3}, [])
    assert heard[0]["number"] == 3
    return heard[0]


def test_a_kernel_answers_any_value():
    figure = AttentionExplorer()
    value = asked(figure, T=5, d=48, H=3)["value"]
    expected = pack(
        figure.compute(T=5, d=48, H=3, H_kv="H", scale=True, causal=False), decimals=2
    )
    assert value == expected
    assert value["weights"]["array"].startswith("3,5,5/2:")


def test_a_kernel_says_what_is_wrong():
    assert "multiple of H" in asked(AttentionExplorer(), d=18, H=4)["error"]
    assert "T: expected" in asked(AttentionExplorer(), T=-1)["error"]


def test_a_kernel_says_that_it_is_there():
    figure, heard = AttentionExplorer(), []
    figure.send = heard.append
    figure._answer(figure, {"hello": True}, [])
    assert heard == [{"alive": True}]


@pytest.mark.parametrize("setting", AttentionExplorer.settings()[::7])
def test_explorer_shows_multi_head_attention(setting):
    T, d, H, shared, scale, causal = setting.values()
    H_kv = {"H": H, "H/2": (H + 1) // 2, "1": 1}[shared]
    value = AttentionExplorer().compute(**setting)
    rng = np.random.default_rng(7)
    text = "the cat sat down on the warm mat because it was tired and fell fast asleep"
    sentence = text.split()
    words = list(dict.fromkeys(sentence))  # each once
    E = {word: rng.standard_normal(256) for word in words}
    W_Q, W_K = rng.standard_normal((2, 256, 256))[:, :d, :d] / np.sqrt(d)
    X = np.array([E[word][:d] for word in sentence[:T]])
    longer = 1 if scale else np.sqrt(d // H)
    mask = np.tri(T, dtype=bool) if causal else np.ones((T, T), bool)
    weights = multi_head_weights(
        X, longer * W_Q, W_K[:, : H_kv * (d // H)], H, H_kv, mask
    )
    np.testing.assert_allclose(np.nan_to_num(value["weights"]), weights, atol=1e-12)
    np.testing.assert_array_equal(
        np.isnan(value["weights"]), np.broadcast_to(~mask, (H, T, T))
    )
    assert (value["spread"] <= value["visible"] + 1e-9).all()
    layer = cost.layer(T, d, H, H_kv=H_kv)
    assert sum(value["flops"]) == sum(
        layer.flops[part] for part in ("projections", "scores", "mix", "output")
    )
    assert value["stored"] == [H * T**2, 2 * T * H_kv * (d // H)]
