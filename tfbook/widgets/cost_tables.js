
// ---- the cost explorer's tables ----

function thousands(n) {
  return String(n).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

function costTables(side, make) {
  const [shares, memory, layers] = ["shares", "memory", "layers"].map((name) => make("table", { class: `tfb-cost-table tfb-cost-${name}` }));
  const whole = make("p", { class: "tfb-cost-whole" });
  side.append(shares, whole, memory, layers);
  const cell = (content) => make("td", {}, content);
  const row = (label, cells, name) => make("tr", { class: name }, make("th", { scope: "row" }, label), ...cells);
  const layersOf = (L) => `${L} ${L === 1 ? "layer" : "layers"}`;
  const PARTS = ["projections", "scores and mix", "FFN"];

  return (value, { model, T, L }) => {
    const bar = (share) => cell(make("span", { class: "tfb-bar", style: `width:${share}%` }));
    const flops = [value.projections, value.mix, value.ffn];
    shares.replaceChildren(make("caption", {}, `FLOPs of ${layersOf(L)} over ${thousands(T)} tokens`), ...PARTS.map((label, i) =>
      row(label, [bar(value.shares[i]), cell(`${value.shares[i].toFixed(1)} %`), cell(flops[i])], i === 1 ? "tfb-cost-strong" : undefined)),
      row("logits, once", [cell(""), cell(""), cell(value.logits)]));
    const parts = value.whole && [...PARTS, "logits"].map((label, i) => `${label} ${value.whole.shares[i].toFixed(1)} %`).join(", ");
    whole.textContent = value.whole ? `${model}, logits included: ${value.whole.total}FLOPs. Of these ${parts}.`
      : "The shares are of the layers alone; the logits come once, after the last.";
    memory.replaceChildren(make("caption", {}, `Memory of ${layersOf(L)}, 2 bytes a number`),
      ...[["score matrices, kept", "∝ T²", value.scores], ["streaming: max and sum", "∝ T", value.streaming],
        [value.heads[1] === 1 ? "cache, 1 key/value head" : `cache, ${value.heads[1]} key/value heads`, "∝ T", value.cache]]
        .map(([label, growth, size]) => row(label, [cell(growth), cell(size)])));
    layers.replaceChildren(make("caption", {}, "One layer of each kind"),
      make("tr", {}, make("td", {}), ...["attention", "recurrent", "convolution"].map((name) => make("th", { scope: "col" }, name))),
      row("FLOPs a token", [value.attention, ...value.others].map(cell)),
      row("steps in sequence", value.steps.map((n) => cell(thousands(n)))), row("path, first to last", value.path.map((n) => cell(thousands(n)))));
  };
}
