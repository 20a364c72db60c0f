"""The reach explorer: what it computes, against PyTorch's derivatives, and what it
draws for every output.
"""

import math

import numpy as np
import pytest
import torch
from gallery import drawing, gallery, on, read
from test_figures import shade

from tfbook import cost
from tfbook.notebook import palette
from tfbook.torch import conv1d, rnn, scaled_dot_product_attention
from tfbook.widgets import ReachExplorer
from tfbook.widgets.reach import untrained

NAMES = ["rnn", "conv", "attention"]


# ---- what the figure computes ----


@pytest.mark.parametrize("setting", ReachExplorer.settings()[::5])
def test_reach_is_the_size_of_the_derivative(setting):
    T, layers, k = setting.values()
    value, (X, _) = ReachExplorer().compute(**setting), untrained(T, layers, k)
    W = [
        torch.tensor(w)
        for w in np.random.default_rng(4).standard_normal((5, 8, 8)) / math.sqrt(8)
    ]
    rng = np.random.default_rng(4)
    rng.standard_normal((5, 8, 8))
    kernels = torch.tensor(rng.standard_normal((layers, k, 8, 8)) / math.sqrt(8 * k))

    def convolutions(X):
        for kernel in kernels:
            X = torch.tanh(conv1d(X, kernel, causal=True))
        return X

    networks = {
        "rnn": lambda X: rnn(X, W[0], W[1], torch.zeros(8, dtype=X.dtype)),
        "conv": convolutions,
        "attention": lambda X: scaled_dot_product_attention(*(X @ w for w in W[2:])),
    }
    for name, f in networks.items():
        J = (
            torch.autograd.functional.jacobian(f, torch.tensor(X))
            .square()
            .sum(dim=(1, 3))
            .sqrt()
            .numpy()
        )
        np.testing.assert_allclose(
            np.nan_to_num(value["reach"][name]), J / J.max(), atol=1e-6
        )
        np.testing.assert_array_equal(np.isnan(value["reach"][name]), J == 0)
        assert value["seen"][name] == (J > 0).sum(axis=1).tolist()
        for row, times in zip(J, value["fainter"][name], strict=True):
            assert times == (
                pytest.approx(row.max() / row[0], rel=0.06) if row[0] else 0
            )


@pytest.mark.parametrize("setting", ReachExplorer.settings())
def test_the_first_token_arrives_when_the_derivative_says_so(setting):
    T, layers, k = setting.values()
    value = ReachExplorer().compute(**setting)
    seen = ~np.isnan(value["reach"]["conv"])
    for t in range(T):
        assert value["path"]["rnn"][t] == t + 1
        assert value["path"]["attention"][t] == 1
        assert value["path"]["conv"][t] == cost.conv(t + 1, 8, k).path_length
        assert (
            (value["climb"][t][-1] == t)
            == seen[t, 0]
            == (value["path"]["conv"][t] <= layers)
        )
        # the earliest input that the output depends on
        assert value["cone"][t][0] == seen[t].argmax()
        assert value["cone"][t][-1] == t
    assert not np.triu(~np.isnan(value["reach"]["rnn"]), 1).any()
    assert not np.isnan(value["reach"]["attention"]).any()


# ---- what is drawn ----

REACH = """(figure, { all }) => {
  const networks = all(".tfb-reach-panel").map((panel) => {
    const one = (selector) => panel.querySelector(selector);
    const attributes = (selector, ...names) => [...panel.querySelectorAll(selector)]
      .map((node) => names.map((name) => node.getAttribute(name)));
    return [panel.dataset.network, {
      cells: attributes(".tfb-reach-cell", "data-at", "fill"),
      inputs: attributes("[data-input]", "fill"),
      outputs: attributes("[data-node]", "class"),
      way: one(".tfb-reach-way").dataset.way,
      short: attributes(".tfb-reach-short").length,
      used: one(".tfb-reach-used").getAttribute("d").split("M").length - 1,
      words: one(".tfb-reach-reading").textContent,
      name: one("svg").getAttribute("aria-label"),
    }];
  });
  return Object.fromEntries(networks);
}"""


