// The reader's own text, read by a language model on the page: what it expects next, where each head
// attends, and what it would guess after each layer. language_model.js computes, this file draws.

import { bold, make } from "./elements.js";
import { sample, softmax, token_distribution, unembed } from "./language_model.js";
import { clamp, range } from "./numbers.js";
import { parameters } from "./quantized.js";
import { bar, cell, row } from "./tables.js";
import { attentionBars, pixels, weightsPicture } from "./your_text_attention.js";
import { textReader } from "./your_text_reader.js";

const VISIBLE = { "\n": "↵", " ": "␣", "\t": "⇥" };
const NAMED = 12; // characters that are left out
const WRITTEN = 200; // characters for one press of the button
const PACE = 40; // characters a second, at least
const EVERY = 8; // frames, while it writes, the pictures of the heads are drawn anew
const SHOWN = 8; // of the characters that may come next
const GUESSES = 3; // of each layer

export function figure({ stage, say, shade, spec }) {
  const { vocabulary, T, H, start } = spec.constants;
  const P = parameters(spec.constants.parameters);
  const N = P.layers.length * H; // heads of all layers
  const read = textReader(P, H, T, vocabulary);
  const at = { head: H, query: 0 }; // the first head of layer 2: mostly the previous character
  const character = (token) => seen(vocabulary[token]);
  let toWrite = 0;
  let frame = 0;
  let reading = read(start);
  let chosen; // temperature and top_p

  const area = make("textarea", { rows: 3, spellcheck: "false", input: type });
  area.value = start;
  const write = make("button", { type: "button", click: startOrStop });
  const facts = make("p", { class: "tfb-reading" });
  const headline = make("p", { class: "tfb-headline" });
  const next = make("table", { class: "tfb-costs tfb-your-next" });
  const lens = make("table", { class: "tfb-costs tfb-your-lens" });
  const attention = make("p", { class: "tfb-reading" });
  const bars = attentionBars(at, move);
  const pictures = range(N).map((i) => weightsPicture(headName(i), () => move({ head: i })));
  const nodes = pictures.map(({ node }) => node);
  const heads = {
    class: "tfb-heads tfb-your-heads",
    role: "group",
    "aria-label": "Choose a head, layer.head",
  };
  stage.append(
    make("label", { class: "tfb-your-text" }, make("span", {}, "your text"), area),
    make("div", { class: "tfb-controls" }, write, facts),
    headline,
    make(
      "div",
      { class: "tfb-columns" },
      make("div", { class: "tfb-your-guesses" }, next, lens),
      make("div", { class: "tfb-main" }, attention, bars.node, make("div", heads, ...nodes)),
    ),
  );

  function headName(i) {
    return `${Math.floor(i / H) + 1}.${(i % H) + 1}`;
  }

  function type() {
    toWrite = 0;
    drawText();
  }

  function startOrStop() {
    toWrite = toWrite ? 0 : WRITTEN;
    drawText();
    if (toWrite) requestAnimationFrame((now) => writeSome(now, now));
  }

  /** One character a frame, more where a frame takes long. */
  function writeSome(now, before) {
    if (!toWrite || !stage.isConnected) return;
    area.scrollTo(0, area.scrollHeight);
    const due = clamp(Math.ceil(((now - before) / 1000) * PACE), 1, toWrite);
    for (let i = 0; i < due; i++) {
      const p = token_distribution(read(area.value).logits.at(-1), chosen.temperature, chosen.top_p);
      area.value += vocabulary[sample(p)];
    }
    toWrite -= due;
    drawText();
    requestAnimationFrame((next) => writeSome(next, now));
  }

  function move({ query = at.query, head = at.head }) {
    at.query = clamp(query, 0, Math.max(reading.tokens.length - 1, 0));
    at.head = clamp(head, 0, N - 1);
    drawAttention();
    drawGuesses();
    say(`${attention.textContent}. ${headline.textContent}`);
  }

  function drawFacts() {
    const { tokens, first, unknown, bits } = reading;
    write.textContent = toWrite ? "stop" : "write on";
    write.disabled = !tokens.length;
    const length = `It reads ${first ? "the last " : ""}${tokens.length} characters`;
    const said = tokens.length > 1 ? [`${length}, at ${mean(bits).toFixed(2)} bits each.`] : [];
    const more = unknown.length > NAMED ? " …" : "";
    const named = unknown.slice(0, NAMED).map(seen).join(" ");
    if (unknown.length) said.push(`Left out, because it has never seen them: ${named}${more}`);
    facts.textContent = said.join(" ");
  }

  function drawHeads() {
    const colours = pixels(shade);
    for (const [i, picture] of pictures.entries()) picture.draw(reading.A[i], colours);
  }

  function drawAttention() {
    const weights = reading.A[at.head][at.query] ?? [];
    bars.draw(reading.tokens.map(character), weights, reading.first > 0, T);
    for (const [i, node] of nodes.entries()) node.setAttribute("aria-pressed", i === at.head);
    const key = weights.indexOf(Math.max(...weights));
    const most = key === at.query ? "itself" : `${character(reading.tokens[key])}, ${at.query - key} back`;
    const from = character(reading.tokens[at.query]);
    const words = weights.length ? `: ${from} attends most to ${most}: ${weights[key]?.toFixed(2)}` : "";
    attention.textContent = `Head ${headName(at.head)}${words}`;
  }

  function drawGuesses() {
    const { tokens, logits, residuals } = reading;
    next.replaceChildren();
    lens.replaceChildren();
    headline.textContent = "Type a character, and the model guesses the next.";
    if (!tokens.length) return;

    const z = logits[at.query];
    const p = token_distribution(z, chosen.temperature, chosen.top_p);
    const [best, ...others] = likeliest(z);
    const read = tokens.slice(Math.max(at.query - 9, 0), at.query + 1);
    headline.replaceChildren(
      `After “${read.map(character).join("")}” comes `,
      bold(character(best)),
      `, ${percent(p[best])}`,
    );
    const came = tokens[at.query + 1];
    if (came !== undefined) headline.append(`. What came: ${character(came)} ${percent(p[came])}`);

    const possible = p.filter((p_i) => p_i > 0).length;
    const rows = [best, ...others].slice(0, SHOWN).map((i) => {
      const cells = [cell(bar(100 * p[i])), cell(percent(p[i]))];
      return row(character(i), cells, p[i] ? undefined : "tfb-your-cut");
    });
    const title = make("caption", {}, `Next character, one of ${possible}`);
    next.append(title, make("tbody", {}, ...rows));

    const layers = residuals.map((X, l) => {
      const [guess] = unembed([X[at.query]], P).logits;
      const q = softmax(guess);
      const cells = likeliest(guess).slice(0, GUESSES);
      return row(
        l ? `layer ${l}` : "embedding",
        cells.map((i) => cell(guessed(i, q[i]), i === best ? "tfb-on" : undefined)),
      );
    });
    lens.append(make("caption", {}, "Its guess after each layer"), make("tbody", {}, ...layers));
  }

  function guessed(i, p) {
    return make("span", {}, character(i), " ", make("small", {}, percent(p)));
  }

  /** A text is read up to its end, unless the reader asks for another character. */
  function drawText() {
    reading = read(area.value);
    at.query = Math.max(reading.tokens.length - 1, 0);
    draw();
  }

  function draw() {
    if (!toWrite || frame++ % EVERY === 0) drawHeads();
    drawFacts();
    drawAttention();
    drawGuesses();
    if (!toWrite) say(`${headline.textContent}. ${facts.textContent}`);
  }

  at.query = reading.tokens.length - 1;
  return (_, setting) => {
    chosen = { ...setting };
    draw();
  };
}

function seen(character) {
  return VISIBLE[character] ?? character;
}

function mean(numbers) {
  return numbers.reduce((sum, n) => sum + n, 0) / numbers.length;
}

function percent(p) {
  if (p === 0) return "–";
  return p < 0.005 ? "< 1 %" : `${(100 * p).toFixed(0)} %`;
}

/** Tokens, the likeliest first. */
function likeliest(logits) {
  return [...logits.keys()].sort((i, j) => logits[j] - logits[i]);
}
