// The weights of one query as arcs over its sentence.

import { make, text } from "./elements.js";

const VISIBLE = 0.1; // a weight from here on is written below its word

/** `pick(token)` is called when the reader asks for another query. */
export function arcDiagram(pick) {
  const node = make("div", { class: "tfb-matrix tfb-arcs", pointerdown: point });

  function point(event) {
    const token = event.target.closest?.("[data-token]");
    if (token) pick(Number(token.dataset.token));
  }

  /** Word i stands from edges[i] to edges[i + 1], in pixels unless the page is narrower. */
  function draw(names, weights, query, edges, width, largest = 17) {
    const font = Math.min(13 * Math.max(width / (node.clientWidth || 500), 1), largest); // legible on a phone
    const middle = (i) => (edges[i] + edges[i + 1]) / 2;
    const rise = (key) => 14 + 0.21 * Math.abs(middle(key) - middle(query));
    const floor = 4 + Math.max(...names.map((_, key) => rise(key)));
    const keys = [...names.keys()].filter((key) => weights[key]); // neither masked nor 0

    function arc(key) {
      if (key === query) return `M ${middle(key) - 4} ${floor} a 5 7 0 1 1 8 0`;
      const [left, right] = [middle(key), middle(query)].sort((a, b) => a - b);
      return `M ${right} ${floor} A ${(right - left) / 2} ${rise(key)} 0 0 0 ${left} ${floor}`;
    }

    function arcOf(key) {
      const weight = weights[key];
      return make("path", {
        d: arc(key),
        "data-arc": key,
        "data-weight": weight,
        "stroke-width": 0.5 + 7 * weight,
        "stroke-opacity": 0.25 + 0.75 * weight,
      });
    }

    function word(name, i) {
      const role = i === query ? "tfb-query" : "tfb-key";
      const seen = i === query || weights[i] >= VISIBLE;
      return text(middle(i), floor + font, name, seen ? `${role} tfb-on` : role, "middle");
    }

    function number(key) {
      const written = weights[key].toFixed(2).replace(/^0/, "");
      return text(middle(key), floor + 2.1 * font, written, "tfb-weight", "middle");
    }

    function target(_, i) {
      const box = { x: edges[i], y: floor - 20, width: edges[i + 1] - edges[i], height: 24 + font };
      return make("rect", { ...box, "data-token": i });
    }

    const attributes = {
      viewBox: `0 0 ${width} ${floor + 2.4 * font}`,
      "aria-hidden": "true",
      style: `max-width:${width}px;font-size:${font}px`,
    };
    const numbers = keys.filter((key) => weights[key] >= VISIBLE).map(number);
    const picture = make(
      "svg",
      attributes,
      ...keys.map(arcOf),
      ...names.map(word),
      ...numbers,
      ...names.map(target),
    );
    node.replaceChildren(picture);
  }

  return { node, draw };
}