@drawing(ReachExplorer, REACH)
def networks_are_drawn(seen, setting, value, t=None):
    """What is drawn for output t, the last unless told, against what Python
    computed.
    """
    T, layers, k = setting.values()
    t, ramp = T - 1 if t is None else t, palette.ramp(seen["dark"])
    conv = value["path"]["conv"][t]
    has = "" if conv <= layers else f" (has {layers})"
    assert (
        seen["headline"]
        == f"Steps from input 1 to output {t + 1}: RNN {t + 1}, convolution"
        f" {conv}{has}, attention 1"
    )
    ways = {
        "rnn": [(0, 0)] + [(s, 1) for s in range(t + 1)],
        "conv": [(min(j * (k - 1), t), j) for j in range(layers + 1)],
        "attention": [(0, 0), (t, 1)],
    }
    cone = [max(t - (layers - j) * (k - 1), 0) for j in range(layers + 1)]
    edges = {
        "rnn": 2 * t + 1,
        "attention": T,
        "conv": sum(
            min(k, s + 1) for j in range(1, layers + 1) for s in range(cone[j], t + 1)
        ),
    }
    for name in NAMES:
        J, panel = value["reach"][name], seen[name]
        expected = [
            [f"{i},{j}", colour]
            for (i, j), colour in zip(np.ndindex(J.shape), shade(J, ramp), strict=True)
            if colour
        ]
        assert panel["cells"] == expected
        assert [fill for (fill,) in panel["inputs"]] == shade(J[t], ramp)
        assert [
            i for i, (role,) in enumerate(panel["outputs"]) if "tfb-on" in role
        ] == [t]
        assert panel["way"] == " ".join(f"{s},{level}" for s, level in ways[name])
        assert panel["short"] == int(np.isnan(J[t, 0]))
        assert panel["used"] == edges[name]
        assert panel["words"].startswith(
            f"Sees {value['seen'][name][t]} of {T} inputs."
        )
        assert panel["words"].endswith("not seen.") == bool(np.isnan(J[t, 0]))
        if value["fainter"][name][t] > 1:
            assert f"{value['fainter'][name][t]:,.10g} times fainter" in panel["words"]
        assert panel["words"] in panel["name"]
        assert panel["words"] in seen["voice"]


def test_every_output_can_be_chosen_with_the_keyboard_and_the_pointer(browser):
    setting = ReachExplorer().state
    value, last = ReachExplorer().compute(**setting), setting["T"] - 1
    with gallery(browser) as visited:
        page, figure = visited.page, on(visited.page, ReachExplorer)
        figure.locator(".tfb-reach").focus()
        page.keyboard.press("Home")
        for t in range(setting["T"]):
            networks_are_drawn(read(figure, ReachExplorer), setting, value, t)
            page.keyboard.press("ArrowRight")
        # there is nothing behind the last
        networks_are_drawn(read(figure, ReachExplorer), setting, value, last)
        page.keyboard.press("ArrowLeft")
        networks_are_drawn(read(figure, ReachExplorer), setting, value, last - 1)
        figure.locator("[data-network=conv] [data-output='4']").last.click()
        networks_are_drawn(read(figure, ReachExplorer), setting, value, 4)


def test_the_first_token_is_sent_step_by_step_and_arrives(browser):
    ways = """[...document.querySelectorAll(".tfb-reach-way")]
      .map((way) => way.dataset.way.split(" ").length - 1)"""
    with gallery(browser) as visited:
        page = visited.page
        page.emulate_media(reduced_motion="no-preference")
        button, whole = page.locator(".tfb-reach-send"), page.evaluate(ways)
        assert whole == [12, 3, 1]
        page.evaluate(f"""() => {{
          const button = document.querySelector(".tfb-reach-send");
          window.seen = [];
          new MutationObserver(() => seen.push([button.textContent, {ways}]))
            .observe(button, {{ childList: true }});
        }}""")
        button.click()
        page.wait_for_function(
            "seen.length && seen.at(-1)[0].includes('send')", timeout=60_000
        )
        steps = [[f"step {step}", [min(step, n) for n in whole]] for step in range(12)]
        assert page.evaluate("seen") == [*steps, ["▶ send the first token", whole]]
        page.emulate_media(reduced_motion="reduce")
        button.click()
        # at once
        assert page.evaluate("seen.at(-1)[1]") == page.evaluate(ways) == whole
