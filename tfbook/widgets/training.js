// The training explorer: the loss on its way down past simple guesses; beside it what the model writes
// at this step and expects next.

import { bold, columns, drawing, line, make, text, through } from "./elements.js";
import { bar, cell, row } from "./tables.js";

const LEFT = 26;
const RIGHT = 372;
const TOP = 12;
const FOOT = 262;
const WIDTH = 380;

const x = (share) => LEFT + (RIGHT - LEFT) * share;
const y = (share) => FOOT - (FOOT - TOP) * share;

export function figure({ stage, say, spec }) {
  const { baselines, prompt, size } = spec.constants;
  const headline = make("p", { class: "tfb-headline" });
  const written = make("p", { class: "tfb-training-text", translate: "no" });
  const expected = make("table", { class: "tfb-costs tfb-training-next" });
  const now = line(0, TOP, 0, FOOT, "tfb-training-now");
  const dot = make("circle", { r: 5, class: "tfb-training-dot" });
  const chart = drawChart(spec.constants, now, dot);
  const guesses = baselines.map(([name, bits]) => `${name} ${bits}`).join(", ");
  const main = [
    title("loss on text that it has not read, bits a character"),
    make("div", { class: "tfb-chart tfb-training-chart" }, chart),
    title(size),
  ];
  const page = title(`what it writes after “${prompt}”`);
  stage.append(headline, columns(main, make("div", { class: "tfb-training-side" }, page, written, expected)));

  function moveDot([across, up]) {
    const place = x(across).toFixed(2);
    now.setAttribute("x1", place);
    now.setAttribute("x2", place);
    dot.setAttribute("cx", place);
    dot.setAttribute("cy", y(up).toFixed(2));
  }

  function drawExpected({ next, bars }) {
    const rows = next.map(([character, share], i) => row(character, [cell(bar(100 * bars[i])), cell(share)]));
    expected.replaceChildren(make("caption", {}, "What it expects next"), make("tbody", {}, ...rows));
  }

  return (value, { step }) => {
    const steps = `${step.toLocaleString("en")} step${step === 1 ? "" : "s"}`;
    const { loss, better, next, sample } = value;
    headline.replaceChildren(`After ${steps}: `, bold(loss), ` bits a character, ${better}`);
    moveDot(value.place);
    chart.setAttribute(
      "aria-label",
      `Loss against steps, both scales marked; here ${loss} bits. Guesses: ${guesses}`,
    );
    written.replaceChildren(make("span", {}, prompt), sample);
    drawExpected(value);
    const [[character, share]] = next;
    say(`${headline.textContent}. It expects ${character}, ${share}, and writes: ${sample.slice(0, 60)}`);
  };
}

function title(words) {
  return make("p", { class: "tfb-panel-title" }, words);
}

function lossLine(points, name) {
  const places = points.map(([across, up]) => [x(across), y(up)]);
  return make("path", { class: name, d: through(places, 2) });
}

function drawChart({ held_out, train, baselines, across, up }, now, dot) {
  const bitsTick = ([bits, share]) => [
    line(LEFT, y(share), RIGHT, y(share), "tfb-training-grid"),
    text(LEFT - 6, y(share) + 4, bits, "", "end"),
  ];
  const baseline = ([name, bits, share], i) => {
    const first = i === 0; // the curve begins there, so its name stands at the right
    const anchor = first ? "end" : "start";
    return [
      line(LEFT, y(share), RIGHT, y(share), "tfb-training-guess"),
      text(first ? RIGHT : LEFT + 4, y(share) - 4, `${name} ${bits}`, "tfb-training-name", anchor),
    ];
  };
  const [end, below] = [held_out.at(-1), train.at(-1)];
  return drawing(
    WIDTH,
    FOOT + 40,
    "",
    ...up.flatMap(bitsTick),
    ...baselines.flatMap(baseline),
    now,
    lossLine(train, "tfb-training-train"),
    lossLine(held_out, "tfb-training-held"),
    text(RIGHT, y(end[1]) - 16, "held out", "tfb-training-held-name", "end"),
    text(RIGHT, y(below[1]) + 17, "training text", "tfb-training-train-name", "end"),
    dot,
    ...across.map(([label, share]) => text(x(share), FOOT + 18, label, "", "middle")),
    text(x(0.5), FOOT + 35, "steps", "", "middle"),
  );
}
