// The feed-forward network: one unit, the sum of a few, and below what part of the layer they are.

import { bold, line, make, pixelDrawing, text, through } from "./elements.js";

const HEIGHT = 220; // of a panel, 5 units of the curve
const SIDE = 6;
const WIDEST = 680;

const y = (height) => HEIGHT - 40 * height - 10;

export function figure({ stage, say, spec }) {
  const headline = make("p", { class: "tfb-headline" });
  const panels = make("div", { class: "tfb-unit-panels" });
  const bars = make("div", { class: "tfb-unit-shares" });
  stage.append(headline, panels, bars);

  return (value, state) => {
    const width = Math.min(stage.clientWidth || WIDEST, WIDEST);
    const narrow = width < 520;
    const left = narrow ? width : Math.round(width * 0.36);
    const right = narrow ? width : width - left - 24;
    panels.replaceChildren(
      oneUnit(value, state, left, narrow ? 150 : HEIGHT + 22),
      allUnits(value, state, right, narrow, spec.constants.target),
    );
    bars.replaceChildren(...shares(value, state, width));
    const { unit, units } = state;
    headline.replaceChildren(
      `${units} ${unit} unit${units === 1 ? " misses" : "s miss"} the wave by `,
      bold(value.error.toFixed(2)),
      ", root mean square",
    );
    const [params, flops] = [value.params, value.flops].map((share) => Math.round(100 * share));
    say(`${headline.textContent}. Feed-forward: ${params} percent of the parameters, ${flops} of the FLOPs`);
  };
}

/** Curves over inputs from −4 to 4, each as [heights, its name], and what is written beside them. */
function panel(width, tall, label, curves, words) {
  const x = (i, many) => SIDE + (i / (many - 1)) * (width - 2 * SIDE);
  const curve = ([heights, name]) => {
    const points = heights.map((height, i) => (height === null ? null : [x(i, heights.length), y(height)]));
    return make("path", { d: through(points), class: `tfb-unit-${name}` });
  };
  return pixelDrawing(
    width,
    tall,
    label,
    line(SIDE, y(2.5), width - SIDE, y(2.5), "tfb-unit-axis"),
    line(width / 2, y(5), width / 2, Math.min(y(0), tall - 4), "tfb-unit-axis"),
    ...curves.map(curve),
    ...words,
  );
}

function oneUnit({ curve }, { unit }, width, tall) {
  const name = unit === "gated" ? "one gated unit: silu(x) · x" : `one unit: ${unit}(x)`;
  const words = [
    text(SIDE, y(2.5) + 30, name, "tfb-unit-name"),
    text(width - SIDE, y(2.5) + 15, "x", "tfb-unit-note", "end"),
  ];
  return panel(width, tall, `The curve of one ${unit} unit`, [[curve, "sum"]], words);
}

function allUnits({ bends, partial, sum, error }, { unit, units }, width, narrow, target) {
  const bend = (place) => {
    const across = SIDE + ((place + 4) / 8) * (width - 2 * SIDE);
    const transform = `translate(${across} ${HEIGHT - 6})`;
    return make("path", { d: "M0 0l5 8h-10z", class: "tfb-unit-bend", "data-bend": place, transform });
  };
  const several = narrow ? "▴ a unit begins" : "▴ a unit begins, bends the sum";
  const words = [
    text(SIDE, 14, units === 1 ? "one, weighted" : `the sum of ${units}`, "tfb-unit-name"),
    text(width - SIDE, HEIGHT + 18, "⋯ the wave to follow", "tfb-unit-note", "end"),
    ...bends.map(bend),
    text(SIDE, HEIGHT + 18, units === 1 ? "▴ the unit begins" : several, "tfb-unit-note"),
  ];
  const curves = [[target, "target"], ...partial.map((heights) => [heights, "partial"]), [sum, "sum"]];
  const label = `The sum of ${units} ${unit} units, which misses a wave by ${error.toFixed(2)}`;
  return panel(width, HEIGHT + 22, label, curves, words);
}

function shares({ params, flops }, { unit, ratio }, width) {
  const gated = unit === "gated" ? ", gated: three matrices instead of two" : "";
  const title = `A layer with d_ff = ${ratio === 1 ? "" : `${ratio} `}d${gated} (d = T = 512)`;
  return [
    make("p", { class: "tfb-unit-title" }, title),
    shareBar("parameters", params, width),
    shareBar("FLOPs", flops, width),
  ];
}

function shareBar(name, part, width) {
  const below = width < 320; // two names side by side would touch
  const feedForward = Math.round(100 * part);
  const attention = Math.round(100 - 100 * part);
  const box = { x: 0.5, y: 20.5, height: 13, rx: 2 };
  return pixelDrawing(
    width,
    below ? 56 : 42,
    `${name}: feed-forward ${feedForward} percent`,
    text(0, 13, `${name}: feed-forward ${feedForward} %`, "tfb-unit-name"),
    text(width - 1, below ? 48 : 13, `attention ${attention} %`, "tfb-unit-note", "end"),
    make("rect", { class: "tfb-unit-whole", ...box, width: width - 1 }),
    make("rect", {
      class: "tfb-unit-part",
      ...box,
      width: (part * (width - 1)).toFixed(2),
      "data-share": part,
    }),
  );
}
