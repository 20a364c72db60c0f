// The attention explorer. A query's weights as arcs over the sentence, a large matrix for one head, a
// small one for each; beside them the costs.

import { arcDiagram } from "./arcs.js";
import { bold, columns, make } from "./elements.js";
import { attentionMatrix, drawLegend, smallMatrix } from "./matrix.js";
import { clamp, thousands } from "./numbers.js";
import { bar, cell, row } from "./tables.js";

const BETWEEN = 8; // pixels between two words

export function figure(view) {
  const { stage, say, shade, spec } = view;
  const at = { head: 0, query: 9, key: 1 }; // it → cat
  let words;
  let value;
  let state;

  const pen = make("canvas").getContext("2d");
  pen.font = "700 13px system-ui, sans-serif";
  const headline = make("p", { class: "tfb-headline" });
  const matrix = attentionMatrix(view, at, move);
  const arcs = arcDiagram((query) => move({ query }));
  const reading = make("p", { class: "tfb-reading" });
  const legend = make("div", { class: "tfb-legend", "aria-hidden": "true" });
  const heads = make("div", { class: "tfb-heads", role: "group", "aria-label": "Choose a head" });
  const costs = make("table", { class: "tfb-costs" });
  stage.append(headline, columns([reading, arcs.node, matrix.node, legend, heads], costs));

  function move(to) {
    const head = at.head;
    Object.assign(at, to);
    settle();
    if (at.head !== head) drawMatrix();
    mark();
    say(`head ${at.head + 1} of ${state.H}: ${pair()}`);
  }

  /** Within what there is. */
  function settle() {
    at.head = clamp(at.head, 0, state.H - 1);
    at.query = clamp(at.query, 0, state.T - 1);
    at.key = clamp(at.key, 0, state.T - 1);
  }

  function pair() {
    const weight = value.weights[at.head][at.query][at.key];
    return `${words[at.query]} → ${words[at.key]}: ${weight === null ? "masked" : weight.toFixed(2)}`;
  }

  function mark() {
    const edges = [0]; // room for each word
    for (const word of words) edges.push(edges.at(-1) + pen.measureText(word).width + BETWEEN);
    matrix.mark();
    arcs.draw(words, value.weights[at.head][at.query], at.query, edges, edges.at(-1), 14);
    reading.textContent = pair();
  }

  function isShared() {
    return state.H > value.H_kv;
  }

  function drawMatrix() {
    matrix.draw(value.weights[at.head], words);
    const keyHead = isShared() ? `, with key head ${value.reads[at.head]} of ${value.H_kv}` : "";
    headline.replaceChildren(
      `Head ${at.head + 1} of ${state.H}${keyHead}: a query spreads over `,
      bold(value.spread[at.head].toFixed(1)),
      ` of ${value.visible.toFixed(1).replace(/\.0$/, "")} keys`,
    );
    for (const [i, button] of [...heads.children].entries())
      button.setAttribute("aria-pressed", i === at.head);
  }

  function headButton(A, i) {
    const keyHead = isShared() ? [make("br"), `key head ${value.reads[i]}`] : [];
    const attributes = { type: "button", "aria-pressed": "false", click: () => move({ head: i }) };
    return make("button", attributes, smallMatrix(view, A), `head ${i + 1}`, ...keyHead);
  }

  function drawHeads() {
    heads.hidden = state.H === 1;
    heads.replaceChildren(...value.weights.map(headButton));
  }

  function drawCosts() {
    const total = value.flops.reduce((a, b) => a + b);
    const cost = (label, number, share) =>
      row(label, [cell(share === undefined ? "" : bar(100 * share)), cell(thousands(number))]);
    const parts = partNames().map((label, i) => cost(label, value.flops[i], value.flops[i] / total));
    const [weights, cache] = value.stored;
    const sums = [
      cost("in all", total),
      cost("weights kept", weights),
      cost("keys and values kept", cache),
      cost("dₖ = d / H", value.d_k),
    ];
    costs.replaceChildren(
      make("caption", {}, "What this attention costs, in FLOPs"),
      make("tbody", {}, ...parts),
      make("tfoot", {}, ...sums),
    );
  }

  return (newValue, newState) => {
    [value, state] = [newValue, newState];
    const { sentence } = spec.constants;
    words = Array.from({ length: state.T }, (_, i) => sentence[i % sentence.length]);
    settle();
    drawHeads();
    drawMatrix();
    mark();
    drawCosts();
    drawLegend(legend, shade, "1 weight; each row sums to 1");
    say(`T ${state.T}, d ${state.d}, ${state.H} heads: ${headline.textContent}`);
  };
}

function partNames() {
  const product = (name) => ["X W", make("sub", {}, name)];
  return [
    [...product("Q"), ", ", ...product("K"), ", ", ...product("V"), ""],
    "Q Kᵀ",
    "A V",
    ["[heads] W", make("sub", {}, "O")],
  ];
}
