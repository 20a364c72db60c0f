// Models trained on a length and read past it: what a token costs each, by position.

import { bold, line, make, text, through } from "./elements.js";
import { note } from "./position_marks.js";

const LEFT = 40;
const RIGHT = 124; // room for names
const TOP = 26;
const FLOOR = 262;
const GAP = 15; // between two names
// So that lines of one colour are told apart.
const DASHES = { learned: "4 4", sinusoidal: "1 5", rotary: "12 5", none: "12 5 1 5", LSTM: "7 5" };

/** {node: the slider, draw(width)}; `redraw` is called when the slider moves. */
export function lengthCurves(spec, redraw) {
  const { trained, reads, ticks, curves, least, most, said } = spec.constants.lengths;
  let chosen = reads.length - 1;
  const range = make("input", {
    type: "range",
    name: "read",
    min: 0,
    max: chosen,
    input: () => {
      chosen = Number(range.value);
      redraw();
    },
  });
  const shown = make("output");
  const slider = make("label", { class: "tfb-slider" }, make("span", {}, "read at T"), range, shown);
  const node = make("div", { class: "tfb-controls", role: "group", "aria-label": "Reading" }, slider);

  function draw(width) {
    const end = width - RIGHT;
    const x = (across) => LEFT + across * (end - LEFT);
    const y = (loss) => FLOOR - ((loss - least) / (most - least)) * (FLOOR - TOP);
    range.value = chosen;
    shown.textContent = reads[chosen];
    range.setAttribute("aria-valuetext", reads[chosen]);
    return {
      words: words(said[chosen]),
      label: "Loss by position, for each scheme and an LSTM",
      height: FLOOR + 26,
      parts: [...axes(x, y, end, width), ...lines(x, y)],
    };
  }

  function words({ best, worst }) {
    return [
      `Trained at ${ticks.trained}, read at ${reads[chosen]}: a token costs ${best[0]} `,
      bold(best[1].toFixed(2)),
      ` nats, ${worst[0]} `,
      bold(worst[1].toFixed(2)),
    ];
  }

  function axes(x, y, end, width) {
    const lossTick = (loss) => [
      line(LEFT, y(loss), end, y(loss), "tfb-position-grid"),
      note(LEFT - 6, y(loss) + 4, loss, "end"),
    ];
    const hidden = hiddenPositions(width);
    const positionTick = ([position, across]) => [
      line(x(across), FLOOR, x(across), FLOOR + 4, "tfb-floor"),
      note(x(across), FLOOR + 17, hidden.includes(position) ? "" : position, "middle"),
    ];
    return [
      ...ticks.loss.flatMap(lossTick),
      ...ticks.position.flatMap(positionTick),
      line(LEFT, FLOOR, end, FLOOR, "tfb-floor"),
      note(end + 20, FLOOR + 17, "position"),
      note(2, TOP - 14, "loss of a token, nats"),
      line(x(trained), TOP - 6, x(trained), FLOOR, "tfb-position-trained"),
      note(x(trained) - 5, TOP + 4, "trained to here", "end"),
    ];
  }

  /** From the lowest up, so that the names keep their order and do not touch. */
  function lines(x, y) {
    const found = curves.map(({ name, at, loss, reads: all }) => {
      const read = all[chosen];
      const points = loss.slice(0, read.points).map((n, i) => [x(at[i]), y(n)]);
      return { name, read, points };
    });
    found.sort((a, b) => b.points.at(-1)[1] - a.points.at(-1)[1]);
    let free = FLOOR + 10;
    return found.flatMap((curve) => {
      if (curve.read.ends) return [curveLine(curve, "ends"), ...endOf(curve)];
      free = Math.min(curve.points.at(-1)[1], free - GAP);
      const role = curve.read.lost ? "lost" : "kept";
      return [curveLine(curve, role), ...nameOf(curve, role, free)];
    });
  }

  return { node, draw };
}

/** Positions whose numbers have no room. */
function hiddenPositions(width) {
  if (width < 400) return [128, 256];
  return width < 480 ? [256] : [];
}

function curveLine({ name, points }, role) {
  const look = { class: `tfb-position-${role}`, "stroke-dasharray": DASHES[name], "data-scheme": name };
  return make("path", { d: through(points), ...look });
}

function endOf({ name, points }) {
  const [across, up] = points.at(-1);
  const label = text(across - 6, FLOOR - 8, `${name}: ends`, "tfb-position-ends-name", "end");
  label.setAttribute("data-mean", name);
  return [make("circle", { cx: across, cy: up, r: 4, class: "tfb-position-end" }), label];
}

function nameOf({ name, read, points }, role, height) {
  const [across, up] = points.at(-1);
  const d = `M${across} ${up}C${across + 10} ${up} ${across + 4} ${height} ${across + 14} ${height}`;
  const words = `${name} ${read.mean.toFixed(2)}`;
  const label = text(across + 18, height + 4, words, `tfb-position-${role}-name`);
  label.setAttribute("data-mean", name);
  return [make("path", { d, class: "tfb-position-lead" }), label];
}
