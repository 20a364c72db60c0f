// The split explorer: what a process holds of a layer, the scores of all processes, and what each cut
// sends and holds.

import { bold, columns, drawing, make, text } from "./elements.js";
import { range } from "./numbers.js";
import { splitCosts, splitNumber } from "./split_costs.js";

const WIDTH = 340;

export function figure({ stage, say, spec }) {
  const { cuts, B } = spec.constants;
  const headline = make("p", { class: "tfb-headline" });
  const holds = make("div", { class: "tfb-chart tfb-split-panel" });
  const scores = make("div", { class: "tfb-chart tfb-split-panel" });
  const costs = make("div", { class: "tfb-split-costs" });
  stage.append(headline, columns([holds, scores], costs));

  return (value, state) => {
    const { cut, p, process, step } = state;
    const at = cuts.indexOf(cut);
    const me = Math.min(process, p) - 1;
    const drawScores = cut === "sequence" ? drawRing : drawOwn;
    headline.replaceChildren(
      `Cut by ${cut}: each process sends `,
      bold(`${splitNumber(value.total[at])} MB`),
      ` and holds ${splitNumber(value.held[at])} GB`,
    );
    holds.replaceChildren(...drawHolds(value.mine, state, me, B));
    scores.replaceChildren(...drawScores(value, state, me));
    costs.replaceChildren(...splitCosts(value, cuts, at));
    const ring = cut === "sequence" && p > 1;
    const idle = ring ? `; step ${Math.min(step, p)} of ${p}, ${value.idle} idle` : "";
    say(`${headline.textContent}. Process ${me + 1} holds ${value.mine}${idle}`);
  };
}

function title(...content) {
  return make("p", { class: "tfb-split-title" }, ...content);
}

function box(x, y, width, height, name, data) {
  const [left, top, wide, high] = [x, y, width, height].map((n) => n.toFixed(2));
  return make("rect", { x: left, y: top, width: wide, height: high, rx: 1.5, class: name, ...data });
}

/** W_Q with its index below. */
function lowered(words) {
  const parts = words.split(/_(\w)/);
  if (parts.length === 1) return [make("tspan", {}, words)];
  const pieces = parts.map((part, i) => {
    if (i % 2) return make("tspan", { dy: 3, "font-size": 9 }, part);
    return part && make("tspan", { dy: i ? -3 : 0 }, part);
  });
  return pieces.filter(Boolean);
}

// What a process holds of the tokens, of the first matrices and of the second; `way` is how they are cut.

const HELD = { top: 22, side: 70 };

function drawHolds(mine, { cut, p }, me, B) {
  const tokens = { heads: "all", sequence: "down" }[cut] ?? "across";
  const sharded = cut === "batch, sharded";
  const first = cut === "heads" ? "across" : sharded ? "down" : "all";
  const second = cut === "heads" || sharded ? "down" : "all";
  const words = (way) => {
    if (way === "all") return "whole";
    if (sharded) return "a shard";
    return way === "across" ? "by columns" : "by rows";
  };
  const label =
    `What process ${me + 1} holds: ${mine}. ` +
    `Of the first matrices ${words(first)}, of the second ${words(second)}.`;
  const held = (x, width, name, way, role, said) => [
    text(x + width / 2, 13, lowered(name), "tfb-split-name", "middle"),
    ...blocks(x, width, way, p, me, role),
    text(x + width / 2, HELD.top + HELD.side + 16, said, "", "middle"),
  ];
  const picture = drawing(
    WIDTH,
    114,
    label,
    ...held(2, 84, "tokens X", tokens, "query", `${B} sequences`),
    ...held(128, HELD.side, "W_Q W_K W_V W_1", first, "positive", words(first)),
    ...held(262, HELD.side, "W_O W_2", second, "value", words(second)),
  );
  return [title(`process ${me + 1} of ${p} holds `, bold(mine)), picture];
}

/** p blocks side by side, or one below the other, or one block where nothing is cut. */
function blocks(x, width, way, p, me, role) {
  const { top, side } = HELD;
  const mine = `tfb-split-mine tfb-split-${role}`;
  if (way === "all") return [box(x, top, width, side, mine, { "data-part": role })];
  return range(p).map((i) => {
    const name = i === me ? mine : "tfb-split-other";
    const data = i === me ? { "data-part": role } : {};
    if (way === "down") return box(x, top + (i * side) / p, width, side / p - 1.5, name, data);
    return box(x + (i * width) / p, top, width / p - 1.5, side, name, data);
  });
}

// The scores: in a ring, which block each process computes at a step; otherwise each process has
// matrices of its own.

const RING = { left: 136, top: 22, size: 150 };

function block(state, x, y, size, mine, row, column) {
  const data = { "data-state": state, "data-row": row + 1, "data-column": column + 1 };
  return box(x, y, size, size, `tfb-split-${state}${mine ? " tfb-split-me" : ""}`, data);
}

function drawRing({ grid, whose: keys, idle }, { p, step }, me) {
  const { left, top, size } = RING;
  const cell = size / p;
  const words = `step ${Math.min(step, p)} of ${p}: which block of scores each process computes`;
  const row = (states, r) => {
    const middle = top + (r + 0.5) * cell + 4;
    const name = p > 4 ? `${r + 1} has keys ${keys[r]}` : `process ${r + 1}: keys ${keys[r]}`;
    const look = `tfb-split-at${r === me ? " tfb-split-strong" : ""}`;
    const waits = keys[r] > r + 1;
    const drawBlock = (state, s) =>
      block(state, left + s * cell + 1, top + r * cell + 1, cell - 2, r === me, r, s);
    return [
      text(left - 8, middle, name, look, "end"),
      ...states.map(drawBlock),
      ...(waits ? [text(left + size + 8, middle, "idle", "tfb-split-idle")] : []),
    ];
  };
  const has = keys.map((s, r) => `Process ${r + 1} has keys ${s}`);
  const columnsName = p > 1 ? `keys of process 1 … ${p}` : "keys of process 1";
  const picture = drawing(
    WIDTH,
    176,
    `${words}; ${idle} idle. ${has.join(", ")}.`,
    text(left + size / 2, 13, columnsName, "tfb-split-keys", "middle"),
    ...grid.flatMap(row),
  );
  return [title(words), picture, title("filled: now; pale: done; dotted: later; bare: masked, never")];
}

function drawOwn({ grid }, { cut, p }, me) {
  const own = cut === "heads" ? "heads" : "sequences";
  const words = `scores: each process has whole T × T matrices, those of its ${own}`;
  const matrix = (_, r) => {
    const x = 6 + (r % 4) * 84;
    const y = 22 + Math.floor(r / 4) * 78;
    const look = `tfb-split-number${r === me ? " tfb-split-chosen" : ""}`;
    return [block("now", x, y, 56, r === me, r, 0), text(x + 28, y + 33, String(r + 1), look, "middle")];
  };
  return [title(words), drawing(WIDTH, p > 4 ? 162 : 84, words, ...grid.flatMap(matrix)), ""];
}
