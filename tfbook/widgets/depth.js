// The depth explorer: one line for each form of layer against depth, on a logarithmic axis; beside it the chosen form as a drawing.

function figure({ stage, make, say, spec }) {
  const { forms, axes, sizes } = spec.constants;
  const raised = (n) => [...String(n)].map((c) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)]).join("");
  const headline = make("p", { class: "tfb-headline" });
  const title = make("p", { class: "tfb-panel-title" });
  const chart = make("div", { class: "tfb-depth-chart" });
  const sketch = make("div", { class: "tfb-depth-sketch" });
  const reading = make("p", { class: "tfb-reading" });
  stage.append(headline, make("div", { class: "tfb-columns" }, make("div", { class: "tfb-main" }, title, chart), make("div", { class: "tfb-depth-side" }, sketch, reading)));

  const TOP = 10, HEIGHT = 250, WIDTH = 350, LABELS = 84, TICKS = 36;
  const y = (height) => TOP + HEIGHT * (1 - height);
  const text = (x, up, label, name, anchor = "start") => make("text", { x, y: up, class: name, "text-anchor": anchor }, label);
  const rule = (x1, y1, x2, y2, name) => make("line", { x1, y1, x2, y2, class: name });

  function drawChart(value, { form, shown, L }) {
    const [foot, top, end] = axes[shown], chosen = forms.indexOf(form);
    const left = end ? TICKS : LABELS, right = WIDTH - (end ? LABELS : TICKS); // labels where the lines end
    const x = (share) => left + (right - left) * share;
    const path = (heights) => heights.map((height, i) => (height === null ? "" : `${i && heights[i - 1] !== null ? "L" : "M"}${x(i / (heights.length - 1)).toFixed(2)} ${y(height).toFixed(2)}`)).join("");
    const [low, high] = value.band, points = (heights) => heights.map((height, i) => `${x(i / (heights.length - 1)).toFixed(2)} ${y(height).toFixed(2)}`);
    const powers = Array.from({ length: top - foot + 1 }, (_, i) => foot + i).filter((power) => power % 2 === 0);
    const order = [...forms.keys()].sort((a, b) => (a === chosen) - (b === chosen)); // the chosen one on top
    const outer = end ? right + 7 : left - 7, side = end ? "start" : "end";
    chart.replaceChildren(make("svg", { viewBox: `0 0 ${WIDTH} ${TOP + HEIGHT + 40}`, role: "img", "aria-label": `${title.textContent}: ${forms.map((name, i) => `${name} ${value.numbers[i]}`).join(", ")}` },
      ...powers.flatMap((power) => [
        rule(left, y((power - foot) / (top - foot)), right, y((power - foot) / (top - foot)), power ? "tfb-depth-grid" : "tfb-depth-one"),
        text(end ? left - 6 : right + 6, y((power - foot) / (top - foot)) + 4, power ? `10${raised(power)}` : "1", "", end ? "end" : "start")]),
      make("path", { class: "tfb-depth-band", d: `M${[...points(high), ...points(low).reverse()].join("L")}Z` }),
      ...order.map((i) => make("path", { class: `tfb-depth-line${i === chosen ? " tfb-on" : ""}`, "data-form": forms[i], d: path(value.lines[i]) })),
      ...order.flatMap((i) => [
        text(outer, y(value.labels[i]) + 1, forms[i], `tfb-depth-name${i === chosen ? " tfb-on" : ""}`, side),
        text(outer, y(value.labels[i]) + 14, value.numbers[i], `tfb-depth-number${i === chosen ? " tfb-on" : ""}`, side)]),
      ...[0, L / 2, L].map((layer) => text(x(layer / L), TOP + HEIGHT + 18, layer, "", "middle")),
      text(x(0.5), TOP + HEIGHT + 35, "layers below", "", "middle")));
  }

  const arrow = (x, up, dx, dy) => make("path", { class: "tfb-depth-head", d: `M${x} ${up}L${x - 6 * dx - 3.5 * dy} ${up - 6 * dy - 3.5 * dx}L${x - 6 * dx + 3.5 * dy} ${up - 6 * dy + 3.5 * dx}Z` });
  const box = (x, up, width, label, name) => [make("rect", { x: x - width / 2, y: up - 13, width, height: 26, rx: 4, class: `tfb-depth-box tfb-depth-${name}` }), text(x, up + 4, label, "", "middle")];

  function drawSketch(form) { // the stream on top, the branch below; a norm on the stream stands in the gradient's way
    const stream = 28, branch = 88, before = ["pre-norm", "both"].includes(form), after = form === "both", on = form === "post-norm";
    const work = "attention or FFN", free = on ? 236 : 290;
    const whole = form === "plain"
      ? [rule(10, stream, 290, stream, "tfb-depth-wire"), arrow(292, stream, 1, 0), ...box(150, stream, 130, work, "work")]
      : [rule(10, stream, 290, stream, "tfb-depth-wire"), rule(10, stream, free, stream, "tfb-depth-wire tfb-depth-stream"), arrow(292, stream, 1, 0),
        make("path", { class: "tfb-depth-wire", d: `M28 ${stream}V${branch}H222V${stream + 9}` }), arrow(222, stream + 10, 0, -1),
        make("circle", { cx: 222, cy: stream, r: 9, class: "tfb-depth-box" }), text(222, stream + 5, "+", "", "middle"),
        ...box(125, branch, 118, work, "work"), ...(before ? box(45, branch, 36, "norm", "norm") : []), ...(after ? box(205, branch, 36, "norm", "norm") : []), ...(on ? box(258, stream, 36, "norm", "norm") : [])];
    const said = { plain: "every path goes through attention and FFN", residual: "the direct path is free", "post-norm": "a norm stands on the direct path",
      "pre-norm": "the direct path is free, a norm stands at the start of each branch", both: "the direct path is free, norms stand at both ends of each branch" }[form];
    sketch.replaceChildren(make("svg", { viewBox: "0 0 300 112", role: "img", "aria-label": `One layer, ${form}: ${said}` }, ...whole), make("p", { class: "tfb-panel-title" }, `${form}: ${said}`));
  }

  return (value, state) => {
    const [, , end, before, after] = axes[state.shown], i = forms.indexOf(state.form);
    headline.replaceChildren(`${before} `, make("b", {}, value.numbers[i]), ` ${after}`);
    title.textContent = `${{ gradient: "size of the gradient", "direct-path": "gradient by the direct path alone", activations: "size of activations (root mean square)", "token-spread": "share of the tokens' size that they do not have in common" }[state.shown]}, ${state.L} layers`;
    drawChart(value, state);
    drawSketch(state.form);
    reading.textContent = `${state.form}, ${end ? "top" : "bottom"} of ${state.L} layers: ${value.numbers[i]}, from ${value.range[0]} to ${value.range[1]} (${sizes}${state.small ? ", branches shrunk" : ""})`;
    say(`${state.form}, ${state.L} layers: ${headline.textContent.trim()}`);
  };
}
