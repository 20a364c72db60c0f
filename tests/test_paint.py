"""From a slider's move to the next painted frame: at most 50 ms, for every move between neighbouring states of every figure."""

import json
from statistics import median

import pytest
from gallery import FIGURES, LEAPS, SET, gallery, load, on, places, states

load()
MOST = 50  # milliseconds
TRIES = 12  # of a move that was slow: another program may have had the processor. A state that is slow is slow each time.

MEASURE = f"""async (figure, [moves, most, tries]) => {{
  const set = {SET};
  const painted = () => new Promise((done) => requestAnimationFrame(() => {{ // the frame's own work is over when a message comes through
    const {{ port1, port2 }} = new MessageChannel();
    port1.onmessage = done;
    port2.postMessage(null);
  }}));
  const time = async (move) => {{
    const start = performance.now();
    set(figure, move);
    await painted();
    return performance.now() - start;
  }};
  const all = [];
  await time(moves[0]); // where it stands; the page's first frame of all
  for (let i = 1; i < moves.length; i++) {{
    const move = moves[i];
    let best = await time(move);
    for (let again = 1; best > most && again < tries; again++) {{
      await time(moves[i - 1]);
      best = Math.min(best, await time(move));
    }}
    all.push(best);
  }}
  return JSON.stringify(all);
}}"""


def moves(figure):
    """Settings that go through the states that are tried, one control at a time, as places among a control's values."""
    path, leaps = [places(figure, figure().state)], LEAPS.get(figure, lambda setting: False)
    for setting in states(figure):
        if leaps(setting):
            path.append(places(figure, setting))
        for name, place in places(figure, setting).items():
            if path[-1][name] != place:
                path.append({**path[-1], name: place})
    return path


@pytest.mark.alone
@pytest.mark.parametrize("figure", FIGURES)
def test_a_move_is_painted_within_50_ms(figure, browser):
    path = moves(figure)
    with gallery(browser) as visited:
        place = on(visited.page, figure)
        place.scroll_into_view_if_needed()
        times = json.loads(place.evaluate(MEASURE, [path, MOST, TRIES]))
    worst = max(range(len(times)), key=times.__getitem__)
    print(f"{figure.__name__}: {len(times)} moves, median {median(times):.0f} ms, worst {times[worst]:.0f} ms, to {path[worst + 1]}")
    assert len(times) >= len(states(figure)) - 1  # a figure of one control may begin at its first state
    assert median(times) <= MOST
    assert times[worst] <= MOST, path[worst + 1]
