// Masks: a row for each query, a column for each key; what is masked is not there. Rows of cached tokens keep their place, empty.

function figure({ stage, make, say, shade }) {
  const headline = make("p", { class: "tfb-headline" });
  const picture = make("div", { class: "tfb-mask" });
  stage.append(headline, picture);

  return ({ tokens, weights, sums, finding }, { cached, softmax }) => {
    const WIDTH = Math.min(stage.clientWidth || 620, 620), LEFT = 62, TOP = WIDTH < 480 ? 70 : 44, SUM = WIDTH < 480 ? 46 : 130; // pixels
    const CELL = Math.min((WIDTH - LEFT - SUM) / tokens.length, 62), HIGH = Math.min(CELL, 44), size = tokens.length * CELL;
    const x = (key) => LEFT + key * CELL, y = (place) => TOP + place * HIGH, right = LEFT + size + 12;
    const kind = (name, role) => `tfb-mask-${name === "pad" ? "pad" : role}`;
    const parts = [];
    const text = (left, base, words, attributes) => parts.push(make("text", { x: left, y: base, ...attributes }, words));

    tokens.forEach((name, k) => parts.push(make("text", CELL > 52
      ? { x: x(k) + CELL / 2 - 1, y: TOP - 9, "text-anchor": "middle", class: kind(name, "key"), "data-key": k }
      : { transform: `translate(${x(k) + CELL / 2} ${TOP - 9}) rotate(-45)`, class: kind(name, "key"), "data-key": k }, name)));
    text(LEFT - 8, TOP - 9, "query", { "text-anchor": "end", class: "tfb-mask-axis tfb-mask-query" });
    text(LEFT, 12, "key", { class: "tfb-mask-axis tfb-mask-key" });
    tokens.forEach((name, place) => text(LEFT - 8, y(place) + HIGH / 2 + 5, name, {
      "text-anchor": "end", class: place < cached ? "tfb-mask-gone" : kind(name, "query"), "data-query": place < cached ? undefined : place }));
    if (cached) {
      text(LEFT + 8, TOP + cached * HIGH / 2 + 5, "in the cache: keys only", { class: "tfb-mask-note" });
      parts.push(make("line", { class: "tfb-floor", x1: 4, x2: LEFT + size, y1: y(cached) - 1, y2: y(cached) - 1 }));
    }
    text(right, TOP - 9, "sum", { class: "tfb-mask-note" });

    weights.forEach((row, q) => {
      const top = y(cached + q), nothing = row.every((weight) => weight === null), short = sums[q] < 0.9995 && !nothing;
      row.forEach((weight, k) => {
        if (weight === null) return; // absent, which is not the same as 0
        parts.push(make("rect", { x: x(k), y: top, width: CELL - 2, height: HIGH - 2, fill: shade(weight), "data-q": q, "data-k": k, "data-weight": weight }));
        text(x(k) + CELL / 2 - 1, top + HIGH / 2 + 4, weight.toFixed(2).replace(/^0/, ""), {
          "text-anchor": "middle", class: weight > 0.5 ? "tfb-mask-inside tfb-mask-dark" : "tfb-mask-inside" });
      });
      if (SUM > 100) {
        parts.push(make("rect", { class: "tfb-mask-whole", x: right + 38, y: top + HIGH / 2 - 5, width: 76, height: 8 }));
        parts.push(make("rect", { class: short ? "tfb-mask-part tfb-mask-short" : "tfb-mask-part",
          x: right + 38, y: top + HIGH / 2 - 5, width: 76 * sums[q], height: 8 }));
      }
      text(right, top + HIGH / 2 + 4, sums[q].toFixed(2), { class: `tfb-mask-sum${nothing ? " tfb-mask-nothing" : short ? " tfb-mask-less" : ""}` });
    });

    const height = y(tokens.length) + 2;
    headline.textContent = finding;
    picture.replaceChildren(make("svg", { viewBox: `0 0 ${WIDTH} ${height}`, width: WIDTH, height, role: "img",
      "aria-label": `Attention weights, mask ${softmax} the softmax. ${finding}.` }, ...parts));
    say(`mask ${softmax} the softmax, ${cached} tokens in the cache: ${finding}`);
  };
}
