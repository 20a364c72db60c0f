// The training explorer: the loss on its way down past simple guesses; beside it what the model writes at this step and expects next.

function figure({ stage, make, say, spec }) {
  const { held_out, train, baselines, across, up, prompt, size } = spec.constants;
  const headline = make("p", { class: "tfb-headline" });
  const chart = make("div", { class: "tfb-training-chart" });
  const written = make("p", { class: "tfb-training-text", translate: "no" });
  const expected = make("table", { class: "tfb-costs tfb-training-next" });
  const title = (...words) => make("p", { class: "tfb-panel-title" }, ...words);
  const page = title();
  stage.append(headline, make("div", { class: "tfb-columns" },
    make("div", { class: "tfb-main" }, title("loss on text that it has not read, bits a character"), chart, title(size)),
    make("div", { class: "tfb-training-side" }, page, written, expected)));

  const LEFT = 26, RIGHT = 372, TOP = 12, FOOT = 262, WIDTH = 380;
  const x = (share) => LEFT + (RIGHT - LEFT) * share, y = (share) => FOOT - (FOOT - TOP) * share;
  const text = (at, height, label, name, anchor = "start") => make("text", { x: at, y: height, class: name, "text-anchor": anchor }, label);
  const line = (x1, y1, x2, y2, name) => make("line", { x1, y1, x2, y2, class: name });
  const path = (points, name) => make("path", { class: name, d: `M${points.map(([a, b]) => `${x(a).toFixed(2)} ${y(b).toFixed(2)}`).join("L")}` });
  const now = line(0, TOP, 0, FOOT, "tfb-training-now"), dot = make("circle", { r: 5, class: "tfb-training-dot" });
  const [end, below] = [held_out.at(-1), train.at(-1)];
  const svg = make("svg", { viewBox: `0 0 ${WIDTH} ${FOOT + 40}`, role: "img" },
    ...up.flatMap(([bits, share]) => [line(LEFT, y(share), RIGHT, y(share), "tfb-training-grid"), text(LEFT - 6, y(share) + 4, bits, "", "end")]),
    ...baselines.flatMap(([name, bits, share], i) => [line(LEFT, y(share), RIGHT, y(share), "tfb-training-guess"), // the curve begins at the first of them, so its name stands at the right
      i ? text(LEFT + 4, y(share) - 4, `${name} ${bits}`, "tfb-training-name") : text(RIGHT, y(share) - 4, `${name} ${bits}`, "tfb-training-name", "end")]),
    now, path(train, "tfb-training-train"), path(held_out, "tfb-training-held"),
    text(RIGHT, y(end[1]) - 16, "held out", "tfb-training-held-name", "end"), text(RIGHT, y(below[1]) + 17, "training text", "tfb-training-train-name", "end"), dot,
    ...across.map(([label, share]) => text(x(share), FOOT + 18, label, "", "middle")), text(x(0.5), FOOT + 35, "steps", "", "middle"));
  chart.append(svg);

  return (value, { step }) => {
    const [a, b] = value.place;
    for (const [name, at] of [["x1", x(a)], ["x2", x(a)]]) now.setAttribute(name, at.toFixed(2));
    dot.setAttribute("cx", x(a).toFixed(2));
    dot.setAttribute("cy", y(b).toFixed(2));
    headline.replaceChildren(`After ${step.toLocaleString("en")} step${step === 1 ? "" : "s"}: `, make("b", {}, value.loss), ` bits a character, ${value.better}`);
    svg.setAttribute("aria-label", `Loss against steps, both scales marked; here ${value.loss} bits. Guesses: ${baselines.map(([name, bits]) => `${name} ${bits}`).join(", ")}`);
    page.textContent = `what it writes after “${prompt}”`;
    written.replaceChildren(make("span", {}, prompt), value.sample);
    expected.replaceChildren(make("caption", {}, "What it expects next"), make("tbody", {}, ...value.next.map(([character, share], i) =>
      make("tr", {}, make("th", { scope: "row" }, character), make("td", {}, make("span", { class: "tfb-bar", style: `width:${100 * value.bars[i]}%` })), make("td", {}, share)))));
    say(`${headline.textContent}. It expects ${value.next[0][0]}, ${value.next[0][1]}, and writes: ${value.sample.slice(0, 60)}`);
  };
}
