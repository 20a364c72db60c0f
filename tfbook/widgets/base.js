
// ---- what every figure shares: controls, the table, a kernel where there is one, the theme, a voice; no mathematics ----

const ALPHABET = Array.from({ length: 92 }, (_, i) => String.fromCharCode(35 + i)).filter((c) => !"&<\\`".includes(c)).join("").slice(0, 88);

function unpack(value) { // the inverse of packing.py: nested arrays of numbers, null where there is nothing
  if (Array.isArray(value)) return value.map(unpack);
  if (value === null || typeof value !== "object") return value;
  if (!("array" in value)) return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, unpack(part)]));
  const colon = value.array.indexOf(":"), digits = value.array.slice(colon + 1);
  let at = 0, flat = [];
  const number = () => {
    for (let n = 0, unit = 1; ; unit *= 32) {
      const digit = ALPHABET.indexOf(digits[at++]);
      if (digit < 56) return n + digit * unit;
      n += (digit - 56) * unit;
    }
  };
  while (at < digits.length) {
    const n = number();
    if (n) flat.push((n - 1) / 1000);
    else for (let run = number(); run; run--) flat.push(null);
  }
  const shape = value.array.slice(0, colon).split(",").map(Number);
  for (const n of shape.slice(1).reverse()) flat = Array.from({ length: flat.length / n }, (_, i) => flat.slice(i * n, i * n + n));
  return flat;
}

function make(tag, attributes = {}, ...children) { // an element; attributes that are functions listen
  const svg = ["svg", "g", "rect", "text", "line", "path", "circle", "title"].includes(tag);
  const node = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes))
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
  node.append(...children);
  return node;
}

function isDark(el) { // the first background behind the figure that can be seen
  for (let node = el; node; node = node.parentElement) {
    const [r, g, b, alpha = 1] = (getComputedStyle(node).backgroundColor.match(/[\d.]+/g) ?? []).map(Number);
    if (alpha > 0.5 && r !== undefined) return 0.3 * r + 0.6 * g + 0.1 * b < 110;
  }
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

function control(spec, change) { // {node, show(value), free()}
  const { kind, name, label, values } = spec;
  if (kind === "switch") {
    const input = make("input", { type: "checkbox", role: "switch", name, change: () => change(input.checked) });
    return { node: make("label", { class: "tfb-switch" }, input, make("span", {}, label)), show: (v) => (input.checked = v), free() {} };
  }
  if (kind === "choice") {
    const select = make("select", { name, change: () => change(values[select.selectedIndex]) }, ...values.map((v) => make("option", {}, String(v))));
    return { node: make("label", { class: "tfb-choice" }, make("span", {}, label), select), show: (v) => (select.selectedIndex = values.indexOf(v)), free() {} };
  }
  const range = make("input", { type: "range", name, min: 0, max: values.length - 1, step: 1, input: () => change(values[range.value]) });
  const shown = make("output", {});
  const node = make("label", { class: "tfb-slider" }, make("span", {}, label), range, shown);
  const any = make("input", { type: "number", "aria-label": `${label}, any value`, min: spec.least, max: spec.most, change: () => change(Number(any.value)) });
  return {
    node,
    show(v) {
      range.value = values.reduce((best, stop, i) => (Math.abs(stop - v) < Math.abs(values[best] - v) ? i : best), 0);
      range.setAttribute("aria-valuetext", v);
      shown.textContent = any.value = v;
    },
    free: () => shown.replaceWith(any), // a kernel answers: any value may be typed
  };
}

function render({ model, el }) {
  const spec = model.get("spec");
  const stage = make("div", { class: "tfb-stage" });
  const voice = make("p", { class: "tfb-voice", "aria-live": "polite" });
  const view = { spec, stage, make, say: (text) => (voice.textContent = text), shade: (x) => view.ramp[Math.round(x * (view.ramp.length - 1))] };
  const state = { ...model.get("state") };
  const controls = spec.controls.map((c) => control(c, (value) => { model.set("state", { ...model.get("state"), [c.name]: value }); model.save_changes(); }));
  el.classList.add("tfb");
  el.replaceChildren(make("div", { class: "tfb-controls", role: "group", "aria-label": `Settings: ${spec.title}` }, ...controls.map((c) => c.node)), stage, voice);
  const draw = figure(view);

  let asked = 0, alive = false;
  const paint = (value) => { view.value = value; view.ramp = spec.ramps[el.toggleAttribute("data-dark", isDark(el)) ? 1 : 0]; draw(value, state); };
  const update = () => {
    Object.assign(state, model.get("state"));
    spec.controls.forEach((c, i) => controls[i].show(state[c.name]));
    const places = spec.controls.map((c) => c.values.indexOf(state[c.name]));
    asked++;
    const row = places.reduce((at, place, i) => at * spec.controls[i].values.length + place, 0);
    if (!places.includes(-1)) paint(Object.fromEntries(Object.entries(spec.table).map(([name, column]) => [name, unpack(column[row])])));
    else if (alive) model.send({ ask: { ...state }, number: asked });
  };
  const hear = (message) => {
    if (message.alive && !alive) { alive = true; controls.forEach((c) => c.free()); update(); }
    else if (message.number === asked) message.error ? view.say(message.error) : paint(unpack(message.value));
  };
  const repaint = () => view.value && paint(view.value);
  const theme = new MutationObserver(repaint);
  for (const node of [document.documentElement, document.body]) theme.observe(node, { attributes: true });
  model.on("change:state", update);
  model.on("msg:custom", hear);
  update();
  requestAnimationFrame(repaint); // in a notebook the element has no background before it is in the page
  model.send({ hello: true });
  return () => { theme.disconnect(); model.off("change:state", update); model.off("msg:custom", hear); };
}

function place(name, held) { // a page with no kernel: a stand-in for the model that holds what Python put there
  const listeners = {};
  const el = document.querySelector(`[data-figure="${name}"]:not([data-live])`); // the first that no script has taken
  el.dataset.live = "page";
  render({
    el,
    model: {
      get: (name) => held[name], set: (name, value) => { held[name] = value; (listeners[`change:${name}`] ?? []).forEach((f) => f()); },
      on: (event, f) => (listeners[event] ??= []).push(f), off() {}, save_changes() {}, send() {},
    },
  });
}

export default { render };
