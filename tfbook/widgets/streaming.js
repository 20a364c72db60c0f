// Streaming attention: scores with their running maximum, the terms of the sum, the mean of the values; beside them what is kept.

function figure({ stage, make, say }) {
  const WIDTH = 340, CELL = WIDTH / 16;
  const headline = make("p", { class: "tfb-headline" });
  const panel = () => make("div", { class: "tfb-stream-panel" });
  const scores = panel(), terms = panel(), mean = panel(), kept = make("div", { class: "tfb-stream-kept" });
  stage.append(headline, make("div", { class: "tfb-columns" }, make("div", { class: "tfb-main" }, scores, terms, mean), kept));

  const text = (x, y, label, name, anchor = "start") => make("text", { x, y, class: name, "text-anchor": anchor }, label);
  const line = (x1, y1, x2, y2, name) => make("line", { x1, y1, x2, y2, class: name });
  const title = (...content) => make("p", { class: "tfb-stream-title" }, ...content);
  const svg = (height, label, ...children) => make("svg", { viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-label": label }, ...children);
  const band = ({ start, seen }, height) => make("rect", { class: "tfb-stream-band", x: start * CELL, width: (seen - start) * CELL, y: 0, height });
  const age = ({ start, seen }, i) => (i < start ? "past" : i < seen ? "now" : "next");

  function drawScores(value) {
    const ZERO = 68, UNIT = 19, m = value.maxima.at(-1), width = (value.seen - value.start) * CELL;
    const y = (score) => ZERO - score * UNIT;
    const stairs = value.maxima.map((top, i) => (i ? `H${(i * value.start * CELL) / (value.maxima.length - 1)}V${y(top)}` : `M0 ${y(top)}`));
    const near = value.seen * CELL > WIDTH - 70;
    scores.replaceChildren(title("scores of one query: the largest so far is ", make("b", {}, `m = ${m.toFixed(2)}`)),
      svg(118, `Scores of 16 keys, ${value.seen} read; the largest so far is ${m.toFixed(2)}`, band(value, 118),
        ...value.scores.map((score, i) => i < value.seen
          ? make("rect", { class: `tfb-stream-score tfb-stream-${age(value, i)}`, x: i * CELL + 3, width: CELL - 6, y: Math.min(y(score), ZERO).toFixed(2), height: Math.max(Math.abs(score * UNIT), 0.5).toFixed(2), "data-score": score })
          : make("circle", { class: "tfb-stream-unread", cx: (i + 0.5) * CELL, cy: ZERO, r: 1.5 })),
        line(0, ZERO, WIDTH, ZERO, "tfb-floor"),
        make("path", { class: "tfb-stream-max", d: `${stairs.join("")}h${width}` }),
        near ? text(WIDTH - 4, y(m) - 5, "m", "tfb-stream-strong", "end") : text(value.seen * CELL + 5, y(m) + 4, "m", "tfb-stream-strong"),
        value.seen < 16 ? text(WIDTH - 2, 112, "not read yet", "", "end") : ""));
  }

  function drawTerms(value) {
    const FLOOR = 78, UNIT = 66;
    const bar = (height, i, name) => make("rect", { class: name, x: i * CELL + 3, width: CELL - 6, y: (FLOOR - height * UNIT).toFixed(2), height: (height * UNIT).toFixed(2) });
    const rose = value.start > 0 && value.shrink < 1;
    terms.replaceChildren(title("e", make("sup", {}, "score − m"), ": their sum is ", make("b", {}, `Z = ${value.sum.toFixed(2)}`),
      rose ? `, earlier ones ×\u00a0${value.shrink.toFixed(2)}` : ""),
      svg(84, `Terms of the sum, ${value.sum.toFixed(2)} in all${rose ? `; earlier ones shrank by ${value.shrink.toFixed(2)}` : ""}`, band(value, FLOOR),
        ...value.terms.flatMap((height, i) => (height === null ? [] : [bar(height, i, `tfb-stream-term tfb-stream-${age(value, i)}`)])),
        ...(rose ? value.before.flatMap((height, i) => (height === null ? [] : [bar(height, i, "tfb-stream-before")])) : []),
        line(0, FLOOR, WIDTH, FLOOR, "tfb-floor")));
  }

  function drawMean(value) {
    const x = (v) => (10 + (v * (WIDTH - 20)) / 10).toFixed(2), LINE = 40;
    const done = value.seen === 16;
    mean.replaceChildren(title("weighted mean of the values read: ", make("b", {}, value.mean.toFixed(2))),
      svg(74, `Values on a line from 0 to 10; mean so far ${value.mean.toFixed(2)}, softmax of the whole row ${value.plain.mean.toFixed(2)}`,
        line(x(0), LINE, x(10), LINE, "tfb-floor"),
        text(x(0), LINE + 20, "0", "", "middle"), text(x(10), LINE + 20, "10", "", "middle"),
        ...value.values.map((v, i) => make("circle", { cx: x(v), cy: LINE, r: i < value.seen ? (2 + 7 * Math.sqrt(value.terms[i])).toFixed(2) : 2, class: i < value.seen ? "tfb-stream-value" : "tfb-stream-unread" })),
        line(x(value.plain.mean), LINE - 17, x(value.plain.mean), LINE + 17, "tfb-stream-target"),
        text(x(value.plain.mean), LINE + 31, `plain softmax ${value.plain.mean.toFixed(2)}`, "", "middle"),
        make("path", { class: "tfb-stream-mean", "data-at": x(value.mean), d: `M${x(value.mean)} ${LINE - 2}l-6 -14h12z` }),
        text(x(value.mean), LINE - 22, done ? "equal" : "so far", "tfb-stream-strong", "middle")));
  }

  function drawKept(value) {
    const squares = (classes) => make("div", { class: "tfb-stream-squares", "aria-hidden": "true" }, ...classes.map((name) => make("span", { class: `tfb-stream-${name}` })));
    const [plain, streaming] = value.kept, block = streaming - 2;
    kept.replaceChildren(make("p", { class: "tfb-stream-title" }, make("b", {}, "Kept for the mean")),
      title("plain: all T scores, ", make("b", {}, plain)), squares(Array(plain).fill("square")),
      title(`streaming: a block, m and Z, `, make("b", {}, streaming)), squares([...Array(block).fill("square"), "number", "number"]),
      title(`with T twice as long: ${2 * plain} and ${streaming}`));
  }

  return (value, { block, step }) => {
    const done = value.seen === 16;
    headline.replaceChildren(...(done ? ["All 16 keys read: the mean is ", make("b", {}, value.mean.toFixed(2)), ", as with a plain softmax"]
      : [`${value.seen} of 16 keys read: the mean so far is `, make("b", {}, value.mean.toFixed(2))]));
    drawScores(value);
    drawTerms(value);
    drawMean(value);
    drawKept(value);
    say(`block ${Math.min(step, value.blocks)} of ${value.blocks}, ${block} keys in each: m ${value.maxima.at(-1).toFixed(2)}, Z ${value.sum.toFixed(2)}, mean ${value.mean.toFixed(2)}${done ? ", equal to plain softmax" : ""}`);
  };
}
