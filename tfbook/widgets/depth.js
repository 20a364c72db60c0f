// The depth explorer: one line for each form of layer against depth, on a logarithmic axis; beside it
// the chosen form as a drawing.

import { bold, columns, drawing, line, make, text, through } from "./elements.js";
import { raised } from "./numbers.js";

const TOP = 10;
const TALL = 250;
const WIDTH = 350;
const LABELS = 84; // room for the names of the lines, at the end where they are told apart
const TICKS = 36;

const TITLES = {
  gradient: "size of the gradient",
  "direct-path": "gradient by the direct path alone",
  activations: "size of activations (root mean square)",
  "token-spread": "share of the tokens' size that they do not have in common",
};
const FORMS = {
  plain: "every path goes through attention and FFN",
  residual: "the direct path is free",
  "post-norm": "a norm stands on the direct path",
  "pre-norm": "the direct path is free, a norm stands at the start of each branch",
  both: "the direct path is free, norms stand at both ends of each branch",
};

const y = (share) => TOP + TALL * (1 - share);

export function figure({ stage, say, spec }) {
  const { forms, axes, sizes } = spec.constants;
  const headline = make("p", { class: "tfb-headline" });
  const title = make("p", { class: "tfb-panel-title" });
  const chart = make("div", { class: "tfb-chart tfb-depth-chart" });
  const sketch = make("div", { class: "tfb-chart tfb-depth-sketch" });
  const reading = make("p", { class: "tfb-reading" });
  const side = make("div", { class: "tfb-depth-side" }, sketch, reading);
  stage.append(headline, columns([title, chart], side));

  function drawChart(value, { form, shown, L }) {
    const [foot, top, end] = axes[shown];
    const left = end ? TICKS : LABELS;
    const right = WIDTH - (end ? LABELS : TICKS);
    const x = (share) => left + (right - left) * share;
    const on = (i) => (forms[i] === form ? " tfb-on" : "");
    const order = [...forms.keys()].sort((a, b) => on(a).length - on(b).length); // the chosen one on top

    function points(heights) {
      return heights.map((height, i) => (height === null ? null : [x(i / (heights.length - 1)), y(height)]));
    }

    function powerTick(power) {
      const height = y((power - foot) / (top - foot));
      const label = power ? `10${raised(power)}` : "1";
      return [
        line(left, height, right, height, power ? "tfb-depth-grid" : "tfb-depth-one"),
        text(end ? left - 6 : right + 6, height + 4, label, "", end ? "end" : "start"),
      ];
    }

    function band([low, high]) {
      const outline = through([...points(high), ...points(low).reverse()], 2);
      return make("path", { class: "tfb-depth-band", d: `${outline}Z` });
    }

    function formLine(i) {
      const d = through(points(value.lines[i]), 2);
      return make("path", { class: `tfb-depth-line${on(i)}`, "data-form": forms[i], d });
    }

    function formName(i) {
      const across = end ? right + 7 : left - 7;
      const anchor = end ? "start" : "end";
      const height = y(value.labels[i]);
      return [
        text(across, height + 1, forms[i], `tfb-depth-name${on(i)}`, anchor),
        text(across, height + 14, value.numbers[i], `tfb-depth-number${on(i)}`, anchor),
      ];
    }

    const powers = Array.from({ length: top - foot + 1 }, (_, i) => foot + i).filter(
      (power) => power % 2 === 0,
    );
    const numbers = forms.map((name, i) => `${name} ${value.numbers[i]}`);
    const picture = drawing(
      WIDTH,
      TOP + TALL + 40,
      `${title.textContent}: ${numbers.join(", ")}`,
      ...powers.flatMap(powerTick),
      band(value.band),
      ...order.map(formLine),
      ...order.flatMap(formName),
      ...[0, L / 2, L].map((layer) => text(x(layer / L), TOP + TALL + 18, layer, "", "middle")),
      text(x(0.5), TOP + TALL + 35, "layers below", "", "middle"),
    );
    chart.replaceChildren(picture);
  }

  function drawSketch(form) {
    const label = `${form}: ${FORMS[form]}`;
    const parts = form === "plain" ? plainSketch() : residualSketch(form);
    const caption = make("p", { class: "tfb-panel-title" }, label);
    sketch.replaceChildren(drawing(300, 112, `One layer, ${label}`, ...parts), caption);
  }

  function drawReading({ numbers, range }, { form, shown, L, small }) {
    const [, , end, before, after] = axes[shown];
    const number = numbers[forms.indexOf(form)];
    const measured = `from ${range[0]} to ${range[1]} (${sizes}${small ? ", branches shrunk" : ""})`;
    headline.replaceChildren(`${before} `, bold(number), ` ${after}`);
    reading.textContent = `${form}, ${end ? "top" : "bottom"} of ${L} layers: ${number}, ${measured}`;
  }

  return (value, state) => {
    title.textContent = `${TITLES[state.shown]}, ${state.L} layers`;
    drawChart(value, state);
    drawSketch(state.form);
    drawReading(value, state);
    say(`${state.form}, ${state.L} layers: ${headline.textContent.trim()}`);
  };
}

// The sketch of a layer: the stream on top, the branch below it; a norm on the stream stands in the
// gradient's way.

const STREAM = 28;
const BRANCH = 88;
const WORK = "attention or FFN";

function plainSketch() {
  return [wire(290), arrow(292, STREAM, 1, 0), ...box(150, STREAM, 130, WORK, "work")];
}

function residualSketch(form) {
  const norm = (across, height) => box(across, height, 36, "norm", "norm");
  const before = form === "pre-norm" || form === "both";
  const after = form === "both";
  const on = form === "post-norm";
  return [
    wire(290),
    wire(on ? 236 : 290, " tfb-depth-stream"),
    arrow(292, STREAM, 1, 0),
    make("path", { class: "tfb-depth-wire", d: `M28 ${STREAM}V${BRANCH}H222V${STREAM + 9}` }),
    arrow(222, STREAM + 10, 0, -1),
    make("circle", { cx: 222, cy: STREAM, r: 9, class: "tfb-depth-box" }),
    text(222, STREAM + 5, "+", "", "middle"),
    ...box(125, BRANCH, 118, WORK, "work"),
    ...(before ? norm(45, BRANCH) : []),
    ...(after ? norm(205, BRANCH) : []),
    ...(on ? norm(258, STREAM) : []),
  ];
}

function wire(end, name = "") {
  return line(10, STREAM, end, STREAM, `tfb-depth-wire${name}`);
}

/** The head of an arrow that points along (dx, dy). */
function arrow(x, up, dx, dy) {
  const back = [x - 6 * dx, up - 6 * dy];
  const left = `${back[0] - 3.5 * dy} ${back[1] - 3.5 * dx}`;
  const right = `${back[0] + 3.5 * dy} ${back[1] + 3.5 * dx}`;
  return make("path", { class: "tfb-depth-head", d: `M${x} ${up}L${left}L${right}Z` });
}

function box(x, up, width, label, name) {
  const place = { x: x - width / 2, y: up - 13, width, height: 26, rx: 4 };
  return [
    make("rect", { ...place, class: `tfb-depth-box tfb-depth-${name}` }),
    text(x, up + 4, label, "", "middle"),
  ];
}
