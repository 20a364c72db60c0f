// ALiBi: for each head a line of bias against distance.

import { line, make, text } from "./elements.js";
import { note } from "./position_marks.js";

const LEFT = 52;
const RIGHT = 138; // room for names
const TOP = 10;
const FLOOR = 262;
const GAP = 14; // between two names

export function biasLines({ slopes, least }, { T }, width) {
  const end = width - RIGHT;
  const y = (bias) => TOP + (bias / least) * (FLOOR - TOP);
  const heights = slopes.map((slope) => y(-slope * (T - 1)));
  const places = apart(heights);

  function head(slope, h) {
    const height = heights[h];
    const lead = `M${end} ${height}C${end + 14} ${height} ${end + 6} ${places[h]} ${end + 20} ${places[h]}`;
    const path = `M${LEFT} ${TOP}L${end} ${height.toFixed(2)}`;
    return [
      make("path", { d: path, class: "tfb-position-slope", "data-slope": slope }),
      make("path", { d: lead, class: "tfb-position-lead" }),
      text(end + 24, places[h] + 4, `head ${h + 1}: −${digits(slope)}`, "tfb-position-head"),
    ];
  }

  const near = `Head 1 looks near: each step of distance costs it ${digits(slopes[0])}`;
  return {
    words: [`${near}. Head ${slopes.length} looks far`],
    label: `Bias by distance for ${slopes.length} heads`,
    height: FLOOR + 32,
    parts: [
      ...slopes.flatMap(head),
      line(LEFT, TOP, end, TOP, "tfb-floor"),
      note(LEFT - 6, TOP + 4, "0", "end"),
      note(LEFT - 6, FLOOR + 4, `−${digits(-least)}`, "end"),
      note(end + 24, FLOOR + 24, "bias of each step"),
      note(LEFT, FLOOR + 24, "distance 0"),
      note(end, FLOOR + 24, T - 1, "end"),
    ],
  };
}

/** From the last line, which is the highest, down: names keep their order and do not touch. */
function apart(heights) {
  const places = [...heights];
  let free = TOP - 10;
  for (let h = heights.length - 1; h >= 0; h--) {
    free = Math.max(heights[h], free + GAP);
    places[h] = free;
  }
  return places;
}

function digits(n) {
  return Number(n.toPrecision(3));
}
