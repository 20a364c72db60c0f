// The cost explorer's tables.

import { make } from "./elements.js";
import { thousands } from "./numbers.js";
import { bar, cell, row } from "./tables.js";

const PARTS = ["projections", "scores and mix", "FFN"];
const KINDS = ["attention", "recurrent", "convolution"];

export function costTables(side) {
  const [shares, memory, layers] = ["shares", "memory", "layers"].map((name) =>
    make("table", { class: `tfb-cost-table tfb-cost-${name}` }),
  );
  const whole = make("p", { class: "tfb-cost-whole" });
  side.append(shares, whole, memory, layers);

  return (value, state) => {
    shares.replaceChildren(...shareRows(value, state));
    whole.textContent = wholeModel(value, state);
    memory.replaceChildren(...memoryRows(value, state));
    layers.replaceChildren(...layerRows(value));
  };
}

function layersOf(L) {
  return `${L} ${L === 1 ? "layer" : "layers"}`;
}

function percent(share) {
  return `${share.toFixed(1)} %`;
}

function shareRows(value, { T, L }) {
  const flops = [value.projections, value.mix, value.ffn];
  const part = (label, i) => {
    const cells = [cell(bar(value.shares[i])), cell(percent(value.shares[i])), cell(flops[i])];
    return row(label, cells, label === "scores and mix" ? "tfb-cost-strong" : undefined);
  };
  return [
    make("caption", {}, `FLOPs of ${layersOf(L)} over ${thousands(T)} tokens`),
    ...PARTS.map(part),
    row("logits, once", [cell(""), cell(""), cell(value.logits)]),
  ];
}

function wholeModel({ whole }, { model }) {
  if (!whole) return "The shares are of the layers alone; the logits come once, after the last.";
  const parts = [...PARTS, "logits"].map((label, i) => `${label} ${percent(whole.shares[i])}`);
  return `${model}, logits included: ${whole.total}FLOPs. Of these ${parts.join(", ")}.`;
}

function memoryRows({ heads, scores, streaming, cache }, { L }) {
  const shared = heads[1] === 1 ? "1 key/value head" : `${heads[1]} key/value heads`;
  return [
    make("caption", {}, `Memory of ${layersOf(L)}, 2 bytes a number`),
    row("score matrices, kept", [cell("∝ T²"), cell(scores)]),
    row("streaming: max and sum", [cell("∝ T"), cell(streaming)]),
    row(`cache, ${shared}`, [cell("∝ T"), cell(cache)]),
  ];
}

function layerRows({ attention, others, steps, path }) {
  const counts = (numbers) => numbers.map((n) => cell(thousands(n)));
  return [
    make("caption", {}, "One layer of each kind"),
    make("tr", {}, cell(""), ...KINDS.map((name) => make("th", { scope: "col" }, name))),
    row(
      "FLOPs a token",
      [attention, ...others].map((flops) => cell(flops)),
    ),
    row("steps in sequence", counts(steps)),
    row("path, first to last", counts(path)),
  ];
}
