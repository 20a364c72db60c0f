// Shared heads: two rows of dots and a line for each query head; below them what is stored, against a
// key/value head for each.

import { bold, columns, drawing, line, make, text } from "./elements.js";
import { clamp, range, thousands } from "./numbers.js";

const WIDTH = 340;
const TOP = 52; // of the query heads
const LOW = 146; // of the key/value heads
const LABEL =
  "Query heads and the key/value heads that they read. Left and right arrow keys move over the query heads.";

export function figure({ stage, say }) {
  let head = 0;
  let value;
  let state;

  const headline = make("p", { class: "tfb-headline" });
  const picture = make("div", {
    class: "tfb-chart tfb-shared-drawing",
    tabindex: 0,
    role: "application",
    "aria-roledescription": "heads",
    "aria-label": LABEL,
    keydown: press,
    pointermove: point,
    pointerdown: point,
    focus: () => move(head),
  });
  const reading = make("p", { class: "tfb-reading" });
  const stored = make("div", { class: "tfb-shared-stored" });
  stage.append(headline, columns([picture, reading], stored));

  function press(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    move(head + step);
  }

  function point(event) {
    const dot = event.target.closest?.("[data-head]");
    if (dot) move(Number(dot.dataset.head));
  }

  function move(to) {
    head = clamp(to, 0, state.H - 1);
    mark();
    say(reading.textContent);
  }

  /** One query head, the key/value head that it reads, and the others that read it. */
  function mark() {
    const read = value.reads[head];
    for (const node of picture.querySelectorAll("[data-reads]")) {
      node.classList.toggle("tfb-on", Number(node.dataset.reads) === read);
    }
    for (const node of picture.querySelectorAll("[data-head]")) {
      node.classList.toggle("tfb-chosen", Number(node.dataset.head) === head);
    }
    const first = value.reads.indexOf(read) + 1; // heads that share stand in a row
    const last = value.reads.lastIndexOf(read) + 1;
    const who = first === last ? `query head ${first} alone reads` : `query heads ${first} to ${last} read`;
    reading.textContent = `${who} key/value head ${read + 1}`;
  }

  function drawHeadline() {
    const { H, H_kv } = state;
    const each = H / value.H_kv;
    const capped = H_kv > H ? `; Hₖᵥ is at most H = ${H}` : "";
    if (each === 1) {
      const own = "Each query head has a key/value head of its own: the cache is ";
      headline.replaceChildren(own, bold("whole"), capped);
    } else {
      const shared = `${each} query heads share each key/value head: the cache is `;
      headline.replaceChildren(shared, bold(`1/${each}`), " as large", capped);
    }
  }

  function drawStored({ shares, cache, params }, { T, L }) {
    stored.replaceChildren(
      storedBar(`key/value cache of ${thousands(T)} tokens, ${L} layers, 2 bytes a number`, shares[0], cache),
      storedBar(`parameters of attention, ${L} layers`, shares[1], params),
    );
  }

  return (newValue, newState) => {
    [value, state] = [newValue, newState];
    head = Math.min(head, state.H - 1);
    drawHeadline();
    picture.replaceChildren(drawHeads(value, state.H));
    mark();
    drawStored(value, state);
    const { cache, params } = value;
    const heads = `${state.H} query heads, ${value.H_kv} key/value heads`;
    say(`${heads}: cache ${cache[0]}, without sharing ${cache[1]}; parameters ${params[0]}`);
  };
}

function many(n, name) {
  return `${n} ${name} ${n === 1 ? "head" : "heads"}`;
}

function drawHeads({ H_kv, reads }, H) {
  const numbered = H <= 16; // more are drawn without their numbers
  const large = Math.min(11, (0.4 * WIDTH) / H);
  const small = Math.min(9, (0.21 * WIDTH) / H_kv);
  const x = (i, n) => ((i + 0.5) * WIDTH) / n;
  const number = (across, height, i) => (numbered ? [text(across, height, i + 1, "", "middle")] : []);
  const dot = (cx, cy, r, role, data) => make("circle", { cx, cy, r, class: `tfb-shared-${role}`, ...data });

  function reader(to, i) {
    const found = line(x(i, H), TOP, x(to, H_kv), LOW, "tfb-shared-line");
    found.setAttribute("data-reads", to);
    return found;
  }

  function queryHead(to, i) {
    const data = { "data-reads": to, "data-head": i };
    return [dot(x(i, H), TOP, large, "query", data), ...number(x(i, H), TOP - 15, i)];
  }

  function keyHead(j) {
    const across = x(j, H_kv);
    const data = { "data-reads": j };
    return [
      dot(across - small, LOW, small, "key", data),
      dot(across + small, LOW, small, "value", data),
      ...number(across, LOW + 25, j),
    ];
  }

  return drawing(
    WIDTH,
    204,
    `${H} query heads, ${H_kv} key/value heads, ${H / H_kv} in a row on each`,
    text(0, 13, many(H, "query"), "tfb-shared-query-label"),
    ...reads.map(reader),
    ...reads.flatMap(queryHead),
    ...range(H_kv).flatMap(keyHead),
    text(0, 197, `${many(H_kv, "key")},`, "tfb-shared-key-label"),
    text(96, 197, many(H_kv, "value"), "tfb-shared-value-label"),
  );
}

function storedBar(title, share, [part, whole]) {
  const against = share < 100 ? `, not ${whole}` : ", a key/value head for each query head";
  return make(
    "div",
    { class: "tfb-shared-bar" },
    make("p", { class: "tfb-panel-title" }, title),
    make("div", { class: "tfb-shared-whole" }, make("span", { style: `width:${share}%` })),
    make("p", {}, bold(part), against),
  );
}
