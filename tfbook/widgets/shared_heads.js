// Shared heads: two rows of dots and a line for each query head; below them what is stored, against a key/value head for each.

function figure({ stage, make, say }) {
  const thousands = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, "\u202f");
  const headline = make("p", { class: "tfb-headline" });
  const drawing = make("div", {
    class: "tfb-shared-drawing", tabindex: 0, role: "application", "aria-roledescription": "heads",
    "aria-label": "Query heads and the key/value heads that they read. Left and right arrow keys move over the query heads.",
    keydown: (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step) return;
      event.preventDefault();
      move(head + step);
    },
    pointermove: point, pointerdown: point, focus: () => move(head),
  });
  const reading = make("p", { class: "tfb-reading" });
  const stored = make("div", { class: "tfb-shared-stored" });
  stage.append(headline, make("div", { class: "tfb-columns" }, make("div", { class: "tfb-main" }, drawing, reading), stored));
  let value, state, head = 0;

  function point(event) {
    const dot = event.target.closest?.("[data-head]");
    if (dot) move(Number(dot.dataset.head));
  }

  function move(to) {
    head = Math.min(Math.max(to, 0), state.H - 1);
    mark();
    say(reading.textContent);
  }

  function mark() { // one query head, the key/value head that it reads, and the others that read it
    const read = value.reads[head];
    const group = value.reads.flatMap((other, i) => (other === read ? [i + 1] : []));
    for (const node of drawing.querySelectorAll("[data-reads]")) node.classList.toggle("tfb-on", Number(node.dataset.reads) === read);
    for (const node of drawing.querySelectorAll("[data-head]")) node.classList.toggle("tfb-chosen", Number(node.dataset.head) === head);
    const who = group.length === 1 ? `query head ${group[0]} alone reads` : `query heads ${group[0]} to ${group.at(-1)} read`;
    reading.textContent = `${who} key/value head ${read + 1}`;
  }

  const WIDTH = 340, TOP = 52, LOW = 146;
  function draw() {
    const { H } = state, { H_kv, reads } = value;
    const x = (i, n) => ((i + 0.5) * WIDTH) / n;
    const r = Math.min(11, (0.4 * WIDTH) / H), small = Math.min(9, (0.21 * WIDTH) / H_kv);
    const text = (at, y, label, name, anchor = "middle", fits = true) => fits ? [make("text", { x: at, y, class: name, "text-anchor": anchor }, label)] : [];
    const wide = H <= 16; // more are drawn without their numbers
    drawing.replaceChildren(make("svg", { viewBox: `0 0 ${WIDTH} 204`, role: "img", "aria-label": `${H} query heads, ${H_kv} key/value heads, ${H / H_kv} in a row on each` },
      ...text(0, 13, `${H} query ${H === 1 ? "head" : "heads"}`, "tfb-shared-query-label", "start"),
      ...reads.map((to, i) => make("line", { x1: x(i, H), y1: TOP, x2: x(to, H_kv), y2: LOW, class: "tfb-shared-line", "data-reads": to })),
      ...reads.flatMap((to, i) => [
        make("circle", { cx: x(i, H), cy: TOP, r, class: "tfb-shared-query", "data-reads": to, "data-head": i }),
        ...text(x(i, H), TOP - 15, i + 1, "", "middle", wide)]),
      ...Array.from({ length: H_kv }, (_, j) => [
        make("circle", { cx: x(j, H_kv) - small, cy: LOW, r: small, class: "tfb-shared-key", "data-reads": j }),
        make("circle", { cx: x(j, H_kv) + small, cy: LOW, r: small, class: "tfb-shared-value", "data-reads": j }),
        ...text(x(j, H_kv), LOW + 25, j + 1, "", "middle", wide)]).flat(),
      ...text(0, 197, `${H_kv} key ${H_kv === 1 ? "head" : "heads"},`, "tfb-shared-key-label", "start"),
      ...text(96, 197, `${H_kv} value ${H_kv === 1 ? "head" : "heads"}`, "tfb-shared-value-label", "start")));
  }

  const bar = (title, share, [part, whole]) => make("div", { class: "tfb-shared-bar" }, make("p", { class: "tfb-panel-title" }, title),
    make("div", { class: "tfb-shared-whole" }, make("span", { style: `width:${share}%` })),
    make("p", {}, make("b", {}, part), share < 100 ? `, not ${whole}` : ", a key/value head for each query head"));

  return (newValue, newState) => {
    [value, state] = [newValue, newState];
    head = Math.min(head, state.H - 1);
    const { H, T, L } = state, each = H / value.H_kv;
    headline.replaceChildren(...(each === 1 ? ["Each query head has a key/value head of its own: the cache is ", make("b", {}, "whole")]
      : [`${each} query heads share each key/value head: the cache is `, make("b", {}, `1/${each}`), " as large"]),
      ...(state.H_kv > H ? [`; Hₖᵥ is at most H = ${H}`] : []));
    draw();
    mark();
    stored.replaceChildren(
      bar(`key/value cache of ${thousands(T)} tokens, ${L} layers, 2 bytes a number`, value.shares[0], value.cache),
      bar(`parameters of attention, ${L} layers`, value.shares[1], value.params));
    say(`${H} query heads, ${value.H_kv} key/value heads: cache ${value.cache[0]}, without sharing ${value.cache[1]}; parameters ${value.params[0]}`);
  };
}
