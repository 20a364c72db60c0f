// Why divide by √d_k: on the left where scores fall, on the right what the softmax gives to 16 keys.

import { bold, drawing, line, make, text } from "./elements.js";

const WIDTH = 300;
const HEIGHT = 150;
const FLOOR = 128;

export function figure({ stage, say }) {
  const headline = make("p", { class: "tfb-headline" });
  const scores = make("div", { class: "tfb-panel" });
  const weights = make("div", { class: "tfb-panel" });
  const facts = make("p", { class: "tfb-reading" });
  stage.append(headline, make("div", { class: "tfb-panels" }, scores, weights), facts);

  function drawScores({ deviation, share }) {
    const labels = [
      text(0.006 * WIDTH, FLOOR + 17, "≤ −40"),
      text(0.5 * WIDTH, FLOOR + 17, "0", undefined, "middle"),
      text(0.994 * WIDTH, FLOOR + 17, "≥ 40", undefined, "end"),
    ];
    const spread = `standard deviation ${deviation.toFixed(1)}`;
    const picture = drawing(
      WIDTH,
      HEIGHT,
      `Histogram of scores, ${spread}`,
      ...bars(share, 0.42, "score"),
      ...labels,
    );
    scores.replaceChildren(title(`share of scores, ${spread}`), picture);
  }

  function drawWeights({ weights: A }) {
    const largest = A[0].toFixed(2);
    const labels = [
      text(0, FLOOR + 17, `largest ${largest}`),
      text(0.98 * WIDTH, FLOOR + 17, "16 keys", undefined, "end"),
    ];
    const picture = drawing(
      WIDTH,
      HEIGHT,
      `Weights, the largest ${largest}`,
      ...bars(A, 1, "weight"),
      ...labels,
    );
    weights.replaceChildren(title("weights of a median query, largest first"), picture);
  }

  return (value, { d_k, scale }) => {
    headline.replaceChildren("A query spreads over ", bold(value.spread.toFixed(1)), " of 16 keys");
    drawScores(value);
    drawWeights(value);
    const gradient = value.gradient.toFixed(3);
    const divided = scale ? "divided by its root" : "not divided";
    facts.textContent = `size of the softmax's gradient: ${gradient}`;
    say(`width ${d_k}, ${divided}: ${headline.textContent}, gradient ${gradient}`);
  };
}

function title(words) {
  return make("p", { class: "tfb-panel-title" }, words);
}

function bars(shares, most, name) {
  const step = WIDTH / shares.length;
  const bar = (share, i) => {
    const height = (Math.min(share / most, 1) * (FLOOR - 8)).toFixed(2);
    const place = { x: i * step + 0.5, y: FLOOR - height, width: step - 1, height };
    return make("rect", { class: `tfb-bar-${name}`, ...place, "data-height": share });
  };
  return [...shares.map(bar), line(0, FLOOR, WIDTH, FLOOR, "tfb-floor")];
}
