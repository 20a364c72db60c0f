// Streaming attention: scores with their running maximum, the terms of the sum, the mean of the
// values; beside them what is kept.

import { bold, columns, drawing, line, make, text } from "./elements.js";

const KEYS = 16;
const WIDTH = 340;
const CELL = WIDTH / KEYS;

export function figure({ stage, say }) {
  const headline = make("p", { class: "tfb-headline" });
  const [scores, terms, mean] = [0, 1, 2].map(() => make("div", { class: "tfb-chart tfb-stream-panel" }));
  const kept = make("div", { class: "tfb-stream-kept" });
  stage.append(headline, columns([scores, terms, mean], kept));

  return (value, { block, step }) => {
    const done = value.seen === KEYS;
    const number = bold(value.mean.toFixed(2));
    if (done) headline.replaceChildren("All 16 keys read: the mean is ", number, ", as with a plain softmax");
    else headline.replaceChildren(`${value.seen} of 16 keys read: the mean so far is `, number);
    scores.replaceChildren(...drawScores(value));
    terms.replaceChildren(...drawTerms(value));
    mean.replaceChildren(...drawMean(value));
    kept.replaceChildren(...drawKept(value.kept));
    const [m, Z, average] = [value.maxima.at(-1), value.sum, value.mean].map((n) => n.toFixed(2));
    const blocks = `block ${Math.min(step, value.blocks)} of ${value.blocks}, ${block} keys in each`;
    say(`${blocks}: m ${m}, Z ${Z}, mean ${average}${done ? ", equal to plain softmax" : ""}`);
  };
}

function title(...content) {
  return make("p", { class: "tfb-stream-title" }, ...content);
}

/** The block that is read now. */
function band({ start, seen }, height) {
  return make("rect", {
    class: "tfb-stream-band",
    x: start * CELL,
    width: (seen - start) * CELL,
    y: 0,
    height,
  });
}

/** Of a key that was read: before this block, or in it. */
function age({ start }, i) {
  return i < start ? "past" : "now";
}

function drawScores(value) {
  const ZERO = 68;
  const UNIT = 19;
  const { scores, maxima, start, seen } = value;
  const m = maxima.at(-1);
  const read = seen * CELL;
  const y = (score) => ZERO - score * UNIT;

  function score(number, i) {
    if (i >= seen)
      return make("circle", { class: "tfb-stream-unread", cx: (i + 0.5) * CELL, cy: ZERO, r: 1.5 });
    return make("rect", {
      class: `tfb-stream-score tfb-stream-${age(value, i)}`,
      x: i * CELL + 3,
      width: CELL - 6,
      y: Math.min(y(number), ZERO).toFixed(2),
      height: Math.max(Math.abs(number * UNIT), 0.5).toFixed(2),
      "data-score": number,
    });
  }

  /** The running maximum after each block. */
  function stairs() {
    const steps = maxima.map((top, i) => {
      if (!i) return `M0 ${y(top)}`;
      return `H${(i * start * CELL) / (maxima.length - 1)}V${y(top)}`;
    });
    return make("path", { class: "tfb-stream-max", d: `${steps.join("")}h${read - start * CELL}` });
  }

  const inside = read > WIDTH - 70; // no room right of the line for its name
  const picture = drawing(
    WIDTH,
    118,
    `Scores of 16 keys, ${seen} read; the largest so far is ${m.toFixed(2)}`,
    band(value, 118),
    ...scores.map(score),
    line(0, ZERO, WIDTH, ZERO, "tfb-floor"),
    stairs(),
    inside
      ? text(WIDTH - 4, y(m) - 5, "m", "tfb-stream-strong", "end")
      : text(read + 5, y(m) + 4, "m", "tfb-stream-strong"),
    seen < KEYS ? text(WIDTH - 2, 112, "not read yet", "", "end") : "",
  );
  return [title("scores of one query: the largest so far is ", bold(`m = ${m.toFixed(2)}`)), picture];
}

function drawTerms(value) {
  const FLOOR = 78;
  const UNIT = 66;
  const { terms, before, start, shrink, sum } = value;
  const rose = start > 0 && shrink < 1; // the maximum, so that the earlier terms shrank

  function bar(term, i, name) {
    const height = (term * UNIT).toFixed(2);
    const y = (FLOOR - term * UNIT).toFixed(2);
    return make("rect", { class: name, x: i * CELL + 3, width: CELL - 6, y, height });
  }

  function bars(numbers, nameOf) {
    return numbers.flatMap((number, i) => (number === null ? [] : [bar(number, i, nameOf(i))]));
  }

  const Z = sum.toFixed(2);
  const factor = shrink.toFixed(2);
  const picture = drawing(
    WIDTH,
    84,
    `Terms of the sum, ${Z} in all${rose ? `; earlier ones shrank by ${factor}` : ""}`,
    band(value, FLOOR),
    ...bars(terms, (i) => `tfb-stream-term tfb-stream-${age(value, i)}`),
    ...(rose ? bars(before, () => "tfb-stream-before") : []),
    line(0, FLOOR, WIDTH, FLOOR, "tfb-floor"),
  );
  const shrunk = rose ? `, earlier ones ×\u00a0${factor}` : "";
  return [title("e", make("sup", {}, "score − m"), ": their sum is ", bold(`Z = ${Z}`), shrunk), picture];
}

function drawMean({ seen, mean, plain, values, terms }) {
  const LINE = 40;
  const x = (number) => (10 + (number * (WIDTH - 20)) / 10).toFixed(2);
  const value = (number, i) => {
    const read = i < seen;
    const r = read ? (2 + 7 * Math.sqrt(terms[i])).toFixed(2) : 2;
    return make("circle", {
      cx: x(number),
      cy: LINE,
      r,
      class: read ? "tfb-stream-value" : "tfb-stream-unread",
    });
  };
  const arrow = `M${x(mean)} ${LINE - 2}l-6 -14h12z`;
  const [written, whole] = [mean.toFixed(2), plain.mean.toFixed(2)];
  const picture = drawing(
    WIDTH,
    74,
    `Values on a line from 0 to 10; mean so far ${written}, softmax of the whole row ${whole}`,
    line(x(0), LINE, x(10), LINE, "tfb-floor"),
    text(x(0), LINE + 20, "0", "", "middle"),
    text(x(10), LINE + 20, "10", "", "middle"),
    ...values.map(value),
    line(x(plain.mean), LINE - 17, x(plain.mean), LINE + 17, "tfb-stream-target"),
    text(x(plain.mean), LINE + 31, `plain softmax ${whole}`, "", "middle"),
    make("path", { class: "tfb-stream-mean", "data-at": x(mean), d: arrow }),
    text(x(mean), LINE - 22, seen === KEYS ? "equal" : "so far", "tfb-stream-strong", "middle"),
  );
  return [title("weighted mean of the values read: ", bold(written)), picture];
}

function drawKept([plain, streaming]) {
  const squares = (scores, numbers) => {
    const names = [...Array(scores).fill("square"), ...Array(numbers).fill("number")];
    const nodes = names.map((name) => make("span", { class: `tfb-stream-${name}` }));
    return make("div", { class: "tfb-stream-squares", "aria-hidden": "true" }, ...nodes);
  };
  return [
    title(bold("Kept for the mean")),
    title("plain: all T scores, ", bold(plain)),
    squares(plain, 0),
    title("streaming: a block, m and Z, ", bold(streaming)),
    squares(streaming - 2, 2),
    title(`with T twice as long: ${2 * plain} and ${streaming}`),
  ];
}
