
// ---- the weights of one query as arcs over its sentence ----

function arcDiagram({ make }, pick) { // pick(token): the reader asks for another query
  const node = make("div", { class: "tfb-matrix tfb-arcs", pointerdown: (event) => {
    const token = event.target.closest?.("[data-token]");
    if (token) pick(Number(token.dataset.token));
  } });

  function draw(names, row, query, edges, width, most = 17) { // word i stands from edges[i] to edges[i + 1], in pixels unless the page is narrower
    const font = Math.min(13 * Math.max(width / (node.clientWidth || 500), 1), most); // legible on a phone
    const middle = (i) => (edges[i] + edges[i + 1]) / 2;
    const rise = (key) => 14 + 0.21 * Math.abs(middle(key) - middle(query));
    const floor = 4 + Math.max(...names.map((_, key) => rise(key)));
    const arc = (key) => {
      const [left, right] = [middle(key), middle(query)].sort((a, b) => a - b);
      return key === query ? `M ${left - 4} ${floor} a 5 7 0 1 1 8 0` : `M ${right} ${floor} A ${(right - left) / 2} ${rise(key)} 0 0 0 ${left} ${floor}`;
    };
    const word = (i, role) => make("text", { x: middle(i), y: floor + font, "text-anchor": "middle", class: role }, names[i]);
    const weights = row.map((weight, key) => [weight, key]).filter(([weight]) => weight); // neither masked nor 0
    node.replaceChildren(make("svg", { viewBox: `0 0 ${width} ${floor + 2.4 * font}`, "aria-hidden": "true", style: `max-width:${width}px;font-size:${font}px` },
      ...weights.map(([weight, key]) => make("path", { d: arc(key), "data-arc": key, "data-weight": weight, "stroke-width": 0.5 + 7 * weight, "stroke-opacity": 0.25 + 0.75 * weight })),
      ...names.map((_, i) => word(i, i === query ? "tfb-query tfb-on" : row[i] >= 0.1 ? "tfb-key tfb-on" : "tfb-key")),
      ...weights.filter(([weight]) => weight >= 0.1).map(([weight, key]) =>
        make("text", { x: middle(key), y: floor + 2.1 * font, "text-anchor": "middle", class: "tfb-weight" }, weight.toFixed(2).replace(/^0/, ""))),
      ...names.map((_, i) => make("rect", { x: edges[i], y: floor - 20, width: edges[i + 1] - edges[i], height: 24 + font, "data-token": i }))));
  }
  return { node, draw };
}
