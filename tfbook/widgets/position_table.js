// The table of sinusoidal positions, and what its colours mean.

import { bold, make, text } from "./elements.js";
import { clamp, thousands } from "./numbers.js";
import { note } from "./position_marks.js";

const LEFT = 82;
const TOP = 4;

export function sinusoidalTable({ up, down, waves }, { T, d }, width) {
  const cell = (width - LEFT - 2) / T;
  const high = clamp(256 / d, 7, 22);
  const gap = cell > 7 ? 1 : 0;
  const floor = TOP + d * high;
  const key = floor + (width < 400 ? 38 : 17); // a narrow page has the colours below the positions

  function square(size, role, channel, position) {
    return make("rect", {
      x: (LEFT + position * cell).toFixed(2),
      y: TOP + channel * high,
      width: (cell - gap).toFixed(2),
      height: high - gap,
      class: `tfb-position-${role}`,
      "fill-opacity": size,
      "data-channel": channel,
      "data-position": position,
    });
  }

  function squares(sizes, role) {
    const channelRow = (row, channel) =>
      row.flatMap((size, position) => (size === null ? [] : [square(size, role, channel, position)]));
    return sizes.flatMap(channelRow);
  }

  return {
    words: [
      "Each channel is a wave: the first takes ",
      bold(waves[0]),
      " positions for a turn, the last ",
      bold(thousands(waves[1])),
    ],
    label: `Table of ${d} channels at ${T} positions`,
    height: key + 7,
    parts: [
      ...squares(up, "positive"),
      ...squares(down, "negative"),
      note(LEFT - 8, TOP + 12, "channel 0", "end"),
      note(LEFT - 8, TOP + 27, "fast", "end"),
      note(LEFT - 8, floor - 18, "slow", "end"),
      note(LEFT - 8, floor - 3, `channel ${d - 1}`, "end"),
      note(LEFT, floor + 17, "position 0"),
      note(width - 2, floor + 17, T - 1, "end"),
      ...colourKey(LEFT + (width - LEFT) / 2, key),
    ],
  };
}

function colourKey(middle, height) {
  const sample = (x, role, size) =>
    make("rect", {
      x,
      y: height - 10,
      width: 11,
      height: 11,
      class: `tfb-position-${role}`,
      "fill-opacity": size,
    });
  const samples = [1, 0.6, 0.25].flatMap((size, i) => [
    sample(middle - 46 + 12 * i, "positive", size),
    sample(middle + 34 - 12 * i, "negative", size),
  ]);
  return [
    text(middle - 52, height, "1", "tfb-position-above", "end"),
    note(middle, height, "0", "middle"),
    text(middle + 52, height, "−1", "tfb-position-below"),
    ...samples,
  ];
}
