// The attention explorer. A large matrix for one head, a small one for each; beside them what the layer costs.

function figure({ stage, make, say, shade, spec }) {
  const words = spec.constants.sentence;
  const thousands = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, "\u202f");
  const at = { head: 0, query: 0, key: 0 };
  let value, state;

  const headline = make("p", { class: "tfb-headline" });
  const matrix = make("div", {
    class: "tfb-matrix", tabindex: 0, role: "application", "aria-roledescription": "attention matrix",
    "aria-label": "Attention matrix. Arrow keys move over queries and keys, Page Up and Page Down over heads.",
    keydown: (event) => {
      const [query, key, head] = { ArrowUp: [-1, 0, 0], ArrowDown: [1, 0, 0], ArrowLeft: [0, -1, 0], ArrowRight: [0, 1, 0], PageUp: [0, 0, -1], PageDown: [0, 0, 1] }[event.key] ?? [];
      if (query === undefined) return;
      event.preventDefault();
      move({ query: at.query + query, key: at.key + key, head: at.head + head });
    },
    pointermove: point, pointerdown: point, focus: () => move({}),
  });
  const reading = make("p", { class: "tfb-reading" });
  const legend = make("div", { class: "tfb-legend", "aria-hidden": "true" });
  const heads = make("div", { class: "tfb-heads", role: "group", "aria-label": "Choose a head" });
  const costs = make("table", { class: "tfb-costs" });
  stage.append(headline, make("div", { class: "tfb-columns" }, make("div", { class: "tfb-main" }, matrix, reading, legend, heads), costs));

  function point(event) {
    const cell = event.target.closest?.("[data-q]");
    if (cell) move({ query: Number(cell.dataset.q), key: Number(cell.dataset.k) });
  }

  function move(to) {
    const clamp = (n, size) => Math.min(Math.max(n, 0), size - 1);
    const head = at.head;
    Object.assign(at, to);
    [at.head, at.query, at.key] = [clamp(at.head, state.H), clamp(at.query, state.T), clamp(at.key, state.T)];
    if (at.head !== head) drawMatrix();
    mark();
    say(`head ${at.head + 1} of ${state.H}: ${sentence()}`);
  }

  function sentence() {
    const weight = value.weights[at.head][at.query][at.key];
    const pair = `${words[at.query % words.length]} → ${words[at.key % words.length]}`;
    return weight === null ? `${pair}: masked` : `${pair}: ${weight.toFixed(3)}, of a row that sums to ${value.sums[at.head][at.query].toFixed(3)}`;
  }

  function mark() { // the cell that is read, its row and its column
    const svg = matrix.firstChild;
    for (const node of svg.querySelectorAll(".tfb-on")) node.classList.remove("tfb-on");
    svg.querySelector(`[data-query="${at.query}"]`).classList.add("tfb-on");
    svg.querySelector(`[data-key="${at.key}"]`).classList.add("tfb-on");
    const frame = svg.querySelector(".tfb-frame");
    frame.setAttribute("x", LEFT + at.key * CELL);
    frame.setAttribute("y", TOP + at.query * CELL);
    reading.textContent = sentence();
  }

  const LEFT = 80, TOP = 62, RIGHT = 46;
  let CELL; // pixels, unless the page is narrower
  function drawMatrix() {
    const { T } = state;
    CELL = Math.min(Math.max(384 / T, 14), 44);
    const middle = CELL / 2 + 4;
    const shrunk = Math.min((matrix.clientWidth || 500) / (LEFT + T * CELL + RIGHT), 1), font = Math.min(13 / shrunk, 0.7 * CELL); // legible on a phone
    const cells = [], A = value.weights[at.head], size = T * CELL;
    for (let q = 0; q < T; q++)
      for (let k = 0; k < T; k++)
        cells.push(make("rect", {
          x: LEFT + k * CELL, y: TOP + q * CELL, width: CELL - 1, height: CELL - 1, "data-q": q, "data-k": k,
          class: A[q][k] === null ? "tfb-masked" : undefined, fill: A[q][k] === null ? undefined : shade(A[q][k]),
        }));
    const rows = A.map((_, q) => make("text", { x: LEFT - 6, y: TOP + q * CELL + middle, "text-anchor": "end", class: "tfb-query", "data-query": q }, words[q % words.length]));
    const columns = A.map((_, k) => make("text", { transform: `translate(${LEFT + k * CELL + middle} ${TOP - 6}) rotate(-52)`, class: "tfb-key", "data-key": k }, words[k % words.length]));
    const sums = A.map((_, q) => make("text", { x: LEFT + size + 5, y: TOP + q * CELL + middle, class: "tfb-sum" }, value.sums[at.head][q].toFixed(2)));
    matrix.replaceChildren(make("svg", { viewBox: `0 0 ${LEFT + size + RIGHT} ${TOP + size + 4}`, "aria-hidden": "true", style: `max-width:${LEFT + size + RIGHT}px;font-size:${font}px` },
      make("text", { x: LEFT - 6, y: TOP - 8, "text-anchor": "end", class: "tfb-query tfb-axis" }, "query"),
      make("text", { x: LEFT + size + 5, y: TOP - 8, class: "tfb-sum" }, "sum"),
      ...cells, ...rows, ...columns, ...sums,
      make("rect", { class: "tfb-frame", width: CELL - 1, height: CELL - 1 })));
    headline.replaceChildren(`Head ${at.head + 1} of ${state.H}: a query spreads over `, make("b", {}, value.spread[at.head].toFixed(1)),
      ` of ${value.visible.toFixed(1).replace(/\.0$/, "")} keys`);
    [...heads.children].forEach((button, i) => button.setAttribute("aria-pressed", i === at.head));
  }

  function drawHeads() {
    heads.hidden = state.H === 1;
    heads.replaceChildren(...value.weights.map((A, i) => {
      const canvas = make("canvas", { width: state.T, height: state.T, "aria-hidden": "true" });
      const context = canvas.getContext("2d", { willReadFrequently: true });
      A.forEach((row, q) => row.forEach((weight, k) => {
        if (weight === null) return;
        context.fillStyle = shade(weight);
        context.fillRect(k, q, 1, 1);
      }));
      return make("button", { type: "button", "aria-pressed": "false", click: () => move({ head: i }) }, canvas, `head ${i + 1}`);
    }));
  }

  function drawCosts() {
    const W = (name) => ["X W", make("sub", {}, name), " "];
    const parts = [[...W("Q"), ...W("K"), ...W("V")], ["Q Kᵀ"], ["A V"], ["[heads] W", make("sub", {}, "O")]];
    const total = value.flops.reduce((a, b) => a + b);
    const row = (label, number, share) => make("tr", {}, make("th", { scope: "row" }, ...label),
      make("td", {}, share === undefined ? "" : make("span", { class: "tfb-bar", style: `width:${100 * share}%` })), make("td", {}, thousands(number)));
    costs.replaceChildren(
      make("caption", {}, "What this attention costs, in FLOPs"),
      make("tbody", {}, ...parts.map((label, i) => row(label, value.flops[i], value.flops[i] / total))),
      make("tfoot", {}, row(["in all"], total), row(["weights kept, H·T²"], value.stored), row(["dₖ = d / H"], value.d_k)));
  }

  return (newValue, newState) => {
    [value, state] = [newValue, newState];
    [at.head, at.query, at.key] = [Math.min(at.head, state.H - 1), Math.min(at.query, state.T - 1), Math.min(at.key, state.T - 1)];
    drawHeads();
    drawMatrix();
    mark();
    drawCosts();
    legend.replaceChildren("0", make("span", { style: `background:linear-gradient(90deg,${[0, 0.25, 0.5, 0.75, 1].map(shade)})` }), "1 weight");
    say(`T ${state.T}, d ${state.d}, ${state.H} heads: ${headline.textContent}`);
  };
}
