// Rows of a table, and bars in its cells.

import { make } from "./elements.js";

export function cell(content, name) {
  return make("td", { class: name }, content);
}

export function row(label, cells, name) {
  return make("tr", { class: name }, make("th", { scope: "row" }, ...[label].flat()), ...cells);
}

/** A bar as wide as this share of its cell. */
export function bar(percent, name) {
  return make("span", { class: name ? `tfb-bar ${name}` : "tfb-bar", style: `width:${percent}%` });
}
