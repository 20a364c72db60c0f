// The cost explorer: what one token costs in a layer as T grows, on two logarithmic axes; beside it
// shares, memory, waiting.

import { costTables } from "./cost_tables.js";
import { bold, columns, drawing, line, make, text } from "./elements.js";
import { clamp, raised, thousands } from "./numbers.js";

const LEFT = 34;
const TOP = 22;
const SIZE = 292;
const RIGHT = LEFT + SIZE;
const FLOOR = TOP + SIZE;
const WIDTH = 340;
const HEIGHT = 352;

const x = (percent) => LEFT + (percent * SIZE) / 100;
const y = (percent) => FLOOR - (percent * SIZE) / 100;

export function figure({ stage, say, set, spec }) {
  const { models, lengths } = spec.constants;
  const headline = make("p", { class: "tfb-headline" });
  const title = make("p", { class: "tfb-panel-title tfb-cost-title" });
  const chart = make("div", { class: "tfb-chart tfb-halo tfb-cost-chart" });
  const side = make("div", { class: "tfb-cost-side" });
  stage.append(headline, title, columns([chart], side));
  const drawTables = costTables(side);
  let last; // the model that was drawn before

  /** A model sets the sizes, and other sizes belong to no model: true where that changed the setting. */
  function settleModel(state) {
    const chosen = state.model !== last;
    last = state.model;
    const sizes = models[state.model];
    if (!sizes || Object.entries(sizes).every(([name, size]) => state[name] === size)) return false;
    set(chosen ? sizes : { model: "own" });
    return true;
  }

  function drawWords({ shares, heads: [H, kv], d_ff }, { model, T, d, d_k, H_kv }) {
    const named = ["projections", "scores and mix", "FFN"].map(
      (part, i) => `${part} ${shares[i].toFixed(1)} %`,
    );
    const keyHeads = kv === 1 ? "one key/value head" : `${kv} key/value heads`;
    const shared = H_kv === "H" ? "" : `, which share ${keyHeads}`;
    const heads = `${H} ${H === 1 ? "head" : "heads"} of ${d_k}${shared}`;
    const sizes = `d = ${thousands(d)}: ${heads}; d_ff = ${thousands(d_ff)}`;
    headline.replaceChildren(
      `At T = ${thousands(T)}, the part that grows as T² takes `,
      bold(`${shares[1].toFixed(1)} %`),
      " of a layer’s FLOPs",
    );
    title.textContent = `One token in one layer: FLOPs. ${sizes}`;
    say(`${model}, T ${T}, ${H} heads: ${named.join(", ")} of a layer’s FLOPs`);
  }

  return (value, state) => {
    if (settleModel(state)) return;
    chart.replaceChildren(drawChart(value, state.T, lengths));
    drawTables(value, state);
    drawWords(value, state);
  };
}

function drawChart(value, T, lengths) {
  const [projections, ffn, both] = value.heights;
  const [first, second] = value.crossings;
  const at = value.across;
  const said =
    "FLOPs of a token in one layer against T, both axes logarithmic. " +
    "Projections and feed-forward network are flat, " +
    `scores and mix rise with T; they pass the projections at T = ${first}, ` +
    `projections and feed-forward network together at T = ${second}.`;
  const flat = (up, name) => line(LEFT, y(up), RIGHT, y(up), `tfb-cost-line tfb-cost-${name}`);
  const dot = (up) => make("circle", { cx: x(at), cy: y(up), r: 3, class: "tfb-cost-dot" });
  const low = Math.min(projections, ffn);
  return drawing(
    WIDTH,
    HEIGHT,
    said,
    ...value.ticks.flatMap(powerTick),
    ...lengths.flatMap(lengthTick),
    text(LEFT + SIZE / 2, FLOOR + 34, "T tokens", "", "middle"),
    line(x(at), TOP - 4, x(at), FLOOR, "tfb-cost-now"),
    text(clamp(x(at), LEFT + 30, RIGHT - 30), TOP - 9, `T = ${thousands(T)}`, "tfb-cost-strong", "middle"),
    flat(both, "both"),
    flat(ffn, "ffn"),
    flat(projections, "projections"),
    make("path", { d: `M${x(0)} ${y(0)}L${x(100)} ${y(100)}`, class: "tfb-cost-line tfb-cost-attention" }),
    dot(projections),
    dot(ffn),
    dot(at),
    ...lineNames(projections, ffn, both),
    text(x(91), y(95), "scores and mix 4 T d", "tfb-cost-attention-label", "end"),
    ...crossing(value, 0, projections, 6, y(low) + 29, "start"),
    ...crossing(value, 1, both, -6, y(both) - 22, "end"),
  );
}

function powerTick([up, power]) {
  return [
    line(LEFT, y(up), RIGHT, y(up), "tfb-cost-grid"),
    text(LEFT - 6, y(up) + 4, `10${raised(power)}`, "tfb-cost-power", "end"),
  ];
}

function lengthTick(length, i, { length: many }) {
  if (i % 4) return [];
  const across = x((100 * i) / (many - 1));
  const last = i === many - 1;
  return [
    line(across, TOP, across, FLOOR, "tfb-cost-grid"),
    text(last ? WIDTH : across, FLOOR + 17, thousands(length), "", last ? "end" : "middle"),
  ];
}

/** The names of the flat lines, where they do not run into those of the crossings. */
function lineNames(projections, ffn, both) {
  const right = both < 72;
  const close = Math.abs(ffn - projections) < 5;
  const low = Math.min(projections, ffn);
  const name = (up, lift, label, inwards = 0) => {
    const across = right ? RIGHT - 4 - inwards : LEFT + 5 + inwards;
    return text(across, y(up) + lift, label, "tfb-cost-name", right ? "end" : "start");
  };
  return [
    name(both, -5, "both together"),
    name(close ? low : projections, 13, "projections"),
    name(close ? low : ffn, 13, "FFN", close ? 74 : 0),
  ];
}

/** Where the rising line, which is the diagonal, meets a flat one. */
function crossing({ crossings, words }, i, up, side, top, anchor) {
  const lines = [`T = ${words[i]}`, `= ${thousands(crossings[i])}`];
  const circle = { cx: x(up), cy: y(up), r: 5, class: "tfb-cost-crossing", "data-length": crossings[i] };
  return [
    make("circle", circle),
    ...lines.map((said, n) => text(x(up) + side, top + 14 * n, said, "tfb-cost-strong", anchor)),
  ];
}
