// Rotary positions: an arrow for the query and one for the key in each pair of channels, both of which
// the reader moves.

import { bold, make, text } from "./elements.js";
import { note, productBars } from "./position_marks.js";

/** {node: two sliders, draw(value, setting, width)}; `redraw` is called when a slider moves. */
export function rotaryPairs(redraw) {
  const at = { key: 2, distance: 3 };
  const move = (name) => (value) => {
    at[name] = value;
    redraw();
  };
  const sliders = {
    key: slider("key", "key stands at", move("key")),
    distance: slider("distance", "query comes later by", move("distance")),
  };
  const group = { class: "tfb-controls", role: "group", "aria-label": "Query and key" };
  const node = make("div", group, sliders.key.node, sliders.distance.node);

  /** Both within the first T positions. */
  function settle(T) {
    const most = { key: Math.ceil(T / 2) - 1, distance: Math.floor(T / 2) };
    for (const [name, { range, shown }] of Object.entries(sliders)) {
      at[name] = Math.min(at[name], most[name]);
      range.max = most[name];
      range.value = at[name];
      shown.textContent = at[name];
    }
  }

  function draw({ turns, alike }, { T }, width) {
    settle(T);
    const pairs = turns.length;
    const columns = Math.min(pairs, width < 480 ? 4 : 8);
    const across = Math.min(width / columns, 110);
    const high = across + 20;
    const floor = Math.ceil(pairs / columns) * high + 30;
    const drawPair = (pairTurns, pair) => {
      const cx = ((pair % columns) + 0.5) * across;
      const cy = Math.floor(pair / columns) * high + across / 2;
      return dial(pairTurns, at, cx, cy, across / 2 - 8);
    };
    const query = at.key + at.distance;
    return {
      words: [
        make("span", { class: "tfb-position-query-word" }, `Query at ${query}`),
        ", ",
        make("span", { class: "tfb-position-key-word" }, `key at ${at.key}`),
        ": move both, and the angles between them stay; the product is ",
        bold(alike[at.distance].toFixed(2)),
      ],
      label: `${pairs} pairs of channels as arrows`,
      height: floor + 134,
      parts: [
        ...turns.flatMap(drawPair),
        note(2, floor - 6, "the same query and key, by distance: their product"),
        ...productBars(alike, width, 130, floor, at.distance),
      ],
    };
  }

  return { node, draw };
}

function slider(name, label, move) {
  const range = make("input", { type: "range", name, min: 0, input: () => move(Number(range.value)) });
  const shown = make("output");
  return {
    range,
    shown,
    node: make("label", { class: "tfb-slider" }, make("span", {}, label), range, shown),
  };
}

/** Query and key of one pair of channels, as turns of an arrow, and the angle between them. */
function dial(turns, { key, distance }, cx, cy, r) {
  const turned = (turn) => `translate(${cx} ${cy}) rotate(${-360 * turn})`;
  const arrow = (turn, role) =>
    make("path", {
      d: `M0 0H${r - 1}m-7 -4l7 4l-7 4`,
      class: `tfb-position-${role}`,
      "data-turn": turn,
      transform: turned(turn),
    });
  const apart = turns[distance];
  const angle = make("circle", {
    r: r / 2,
    pathLength: 1,
    class: "tfb-position-apart",
    "stroke-dasharray": `${apart} 1`,
    "data-apart": apart,
    transform: `${turned(turns[key])} scale(1 -1)`,
  });
  return [
    make("circle", { cx, cy, r, class: "tfb-position-dial" }),
    angle,
    arrow(turns[key], "key"),
    arrow(turns[key + distance], "query"),
    text(cx, cy + r + 16, `${Math.round(360 * apart)}°`, "tfb-position-above", "middle"),
  ];
}
