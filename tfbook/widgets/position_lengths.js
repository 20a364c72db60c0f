
// ---- models trained on a length and read past it: what a token costs each, by position ----

function lengthCurves({ make, spec }, redraw) { // {node: the slider, draw(WIDTH, headline, show)}
  const { trained, reads, ticks, curves, least, most } = spec.constants.lengths;
  const dashes = { learned: "4 4", sinusoidal: "1 5", rotary: "12 5", none: "12 5 1 5", LSTM: "7 5" }; // lines of one colour are told apart
  let chosen = reads.length - 1;
  const range = make("input", { type: "range", name: "read", min: 0, max: chosen, input: () => { chosen = Number(range.value); redraw(); } });
  const shown = make("output", {});
  const node = make("div", { class: "tfb-controls", role: "group", "aria-label": "Reading" },
    make("label", { class: "tfb-slider" }, make("span", {}, "read at T"), range, shown));

  function draw(WIDTH, headline, show) {
    const T = reads[chosen], LEFT = 40, TOP = 26, FLOOR = 262, RIGHT = 124, end = WIDTH - RIGHT;
    range.value = chosen;
    range.setAttribute("aria-valuetext", shown.textContent = T);
    const x = (across) => LEFT + across * (end - LEFT), y = (loss) => FLOOR - (loss - least) / (most - least) * (FLOOR - TOP);
    const text = (left, base, words, name = "note", anchor = "start", more = {}) =>
      make("text", { x: left, y: base, class: `tfb-position-${name}`, "text-anchor": anchor, ...more }, words);
    const rule = (x1, y1, x2, y2, name) => make("line", { x1, y1, x2, y2, class: name });
    const hidden = new Set(WIDTH < 400 ? [128, 256] : WIDTH < 480 ? [256] : []); // no room for their numbers
    const parts = [
      ...ticks.loss.flatMap((loss) => [rule(LEFT, y(loss), end, y(loss), "tfb-position-grid"), text(LEFT - 6, y(loss) + 4, loss, "note", "end")]),
      ...ticks.position.flatMap(([position, across]) => [rule(x(across), FLOOR, x(across), FLOOR + 4, "tfb-floor"), text(x(across), FLOOR + 17, hidden.has(position) ? "" : position, "note", "middle")]),
      rule(LEFT, FLOOR, end, FLOOR, "tfb-floor"), text(end + 20, FLOOR + 17, "position"), text(2, TOP - 14, "loss of a token, nats"),
      rule(x(trained), TOP - 6, x(trained), FLOOR, "tfb-position-trained"), text(x(trained) - 5, TOP + 4, "trained to here", "note", "end"),
    ];
    const lines = curves.map(({ name, at, loss, reads }) => ({ name, read: reads[chosen], points: loss.slice(0, reads[chosen].points).map((n, i) => [x(at[i]), y(n)]) }));
    let free = FLOOR + 10; // labels keep their order and do not touch
    for (const { name, read, points } of lines.sort((a, b) => b.points.at(-1)[1] - a.points.at(-1)[1])) {
      const [across, up] = points.at(-1), role = read.ends ? "ends" : read.lost ? "lost" : "kept";
      parts.push(make("path", { d: `M${points.map(([a, b]) => `${a.toFixed(1)} ${b.toFixed(1)}`).join("L")}`, class: `tfb-position-${role}`, "stroke-dasharray": dashes[name], "data-scheme": name }));
      if (read.ends) {
        parts.push(make("circle", { cx: across, cy: up, r: 4, class: "tfb-position-end" }), text(across - 6, FLOOR - 8, `${name}: ends`, "ends-name", "end", { "data-mean": name }));
        continue;
      }
      free = Math.min(up, free - 15);
      parts.push(
        make("path", { d: `M${across} ${up}C${across + 10} ${up} ${across + 4} ${free} ${across + 14} ${free}`, class: "tfb-position-lead" }),
        text(across + 18, free + 4, `${name} ${read.mean.toFixed(2)}`, `${role}-name`, "start", { "data-mean": name }));
    }
    const { best, worst } = spec.constants.lengths.said[chosen];
    headline.replaceChildren(`Trained at ${ticks.trained}, read at ${T}: a token costs ${best[0]} `, make("b", {}, best[1].toFixed(2)),
      ` nats, ${worst[0]} `, make("b", {}, worst[1].toFixed(2)));
    show(FLOOR + 26, `Loss by position, for each scheme and an LSTM. ${headline.textContent}.`, ...parts);
  }
  return { node, draw };
}
