// The cost explorer: what one token costs in a layer as T grows, on two logarithmic axes; beside it shares, memory, waiting.

function figure({ stage, make, say, set, spec }) {
  const { models, lengths } = spec.constants;
  const headline = make("p", { class: "tfb-headline" });
  const title = make("p", { class: "tfb-panel-title tfb-cost-title" });
  const chart = make("div", { class: "tfb-cost-chart" });
  const side = make("div", { class: "tfb-cost-side" });
  stage.append(headline, title, make("div", { class: "tfb-columns" }, make("div", { class: "tfb-main" }, chart), side));
  const drawTables = costTables(side, make);

  const LEFT = 34, TOP = 22, SIZE = 292, WIDTH = 340, HEIGHT = 352;
  const x = (percent) => LEFT + (percent * SIZE) / 100;
  const y = (percent) => TOP + SIZE - (percent * SIZE) / 100;
  const text = (at, up, label, name, anchor = "start") => make("text", { x: at, y: up, class: name, "text-anchor": anchor }, label);
  const rule = (x1, y1, x2, y2, name) => make("line", { x1, y1, x2, y2, class: name });

  function drawChart(value, T) {
    const [projections, ffn, both] = value.heights, [first, second] = value.crossings, at = value.across;
    const flat = (up, name) => rule(LEFT, y(up), LEFT + SIZE, y(up), `tfb-cost-line tfb-cost-${name}`);
    const right = both < 72, low = Math.min(projections, ffn), close = Math.abs(ffn - projections) < 5; // where names do not run into those of the crossings
    const name = (up, lift, label, inwards = 0) => text(right ? LEFT + SIZE - 4 - inwards : LEFT + 5 + inwards, y(up) + lift, label, "tfb-cost-name", right ? "end" : "start");
    const crossing = (i, up, side, top, anchor) => [ // the rising line is the diagonal
      make("circle", { cx: x(up), cy: y(up), r: 5, class: "tfb-cost-crossing", "data-length": value.crossings[i] }),
      ...[`T = ${value.words[i]}`, `= ${thousands(value.crossings[i])}`].map((words, line) => text(x(up) + side, top + 14 * line, words, "tfb-cost-strong", anchor)),
    ];
    const said = `FLOPs of a token in one layer against T, both axes logarithmic. Projections and feed-forward network are flat, scores and mix rise with T; `
      + `they pass the projections at T = ${first}, projections and feed-forward network together at T = ${second}.`;
    const raised = (n) => [...String(n)].map((c) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[c]).join("");
    chart.replaceChildren(make("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": said },
      ...value.ticks.flatMap(([up, power]) => [rule(LEFT, y(up), LEFT + SIZE, y(up), "tfb-cost-grid"), text(LEFT - 6, y(up) + 4, `10${raised(power)}`, "tfb-cost-power", "end")]),
      ...lengths.flatMap((length, i, all) => i % 4 ? [] : [
        rule(x((100 * i) / (all.length - 1)), TOP, x((100 * i) / (all.length - 1)), TOP + SIZE, "tfb-cost-grid"),
        text(i === all.length - 1 ? WIDTH : x((100 * i) / (all.length - 1)), TOP + SIZE + 17, thousands(length), "", i === all.length - 1 ? "end" : "middle")]),
      text(LEFT + SIZE / 2, TOP + SIZE + 34, "T tokens", "", "middle"),
      rule(x(at), TOP - 4, x(at), TOP + SIZE, "tfb-cost-now"),
      text(Math.min(Math.max(x(at), LEFT + 30), LEFT + SIZE - 30), TOP - 9, `T = ${thousands(T)}`, "tfb-cost-strong", "middle"),
      flat(both, "both"), flat(ffn, "ffn"), flat(projections, "projections"),
      make("path", { d: `M${x(0)} ${y(0)}L${x(100)} ${y(100)}`, class: "tfb-cost-line tfb-cost-attention" }),
      ...[projections, ffn, at].map((up) => make("circle", { cx: x(at), cy: y(up), r: 3, class: "tfb-cost-dot" })),
      name(both, -5, "both together"), name(close ? low : projections, 13, "projections"), name(close ? low : ffn, 13, "FFN", close ? 74 : 0),
      text(x(91), y(95), "scores and mix 4 T d", "tfb-cost-attention-label", "end"),
      ...crossing(0, projections, 6, y(low) + 29, "start"), ...crossing(1, both, -6, y(both) - 22, "end")));
  }

  let last; // the model that was drawn before
  return (value, state) => {
    const { model, T, d, d_k, H_kv } = state, own = models[model]; // none where the sizes are the reader's own
    const chosen = model !== last;
    last = model;
    if (own && Object.entries(own).some(([name, size]) => state[name] !== size)) return set(chosen ? own : { model: "own" });
    const [, mix] = value.shares, [H, kv] = value.heads;
    headline.replaceChildren(`At T = ${thousands(T)}, the part that grows as T² takes `, make("b", {}, `${mix.toFixed(1)} %`), " of a layer’s FLOPs");
    const shared = H_kv === "H" ? "" : kv === 1 ? ", which share one key/value head" : `, which share ${kv} key/value heads`;
    title.textContent = `One token in one layer: FLOPs. d = ${thousands(d)}: ${H} ${H === 1 ? "head" : "heads"} of ${d_k}${shared}; d_ff = ${thousands(value.d_ff)}`;
    drawChart(value, T);
    drawTables(value, state);
    const named = ["projections", "scores and mix", "FFN"].map((part, i) => `${part} ${value.shares[i].toFixed(1)} %`);
    say(`${model}, T ${T}, ${H} heads: ${named.join(", ")} of a layer’s FLOPs`);
  };
}
