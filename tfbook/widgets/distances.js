// The distance explorer: the row with its cards and its question above, right answers against distance below, paths beside them.

function figure({ stage, make, say, spec }) {
  const { networks, distances, dots, means, labels, levels, seeds, steps } = spec.constants, names = Object.keys(networks);
  const headline = make("p", { class: "tfb-headline" });
  const row = make("div", { class: "tfb-far-row" });
  const chart = make("div", { class: "tfb-far-chart" });
  const side = make("div", { class: "tfb-far-side" });
  stage.append(headline, row, make("p", { class: "tfb-panel-title" }, `right answers after at most ${steps} steps of training at that distance; a dot for each of ${seeds} seeds`),
    make("div", { class: "tfb-columns" }, make("div", { class: "tfb-main" }, chart), side));

  const text = (x, y, words, name, anchor = "middle") => make("text", { x: x.toFixed(1), y: y.toFixed(1), class: name, "text-anchor": anchor }, words);
  const line = (x1, y1, x2, y2, name) => make("line", { x1, y1, x2, y2, class: name });
  const percent = (share) => `${Math.round(100 * share)} %`;
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

  function drawRow({ letters, cards, question, answer }, D) {
    const WIDTH = Math.max(stage.clientWidth, 280), cell = WIDTH / (D + 1), FLOOR = 74, HIGH = 26;
    const x = (place) => (place + 0.5) * cell, end = WIDTH - 14, [[asked, card], [other, second]] = cards;
    const inside = (place) => Math.min(Math.max(x(place), 12), WIDTH - 12);
    const box = (place, name, more) => make("rect", { x: (place * cell).toFixed(2), y: FLOOR, width: Math.max(cell - (cell > 3 ? 1 : 0), 2).toFixed(2), height: HIGH, class: name, ...more });
    const rest = Array.from({ length: D }, (_, place) => place).filter((place) => place !== asked && place !== other);
    const readable = cell >= 13 && letters.length; // on a narrow page, and far away, a place is a stripe
    row.replaceChildren(make("svg", { viewBox: `0 0 ${WIDTH} ${FLOOR + HIGH + 4}`, role: "img", "aria-label": `A row of ${D + 1} places: ${card} at place ${asked + 1}, ${second} at place ${other + 1}, the question ${question} at the end` },
      make("path", { class: "tfb-far-arc", d: `M${end} ${FLOOR - 22}C${end} 8 ${inside(asked).toFixed(1)} 8 ${inside(asked).toFixed(1)} ${FLOOR - 22}` }),
      text((end + inside(asked)) / 2, 14, `${D - asked} places back`, "tfb-far-back"),
      ...rest.map((place) => box(place, "tfb-far-letter")), box(asked, "tfb-far-card tfb-on", { "data-asked": asked }), box(other, "tfb-far-card", { "data-other": other }), box(D, "tfb-far-question"),
      ...(readable ? rest.map((place) => text(x(place), FLOOR + 18, letters[place], "tfb-far-small")) : []),
      text(inside(asked), FLOOR - 7, card, "tfb-far-name tfb-on"), text(inside(other), FLOOR - 7, second, "tfb-far-name"),
      text(end, FLOOR - 7, question, "tfb-far-ask")));
    headline.replaceChildren("… ", make("span", { class: "tfb-far-ask" }, question), " → ", make("b", {}, answer), `, ${D - asked} places back`);
  }

  function drawChart(D) {
    const LEFT = 52, RIGHT = 352, WIDTH = 372, TOP = 12, HEIGHT = 200, many = distances.length - 1;
    const x = (i) => LEFT + ((RIGHT - LEFT) * i) / many, y = (share) => TOP + HEIGHT * (1 - share), at = distances.indexOf(D);
    const colour = (name) => `--line:var(--tfb-${networks[name]})`;
    chart.replaceChildren(make("svg", { viewBox: `0 0 ${WIDTH} ${TOP + HEIGHT + 38}`, role: "img", "aria-label": `Right answers by distance. ${names.map((name, n) => `${name}: ${means[n].map(percent).join(", ")}`).join(". ")}` },
      make("rect", { x: x(at) - 9, y: TOP - 6, width: 18, height: HEIGHT + 12, class: "tfb-far-here" }),
      ...[0, 0.5, 1].map((share) => text(LEFT - 12, y(share) + 4, percent(share), "", "end")), line(LEFT - 9, y(0), RIGHT + 9, y(0), "tfb-far-axis"),
      ...Object.entries(levels).flatMap(([name, share]) => [line(LEFT - 9, y(share), RIGHT + 9, y(share), "tfb-far-level"), text(RIGHT + 9, y(share) + (share < 0.3 ? 16 : -6), name, "tfb-far-level-name", "end")]),
      ...distances.map((distance, i) => text(x(i), TOP + HEIGHT + 17, distance, i === at ? "tfb-on" : "")), text((LEFT + RIGHT) / 2, TOP + HEIGHT + 34, "distance D, places", ""),
      ...names.flatMap((name, n) => [
        make("path", { class: "tfb-far-line", "data-network": name, style: colour(name), d: `M${means[n].map((share, i) => `${x(i).toFixed(1)} ${y(share).toFixed(1)}`).join("L")}` }),
        ...dots[n].flatMap((values, seed) => values.map((share, i) => make("circle", { cx: (x(i) + (n - 1.5) * 2).toFixed(1), cy: y(share).toFixed(1), r: i === at ? 4 : 2.5, class: "tfb-far-dot", style: colour(name), "data-dot": `${n},${seed},${i}` }))),
        text(x(labels[n][0]), y(labels[n][1]), name, "tfb-far-label", "start")]),
    ));
    chart.querySelectorAll(".tfb-far-label").forEach((label, n) => label.setAttribute("style", colour(names[n])));
  }

  function drawSide({ right, path }) {
    const cells = names.map((name) => make("tr", {}, make("th", { scope: "row", style: `--line:var(--tfb-${networks[name]})` }, name), make("td", {}, percent(mean(right[name]))), make("td", {}, path[name])));
    side.replaceChildren(make("table", {}, make("tr", {}, make("td", {}), make("th", { scope: "col" }, "right"), make("th", { scope: "col" }, "path")), ...cells),
      make("p", { class: "tfb-reading" }, "Path: layers, or steps of a recurrence, that a card passes on its way to the answer."));
  }

  return (value, { D }) => {
    drawRow(value, D);
    drawChart(D);
    drawSide(value);
    say(`Distance ${D}: ${names.map((name) => `${name} ${percent(mean(value.right[name]))}, path ${value.path[name]}`).join("; ")}`);
  };
}
