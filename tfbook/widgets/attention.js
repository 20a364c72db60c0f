// The attention explorer. A query's weights as arcs over the sentence, a large matrix for one head, a small one for each; beside them the costs.

function figure(view) {
  const { stage, make, say, shade, spec } = view;
  const { sentence } = spec.constants;
  const thousands = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, "\u202f");
  const at = { head: 0, query: 9, key: 1 }; // it → cat
  let words, value, state;

  const pen = make("canvas").getContext("2d");
  pen.font = "700 13px system-ui, sans-serif";
  const headline = make("p", { class: "tfb-headline" });
  const matrix = attentionMatrix(view, at, move);
  const arcs = arcDiagram(view, (query) => move({ query }));
  const reading = make("p", { class: "tfb-reading" });
  const legend = make("div", { class: "tfb-legend", "aria-hidden": "true" });
  const heads = make("div", { class: "tfb-heads", role: "group", "aria-label": "Choose a head" });
  const costs = make("table", { class: "tfb-costs" });
  stage.append(headline, make("div", { class: "tfb-columns" }, make("div", { class: "tfb-main" }, reading, arcs.node, matrix.node, legend, heads), costs));

  function move(to) {
    const head = at.head;
    Object.assign(at, to);
    [at.head, at.query, at.key] = [within(at.head, state.H), within(at.query, state.T), within(at.key, state.T)];
    if (at.head !== head) drawMatrix();
    mark();
    say(`head ${at.head + 1} of ${state.H}: ${pair()}`);
  }

  function pair() {
    const weight = value.weights[at.head][at.query][at.key];
    return `${words[at.query]} → ${words[at.key]}: ${weight === null ? "masked" : weight.toFixed(2)}`;
  }

  function mark() {
    matrix.mark();
    arcs.draw(words, value.weights[at.head][at.query], at.query, edges(), edges().at(-1), 14);
    reading.textContent = pair();
  }

  function edges() { // room for each word
    return words.reduce((ends, word) => [...ends, ends.at(-1) + pen.measureText(word).width + 8], [0]);
  }

  function drawMatrix() {
    matrix.draw(value.weights[at.head], words);
    headline.replaceChildren(`Head ${at.head + 1} of ${state.H}${state.H > value.H_kv ? `, with key head ${value.reads[at.head]} of ${value.H_kv}` : ""}: a query spreads over `, make("b", {}, value.spread[at.head].toFixed(1)),
      ` of ${value.visible.toFixed(1).replace(/\.0$/, "")} keys`);
    [...heads.children].forEach((button, i) => button.setAttribute("aria-pressed", i === at.head));
  }

  function drawHeads() {
    heads.hidden = state.H === 1;
    heads.replaceChildren(...value.weights.map((A, i) =>
      make("button", { type: "button", "aria-pressed": "false", click: () => move({ head: i }) }, smallMatrix(view, A), `head ${i + 1}`, ...(state.H > value.H_kv ? [make("br"), `key head ${value.reads[i]}`] : []))));
  }

  function drawCosts() {
    const W = (name, comma = ", ") => ["X W", make("sub", {}, name), comma];
    const parts = [[...W("Q"), ...W("K"), ...W("V", "")], ["Q Kᵀ"], ["A V"], ["[heads] W", make("sub", {}, "O")]];
    const total = value.flops.reduce((a, b) => a + b);
    const row = (label, number, share) => make("tr", {}, make("th", { scope: "row" }, ...label),
      make("td", {}, share === undefined ? "" : make("span", { class: "tfb-bar", style: `width:${100 * share}%` })), make("td", {}, thousands(number)));
    costs.replaceChildren(
      make("caption", {}, "What this attention costs, in FLOPs"),
      make("tbody", {}, ...parts.map((label, i) => row(label, value.flops[i], value.flops[i] / total))),
      make("tfoot", {}, row(["in all"], total), row(["weights kept"], value.stored[0]), row(["keys and values kept"], value.stored[1]), row(["dₖ = d / H"], value.d_k)));
  }

  return (newValue, newState) => {
    [value, state] = [newValue, newState];
    words = Array.from({ length: state.T }, (_, i) => sentence[i % sentence.length]);
    [at.head, at.query, at.key] = [within(at.head, state.H), within(at.query, state.T), within(at.key, state.T)];
    drawHeads();
    drawMatrix();
    mark();
    drawCosts();
    legend.replaceChildren("0", make("span", { style: `background:linear-gradient(90deg,${[0, 0.25, 0.5, 0.75, 1].map(shade)})` }), "1 weight; each row sums to 1");
    say(`T ${state.T}, d ${state.d}, ${state.H} heads: ${headline.textContent}`);
  };
}
