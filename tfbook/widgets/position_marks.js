// What the drawings of several schemes of positions have in common.

import { line, make, text } from "./elements.js";

const LEFT = 30;

export function note(x, y, words, anchor) {
  return text(x, y, words, "tfb-position-note", anchor);
}

/** Dot products by distance, up from zero or down; where a distance is chosen, the others are pale. */
export function productBars(products, width, height, top, chosen) {
  const step = (width - LEFT - 2) / products.length;
  const unit = (height - 22) / (1 - Math.min(0, ...products));
  const zero = top + unit;
  const bar = (product, distance) => {
    const role = `tfb-position-${product < 0 ? "negative" : "positive"}`;
    const pale = chosen === undefined || chosen === distance ? "" : " tfb-position-other";
    return make("rect", {
      x: LEFT + distance * step,
      y: product < 0 ? zero : zero - product * unit,
      width: Math.max(step - 1.5, 1),
      height: Math.abs(product) * unit,
      "data-product": product,
      class: role + pale,
    });
  };
  return [
    ...products.map(bar),
    line(LEFT, zero, width, zero, "tfb-floor"),
    note(LEFT - 6, top + 10, "1", "end"),
    note(LEFT - 6, zero + 4, "0", "end"),
    note(LEFT, top + height - 4, "distance 0"),
    note(width - 2, top + height - 4, products.length - 1, "end"),
  ];
}
