
// ---- what every figure shares: the table, a kernel where there is one, the theme, a voice, the address; no mathematics ----

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

function render({ model, el, link }) {
  const spec = model.get("spec");
  const stage = make("div", { class: "tfb-stage" });
  const voice = make("p", { class: "tfb-voice", "aria-live": "polite" });
  const view = { spec, stage, make, set: (change) => choose({ ...model.get("state"), ...change }), say: (text) => (voice.textContent = text), shade: (x) => view.ramp[Math.round(x * (view.ramp.length - 1))] };
  const state = { ...model.get("state") };
  const controls = spec.controls.map((c) => control(c, (value) => choose({ ...model.get("state"), [c.name]: value })));
  const choose = (setting) => { model.set("state", setting); model.save_changes(); };
  const buttons = [make("button", { type: "button", click: () => choose(spec.start) }, "reset")];
  if (link) buttons.push(make("button", { type: "button", click: async ({ target }) => {
    const copied = await link();
    view.say(target.textContent = copied ? "link copied" : "link in the address bar");
    setTimeout(() => (target.textContent = "copy link"), 2000);
  } }, "copy link"));
  el.classList.add("tfb");
  el.replaceChildren(make("div", { class: "tfb-controls", role: "group", "aria-label": `Settings: ${spec.title}` }, ...controls.map((c) => c.node), ...buttons), stage, voice);
  const draw = figure(view);
  const columns = Object.entries(spec.table).map(([name, held]) => held.controls // a column that hangs on a few controls, or one on all
    ? { name, ...held, at: unpack(held.at) } : { name, controls: spec.controls.map((c) => c.name), values: held });
  const find = ({ controls, values, at }, places) => { // the value of a column where the controls stand
    const row = controls.reduce((sum, name) => sum * places[name].of + places[name].at, 0);
    return unpack(values[at ? at[row] : row]);
  };

  let asked = 0, alive = false;
  const complain = (text) => { voice.classList.add("tfb-error"); view.say(text); };
  const paint = (value) => {
    const buttons = () => [...el.querySelectorAll("button")], focused = buttons().indexOf(document.activeElement);
    voice.classList.remove("tfb-error");
    view.value = value;
    view.ramp = spec.ramps[el.toggleAttribute("data-dark", isDark(el)) ? 1 : 0];
    draw(value, state);
    if (focused >= 0) buttons()[focused]?.focus({ preventScroll: true }); // a figure may draw its buttons anew
  };
  const update = () => {
    Object.assign(state, model.get("state"));
    spec.controls.forEach((c, i) => controls[i].show(state[c.name]));
    const places = Object.fromEntries(spec.controls.map((c) => [c.name, { at: c.values.indexOf(state[c.name]), of: c.values.length }]));
    asked++;
    if (Object.values(places).every(({ at }) => at >= 0)) paint(Object.fromEntries(columns.map((column) => [column.name, find(column, places)])));
    else if (alive) model.send({ ask: { ...state }, number: asked });
  };
  const hear = (message) => {
    if (message.alive && !alive) { alive = true; controls.forEach((c) => c.free()); update(); }
    else if (message.number === asked) message.error ? complain(message.error) : paint(unpack(message.value));
  };
  const repaint = () => { // the same picture in another light: what was said stays said
    const said = voice.textContent;
    if (view.value) { paint(view.value); view.say(said); }
  };
  const theme = new MutationObserver(() => isDark(el) !== el.hasAttribute("data-dark") && repaint());
  for (const node of [document.documentElement, document.body]) theme.observe(node, { attributes: true });
  model.on("change:state", update);
  model.on("msg:custom", hear);
  update();
  requestAnimationFrame(repaint); // in a notebook the element has no background before it is in the page
  model.send({ hello: true });
  return () => { theme.disconnect(); model.off("change:state", update); model.off("msg:custom", hear); };
}

// ---- a page with no kernel: a stand-in for the model that holds what Python put there, and the setting in the address ----

function addressed(id, { controls }) { // the setting that #figure=MaskExplorer&cached=2 asks of that figure, or null; what the page cannot show is passed over
  const words = new URLSearchParams(location.hash.slice(1));
  const alone = () => document.querySelectorAll("[data-figure]").length === 1 && controls.some((c) => words.has(c.name)); // then its name may be left out
  if (!(words.has("figure") ? words.get("figure") === id : alone())) return null;
  const found = controls.map((c) => [c.name, c.values.find((value) => String(value) === words.get(c.name))]);
  return Object.fromEntries(found.filter(([, value]) => value !== undefined));
}

function place(name, held) {
  const same = [...document.querySelectorAll(`[data-figure="${name}"]`)], at = same.findIndex((node) => !node.dataset.live); // the first that no script has taken
  const el = same[at], id = at ? `${name}.${at + 1}` : name; // the second of its kind has an address of its own
  el.dataset.live = "page";
  const listeners = {};
  const model = {
    get: (key) => held[key], set: (key, value) => { held[key] = value; (listeners[`change:${key}`] ?? []).forEach((f) => f()); },
    on: (event, f) => (listeners[event] ??= []).push(f), off() {}, save_changes() {}, send() {},
  };
  const write = () => history.replaceState(null, "", `#${new URLSearchParams({ figure: id, ...held.state })}`);
  const link = () => {
    write();
    return navigator.clipboard?.writeText(location.href).then(() => true, () => false); // the address bar has it in any case
  };
  const follow = () => {
    const setting = addressed(id, held.spec);
    if (setting) model.set("state", { ...held.state, ...setting });
    return setting;
  };
  const linked = follow();
  render({ model, el, link });
  let waiting; // browsers let an address change a few times a second only
  model.on("change:state", () => (waiting ??= setTimeout(() => { waiting = undefined; if (addressed(id, held.spec)) write(); }, 300)));
  addEventListener("hashchange", follow);
  if (linked) el.scrollIntoView();
}

export default { render };
