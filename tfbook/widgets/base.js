// What every figure shares: controls, its table, a kernel where there is one, the theme, a voice. No
// mathematics.

import { control } from "./controls.js";
import { make } from "./elements.js";
import { finder, unpack } from "./packing.js";

/** The first background behind the figure that can be seen decides. */
function isDark(el) {
  for (let node = el; node; node = node.parentElement) {
    const channels = getComputedStyle(node).backgroundColor.match(/[\d.]+/g) ?? [];
    const [r, g, b, alpha = 1] = channels.map(Number);
    if (alpha > 0.5 && r !== undefined) return 0.3 * r + 0.6 * g + 0.1 * b < 110;
  }
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

function resetButton(reset) {
  return make("button", { type: "button", click: reset }, "reset");
}

function linkButton(link, say) {
  const press = async () => {
    button.textContent = (await link()) ? "link copied" : "link in the address bar";
    say(button.textContent);
    setTimeout(() => button.replaceChildren("copy link"), 2000);
  };
  const button = make("button", { type: "button", click: press }, "copy link");
  return button;
}

/** Put a figure into an element; `link` copies an address of its setting, on a page that has one. */
export function render(figure, { model, el, link }) {
  const spec = model.get("spec");
  const state = { ...model.get("state") };
  const stage = make("div", { class: "tfb-stage" });
  const voice = make("p", { class: "tfb-voice", "aria-live": "polite" });
  let ramp;
  const view = {
    spec,
    stage,
    set: (change) => choose({ ...model.get("state"), ...change }),
    say: (text) => voice.replaceChildren(text),
    shade: (weight) => ramp[Math.round(weight * (ramp.length - 1))],
  };

  function choose(setting) {
    model.set("state", setting);
    model.save_changes();
  }

  const controls = spec.controls.map((one) => control(one, (value) => view.set({ [one.name]: value })));
  const buttons = [resetButton(() => choose(spec.start))];
  if (link) buttons.push(linkButton(link, view.say));
  const group = { class: "tfb-controls", role: "group", "aria-label": `Settings: ${spec.title}` };
  el.classList.add("tfb");
  el.replaceChildren(make("div", group, ...controls.map(({ node }) => node), ...buttons), stage, voice);

  const draw = figure(view);
  const find = finder(spec);
  let painted; // the value that is drawn
  let asked = 0;
  let alive = false;

  function paint(value) {
    const buttons = () => [...el.querySelectorAll("button")];
    const focused = buttons().indexOf(document.activeElement);
    voice.classList.remove("tfb-error");
    painted = value;
    ramp = spec.ramps[el.toggleAttribute("data-dark", isDark(el)) ? 1 : 0];
    draw(value, state);
    // A figure may draw its buttons anew.
    if (focused >= 0) buttons()[focused]?.focus({ preventScroll: true });
  }

  function update() {
    Object.assign(state, model.get("state"));
    spec.controls.forEach(({ name }, i) => {
      controls[i].show(state[name]);
    });
    asked++;
    const value = find(state);
    if (value) paint(value);
    else if (alive) model.send({ ask: { ...state }, number: asked });
  }

  function complain(error) {
    voice.classList.add("tfb-error");
    view.say(error);
  }

  function hear({ alive: answers, number, error, value }) {
    if (answers && !alive) {
      alive = true;
      for (const one of controls) one.free();
      update();
    } else if (number === asked) {
      if (error) complain(error);
      else paint(unpack(value));
    }
  }

  /** The same picture in another light: what was said stays said. */
  function repaint() {
    if (!painted) return;
    const said = voice.textContent;
    paint(painted);
    view.say(said);
  }

  const theme = new MutationObserver(() => {
    if (isDark(el) !== el.hasAttribute("data-dark")) repaint();
  });
  for (const node of [document.documentElement, document.body]) theme.observe(node, { attributes: true });
  model.on("change:state", update);
  model.on("msg:custom", hear);
  update();
  requestAnimationFrame(repaint); // in a notebook the element has no background before it is in the page
  model.send({ hello: true });
  return () => {
    theme.disconnect();
    model.off("change:state", update);
    model.off("msg:custom", hear);
  };
}
