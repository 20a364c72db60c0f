// The heads explorer. A small matrix for each head and what it does; of one head a large matrix and a query's weights as arcs.

function figure(view) {
  const { stage, make, say, shade, spec } = view;
  const { letters, questions } = spec.constants;
  const at = { head: 0, query: 12, key: null };
  let value, state;

  const headline = make("p", { class: "tfb-headline" });
  const heads = make("div", { class: "tfb-heads tfb-work", role: "group", "aria-label": "Choose a head" });
  const arcs = arcDiagram(view, (query) => move({ query }));
  const matrix = attentionMatrix(view, at, move);
  const reading = make("p", { class: "tfb-reading" });
  const legend = make("div", { class: "tfb-legend", "aria-hidden": "true" });
  const table = make("table", { class: "tfb-costs tfb-questions" });
  stage.append(headline, heads, make("div", { class: "tfb-columns" }, make("div", { class: "tfb-main" }, reading, arcs.node, matrix.node, legend), table));

  function move(to) {
    const head = at.head;
    Object.assign(at, { key: null }, to);
    settle();
    if (at.head !== head) drawHead();
    mark();
    say(`head ${at.head + 1} of ${state.H}: ${sentence()}`);
  }

  function settle() { // within what there is; where no key was asked for, the one that the query attends to most
    [at.head, at.query] = [within(at.head, state.H), within(at.query, letters.length)];
    at.key = within(at.key ?? value.most[at.head][at.query], letters.length);
  }

  function sentence() {
    const token = (i) => `${letters[i]} (place ${i + 1})`;
    const row = value.weights[at.head][at.query], most = value.most[at.head][at.query];
    const other = at.key === most ? "" : row[at.key] === null ? `; ${token(at.key)} is masked` : `; to ${token(at.key)} ${row[at.key].toFixed(2)}`;
    return `token ${token(at.query)} attends most to ${token(most)}, ${row[most].toFixed(2)}${other}`;
  }

  function mark() {
    matrix.mark();
    arcs.draw(letters, value.weights[at.head][at.query], at.query, edges, edges.at(-1) + 26);
    reading.textContent = sentence();
  }

  function drawHeads() {
    heads.replaceChildren(...value.weights.map((A, i) => make("button", { type: "button", "aria-pressed": "false", click: () => move({ head: i }) },
      smallMatrix(view, A), make("span", {}, `head ${i + 1}`), make("b", {}, value.work[i]))));
  }

  function drawHead() {
    matrix.draw(value.weights[at.head], letters);
    [...heads.children].forEach((button, i) => button.setAttribute("aria-pressed", i === at.head));
    drawTable();
  }

  const LEFT = 80, CELL = 24; // as wide as the matrix below, its columns under the tokens
  const edges = Array.from({ length: letters.length + 1 }, (_, i) => LEFT + i * CELL);

  function drawTable() {
    const bar = (share, short) => make("span", { class: short ? "tfb-bar tfb-short" : "tfb-bar", style: `width:${100 * share}%` });
    const scores = value.scores[at.head];
    table.replaceChildren(
      make("caption", {}, "Each question wants a place"),
      make("thead", {}, make("tr", {}, make("td", {}), make("th", { scope: "col", colspan: 2 }, `weight of head ${at.head + 1} there`), make("th", { scope: "col", colspan: 2 }, "right answers"))),
      make("tbody", {}, ...questions.map((question, i) => make("tr", {}, make("th", { scope: "row" }, question),
        make("td", {}, bar(scores[i])), make("td", {}, scores[i].toFixed(2)),
        make("td", {}, bar(value.accuracy[i], value.short[i])), make("td", { class: value.short[i] ? "tfb-short" : undefined }, `${(100 * value.accuracy[i]).toFixed(0)} %`)))),
      make("tfoot", {}, make("tr", {}, make("th", { scope: "row", colspan: 4 }, "loss, nats (a guess: 2.30)"), make("td", {}, value.loss.toFixed(2)))));
  }

  return (newValue, newState) => {
    const first = !state;
    [value, state] = [newValue, { ...newState }];
    if (first) at.head = Math.max(value.work.findIndex((work) => work.startsWith("induction")), 0);
    at.key = null;
    settle();
    drawHeads();
    drawHead();
    mark();
    const missed = questions.filter((_, i) => value.short[i]);
    headline.replaceChildren(`d = ${state.d} in ${state.H} head${state.H > 1 ? "s" : ""}${state.trained ? "" : ", untrained"}: `,
      make("b", {}, `${questions.length - missed.length} of ${questions.length}`), " questions answered", missed.length && missed.length < questions.length ? `, not: ${missed.join(", ")}` : "");
    legend.replaceChildren("0", make("span", { style: `background:linear-gradient(90deg,${[0, 0.25, 0.5, 0.75, 1].map(shade)})` }), "1 weight");
    say(`layer ${state.layer}, ${headline.textContent}`);
  };
}
