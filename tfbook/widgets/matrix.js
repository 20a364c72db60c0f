
// ---- an attention matrix that is read cell by cell, and a small one for each head ----

function attentionMatrix({ make, shade }, at, move) { // at: the {head, query, key} that is read; move(to): the reader goes elsewhere
  let cell, left, top; // pixels, unless the page is narrower
  const node = make("div", {
    class: "tfb-matrix", tabindex: 0, role: "application", "aria-roledescription": "attention matrix",
    "aria-label": "Attention matrix. Arrow keys move over queries and keys, Home and End to the ends of a row, with Control to the corners, Page Up and Page Down over heads.",
    keydown: (event) => {
      const far = event.ctrlKey ? Infinity : 0; // the figure keeps a move within what there is
      const [query, key, head] = {
        ArrowUp: [-1, 0, 0], ArrowDown: [1, 0, 0], ArrowLeft: [0, -1, 0], ArrowRight: [0, 1, 0], PageUp: [0, 0, -1], PageDown: [0, 0, 1],
        Home: [-far, -Infinity, 0], End: [far, Infinity, 0],
      }[event.key] ?? [];
      if (query === undefined) return;
      event.preventDefault();
      move({ query: at.query + query, key: at.key + key, head: at.head + head });
    },
    pointermove: point, pointerdown: point, focus: () => move({}),
  });

  function point(event) {
    const cell = event.target.closest?.("[data-q]");
    if (cell) move({ query: Number(cell.dataset.q), key: Number(cell.dataset.k) });
  }

  function draw(A, names) {
    const T = names.length, longest = Math.max(...names.map((name) => name.length)), RIGHT = 22 + 4 * longest; // room for a slanted name
    cell = Math.min(Math.max(384 / T, 14), 44);
    const middle = cell / 2 + 4, size = T * cell, cells = [];
    const shrunk = Math.min((node.clientWidth || 500) / (80 + size + RIGHT), 1), font = Math.min(13 / shrunk, 0.7 * cell); // legible on a phone
    left = Math.max(80, 10 + 0.6 * font * Math.max(longest, 7)); // 7: the word query and its arrow
    top = Math.max(2 * font + 14, 14 + 0.5 * font * longest);
    for (let q = 0; q < T; q++)
      for (let k = 0; k < T; k++)
        cells.push(make("rect", {
          x: left + k * cell, y: top + q * cell, width: cell - 1, height: cell - 1, "data-q": q, "data-k": k,
          class: A[q][k] === null ? "tfb-masked" : undefined, fill: A[q][k] === null ? undefined : shade(A[q][k]),
        }));
    const rows = names.map((name, q) => make("text", { x: left - 6, y: top + q * cell + middle, "text-anchor": "end", class: "tfb-query", "data-query": q }, name));
    const columns = names.map((name, k) => make("text", { transform: `translate(${left + k * cell + middle} ${top - 6}) rotate(-52)`, class: "tfb-key", "data-key": k }, name));
    node.replaceChildren(make("svg", { viewBox: `0 0 ${left + size + RIGHT} ${top + size + 18}`, "aria-hidden": "true", style: `max-width:${left + size + RIGHT}px;font-size:${font}px` },
      make("text", { x: left - 6, y: top - 8, "text-anchor": "end", class: "tfb-query tfb-axis" }, "query ↓"),
      make("text", { x: left - 6, y: top - 10 - font, "text-anchor": "end", class: "tfb-axis tfb-key-axis" }, "key →"),
      ...cells, ...rows, ...columns,
      make("rect", { class: "tfb-frame", width: cell - 1, height: cell - 1 })));
  }

  function mark() { // the cell that is read, its row and its column
    const svg = node.firstChild;
    for (const name of svg.querySelectorAll(".tfb-on")) name.classList.remove("tfb-on");
    svg.querySelector(`[data-query="${at.query}"]`).classList.add("tfb-on");
    svg.querySelector(`[data-key="${at.key}"]`).classList.add("tfb-on");
    const frame = svg.querySelector(".tfb-frame");
    frame.setAttribute("x", left + at.key * cell);
    frame.setAttribute("y", top + at.query * cell);
  }
  return { node, draw, mark };
}

function smallMatrix({ make, shade }, A) { // a pixel for each weight
  const canvas = make("canvas", { width: A.length, height: A.length, "aria-hidden": "true" });
  const context = canvas.getContext("2d", { willReadFrequently: true });
  A.forEach((row, q) => row.forEach((weight, k) => {
    if (weight === null) return;
    context.fillStyle = shade(weight);
    context.fillRect(k, q, 1, 1);
  }));
  return canvas;
}

function within(n, size) { // the nearest place there is
  return Math.min(Math.max(n, 0), size - 1);
}
