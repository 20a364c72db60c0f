// The reach explorer: three networks as graphs from inputs (below) to outputs (above), and under each
// its matrix, input for column.

import { bold, make } from "./elements.js";
import { clamp } from "./numbers.js";
import { drawNetwork, firstWay, isSeen } from "./reach_network.js";

const SEND = "▶ send the first token";
const PACE = 350; // milliseconds a step

export function figure({ stage, say, shade, spec }) {
  const { names } = spec.constants;
  const networks = Object.keys(names);
  let value;
  let state;
  let output = null; // null: the last
  let timer;

  const headline = make("p", { class: "tfb-headline" });
  const send = make("button", { type: "button", class: "tfb-reach-send", click: run }, SEND);
  const panels = networks.map((name) => make("div", { class: "tfb-reach-panel", "data-network": name }));
  const attributes = {
    class: "tfb-reach",
    tabindex: 0,
    role: "application",
    "aria-roledescription": "three networks",
    "aria-label": "Three networks side by side. Left and right arrow keys choose an output.",
    keydown: press,
    pointerdown: point,
  };
  stage.append(headline, send, make("div", attributes, ...panels));

  function press(event) {
    const to = {
      ArrowLeft: output - 1,
      ArrowUp: output - 1,
      ArrowRight: output + 1,
      ArrowDown: output + 1,
      Home: 0,
      End: state.T - 1,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    choose(clamp(to, 0, state.T - 1));
  }

  function point(event) {
    const at = event.target.closest?.("[data-output]");
    if (at) choose(Number(at.dataset.output));
  }

  /** The first token's way is drawn as far as this many steps. */
  function draw(steps = Infinity) {
    const narrow = stage.clientWidth < 480;
    networks.forEach((name, i) => {
      const said = sentence(name);
      const shown = { name, value, state, output, steps, shade, label: `${names[name]}: ${said}` };
      panels[i].replaceChildren(
        make("p", { class: "tfb-reach-title" }, names[name]),
        drawNetwork(shown, panels[i].clientWidth, narrow),
        make("p", { class: "tfb-reach-reading" }, said),
      );
    });
  }

  function sentence(name) {
    const seen = value.seen[name][output];
    return `Sees ${seen} of ${state.T} inputs. ${firstInput(name)}`;
  }

  function firstInput(name) {
    const path = value.path[name][output];
    const unit = name === "rnn" ? "step" : "layer";
    const away = `${path} ${unit}${path === 1 ? "" : "s"} away`;
    if (!isSeen(value, name, output)) return `The first is ${away}: not seen.`;
    const weaker = value.fainter[name][output];
    const fainter =
      weaker === 1
        ? "the strongest of all"
        : `${weaker.toLocaleString("en")} times fainter than the strongest`;
    return `The first is ${path ? away : "itself"}, ${fainter}.`;
  }

  /** All three networks at the same pace. */
  function run() {
    clearInterval(timer);
    const last = Math.max(...networks.map((name) => firstWay(name, value, output).length - 1));
    let step = matchMedia("(prefers-reduced-motion: reduce)").matches ? last : 0;
    const tick = () => {
      draw(step);
      send.textContent = step < last ? `step ${step}` : SEND;
      if (step >= last) clearInterval(timer);
      step++;
    };
    timer = setInterval(tick, PACE);
    tick();
  }

  function choose(chosen) {
    clearInterval(timer);
    output = chosen;
    send.textContent = SEND;
    draw();
    const { rnn, conv, attention } = value.path;
    headline.replaceChildren(
      `Steps from input 1 to output ${output + 1}: RNN `,
      bold(rnn[output]),
      ", convolution ",
      bold(conv[output]),
      isSeen(value, "conv", output) ? "" : ` (has ${state.layers})`,
      ", attention ",
      bold(attention[output]),
    );
    const said = networks.map((name) => `${names[name]}: ${sentence(name)}`);
    say(`${headline.textContent}. ${said.join(" ")}`);
  }

  return (newValue, newState) => {
    const atEnd = output === null || output === state.T - 1;
    [value, state] = [newValue, { ...newState }];
    choose(atEnd ? state.T - 1 : Math.min(output, state.T - 1));
  };
}
