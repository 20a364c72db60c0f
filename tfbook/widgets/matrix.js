// An attention matrix that is read cell by cell, a small one for each head, and what its colours mean.

import { make, text } from "./elements.js";
import { clamp, range } from "./numbers.js";

const NAME_ROOM = 80; // left of the rows, and more where names are long
const LABEL =
  "Attention matrix. Arrow keys move over queries and keys, Home and End to the ends of a row, " +
  "with Control to the corners, Page Up and Page Down over heads.";

/** How far a key moves {query, key, head}; the figure keeps that within what there is. */
function stepOf({ key, ctrlKey }) {
  const far = ctrlKey ? Infinity : 0;
  const steps = {
    ArrowUp: { query: -1 },
    ArrowDown: { query: 1 },
    ArrowLeft: { key: -1 },
    ArrowRight: { key: 1 },
    PageUp: { head: -1 },
    PageDown: { head: 1 },
    Home: { query: -far, key: -Infinity },
    End: { query: far, key: Infinity },
  };
  return steps[key];
}

/** `at` is the {head, query, key} that is read; `move(to)` is called when the reader goes elsewhere. */
export function attentionMatrix({ shade }, at, move) {
  let size; // of a cell, in pixels unless the page is narrower
  let left;
  let top;
  const node = make("div", {
    class: "tfb-matrix",
    tabindex: 0,
    role: "application",
    "aria-roledescription": "attention matrix",
    "aria-label": LABEL,
    keydown: press,
    pointermove: point,
    pointerdown: point,
    focus: () => move({}),
  });

  function press(event) {
    const step = stepOf(event);
    if (!step) return;
    event.preventDefault();
    const { query = 0, key = 0, head = 0 } = step;
    move({ query: at.query + query, key: at.key + key, head: at.head + head });
  }

  function point(event) {
    const cell = event.target.closest?.("[data-q]");
    if (cell) move({ query: Number(cell.dataset.q), key: Number(cell.dataset.k) });
  }

  function cell(weight, q, k) {
    const masked = weight === null;
    return make("rect", {
      x: left + k * size,
      y: top + q * size,
      width: size - 1,
      height: size - 1,
      "data-q": q,
      "data-k": k,
      class: masked ? "tfb-masked" : undefined,
      fill: masked ? undefined : shade(weight),
    });
  }

  function queryName(name, q) {
    const label = text(left - 6, top + q * size + size / 2 + 4, name, "tfb-query", "end");
    label.setAttribute("data-query", q);
    return label;
  }

  function keyName(name, k) {
    const transform = `translate(${left + k * size + size / 2 + 4} ${top - 6}) rotate(-52)`;
    return make("text", { transform, class: "tfb-key", "data-key": k }, name);
  }

  function draw(A, names) {
    const T = names.length;
    const longest = Math.max(...names.map((name) => name.length));
    const right = 22 + 4 * longest; // room for a slanted name
    size = clamp(384 / T, 14, 44);
    const shrunk = Math.min((node.clientWidth || 500) / (NAME_ROOM + T * size + right), 1);
    const font = Math.min(13 / shrunk, 0.7 * size); // legible on a phone
    left = Math.max(NAME_ROOM, 10 + 0.6 * font * Math.max(longest, 7)); // 7: the word query and its arrow
    top = Math.max(2 * font + 14, 14 + 0.5 * font * longest);
    const width = left + T * size + right;
    const attributes = {
      viewBox: `0 0 ${width} ${top + T * size + 18}`,
      "aria-hidden": "true",
      style: `max-width:${width}px;font-size:${font}px`,
    };
    const picture = make(
      "svg",
      attributes,
      text(left - 6, top - 8, "query ↓", "tfb-query tfb-axis", "end"),
      text(left - 6, top - 10 - font, "key →", "tfb-axis tfb-key-axis", "end"),
      ...A.flatMap((row, q) => row.map((weight, k) => cell(weight, q, k))),
      ...names.map(queryName),
      ...names.map(keyName),
      make("rect", { class: "tfb-frame", width: size - 1, height: size - 1 }),
    );
    node.replaceChildren(picture);
  }

  /** The cell that is read, its row and its column. */
  function mark() {
    const picture = node.firstChild;
    for (const name of picture.querySelectorAll(".tfb-on")) name.classList.remove("tfb-on");
    picture.querySelector(`[data-query="${at.query}"]`).classList.add("tfb-on");
    picture.querySelector(`[data-key="${at.key}"]`).classList.add("tfb-on");
    const frame = picture.querySelector(".tfb-frame");
    frame.setAttribute("x", left + at.key * size);
    frame.setAttribute("y", top + at.query * size);
  }

  return { node, draw, mark };
}

/** A pixel for each weight. */
export function smallMatrix({ shade }, A) {
  const canvas = make("canvas", { width: A.length, height: A.length, "aria-hidden": "true" });
  const context = canvas.getContext("2d", { willReadFrequently: true });
  for (const q of range(A.length)) {
    for (const k of range(A.length)) {
      if (A[q][k] === null) continue;
      context.fillStyle = shade(A[q][k]);
      context.fillRect(k, q, 1, 1);
    }
  }
  return canvas;
}

export function drawLegend(legend, shade, words) {
  const colours = [0, 0.25, 0.5, 0.75, 1].map(shade);
  legend.replaceChildren("0", make("span", { style: `background:linear-gradient(90deg,${colours})` }), words);
}
