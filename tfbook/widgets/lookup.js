// Soft lookup: keys on a line, their values above it. The query moves along the line; its answer is
// the point on the curve.

import { bold, line, make, pixelDrawing, text, through } from "./elements.js";
import { clamp, range } from "./numbers.js";

const WIDEST = 640; // pixels
const SIDE = 16;
const TOP = 22;
const FLOOR = 230;
const BARS = 262;
const HEIGHT = 348;
const ANSWER = { width: 92, above: 15, below: 7 }; // room for the word "answer" and its number

const y = (value) => FLOOR - value * (FLOOR - TOP);

export function figure({ stage, say, spec }) {
  const headline = make("p", { class: "tfb-headline" });
  const picture = make("div", { class: "tfb-lookup" });
  stage.append(headline, picture);

  return (value, { query, temperature }) => {
    const nearest = value.weights[value.nearest].toFixed(2);
    const how =
      temperature === 0
        ? "Hard lookup: the nearest key has all the weight"
        : `The nearest key has ${nearest} of the weight`;
    const answer = value.answer.toFixed(2);
    headline.replaceChildren(`${how}; the answer is `, bold(answer));
    const width = Math.min(stage.clientWidth || WIDEST, WIDEST);
    const label = `Six keys on a line. ${headline.textContent}.`;
    const parts = drawParts(value, query, spec.constants, width);
    picture.replaceChildren(pixelDrawing(width, HEIGHT, label, ...parts));
    const largest = value.largest.toFixed(2);
    say(`query at ${query}, temperature ${temperature}: largest weight ${largest}, answer ${answer}`);
  };
}

function drawParts({ weights, answer, curve, nearest }, query, constants, width) {
  const { keys, values, end, curve_at, cuts, mean } = constants;
  const narrow = width < 480;
  const x = (place) => SIDE + (place / end) * (width - 2 * SIDE);
  const edges = [0, ...cuts, end];
  const stairs = values.flatMap((value, i) => [edges[i], edges[i + 1]].map((edge) => [x(edge), y(value)]));
  const smooth = curve.map((value, i) => [x(curve_at[i]), y(value)]);
  const far = query < end / 2 ? 4 : 1; // the step that the query is far from, where the stairs are named
  const lift = far === 1 ? -8 : 20;

  function background() {
    return [
      make("path", { d: through(stairs), class: "tfb-lookup-stairs" }),
      name(x(keys[far]), y(values[far]) + lift, narrow ? "hard" : "hard lookup", "stairs-name"),
      rule(x(0), y(mean), x(end), y(mean), "mean"),
      name(x(0), y(mean) - 6, narrow ? "mean" : "plain mean", "mean-name", "start"),
      make("path", { d: through(smooth), class: "tfb-lookup-curve", "data-curve": curve.join(" ") }),
      rule(x(0), FLOOR, x(end), FLOOR, "axis"),
      rule(x(query), TOP - 6, x(query), FLOOR + 5, "query"),
      name(clamp(x(query), 26, width - 26), TOP - 10, "query", "query-name"),
    ];
  }

  /** What a value gives is as strong as its weight. */
  function keyAndValue(key, i) {
    const across = x(key);
    const height = weights[i] * 64;
    const pull = rule(across, y(values[i]), x(query), y(answer), "pull");
    pull.setAttribute("stroke-opacity", weights[i].toFixed(3));
    const box = { x: across - 12, y: BARS, width: 24, height: height.toFixed(2) };
    return [
      pull,
      rule(across, y(values[i]), across, FLOOR, "stem"),
      dot(across, y(values[i]), 5, "tfb-lookup-value"),
      dot(across, FLOOR, 5, i === nearest ? "tfb-lookup-key tfb-lookup-nearest" : "tfb-lookup-key"),
      make("rect", { ...box, class: "tfb-lookup-weight", "data-weight": weights[i] }),
      name(across, BARS + 15 + height, weights[i].toFixed(2), "number"),
    ];
  }

  function foreground() {
    const point = dot(x(query), y(answer), 8, "tfb-lookup-answer");
    point.setAttribute("data-answer", answer);
    return [
      rule(x(0), BARS, x(end), BARS, "axis"),
      name(x(keys[0]) - 12, FLOOR + 20, "keys", "key-name", "start"),
      name(x(end), BARS - 5, "weights", "number", "end"),
      name(x(keys[0]) + 10, y(values[0]) + 4, "value", "value-name", "start"),
      point,
    ];
  }

  /** The answer's name stands, of eight places around the answer, in the one where it hides least. */
  function answerName() {
    const lines = [...smooth, ...stairs.slice(1).flatMap((to, i) => along(stairs[i], to))];
    const words = [
      wordAt(x(keys[0]) + 10, y(values[0]) + 4),
      wordAt(x(query) - 20, TOP - 10),
      wordAt(x(0), y(mean) - 6),
      wordAt(x(keys[far]) - 20, y(values[far]) + 14),
    ];
    const dots = [...words.flat(), ...keys.map((key, i) => [x(key), y(values[i])])];
    const hides = (place) => under(lines, place) + 20 * under(dots, place) + (fits(place, width) ? 0 : 1000);
    const best = answerPlaces(x(query), y(answer)).reduce((least, place) =>
      hides(place) < hides(least) ? place : least,
    );
    return name(x(query) + best.across, best.base, `answer ${answer.toFixed(2)}`, "answer-name", best.anchor);
  }

  return [...background(), answerName(), ...keys.flatMap(keyAndValue), ...foreground()];
}

function rule(x1, y1, x2, y2, role) {
  return line(x1, y1, x2, y2, `tfb-lookup-${role}`);
}

function name(left, base, words, role, anchor = "middle") {
  return text(left, base, words, `tfb-lookup-${role}`, anchor);
}

function dot(cx, cy, r, role) {
  return make("circle", { cx, cy, r, class: role });
}

/** Points along a line, both ends included. */
function along([x1, y1], [x2, y2]) {
  return range(13).map((i) => [x1 + ((x2 - x1) * i) / 12, y1 + ((y2 - y1) * i) / 12]);
}

/** Points along a short word. */
function wordAt(left, base) {
  return along([left, base - 4], [left + 40, base - 4]);
}

function answerPlaces(across, height) {
  const downs = [-10, 20, -26, 36];
  return [
    ...downs.map((down) => ({ across: 12, anchor: "start", left: across + 12, base: height + down })),
    ...downs.map((down) => ({
      across: -12,
      anchor: "end",
      left: across - 12 - ANSWER.width,
      base: height + down,
    })),
  ];
}

function under(points, { left, base }) {
  const inside = ([x, y]) =>
    x > left - 4 && x < left + ANSWER.width + 4 && y > base - ANSWER.above && y < base + ANSWER.below;
  return points.filter(inside).length;
}

function fits({ left, base }, width) {
  return left >= 0 && left + ANSWER.width <= width && base >= TOP && base <= FLOOR - 8;
}
