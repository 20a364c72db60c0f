// Masks: a row for each query, a column for each key; what is masked is not there. Rows of cached
// tokens keep their place, empty.

import { line, make, pixelDrawing, text } from "./elements.js";

const WIDEST = 620; // pixels
const LEFT = 62;

export function figure({ stage, say, shade }) {
  const headline = make("p", { class: "tfb-headline" });
  const picture = make("div", { class: "tfb-mask" });
  stage.append(headline, picture);

  return (value, { cached, softmax }) => {
    const room = measure(Math.min(stage.clientWidth || WIDEST, WIDEST), value.tokens.length);
    const height = room.y(value.tokens.length) + 2;
    const label = `Attention weights, mask ${softmax} the softmax. ${value.finding}.`;
    const rows = value.weights.flatMap((_, q) => drawRow(room, value, q, cached + q, shade));
    const parts = [...drawNames(room, value.tokens, cached), ...rows];
    headline.textContent = value.finding;
    picture.replaceChildren(pixelDrawing(room.width, height, label, ...parts));
    say(`mask ${softmax} the softmax, ${cached} tokens in the cache: ${value.finding}`);
  };
}

/** Where things stand at a width. */
function measure(width, T) {
  const narrow = width < 480;
  const top = narrow ? 70 : 44;
  const sum = narrow ? 46 : 130; // room for the sums
  const cell = Math.min((width - LEFT - sum) / T, 62);
  const high = Math.min(cell, 44);
  const x = (key) => LEFT + key * cell;
  const y = (place) => top + place * high;
  return { width, narrow, top, cell, high, x, y, end: LEFT + T * cell, right: LEFT + T * cell + 12 };
}

function kind(name, role) {
  return `tfb-mask-${name === "pad" ? "pad" : role}`;
}

function drawNames({ top, cell, high, x, y, end, right }, tokens, cached) {
  function keyName(name, k) {
    const middle = x(k) + cell / 2;
    const look = { class: kind(name, "key"), "data-key": k };
    if (cell > 52) return make("text", { ...look, x: middle - 1, y: top - 9, "text-anchor": "middle" }, name);
    return make("text", { ...look, transform: `translate(${middle} ${top - 9}) rotate(-45)` }, name);
  }

  function queryName(name, place) {
    const gone = place < cached;
    const look = gone ? { class: "tfb-mask-gone" } : { class: kind(name, "query"), "data-query": place };
    return make("text", { ...look, x: LEFT - 8, y: y(place) + high / 2 + 5, "text-anchor": "end" }, name);
  }

  const cache = [
    text(LEFT + 8, top + (cached * high) / 2 + 5, "in the cache: keys only", "tfb-mask-note"),
    line(4, y(cached) - 1, end, y(cached) - 1, "tfb-floor"),
  ];
  return [
    ...tokens.map(keyName),
    text(LEFT - 8, top - 9, "query", "tfb-mask-axis tfb-mask-query", "end"),
    text(LEFT, 12, "key", "tfb-mask-axis tfb-mask-key"),
    ...tokens.map(queryName),
    ...(cached ? cache : []),
    text(right, top - 9, "sum", "tfb-mask-note"),
  ];
}

function drawRow(room, { weights, sums }, q, place, shade) {
  const { cell, high, x, y } = room;
  const top = y(place);
  const parts = [];
  weights[q].forEach((weight, k) => {
    if (weight === null) return; // absent, which is not the same as 0
    const box = { x: x(k), y: top, width: cell - 2, height: high - 2, fill: shade(weight) };
    const name = weight > 0.5 ? "tfb-mask-inside tfb-mask-dark" : "tfb-mask-inside";
    const written = weight.toFixed(2).replace(/^0/, "");
    parts.push(
      make("rect", { ...box, "data-q": q, "data-k": k, "data-weight": weight }),
      text(x(k) + cell / 2 - 1, top + high / 2 + 4, written, name, "middle"),
    );
  });
  const nothing = weights[q].every((weight) => weight === null);
  return [...parts, ...drawSum(room, sums[q], top + high / 2, nothing)];
}

function drawSum({ narrow, right }, sum, middle, nothing) {
  const short = sum < 0.9995 && !nothing;
  const look = nothing ? " tfb-mask-nothing" : short ? " tfb-mask-less" : "";
  const written = text(right, middle + 4, sum.toFixed(2), `tfb-mask-sum${look}`);
  if (narrow) return [written];
  const box = { x: right + 38, y: middle - 5, height: 8 };
  return [
    make("rect", { class: "tfb-mask-whole", ...box, width: 76 }),
    make("rect", {
      class: short ? "tfb-mask-part tfb-mask-short" : "tfb-mask-part",
      ...box,
      width: 76 * sum,
    }),
    written,
  ];
}
