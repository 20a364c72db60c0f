// The roofline: a slope where memory is the limit, a ceiling where arithmetic is; forms of attention
// are points on it.

import { columns, drawing, line, make, text } from "./elements.js";
import { raised } from "./numbers.js";
import { bar, cell, row } from "./tables.js";

const LEFT = 36;
const TOP = 20;
const SIZE = 300;
const TALL = 240;
const WIDTH = 346;
const HEIGHT = 298;
const RIGHT = LEFT + SIZE;
const FLOOR = TOP + TALL;
const LIMITS = ["arithmetic", "memory"];

const x = (percent) => LEFT + (percent * SIZE) / 100;
const y = (percent) => FLOOR - (percent * TALL) / 100;

export function figure({ stage, say, spec }) {
  const headline = make("p", { class: "tfb-headline" });
  const title = make("p", { class: "tfb-panel-title" }, "FLOP/s within reach, by FLOPs for each byte moved");
  const chart = make("div", { class: "tfb-chart tfb-halo tfb-roof-chart" });
  const times = make("table", { class: "tfb-roof-times" });
  const facts = make("p", { class: "tfb-reading" });
  stage.append(headline, columns([title, chart], make("div", { class: "tfb-roof-side" }, times, facts)));

  function drawTimes({ limit, bars, seconds }, chip) {
    const where = chip === "laptop" ? ", on an assumed laptop" : ` on one ${chip}`;
    const time = (name, i) => {
      const cells = [cell(bar(bars[i], `tfb-roof-bar-${name}`)), cell(seconds[i])];
      return row(name, cells, name === limit ? "tfb-roof-longer" : "");
    };
    times.replaceChildren(make("caption", {}, `Least time of 32 heads${where}`), ...LIMITS.map(time));
  }

  return (value, { form, chip, T, d_k, precision }) => {
    const { limit, used, flops, moved, matrices, intensity, seconds } = value;
    const waits = limit === "memory" ? "arithmetic" : "memory";
    headline.replaceChildren(
      "It waits for ",
      make("b", { class: `tfb-roof-${limit}` }, limit),
      `: ${waits} is busy ${used} % of the time at most`,
    );
    chart.replaceChildren(drawChart(value, spec.constants, form));
    drawTimes(value, chip);
    const scores = matrices ? `, ${matrices} % of it T × T matrices` : "";
    facts.textContent = `${flops}, ${moved} moved${scores}: ${intensity} FLOPs a byte`;
    const setting = `${form} attention, T ${T}, heads of ${d_k}, ${precision}, ${chip}`;
    const least = seconds[LIMITS.indexOf(limit)];
    say(`${setting}: ${intensity} FLOPs a byte, limited by ${limit}, at least ${least}`);
  };
}

function drawChart(value, { forms, across, up }, form) {
  const { roof, points, limit, intensity } = value;
  const chosen = forms.indexOf(form);
  const [now, high] = points[chosen];
  const [edge] = roof.ridge;
  const said =
    `Roofline: memory ${roof.bandwidth}, arithmetic ${roof.peak}, ridge at ${roof.at} FLOPs a byte; ` +
    `${form} at ${intensity}, limited by ${limit}.`;
  const speedTick = ([above, n]) => [
    line(LEFT, y(above), RIGHT, y(above), "tfb-roof-grid"),
    text(LEFT - 5, y(above) + 4, `10${raised(n)}`, "", "end"),
  ];
  const intensityTick = ([over, n]) => [
    line(x(over), TOP, x(over), FLOOR, "tfb-roof-grid"),
    text(x(over), FLOOR + 16, n, "", "middle"),
  ];
  return drawing(
    WIDTH,
    HEIGHT,
    said,
    ...up.flatMap(speedTick),
    ...across.flatMap(intensityTick),
    text(LEFT + SIZE / 2, FLOOR + 33, "FLOPs a byte", "", "middle"),
    line(x(now), y(high), x(now), FLOOR, `tfb-roof-drop tfb-roof-${limit}`),
    ...drawRoof(roof),
    ...points.flatMap(([over, above], i) =>
      formPoint(forms[i], i === 0, over, above, over >= edge, i === chosen),
    ),
  );
}

function drawRoof({ start, ridge: [edge, top], at, peak, bandwidth }) {
  const left = edge > 78; // the ridge's number stands where there is room
  const ceiling = x(100) - x(edge);
  const short = ceiling < 150;
  return [
    line(x(edge), y(top), x(edge), FLOOR, "tfb-roof-edge"),
    text(x(edge) + (left ? -5 : 5), FLOOR - 8, `ridge ${at}`, "", left ? "end" : "start"),
    make("path", { d: `M${x(0)} ${y(start)}L${x(edge)} ${y(top)}`, class: "tfb-roof-slope" }),
    make("path", { d: `M${x(edge)} ${y(top)}H${x(100)}`, class: "tfb-roof-ceiling" }),
    text(
      short ? x(edge) + ceiling : x(edge),
      y(top) - 22,
      `arithmetic ${peak}`,
      "tfb-roof-peak",
      short ? "end" : "start",
    ),
    text(x(2), Math.min(y(start) + 32, FLOOR - 8), `memory ${bandwidth}`, "tfb-roof-bandwidth"),
  ];
}

/** The name of the plain form stands below the roof, the others above it. */
function formPoint(form, plain, over, above, flat, chosen) {
  const name = form.replace("1 query, ", "");
  const here = chosen ? " tfb-roof-chosen" : "";
  const aside = flat ? 0 : 9;
  const lift = flat ? -10 : -6;
  const label = plain
    ? text(x(over) + aside, y(above) + 19, name, `tfb-roof-name${here}`, flat ? "middle" : "start")
    : text(x(over) - aside, y(above) + lift, name, `tfb-roof-name${here}`, flat ? "middle" : "end");
  const role = `tfb-roof-point tfb-roof-${flat ? "arithmetic" : "memory"}${here}`;
  return [
    make("circle", { cx: x(over), cy: y(above), r: chosen ? 6.5 : 4, class: role, "data-form": form }),
    label,
  ];
}
