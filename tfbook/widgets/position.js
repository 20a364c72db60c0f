// Positions: one scheme at a time. Above zero is one colour, below it the other.

function figure({ stage, make, say, spec }) {
  const headline = make("p", { class: "tfb-headline" });
  const picture = make("div", { class: "tfb-position" });
  const at = { key: 2, distance: 3 }; // of the rotary pairs
  const inner = (name, label) => {
    const range = make("input", { type: "range", name, min: 0, input: () => { at[name] = Number(range.value); draw(); } });
    const shown = make("output", {});
    return { range, shown, node: make("label", { class: "tfb-slider" }, make("span", {}, label), range, shown) };
  };
  const movers = { key: inner("key", "key stands at"), distance: inner("distance", "query comes later by") };
  const turner = make("div", { class: "tfb-controls", role: "group", "aria-label": "Query and key" }, movers.key.node, movers.distance.node);
  const past = lengthCurves({ make, spec }, () => draw());
  stage.append(headline, turner, past.node, picture);
  let value, state, WIDTH;
  const text = (x, y, words, name = "note", anchor = "start") => make("text", { x, y, class: `tfb-position-${name}`, "text-anchor": anchor }, words);
  const svg = (height, name, ...parts) => make("svg", { viewBox: `0 0 ${WIDTH} ${height}`, width: WIDTH, height, role: "img", "aria-label": name }, ...parts);
  const digits = (n) => Number(n.toPrecision(3));
  const group = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, "\u202f");

  function sinusoidal() {
    const { T, d } = state, LEFT = 82, TOP = 4, cell = (WIDTH - LEFT - 2) / T, high = Math.min(Math.max(256 / d, 7), 22);
    const floor = TOP + d * high, middle = LEFT + (WIDTH - LEFT) / 2, key = floor + (WIDTH < 400 ? 38 : 17); // a narrow page has the colours below the positions
    const gap = cell > 7 ? 1 : 0, parts = [];
    for (const [sign, role] of [["up", "positive"], ["down", "negative"]])
      value[sign].forEach((row, channel) => row.forEach((size, position) => size !== null && parts.push(make("rect", {
        x: (LEFT + position * cell).toFixed(2), y: TOP + channel * high, width: (cell - gap).toFixed(2), height: high - gap,
        class: `tfb-position-${role}`, "fill-opacity": size, "data-channel": channel, "data-position": position }))));
    parts.push(
      text(LEFT - 8, TOP + 12, "channel 0", "note", "end"), text(LEFT - 8, TOP + 27, "fast", "note", "end"),
      text(LEFT - 8, floor - 18, "slow", "note", "end"), text(LEFT - 8, floor - 3, `channel ${d - 1}`, "note", "end"),
      text(LEFT, floor + 17, "position 0"), text(WIDTH - 2, floor + 17, T - 1, "note", "end"),
      text(middle - 52, key, "1", "above", "end"), text(middle, key, "0", "note", "middle"), text(middle + 52, key, "−1", "below"),
      ...[1, 0.6, 0.25].flatMap((size, i) => [["positive", middle - 46 + 12 * i], ["negative", middle + 34 - 12 * i]].map(([role, x]) =>
        make("rect", { x, y: key - 10, width: 11, height: 11, class: `tfb-position-${role}`, "fill-opacity": size }))));
    headline.replaceChildren("Each channel is a wave: the first takes ", make("b", {}, value.waves[0]),
      " positions for a turn, the last ", make("b", {}, group(value.waves[1])));
    picture.replaceChildren(svg(key + 7, `Table of ${d} channels at ${T} positions. ${headline.textContent}.`, ...parts));
  }

  function bars(values, HEIGHT, top, chosen) { // up from zero, or down
    const LEFT = 30, step = (WIDTH - LEFT - 2) / values.length, unit = (HEIGHT - 22) / (1 - Math.min(0, ...values)), zero = top + unit, parts = [];
    values.forEach((size, distance) => parts.push(make("rect", {
      x: LEFT + distance * step, y: size < 0 ? zero : zero - size * unit, width: Math.max(step - 1.5, 1),
      height: Math.abs(size) * unit, "data-product": size,
      class: `tfb-position-${size < 0 ? "negative" : "positive"}${chosen === undefined || chosen === distance ? "" : " tfb-position-other"}` })));
    return [...parts, make("line", { class: "tfb-floor", x1: LEFT, x2: WIDTH, y1: zero, y2: zero }),
      text(LEFT - 6, top + 10, "1", "note", "end"), text(LEFT - 6, zero + 4, "0", "note", "end"),
      text(LEFT, top + HEIGHT - 4, "distance 0"), text(WIDTH - 2, top + HEIGHT - 4, values.length - 1, "note", "end")];
  }

  function products() {
    headline.replaceChildren("Near positions are alike, and only distance counts: pairs as far apart differ by at most ",
      make("b", {}, value.differ.toFixed(3)));
    picture.replaceChildren(svg(270, `Dot products by distance. ${headline.textContent}.`, ...bars(value.products, 262, 6)));
  }

  function rotary() {
    const pairs = value.turns.length, T = state.T;
    at.distance = Math.min(at.distance, Math.floor(T / 2));
    at.key = Math.min(at.key, Math.ceil(T / 2) - 1);
    movers.key.range.max = Math.ceil(T / 2) - 1;
    movers.distance.range.max = Math.floor(T / 2);
    for (const [name, { range, shown }] of Object.entries(movers)) range.value = shown.textContent = at[name];
    const columns = Math.min(pairs, WIDTH < 480 ? 4 : 8), across = Math.min(WIDTH / columns, 110), high = across + 20, r = across / 2 - 8, parts = [];
    value.turns.forEach((turns, pair) => {
      const cx = (pair % columns + 0.5) * across, cy = Math.floor(pair / columns) * high + across / 2, apart = turns[at.distance];
      const arrow = (turn, role) => make("path", { d: `M0 0H${r - 1}m-7 -4l7 4l-7 4`, class: `tfb-position-${role}`, "data-turn": turn,
        transform: `translate(${cx} ${cy}) rotate(${-360 * turn})` });
      parts.push(make("circle", { cx, cy, r, class: "tfb-position-dial" }),
        make("circle", { r: r / 2, pathLength: 1, class: "tfb-position-apart", "stroke-dasharray": `${apart} 1`, "data-apart": apart,
          transform: `translate(${cx} ${cy}) rotate(${-360 * turns[at.key]}) scale(1 -1)` }),
        arrow(turns[at.key], "key"), arrow(turns[at.key + at.distance], "query"),
        text(cx, cy + r + 16, `${Math.round(360 * apart)}°`, "above", "middle"));
    });
    const floor = Math.ceil(pairs / columns) * high + 30;
    parts.push(text(2, floor - 6, "the same query and key, by distance: their product"), ...bars(value.alike, 130, floor, at.distance));
    headline.replaceChildren(make("span", { class: "tfb-position-query-word" }, `Query at ${at.key + at.distance}`), ", ",
      make("span", { class: "tfb-position-key-word" }, `key at ${at.key}`),
      ": move both, and the angles between them stay; the product is ", make("b", {}, value.alike[at.distance].toFixed(2)));
    picture.replaceChildren(svg(floor + 134, `${pairs} pairs of channels as arrows. ${headline.textContent}.`, ...parts));
  }

  function ALiBi() {
    const { T } = state, RIGHT = 138, LEFT = 52, TOP = 10, FLOOR = 262, end = WIDTH - RIGHT, parts = [];
    const y = (bias) => TOP + bias / value.least * (FLOOR - TOP);
    let free = TOP - 10; // labels keep their order and do not touch
    const last = value.slopes.map((slope) => y(-slope * (T - 1)));
    const places = last.map(() => 0);
    for (let h = last.length - 1; h >= 0; h--) places[h] = free = Math.max(last[h], free + 14);
    value.slopes.forEach((slope, h) => parts.push(
      make("path", { d: `M${LEFT} ${TOP}L${end} ${last[h].toFixed(2)}`, class: "tfb-position-slope", "data-slope": slope }),
      make("path", { d: `M${end} ${last[h]}C${end + 14} ${last[h]} ${end + 6} ${places[h]} ${end + 20} ${places[h]}`, class: "tfb-position-lead" }),
      text(end + 24, places[h] + 4, `head ${h + 1}: −${digits(slope)}`, "head")));
    parts.push(make("line", { class: "tfb-floor", x1: LEFT, x2: end, y1: TOP, y2: TOP }),
      text(LEFT - 6, TOP + 4, "0", "note", "end"), text(LEFT - 6, FLOOR + 4, `−${digits(-value.least)}`, "note", "end"),
      text(end + 24, FLOOR + 24, "bias of each step"), text(LEFT, FLOOR + 24, "distance 0"), text(end, FLOOR + 24, T - 1, "note", "end"));
    headline.replaceChildren(`Head 1 looks near: each step of distance costs it ${digits(value.slopes[0])}. Head ${value.slopes.length} looks far`);
    picture.replaceChildren(svg(FLOOR + 32, `Bias by distance for ${value.slopes.length} heads. ${headline.textContent}.`, ...parts));
  }

  const lengths = () => past.draw(WIDTH, headline, (height, ...parts) => picture.replaceChildren(svg(height, ...parts)));

  function draw() {
    WIDTH = Math.min(stage.clientWidth || 640, 640);
    const { scheme, T, d, H } = state;
    turner.hidden = scheme !== "rotary";
    past.node.hidden = scheme !== "trained models";
    const matter = { ALiBi: ["T", "H"], "trained models": [] }[scheme] ?? ["T", "d"]; // a control stands where it matters
    for (const name of ["T", "d", "H"])
      stage.parentElement.querySelector(`.tfb-controls [name=${name}]`).closest("label").hidden = !matter.includes(name);
    ({ sinusoidal, products, rotary, ALiBi, "trained models": lengths })[scheme]();
    const sizes = matter.map((name) => ({ T: `, ${T} positions`, d: `, ${d} channels`, H: `, ${H} heads` })[name]);
    say(`${scheme}${sizes.join("")}: ${headline.textContent}`);
  }

  return (newValue, newState) => { [value, state] = [newValue, newState]; draw(); };
}
