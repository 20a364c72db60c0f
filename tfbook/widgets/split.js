// The split explorer: what a process holds of a layer, the scores of all processes, and what each cut sends and holds.

function figure({ stage, make, say, spec }) {
  const { cuts, B } = spec.constants;
  const headline = make("p", { class: "tfb-headline" });
  const holds = make("div", { class: "tfb-split-panel" }), scores = make("div", { class: "tfb-split-panel" }), costs = make("div", { class: "tfb-split-costs" });
  stage.append(headline, make("div", { class: "tfb-columns" }, make("div", { class: "tfb-main" }, holds, scores), costs));

  const WIDTH = 340;
  const text = (x, y, label, name, anchor = "middle") => make("text", { x, y, class: name, "text-anchor": anchor }, ...[label].flat());
  const title = (...content) => make("p", { class: "tfb-split-title" }, ...content);
  const svg = (height, label, ...children) => make("svg", { viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-label": label }, ...children);
  const box = (x, y, width, height, name, data = {}) => make("rect", { x: x.toFixed(2), y: y.toFixed(2), width: width.toFixed(2), height: height.toFixed(2), rx: 1.5, class: name, ...data });
  function named(label) { // W_Q with its index below
    return label.split(/_(\w)/).filter(Boolean).map((part, i) => {
      const piece = document.createElementNS("http://www.w3.org/2000/svg", "tspan");
      if (label.includes("_")) piece.setAttribute("dy", i ? (i % 2 ? 3 : -3) : 0);
      if (i % 2) piece.setAttribute("font-size", 9);
      piece.append(part);
      return piece;
    });
  }
  const number = (n) => n.toLocaleString("en", { maximumFractionDigits: n < 100 ? 2 : 0 });

  function parts(x, y, width, height, way, p, mine, role) { // p blocks side by side or one below the other; "all": not cut
    if (way === "all") return [box(x, y, width, height, `tfb-split-mine tfb-split-${role}`, { "data-part": role })];
    return Array.from({ length: p }, (_, i) => {
      const name = i === mine ? `tfb-split-mine tfb-split-${role}` : "tfb-split-other", data = i === mine ? { "data-part": role } : {};
      return way === "down" ? box(x, y + (i * height) / p, width, height / p - 1.5, name, data) : box(x + (i * width) / p, y, width / p - 1.5, height, name, data);
    });
  }

  function drawHolds({ mine }, { cut, p, process }) {
    const me = Math.min(process, p) - 1, TOP = 22, SIDE = 70;
    const tokens = { heads: "all", sequence: "down" }[cut] ?? "across", shards = cut === "batch, sharded";
    const first = cut === "heads" ? "across" : shards ? "down" : "all", second = cut === "heads" || shards ? "down" : "all";
    const words = (way) => (way === "all" ? "whole" : shards ? "a shard" : way === "across" ? "by columns" : "by rows");
    const objects = [[2, 84, "tokens X", tokens, "query", `${B} sequences`], [128, SIDE, "W_Q W_K W_V W_1", first, "positive", words(first)], [262, SIDE, "W_O W_2", second, "value", words(second)]];
    holds.replaceChildren(title(`process ${me + 1} of ${p} holds `, make("b", {}, mine)),
      svg(114, `What process ${me + 1} holds: ${mine}. Of the first matrices ${words(first)}, of the second ${words(second)}.`,
        ...objects.flatMap(([x, width, name, way, role, said]) => [
          text(x + width / 2, 13, named(name), "tfb-split-name"), ...parts(x, TOP, width, SIDE, way, p, me, role),
          text(x + width / 2, TOP + SIDE + 16, said, "")])));
  }

  function drawScores({ grid, whose: keys, idle }, { cut, p, process, step }) {
    const me = Math.min(process, p) - 1, ring = cut === "sequence", SIZE = 150, LEFT = 136, TOP = 22, cell = SIZE / p;
    const block = (state, x, y, width, height, r, s) => box(x, y, width, height, `tfb-split-${state}${r === me ? " tfb-split-me" : ""}`, { "data-state": state, "data-row": r + 1, "data-column": s + 1 });
    const rows = ring
      ? grid.flatMap((row, r) => [
        text(LEFT - 8, TOP + (r + 0.5) * cell + 4, p > 4 ? `${r + 1} has keys ${keys[r]}` : `process ${r + 1}: keys ${keys[r]}`, `tfb-split-at${r === me ? " tfb-split-strong" : ""}`, "end"),
        ...row.map((state, s) => block(state, LEFT + s * cell + 1, TOP + r * cell + 1, cell - 2, cell - 2, r, s)),
        ...(keys[r] > r + 1 ? [text(LEFT + SIZE + 8, TOP + (r + 0.5) * cell + 4, "idle", "tfb-split-idle", "start")] : [])])
      : grid.flatMap((_, r) => [block("now", 6 + (r % 4) * 84, TOP + Math.floor(r / 4) * 78, 56, 56, r, 0), text(34 + (r % 4) * 84, TOP + Math.floor(r / 4) * 78 + 33, String(r + 1), `tfb-split-number${r === me ? " tfb-split-chosen" : ""}`)]);
    const words = ring ? `step ${Math.min(step, p)} of ${p}: which block of scores each process computes` : `scores: each process has whole T × T matrices, those of its ${cut === "heads" ? "heads" : "sequences"}`;
    const said = ring ? `${words}; ${idle} idle. ${keys.map((s, r) => `Process ${r + 1} has keys ${s}`).join(", ")}.` : words;
    scores.replaceChildren(title(words), svg(ring ? 176 : p > 4 ? 162 : 84, said,
      ...(ring ? [text(LEFT + SIZE / 2, 13, p > 1 ? `keys of process 1 … ${p}` : "keys of process 1", "tfb-split-keys")] : []), ...rows),
      ring ? title("filled: now; pale: done; dotted: later; bare: masked, never") : "");
  }

  function bars(caption, rows, totals, unit, names, roles, chosen) {
    const most = Math.max(...totals, 1e-9);
    return make("table", { class: "tfb-costs tfb-split-bars" }, make("caption", {}, caption),
      make("tbody", {}, ...cuts.map((cut, i) => make("tr", { class: i === chosen ? "tfb-split-chosen" : undefined },
        make("th", { scope: "row" }, cut),
        make("td", {}, make("span", { class: "tfb-split-stack" }, ...rows[i].map((n, part) => make("i", { class: `tfb-split-${roles[part]}`, style: `width:${(100 * n) / most}%`, "data-value": n, title: `${names[part]} ${n} ${unit}` })))),
        make("td", {}, `${number(totals[i])} ${unit}`)))),
      make("tfoot", {}, make("tr", {}, make("td", { colspan: 3 }, ...names.map((name, part) => make("span", { class: `tfb-split-word tfb-split-${roles[part]}` }, name))))));
  }

  return (value, state) => {
    const { cut, p, process, step } = state, at = cuts.indexOf(cut), me = Math.min(process, p);
    const ring = cut === "sequence" && p > 1;
    headline.replaceChildren(`Cut by ${cut}: each process sends `, make("b", {}, `${number(value.total[at])} MB`), ` and holds ${number(value.held[at])} GB`);
    drawHolds(value, state);
    drawScores(value, state);
    costs.replaceChildren(
      bars("Sent by a process, step of a layer", value.sent, value.total, "MB", ["forwards", "backwards", "gradients"], ["query", "key", "muted"], at),
      bars("Held by a process, a layer", value.memory, value.held, "GB", ["learned", "activations"], ["positive", "query"], at));
    say(`${headline.textContent}. Process ${me} holds ${value.mine}${ring ? `; step ${Math.min(step, p)} of ${p}, ${value.idle} idle` : ""}`);
  };
}
