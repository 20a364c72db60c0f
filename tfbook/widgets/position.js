// Positions: one scheme at a time. Above zero is one colour, below it the other.

import { bold, make, pixelDrawing } from "./elements.js";
import { lengthCurves } from "./position_lengths.js";
import { productBars } from "./position_marks.js";
import { rotaryPairs } from "./position_rotary.js";
import { biasLines } from "./position_slopes.js";
import { sinusoidalTable } from "./position_table.js";

const WIDEST = 640; // pixels
const SIZES = { T: "positions", d: "channels", H: "heads" };
const MATTER = { ALiBi: ["T", "H"], "trained models": [] }; // sizes that a scheme depends on, if not T and d

export function figure({ stage, say, spec }) {
  const headline = make("p", { class: "tfb-headline" });
  const picture = make("div", { class: "tfb-position" });
  const rotary = rotaryPairs(draw);
  const lengths = lengthCurves(spec, draw);
  stage.append(headline, rotary.node, lengths.node, picture);
  let value;
  let state;

  const schemes = {
    sinusoidal: sinusoidalTable,
    products,
    rotary: rotary.draw,
    ALiBi: biasLines,
    "trained models": (_value, _state, width) => lengths.draw(width),
  };

  /** A control stands where it matters. */
  function showControls(matter) {
    rotary.node.hidden = state.scheme !== "rotary";
    lengths.node.hidden = state.scheme !== "trained models";
    for (const name of Object.keys(SIZES)) {
      const control = stage.parentElement.querySelector(`.tfb-controls [name=${name}]`);
      control.closest("label").hidden = !matter.includes(name);
    }
  }

  function draw() {
    const width = Math.min(stage.clientWidth || WIDEST, WIDEST);
    const { scheme } = state;
    const matter = MATTER[scheme] ?? ["T", "d"];
    showControls(matter);
    const { words, label, height, parts } = schemes[scheme](value, state, width);
    headline.replaceChildren(...words);
    picture.replaceChildren(pixelDrawing(width, height, `${label}. ${headline.textContent}.`, ...parts));
    const sizes = matter.map((name) => `, ${state[name]} ${SIZES[name]}`);
    say(`${scheme}${sizes.join("")}: ${headline.textContent}`);
  }

  return (newValue, newState) => {
    [value, state] = [newValue, newState];
    draw();
  };
}

function products({ products: alike, differ }, _state, width) {
  const said = "Near positions are alike, and only distance counts: pairs as far apart differ by at most ";
  return {
    words: [said, bold(differ.toFixed(3))],
    label: "Dot products by distance",
    height: 270,
    parts: productBars(alike, width, 262, 6),
  };
}
