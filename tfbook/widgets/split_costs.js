// What each cut of a layer sends and holds, as stacked bars.

import { make } from "./elements.js";
import { cell, row } from "./tables.js";

export function splitNumber(n) {
  return n.toLocaleString("en", { maximumFractionDigits: n < 100 ? 2 : 0 });
}

export function splitCosts({ sent, total, memory, held }, cuts, chosen) {
  const sentParts = { forwards: "query", backwards: "key", gradients: "muted" };
  const heldParts = { learned: "positive", activations: "query" };
  return [
    barTable("Sent by a process, step of a layer", cuts, sent, total, "MB", sentParts, chosen),
    barTable("Held by a process, a layer", cuts, memory, held, "GB", heldParts, chosen),
  ];
}

/** `parts` are the names of a bar's parts and their colours. */
function barTable(caption, cuts, amounts, totals, unit, parts, chosen) {
  const most = Math.max(...totals, 1e-9);
  const names = Object.keys(parts);
  const segment = (n, i) =>
    make("i", {
      class: `tfb-split-${parts[names[i]]}`,
      style: `width:${(100 * n) / most}%`,
      "data-value": n,
      title: `${names[i]} ${n} ${unit}`,
    });
  const cutRow = (cut, i) => {
    const stack = make("span", { class: "tfb-split-stack" }, ...amounts[i].map(segment));
    const cells = [cell(stack), cell(`${splitNumber(totals[i])} ${unit}`)];
    return row(cut, cells, i === chosen ? "tfb-split-chosen" : undefined);
  };
  const word = (name) => make("span", { class: `tfb-split-word tfb-split-${parts[name]}` }, name);
  return make(
    "table",
    { class: "tfb-costs tfb-split-bars" },
    make("caption", {}, caption),
    make("tbody", {}, ...cuts.map(cutRow)),
    make("tfoot", {}, make("tr", {}, make("td", { colspan: 3 }, ...names.map(word)))),
  );
}
