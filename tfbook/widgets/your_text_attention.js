// Attention over a text: the weights of one query as bars over its characters, a small matrix for each head.

import { make } from "./elements.js";
import { range } from "./numbers.js";

const LABEL =
  "The text as the model reads it. Left and Right choose the character that attends, " +
  "Home and End the first and the last, Page Up and Page Down the head.";

/** `at` is the {query, head} that is shown, a character and a head; `move` is told another. */
export function attentionBars(at, move) {
  const node = make("div", {
    class: "tfb-your-bars",
    tabindex: 0,
    role: "application",
    "aria-roledescription": "text with attention weights",
    "aria-label": LABEL,
    translate: "no",
    keydown: press,
    pointerdown: point,
  });

  function press(event) {
    const steps = {
      ArrowLeft: { query: at.query - 1 },
      ArrowRight: { query: at.query + 1 },
      Home: { query: 0 },
      End: { query: Infinity },
      PageUp: { head: at.head - 1 },
      PageDown: { head: at.head + 1 },
    };
    if (!steps[event.key]) return;
    event.preventDefault();
    move(steps[event.key]);
  }

  function point(event) {
    const character = event.target.closest("[data-token]");
    if (character) move({ query: Number(character.dataset.token) });
  }

  function character(words, i, weight = 0) {
    const name = i === at.query ? "tfb-query" : i < at.query ? "tfb-key" : undefined;
    const attributes = { class: name, "data-token": i, "data-weight": weight, style: `--weight:${weight}` };
    return make("span", attributes, words);
  }

  function draw(names, weights, isCut, T) {
    node.classList.toggle("tfb-your-long", names.length > T / 2);
    node.replaceChildren(...(isCut ? ["…"] : []), ...names.map((name, i) => character(name, i, weights[i])));
  }

  return { node, draw };
}

/** The colours of weights from 0 to 1 in even steps, as an image has its pixels. */
export function pixels(shade) {
  const channels = (colour) => [1, 3, 5].map((i) => Number.parseInt(colour.slice(i, i + 2), 16));
  const steps = range(65).map((i) => [...channels(shade(i / 64)), 255]);
  return new Uint32Array(Uint8ClampedArray.from(steps.flat()).buffer);
}

/** A button with a pixel for each weight of a head. */
export function weightsPicture(name, press) {
  const canvas = make("canvas", { "aria-hidden": "true" });
  const context = canvas.getContext("2d");
  const node = make("button", { type: "button", "aria-pressed": "false", click: press }, canvas, name);

  function draw(A, colours) {
    const T = Math.max(A.length, 1);
    if (canvas.width !== T) [canvas.width, canvas.height] = [T, T];
    const image = context.createImageData(T, T);
    const drawn = new Uint32Array(image.data.buffer);
    for (const [q, weights] of A.entries())
      for (let k = 0; k <= q; k++) drawn[q * T + k] = colours[Math.round(64 * weights[k])];
    context.putImageData(image, 0, 0);
  }

  return { node, draw };
}
