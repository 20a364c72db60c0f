// The heads explorer. A small matrix for each head and what it does; of one head a large matrix and a
// query's weights as arcs.

import { arcDiagram } from "./arcs.js";
import { bold, columns, make } from "./elements.js";
import { attentionMatrix, drawLegend, smallMatrix } from "./matrix.js";
import { clamp, range } from "./numbers.js";
import { bar, cell, row } from "./tables.js";

const LEFT = 80; // as wide as the matrix below, its columns under the tokens
const CELL = 24;

export function figure(view) {
  const { stage, say, shade, spec } = view;
  const { letters, questions } = spec.constants;
  const at = { head: 0, query: 12, key: null };
  const edges = range(letters.length + 1).map((i) => LEFT + i * CELL);
  let value;
  let state;

  const headline = make("p", { class: "tfb-headline" });
  const heads = make("div", { class: "tfb-heads tfb-work", role: "group", "aria-label": "Choose a head" });
  const arcs = arcDiagram((query) => move({ query }));
  const matrix = attentionMatrix(view, at, move);
  const reading = make("p", { class: "tfb-reading" });
  const legend = make("div", { class: "tfb-legend", "aria-hidden": "true" });
  const table = make("table", { class: "tfb-costs tfb-questions" });
  stage.append(headline, heads, columns([reading, arcs.node, matrix.node, legend], table));

  function move(to) {
    const head = at.head;
    Object.assign(at, { key: null }, to);
    settle();
    if (at.head !== head) drawHead();
    mark();
    say(`head ${at.head + 1} of ${state.H}: ${sentence()}`);
  }

  /** Within what there is; where no key was asked for, the one that the query attends to most. */
  function settle() {
    at.head = clamp(at.head, 0, state.H - 1);
    at.query = clamp(at.query, 0, letters.length - 1);
    at.key = clamp(at.key ?? value.most[at.head][at.query], 0, letters.length - 1);
  }

  function sentence() {
    const token = (i) => `${letters[i]} (place ${i + 1})`;
    const weights = value.weights[at.head][at.query];
    const most = value.most[at.head][at.query];
    const said = `token ${token(at.query)} attends most to ${token(most)}, ${weights[most].toFixed(2)}`;
    if (at.key === most) return said;
    if (weights[at.key] === null) return `${said}; ${token(at.key)} is masked`;
    return `${said}; to ${token(at.key)} ${weights[at.key].toFixed(2)}`;
  }

  function mark() {
    matrix.mark();
    arcs.draw(letters, value.weights[at.head][at.query], at.query, edges, edges.at(-1) + 26);
    reading.textContent = sentence();
  }

  function headButton(A, i) {
    const attributes = { type: "button", "aria-pressed": "false", click: () => move({ head: i }) };
    const name = make("span", {}, `head ${i + 1}`);
    return make("button", attributes, smallMatrix(view, A), name, bold(value.work[i]));
  }

  function drawHead() {
    matrix.draw(value.weights[at.head], letters);
    for (const [i, button] of [...heads.children].entries())
      button.setAttribute("aria-pressed", i === at.head);
    drawTable();
  }

  function drawTable() {
    const heading = (words) => make("th", { scope: "col", colspan: 2 }, words);
    const loss = make("th", { scope: "row", colspan: 4 }, "loss, nats (a guess: 2.30)");
    const head = make(
      "tr",
      {},
      cell(""),
      heading(`weight of head ${at.head + 1} there`),
      heading("right answers"),
    );
    table.replaceChildren(
      make("caption", {}, "Each question wants a place"),
      make("thead", {}, head),
      make("tbody", {}, ...questions.map(questionRow)),
      make("tfoot", {}, make("tr", {}, loss, cell(value.loss.toFixed(2)))),
    );
  }

  function questionRow(question, i) {
    const score = value.scores[at.head][i];
    const right = 100 * value.accuracy[i];
    const short = value.short[i] ? "tfb-short" : undefined;
    return row(question, [
      cell(bar(100 * score)),
      cell(score.toFixed(2)),
      cell(bar(right, short)),
      cell(`${right.toFixed(0)} %`, short),
    ]);
  }

  function drawHeadline() {
    const missed = questions.filter((_, i) => value.short[i]);
    const some = missed.length && missed.length < questions.length;
    headline.replaceChildren(
      `d = ${state.d} in ${state.H} head${state.H > 1 ? "s" : ""}${state.trained ? "" : ", untrained"}: `,
      bold(`${questions.length - missed.length} of ${questions.length}`),
      " questions answered",
      some ? `, not: ${missed.join(", ")}` : "",
    );
  }

  return (newValue, newState) => {
    const first = !state;
    [value, state] = [newValue, { ...newState }];
    if (first)
      at.head = Math.max(
        value.work.findIndex((work) => work.startsWith("induction")),
        0,
      );
    at.key = null;
    settle();
    heads.replaceChildren(...value.weights.map(headButton));
    drawHead();
    mark();
    drawHeadline();
    drawLegend(legend, shade, "1 weight");
    say(`layer ${state.layer}, ${headline.textContent}`);
  };
}
