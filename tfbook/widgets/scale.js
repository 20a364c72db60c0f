// Why divide by √d_k: on the left where scores fall, on the right what the softmax gives to 16 keys.

function figure({ stage, make, say }) {
  const headline = make("p", { class: "tfb-headline" });
  const scores = make("div", { class: "tfb-panel" }), weights = make("div", { class: "tfb-panel" });
  const facts = make("p", { class: "tfb-reading" });
  stage.append(headline, make("div", { class: "tfb-panels" }, scores, weights), facts);

  const WIDTH = 300, HEIGHT = 150, FLOOR = 128;
  function bars(panel, title, heights, most, colour, labels, name) {
    const step = WIDTH / heights.length;
    const y = (height) => (Math.min(height / most, 1) * (FLOOR - 8)).toFixed(2);
    panel.replaceChildren(make("p", { class: "tfb-panel-title" }, title),
      make("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": name },
        ...heights.map((height, i) => make("rect", { class: `tfb-bar-${colour}`, x: i * step + 0.5, width: step - 1, y: FLOOR - y(height), height: y(height), "data-height": height })),
        make("line", { class: "tfb-floor", x1: 0, x2: WIDTH, y1: FLOOR, y2: FLOOR }),
        ...labels.map(([at, text, anchor = "middle"]) => make("text", { x: at * WIDTH, y: FLOOR + 17, "text-anchor": anchor }, text))));
  }

  return (value, { d_k, scale }) => {
    headline.replaceChildren("A query spreads over ", make("b", {}, value.spread.toFixed(1)), " of 16 keys");
    bars(scores, `share of scores, standard deviation ${value.deviation.toFixed(1)}`, value.share, 0.42, "score",
      [[0.006, "≤ −40", "start"], [0.5, "0"], [0.994, "≥ 40", "end"]], `Histogram of scores, standard deviation ${value.deviation.toFixed(1)}`);
    bars(weights, "weights of a median query, largest first", value.weights, 1, "weight",
      [[0, `largest ${value.weights[0].toFixed(2)}`, "start"], [0.98, "16 keys", "end"]], `Weights, the largest ${value.weights[0].toFixed(2)}`);
    facts.textContent = `size of the softmax's gradient: ${value.gradient.toFixed(3)}`;
    say(`width ${d_k}, ${scale ? "divided by its root" : "not divided"}: ${headline.textContent}, gradient ${value.gradient.toFixed(3)}`);
  };
}
