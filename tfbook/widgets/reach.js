// The reach explorer: three networks as graphs from inputs (below) to outputs (above), and under each its matrix, input for column.

function figure(view) {
  const { stage, make, say, shade, spec } = view;
  const { names } = spec.constants;
  let value, state, output = null, timer; // null: the last

  const headline = make("p", { class: "tfb-headline" });
  const send = make("button", { type: "button", class: "tfb-reach-send", click: run }, "▶ send the first token");
  const panels = Object.fromEntries(Object.keys(names).map((name) => [name, make("div", { class: "tfb-reach-panel", "data-network": name })]));
  const all = make("div", {
    class: "tfb-reach", tabindex: 0, role: "application", "aria-roledescription": "three networks",
    "aria-label": "Three networks side by side. Left and right arrow keys choose an output.",
    keydown: (event) => {
      const to = { ArrowLeft: output - 1, ArrowUp: output - 1, ArrowRight: output + 1, ArrowDown: output + 1, Home: 0, End: state.T - 1 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      choose(Math.min(Math.max(to, 0), state.T - 1));
    },
    pointerdown: (event) => { const at = event.target.closest?.("[data-output]"); if (at) choose(Number(at.dataset.output)); },
  }, ...Object.values(panels));
  stage.append(headline, send, all);

  const reaches = (name) => value.reach[name][output][0] !== null;
  const nodes = { // the way of the first token, as [position, level]
    rnn: () => [[0, 0], ...Array.from({ length: output + 1 }, (_, s) => [s, 1])],
    conv: () => value.climb[output].map((position, level) => [position, level]),
    attention: () => [[0, 0], [output, 1]],
  };
  const edges = { // every dependency, as [from, to, whether the chosen output depends on it]
    rnn: () => Array.from({ length: state.T }, (_, s) => [[[s, 0], [s, 1], s <= output], ...(s ? [[[s - 1, 1], [s, 1], s <= output]] : [])]).flat(),
    attention: () => value.reach.attention.flatMap((row, t) => row.map((_, s) => [[s, 0], [t, 1], t === output])),
    conv: () => {
      const list = [];
      for (let level = 1; level <= state.layers; level++)
        for (let t = 0; t < state.T; t++)
          for (let s = Math.max(t - state.k + 1, 0); s <= t; s++)
            list.push([[s, level - 1], [t, level], t <= output && t >= value.cone[output][level]]);
      return list;
    },
  };

  function draw(name, step = Infinity) { // the first token's way is drawn as far as this many steps
    const narrow = stage.clientWidth < 480, TOP = 30, FLOOR = narrow ? 128 : 168, MATRIX = FLOOR + 54; // of outputs, inputs and the matrix, in pixels
    const WIDTH = Math.min(panels[name].clientWidth || 210, 280), cell = WIDTH / state.T, high = narrow ? cell / 2 : cell, levels = name === "conv" ? state.layers : 1;
    const x = (position) => (position + 0.5) * cell, y = (level) => FLOOR - (level * (FLOOR - TOP)) / levels;
    const point = ([position, level]) => `${x(position).toFixed(1)} ${y(level).toFixed(1)}`;
    const lines = (used) => edges[name]().flatMap(([from, to, on]) => (on === used ? [`M${point(from)}L${point(to)}`] : [])).join("");
    const text = (left, base, words, role, anchor) => make("text", { x: left, y: base, class: `tfb-reach-${role}`, "text-anchor": anchor }, words);
    const row = value.reach[name][output], way = nodes[name]().slice(0, step + 1), r = Math.min(0.34 * cell, 6);
    const circle = (position, level, role, more) => make("circle", { cx: x(position).toFixed(1), cy: y(level).toFixed(1), r, class: `tfb-reach-${role}`, ...more });
    const places = Array.from({ length: state.T }, (_, i) => i), between = Array.from({ length: levels - 1 }, (_, i) => i + 1);

    const cells = value.reach[name].flatMap((weights, t) => weights.flatMap((weight, s) => (weight === null ? [] : [make("rect", {
      x: (s * cell).toFixed(2), y: (MATRIX + t * high).toFixed(2), width: (cell - 1).toFixed(2), height: (high - 1).toFixed(2), fill: shade(weight), class: "tfb-reach-cell", "data-at": `${t},${s}` })])));
    const hits = places.map((t) => make("rect", { x: 0, y: MATRIX + t * high, width: WIDTH, height: high, class: "tfb-reach-hit", "data-output": t }));
    const columns = places.map((t) => make("rect", { x: t * cell, y: 0, width: cell, height: FLOOR + 10, class: "tfb-reach-hit", "data-output": t }));
    const picture = make("svg", { viewBox: `0 0 ${WIDTH} ${MATRIX + high * state.T + 2}`, style: `max-width:${WIDTH}px`, role: "img", "aria-label": `${names[name]}: ${sentence(name)}` },
      text(0, 14, "outputs", "output-name", "start"), make("path", { d: lines(false), class: "tfb-reach-edge" }), make("path", { d: lines(true), class: "tfb-reach-edge tfb-reach-used" }),
      make("path", { d: `M${way.map(point).join("L")}`, class: `tfb-reach-way${reaches(name) ? "" : " tfb-reach-short"}`, "data-way": way.map((at) => at.join()).join(" ") }),
      ...between.flatMap((level) => places.map((t) => circle(t, level, "between", { r: Math.min(r, 2) }))),
      ...places.map((t) => circle(t, levels, t === output ? "output tfb-on" : "output", { "data-node": t })),
      ...places.map((s) => circle(s, 0, row[s] === null ? "input tfb-masked" : "input", { "data-input": s, fill: row[s] === null ? undefined : shade(row[s]) })),
      make("circle", { cx: x(way.at(-1)[0]), cy: y(way.at(-1)[1]), r: r + 1.5, class: "tfb-reach-word" }),
      text(0, FLOOR + 22, "inputs: as strong as their colour", "input-name", "start"), text(0, MATRIX - 8, "all outputs ↓", "output-name", "start"),
      ...cells, make("rect", { x: 1, y: MATRIX + output * high - 1, width: WIDTH - 2, height: high + 1, class: "tfb-reach-row" }), ...columns, ...hits);
    panels[name].replaceChildren(make("p", { class: "tfb-reach-title" }, names[name]), picture,
      make("p", { class: "tfb-reach-reading" }, sentence(name)));
  }

  function sentence(name) {
    const [seen, path, weaker] = ["seen", "path", "fainter"].map((column) => value[column][name][output]);
    const unit = name === "rnn" ? "step" : "layer", many = `${path} ${unit}${path === 1 ? "" : "s"}`;
    const first = reaches(name) ? `The first is ${path ? `${many} away` : "itself"}, ${weaker === 1 ? "the strongest of all" : `${weaker.toLocaleString("en")} times fainter than the strongest`}.` : `The first is ${many} away: not seen.`;
    return `Sees ${seen} of ${state.T} inputs. ${first}`;
  }

  function run() { // all three at the same pace
    clearInterval(timer);
    const last = Math.max(...Object.values(nodes).map((way) => way().length - 1));
    let step = matchMedia("(prefers-reduced-motion: reduce)").matches ? last : 0;
    const tick = () => {
      for (const name of Object.keys(names)) draw(name, step);
      send.textContent = step < last ? `step ${step}` : "▶ send the first token";
      if (step++ >= last) clearInterval(timer);
    };
    timer = setInterval(tick, 350);
    tick();
  }

  function choose(t) {
    clearInterval(timer);
    output = t;
    send.textContent = "▶ send the first token";
    for (const name of Object.keys(names)) draw(name);
    const { rnn, conv, attention } = Object.fromEntries(Object.entries(value.path).map(([name, path]) => [name, path[output]]));
    headline.replaceChildren(`Steps from input 1 to output ${output + 1}: RNN `, make("b", {}, rnn), ", convolution ", make("b", {}, conv), reaches("conv") ? "" : ` (has ${state.layers})`, ", attention ", make("b", {}, attention));
    say(`${headline.textContent}. ${Object.keys(names).map((name) => `${names[name]}: ${sentence(name)}`).join(" ")}`);
  }

  return (newValue, newState) => {
    const atEnd = output === null || output === state.T - 1;
    [value, state] = [newValue, { ...newState }];
    choose(atEnd ? state.T - 1 : Math.min(output, state.T - 1));
  };
}
