// Soft lookup: keys on a line, their values above it. The query moves along the line; its answer is the point on the curve.

function figure({ stage, make, say, spec }) {
  const { keys, values, end, curve_at, cuts, mean } = spec.constants;
  const headline = make("p", { class: "tfb-headline" });
  const picture = make("div", { class: "tfb-lookup" });
  stage.append(headline, picture);

  return ({ weights, answer, curve, nearest, largest }, { query, temperature }) => {
    const WIDTH = Math.min(stage.clientWidth || 640, 640), SIDE = 16, TOP = 22, FLOOR = 230, BARS = 262, HEIGHT = 348; // pixels
    const x = (place) => SIDE + (place / end) * (WIDTH - 2 * SIDE), y = (value) => FLOOR - value * (FLOOR - TOP);
    const line = (x1, y1, x2, y2, name, more) => make("line", { x1, y1, x2, y2, class: `tfb-lookup-${name}`, ...more });
    const text = (left, base, words, name, anchor = "middle") => make("text", { x: left, y: base, class: `tfb-lookup-${name}`, "text-anchor": anchor }, words);
    const path = (points) => `M${points.map(([a, b]) => `${x(a).toFixed(1)} ${y(b).toFixed(1)}`).join("L")}`;
    const edges = [0, ...cuts, end], narrow = WIDTH < 480;
    const stairs = values.flatMap((v, i) => [[edges[i], v], [edges[i + 1], v]]);

    const free = query < end / 2 ? 4 : 1; // the step that the query is far from
    const parts = [
      make("path", { d: path(stairs), class: "tfb-lookup-stairs" }),
      text(x(keys[free]), y(values[free]) + (free === 1 ? -8 : 20), narrow ? "hard" : "hard lookup", "stairs-name"),
      line(x(0), y(mean), x(end), y(mean), "mean"),
      text(x(0), y(mean) - 6, narrow ? "mean" : "plain mean", "mean-name", "start"),
      make("path", { d: path(curve.map((v, i) => [curve_at[i], v])), class: "tfb-lookup-curve", "data-curve": curve.join(" ") }),
      line(x(0), FLOOR, x(end), FLOOR, "axis"),
      line(x(query), TOP - 6, x(query), FLOOR + 5, "query"),
      text(Math.min(Math.max(x(query), 26), WIDTH - 26), TOP - 10, "query", "query-name"),
    ];
    const along = (x1, y1, x2, y2) => Array.from({ length: 13 }, (_, i) => [x1 + (x2 - x1) * i / 12, y1 + (y2 - y1) * i / 12]);
    const word = (left, base) => along(left, base - 4, left + 40, base - 4);
    const drawn = [...curve.map((v, i) => [x(curve_at[i]), y(v)]), ...stairs.slice(1).flatMap(([to, v], i) => along(x(stairs[i][0]), y(stairs[i][1]), x(to), y(v)))];
    const names = [word(x(keys[0]) + 10, y(values[0]) + 4), word(x(query) - 20, TOP - 10), word(x(0), y(mean) - 6), word(x(keys[free]) - 20, y(values[free]) + 14)];
    const dots = [...names.flat(), ...keys.map((key, i) => [x(key), y(values[i])])];
    const places = [12, -12].flatMap((across) => [-10, 20, -26, 36].map((down) => ({ across, base: y(answer) + down, left: across > 0 ? x(query) + across : x(query) + across - 92 })));
    const hides = ({ left, base }) => { // what lies under the answer's name there
      const under = (points) => points.filter(([px, py]) => px > left - 4 && px < left + 96 && py > base - 15 && py < base + 7).length;
      return under(drawn) + 20 * under(dots) + (left < 0 || left + 92 > WIDTH || base < TOP || base > FLOOR - 8 ? 1000 : 0);
    };
    const best = places.reduce((least, at) => (hides(at) < hides(least) ? at : least));
    parts.push(text(x(query) + best.across, best.base, `answer ${answer.toFixed(2)}`, "answer-name", best.across > 0 ? "start" : "end"));
    keys.forEach((key, i) => parts.push( // what a value gives is as strong as its weight
      line(x(key), y(values[i]), x(query), y(answer), "pull", { "stroke-opacity": weights[i].toFixed(3) }),
      line(x(key), y(values[i]), x(key), FLOOR, "stem"),
      make("circle", { cx: x(key), cy: y(values[i]), r: 5, class: "tfb-lookup-value" }),
      make("circle", { cx: x(key), cy: FLOOR, r: 5, class: i === nearest ? "tfb-lookup-key tfb-lookup-nearest" : "tfb-lookup-key" }),
      make("rect", { x: x(key) - 12, y: BARS, width: 24, height: (weights[i] * 64).toFixed(2), class: "tfb-lookup-weight", "data-weight": weights[i] }),
      text(x(key), BARS + 15 + weights[i] * 64, weights[i].toFixed(2), "number")));
    parts.push(
      line(x(0), BARS, x(end), BARS, "axis"),
      text(x(keys[0]) - 12, FLOOR + 20, "keys", "key-name", "start"),
      text(x(end), BARS - 5, "weights", "number", "end"),
      text(x(keys[0]) + 10, y(values[0]) + 4, "value", "value-name", "start"),
      make("circle", { cx: x(query), cy: y(answer), r: 8, class: "tfb-lookup-answer", "data-answer": answer }),
    );

    const how = temperature === 0 ? "Hard lookup: the nearest key has all the weight" : `The nearest key has ${weights[nearest].toFixed(2)} of the weight`;
    headline.replaceChildren(`${how}; the answer is `, make("b", {}, answer.toFixed(2)));
    picture.replaceChildren(make("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, width: WIDTH, height: HEIGHT, role: "img",
      "aria-label": `Six keys on a line. ${headline.textContent}.` }, ...parts));
    say(`query at ${query}, temperature ${temperature}: largest weight ${largest.toFixed(2)}, answer ${answer.toFixed(2)}`);
  };
}
