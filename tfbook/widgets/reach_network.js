// One network of the reach explorer: its graph, and under it its matrix.

import { make, text, through } from "./elements.js";
import { range } from "./numbers.js";

const WIDEST = 280; // pixels
const TOP = 30; // of the outputs

/** Whether the first input is seen at an output. */
export function isSeen(value, name, output) {
  return value.reach[name][output][0] !== null;
}

/** The way of the first token to an output, as [position, level]. */
export function firstWay(name, value, output) {
  if (name === "conv") return value.climb[output].map((position, level) => [position, level]);
  if (name === "attention")
    return [
      [0, 0],
      [output, 1],
    ];
  return [[0, 0], ...range(output + 1).map((position) => [position, 1])];
}

/** Every dependency, as [from, to, whether the output depends on it]. */
function dependencies({ name, value, state, output }) {
  if (name === "conv") return convolution(value, state, output);
  if (name === "attention") {
    return value.reach.attention.flatMap((row, t) => row.map((_, s) => [[s, 0], [t, 1], t === output]));
  }
  return range(state.T).flatMap((s) => {
    const used = s <= output;
    const input = [[s, 0], [s, 1], used];
    return s ? [input, [[s - 1, 1], [s, 1], used]] : [input];
  });
}

function convolution({ cone }, { T, k, layers }, output) {
  const found = [];
  for (let level = 1; level <= layers; level++) {
    for (let t = 0; t < T; t++) {
      const used = t <= output && t >= cone[output][level];
      for (let s = Math.max(t - k + 1, 0); s <= t; s++) found.push([[s, level - 1], [t, level], used]);
    }
  }
  return found;
}

/** `shown` is {name, value, state, output, steps, shade, label}. */
export function drawNetwork(shown, clientWidth, narrow) {
  const { name, value, state, output, steps, shade, label } = shown;
  const { T } = state;
  const floor = narrow ? 128 : 168; // of the inputs
  const matrix = floor + 54;
  const width = Math.min(clientWidth || 210, WIDEST);
  const cell = width / T;
  const high = narrow ? cell / 2 : cell;
  const levels = name === "conv" ? state.layers : 1;
  const r = Math.min(0.34 * cell, 6);
  const weights = value.reach[name][output];
  const x = (position) => (position + 0.5) * cell;
  const y = (level) => floor - (level * (floor - TOP)) / levels;
  const point = ([position, level]) => [x(position), y(level)];

  function circle(position, level, role, more = {}) {
    const place = { cx: x(position).toFixed(1), cy: y(level).toFixed(1), r };
    return make("circle", { ...place, class: `tfb-reach-${role}`, ...more });
  }

  function edges() {
    const all = dependencies(shown);
    const path = (wanted) => {
      const chosen = all.filter(([, , used]) => used === wanted);
      return chosen.map(([from, to]) => through([point(from), point(to)])).join("");
    };
    return [
      make("path", { d: path(false), class: "tfb-reach-edge" }),
      make("path", { d: path(true), class: "tfb-reach-edge tfb-reach-used" }),
    ];
  }

  function way(places) {
    const short = isSeen(value, name, output) ? "" : " tfb-reach-short";
    const said = places.map((place) => place.join()).join(" ");
    return make("path", { d: through(places.map(point)), class: `tfb-reach-way${short}`, "data-way": said });
  }

  function input(s) {
    const masked = weights[s] === null;
    const fill = masked ? undefined : shade(weights[s]);
    return circle(s, 0, masked ? "input tfb-masked" : "input", { "data-input": s, fill });
  }

  function nodes() {
    const between = range(levels - 1).flatMap((below) =>
      range(T).map((t) => circle(t, below + 1, "between", { r: Math.min(r, 2) })),
    );
    const outputs = range(T).map((t) =>
      circle(t, levels, t === output ? "output tfb-on" : "output", { "data-node": t }),
    );
    return [...between, ...outputs, ...range(T).map(input)];
  }

  function matrixCell(weight, t, s) {
    return make("rect", {
      x: (s * cell).toFixed(2),
      y: (matrix + t * high).toFixed(2),
      width: (cell - 1).toFixed(2),
      height: (high - 1).toFixed(2),
      fill: shade(weight),
      class: "tfb-reach-cell",
      "data-at": `${t},${s}`,
    });
  }

  function matrixCells() {
    const cells = (row, t) => row.flatMap((weight, s) => (weight === null ? [] : [matrixCell(weight, t, s)]));
    return value.reach[name].flatMap(cells);
  }

  /** Where a press chooses an output: its column of the graph, its row of the matrix. */
  function targets() {
    const target = (t, box) => make("rect", { ...box, class: "tfb-reach-hit", "data-output": t });
    return [
      ...range(T).map((t) => target(t, { x: t * cell, y: 0, width: cell, height: floor + 10 })),
      ...range(T).map((t) => target(t, { x: 0, y: matrix + t * high, width, height: high })),
    ];
  }

  const gone = firstWay(name, value, output).slice(0, steps + 1);
  const [cx, cy] = point(gone.at(-1));
  const row = { x: 1, y: matrix + output * high - 1, width: width - 2, height: high + 1 };
  const attributes = {
    viewBox: `0 0 ${width} ${matrix + high * T + 2}`,
    style: `max-width:${width}px`,
    role: "img",
    "aria-label": label,
  };
  return make(
    "svg",
    attributes,
    text(0, 14, "outputs", "tfb-reach-output-name"),
    ...edges(),
    way(gone),
    ...nodes(),
    make("circle", { cx, cy, r: r + 1.5, class: "tfb-reach-word" }),
    text(0, floor + 22, "inputs: as strong as their colour", "tfb-reach-input-name"),
    text(0, matrix - 8, "all outputs ↓", "tfb-reach-output-name"),
    ...matrixCells(),
    make("rect", { ...row, class: "tfb-reach-row" }),
    ...targets(),
  );
}
