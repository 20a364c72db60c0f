"""What a page costs its reader stays within the budget of tools/check/speed.py. `make
speed` alone holds the paint to its budget: beside other work, which paint is the
largest depends on the moment.
"""

from random import Random

import pytest
import speed
from browser import CHAPTERS, READ


@pytest.fixture(scope="module")
def address():
    with speed.hosted() as here:
        yield here


@pytest.mark.parametrize("page", READ)
def test_what_a_visit_costs(page, browser, address):
    cost = speed.visit(browser, address, page)
    assert len(cost.files) > 10
    assert "transfer" not in cost.over(), sorted(cost.files)[-5:]
    assert "jump" not in cost.over(), cost.jumps
    assert cost.busy > 0
    assert not [name for _, name in cost.files if "fontawesome/webfonts" in name], (
        "an icon is new: run tools/site/icons.py"
    )
    assert "searchindex.js" not in " ".join(name for _, name in cost.files)


def test_a_task_that_outlasts_the_paint_is_not_waited_for():
    def task(ts, dur):
        return dict(name="RunTask", pid=1, tid=1, ts=ts, dur=dur, tdur=dur / 2)

    start = dict(name="navigationStart", pid=1, tid=1, ts=0, args=["here"])
    events = [start, task(0, 100e3), task(300e3, 50e3), task(390e3, 300e3)]
    waited, busy = speed.slowed(events, "here", 400)
    assert waited == pytest.approx(0.4 - 0.1 - 0.05 - 0.01)
    assert busy == pytest.approx(speed.SLOW * (0.1 + 0.05) / 2)


@pytest.mark.parametrize("page", [speed.FIRST, *CHAPTERS[:2]])
def test_a_phone_does_not_jump_either(page, browser, address):
    assert "jump" not in speed.visit(browser, address, page, width=390).over()


def test_the_measures_see(browser, tmp_path):
    page = "<!doctype html><html lang=en><title>a page</title><body>"
    push = (
        "document.body.prepend(Object.assign(document.createElement('div'), { style: "
        "'height: 500px' }))"
    )
    # when it has been painted
    late = (
        "requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() =>"
        f" {push}, 100)))"
    )
    slow = (
        "MathJax = { startup: { promise: new Promise((done) => setTimeout(() => { "
        "document.body.append('a text'); done(); }, 1600)) } }"
    )
    busy = (
        "for (let i = 0; i < 40; i++) Array.from({ length: 2e5 }, (_, j) => (j * 7919) "
        "% 200003).sort((a, b) => a - b)"
    )
    pages = {
        "transfer": f"<!--{Random(0).randbytes(2_000_000).hex()}-->",
        "jump": (
            "<div style='height: 600px; background: gold'>moves</div>"
            f"<script>{late}</script>"
        ),
        "paint": f"<script>{busy}</script>a text",
        "paint, late": f"<script>{slow}</script>",
        "fine": "a text",
    }
    for name, body in pages.items():
        (tmp_path / f"{name}.html").write_text(page + body, encoding="utf-8")
    with speed.hosted(tmp_path) as address:
        seen = {name: speed.visit(browser, address, f"{name}.html") for name in pages}
    fine = seen.pop("fine")
    assert "transfer" not in fine.over()
    assert "jump" not in fine.over()
    assert fine.busy <= speed.PAINT
    for name, cost in seen.items():
        assert name.partition(",")[0] in cost.over(), name
    assert seen["paint"].busy > speed.PAINT
    assert seen["paint, late"].waited > speed.PAINT
    assert speed.Cost("x", 1, [], 0.8, 0.8, []).over() == ["paint"]
    assert speed.Cost(speed.FIRST, 601, [], 0, 1, []).over() == ["transfer"]
