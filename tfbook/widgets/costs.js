// The cost explorer: what one token costs in a layer as T grows, on two logarithmic axes; beside it shares, memory, waiting.

function figure({ stage, make, say, spec }) {
  const thousands = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, "\u202f");
  const raised = (n) => [...String(n)].map((c) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[c]).join("");
  const headline = make("p", { class: "tfb-headline" });
  const title = make("p", { class: "tfb-panel-title" });
  const chart = make("div", { class: "tfb-cost-chart" });
  const shares = make("table", { class: "tfb-cost-table tfb-cost-shares" });
  const memory = make("table", { class: "tfb-cost-table tfb-cost-memory" });
  const layers = make("table", { class: "tfb-cost-table tfb-cost-layers" });
  stage.append(headline, make("div", { class: "tfb-columns" }, make("div", { class: "tfb-main" }, title, chart), make("div", { class: "tfb-cost-side" }, shares, memory, layers)));

  const LEFT = 34, TOP = 22, SIZE = 292, WIDTH = 340, HEIGHT = 352;
  const x = (percent) => (LEFT + (percent * SIZE) / 100).toFixed(2);
  const y = (percent) => (TOP + SIZE - (percent * SIZE) / 100).toFixed(2);
  const text = (at, up, label, name, anchor = "start") => make("text", { x: at, y: up, class: name, "text-anchor": anchor }, label);
  const rule = (x1, y1, x2, y2, name) => make("line", { x1, y1, x2, y2, class: name });

  function drawChart(value, T) {
    const [projections, attention, ffn, both] = value.lines;
    const path = (heights) => heights.map((height, i) => `${i ? "L" : "M"}${x((100 * i) / (heights.length - 1))} ${y(height)}`).join("");
    const line = (heights, name) => make("path", { d: path(heights), class: `tfb-cost-line tfb-cost-${name}` });
    const [at, ...heights] = value.now;
    const crossing = ([across, up, length], factor, end) => across === null ? [] : [
      make("circle", { cx: x(across), cy: y(up), r: 5, class: "tfb-cost-crossing", "data-length": length }),
      text(end ? Number(x(across)) - 8 : Math.min(Number(x(across)) + 8, WIDTH - 96), Number(y(up)) + (end ? -7 : 15), `T = ${factor}d = ${thousands(length)}`, "tfb-cost-strong", end ? "end" : "start"),
    ];
    const flat = (heights, label, lift, right) =>
      text(right ? LEFT + SIZE - 4 : LEFT + 5, Number(y(heights[0])) + lift, label, "", right ? "end" : "start");
    const said = `FLOPs of a token in one layer against T, both axes logarithmic. Projections and feed-forward network are flat, scores and mix rise with T; `
      + `they pass the projections at T = ${2 * value.sizes[0]}, projections and feed-forward network together at T = ${6 * value.sizes[0]}.`;
    chart.replaceChildren(make("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": said },
      ...value.ticks.flatMap(([up, power]) => [rule(LEFT, y(up), LEFT + SIZE, y(up), "tfb-cost-grid"), text(LEFT - 6, Number(y(up)) + 4, `10${raised(power)}`, "", "end")]),
      ...spec.constants.lengths.flatMap((length, i, all) => i % 4 ? [] : [
        rule(x((100 * i) / (all.length - 1)), TOP, x((100 * i) / (all.length - 1)), TOP + SIZE, "tfb-cost-grid"),
        text(i === all.length - 1 ? WIDTH : x((100 * i) / (all.length - 1)), TOP + SIZE + 17, thousands(length), "", i === all.length - 1 ? "end" : "middle")]),
      text(LEFT + SIZE / 2, TOP + SIZE + 34, "T tokens", "", "middle"),
      rule(x(at), TOP - 4, x(at), TOP + SIZE, "tfb-cost-now"),
      text(Math.min(Math.max(x(at), LEFT + 30), LEFT + SIZE - 30), TOP - 9, `T = ${thousands(T)}`, "tfb-cost-strong", "middle"),
      line(both, "both"), line(ffn, "ffn"), line(projections, "projections"), line(attention, "attention"),
      ...heights.map((up) => make("circle", { cx: x(at), cy: y(up), r: 3, class: "tfb-cost-dot", "data-up": up })),
      flat(both, "both 24 d²", -5, both[0] < 70), flat(ffn, "FFN 16 d²", 13), flat(projections, "projections 8 d²", 13),
      text(x(15), y(10), "scores and mix 4 T d", "tfb-cost-attention-label"),
      ...crossing(value.crossings[0], 2, false), ...crossing(value.crossings[1], 6, true)));
  }

  const cell = (content) => make("td", {}, content);
  const row = (label, cells, name) => make("tr", { class: name }, make("th", { scope: "row" }, label), ...cells);

  return (value, { model, T }) => {
    const [d, H, L] = value.sizes, quadratic = value.shares[1].toFixed(1);
    headline.replaceChildren(`At T = ${thousands(T)}, the part that grows as T² takes `, make("b", {}, `${quadratic} %`), " of the FLOPs");
    title.textContent = `FLOPs of one token in one layer, d = ${thousands(d)}`;
    drawChart(value, T);
    const bar = (share) => cell(make("span", { class: "tfb-bar", style: `width:${share}%` }));
    shares.replaceChildren(make("caption", {}, `One pass of the model, ${L} layers: FLOPs`),
      ...["projections", "scores and mix", "FFN", "logits"].map((label, i) =>
        row(label, [bar(value.shares[i]), cell(`${value.shares[i].toFixed(1)} %`), cell(value.flops[i])], i === 1 ? "tfb-cost-strong" : undefined)),
      row("in all", [cell(""), cell(""), cell(value.flops[4])], "tfb-cost-sum"));
    memory.replaceChildren(make("caption", {}, `Memory of ${L} layers, 2 bytes a number`),
      ...["score matrices, kept", "streaming: max and sum", `cache, ${H} key heads`, "cache, 1 shared key head"].map((label, i) =>
        row(label, [cell(i ? "∝ T" : "∝ T²"), cell(value.memory[i])])));
    layers.replaceChildren(make("caption", {}, "One layer of each kind"),
      make("tr", {}, make("td", {}), ...["attention", "recurrent", "convolution"].map((name) => make("th", { scope: "col" }, name))),
      ...["FLOPs a token", "steps in sequence", "path, first to last"].map((label, i) => row(label, value.layers.map((kind) => cell(i ? thousands(kind[i]) : kind[i])))));
    const named = ["projections", "scores and mix", "FFN", "logits"].map((name, i) => `${name} ${value.shares[i].toFixed(1)} %`);
    say(`${model}, T ${T}: ${named.join(", ")} of ${value.flops[4]}FLOPs`);
  };
}
