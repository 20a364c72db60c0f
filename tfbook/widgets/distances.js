// The distance explorer: the row with its cards and its question above, right answers against distance
// below, paths beside them.

import { bold, columns, drawing, line, make, text, through } from "./elements.js";
import { clamp, range } from "./numbers.js";
import { cell, row } from "./tables.js";

const FLOOR = 74; // of the row of places
const TALL = 26;

const LEFT = 52; // of the chart
const RIGHT = 352;
const TOP = 12;
const HEIGHT = 200;

const y = (share) => TOP + HEIGHT * (1 - share);

export function figure({ stage, say, spec }) {
  const { networks, steps, seeds } = spec.constants;
  const names = Object.keys(networks);
  const headline = make("p", { class: "tfb-headline" });
  const places = make("div", { class: "tfb-chart tfb-far-row" });
  const chart = make("div", { class: "tfb-chart tfb-far-chart" });
  const side = make("div", { class: "tfb-far-side" });
  const trained = `right answers after at most ${steps} steps of training at that distance`;
  const title = `${trained}; a dot for each of ${seeds} seeds`;
  stage.append(headline, places, make("p", { class: "tfb-panel-title" }, title), columns([chart], side));

  function drawHeadline({ cards, question, answer }, D) {
    const asked = make("span", { class: "tfb-far-ask" }, question);
    headline.replaceChildren("… ", asked, " → ", bold(answer), `, ${D - cards[0][0]} places back`);
  }

  function drawSide({ right, path }) {
    const heading = (words) => make("th", { scope: "col" }, words);
    const network = (name) => {
      const cells = [cell(percent(mean(right[name]))), cell(path[name])];
      const found = row(name, cells);
      found.firstChild.setAttribute("style", colourOf(networks[name]));
      return found;
    };
    const explained = "Path: layers, or steps of a recurrence, that a card passes on its way to the answer.";
    side.replaceChildren(
      make("table", {}, make("tr", {}, cell(""), heading("right"), heading("path")), ...names.map(network)),
      make("p", { class: "tfb-reading" }, explained),
    );
  }

  return (value, { D }) => {
    drawHeadline(value, D);
    places.replaceChildren(drawRow(value, D, Math.max(stage.clientWidth, 280)));
    chart.replaceChildren(drawChart(spec.constants, D));
    drawSide(value);
    const said = names.map((name) => `${name} ${percent(mean(value.right[name]))}, path ${value.path[name]}`);
    say(`Distance ${D}: ${said.join("; ")}`);
  };
}

function percent(share) {
  return `${Math.round(100 * share)} %`;
}

function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function colourOf(role) {
  return `--line:var(--tfb-${role})`;
}

function label(x, y, words, name, anchor = "middle") {
  return text(x.toFixed(1), y.toFixed(1), words, name, anchor);
}

function drawRow({ letters, cards, question }, D, width) {
  const size = width / (D + 1); // of a place
  const end = width - 14;
  const [[asked, card], [other, second]] = cards;
  const x = (place) => (place + 0.5) * size;
  const inside = (place) => clamp(x(place), 12, width - 12);
  const rest = range(D).filter((place) => place !== asked && place !== other);
  const readable = size >= 13 && letters.length; // on a narrow page, and far away, a place is a stripe

  function box(place, name, data = {}) {
    const wide = Math.max(size - (size > 3 ? 1 : 0), 2);
    const box = { x: (place * size).toFixed(2), y: FLOOR, width: wide.toFixed(2), height: TALL };
    return make("rect", { ...box, class: name, ...data });
  }

  const said =
    `A row of ${D + 1} places: ${card} at place ${asked + 1}, ${second} at place ${other + 1}, ` +
    `the question ${question} at the end`;
  const over = inside(asked).toFixed(1);
  const arc = `M${end} ${FLOOR - 22}C${end} 8 ${over} 8 ${over} ${FLOOR - 22}`;
  const small = (place) => label(x(place), FLOOR + 18, letters[place], "tfb-far-small");
  return drawing(
    width,
    FLOOR + TALL + 4,
    said,
    make("path", { class: "tfb-far-arc", d: arc }),
    label((end + inside(asked)) / 2, 14, `${D - asked} places back`, "tfb-far-back"),
    ...rest.map((place) => box(place, "tfb-far-letter")),
    box(asked, "tfb-far-card tfb-on", { "data-asked": asked }),
    box(other, "tfb-far-card", { "data-other": other }),
    box(D, "tfb-far-question"),
    ...(readable ? rest.map(small) : []),
    label(inside(asked), FLOOR - 7, card, "tfb-far-name tfb-on"),
    label(inside(other), FLOOR - 7, second, "tfb-far-name"),
    label(end, FLOOR - 7, question, "tfb-far-ask"),
  );
}

function drawChart({ networks, distances, dots, means, labels, levels }, D) {
  const at = distances.indexOf(D);
  const names = Object.keys(networks);
  const x = (i) => LEFT + ((RIGHT - LEFT) * i) / (distances.length - 1);

  function level([name, share]) {
    return [
      line(LEFT - 9, y(share), RIGHT + 9, y(share), "tfb-far-level"),
      label(RIGHT + 9, y(share) + (share < 0.3 ? 16 : -32), name, "tfb-far-level-name", "end"),
    ];
  }

  function dot(share, n, seed, i) {
    return make("circle", {
      cx: (x(i) + (n - 2.5) * 2).toFixed(1), // so that the networks' dots do not cover one another
      cy: y(share).toFixed(1),
      r: i === at ? 4 : 2.5,
      class: "tfb-far-dot",
      style: colourOf(networks[names[n]]),
      "data-dot": `${n},${seed},${i}`,
    });
  }

  function network(name, n) {
    const style = colourOf(networks[name]);
    const d = through(means[n].map((share, i) => [x(i), y(share)]));
    const named = label(x(labels[n][0]), y(labels[n][1]), name, "tfb-far-label", "start");
    named.setAttribute("style", style);
    return [
      make("path", { class: "tfb-far-line", "data-network": name, style, d }),
      ...dots[n].flatMap((shares, seed) => shares.map((share, i) => dot(share, n, seed, i))),
      named,
    ];
  }

  const here = { x: x(at) - 9, y: TOP - 6, width: 18, height: HEIGHT + 12, class: "tfb-far-here" };
  const said = names.map((name, n) => `${name}: ${means[n].map(percent).join(", ")}`);
  return drawing(
    RIGHT + 20,
    TOP + HEIGHT + 38,
    `Right answers by distance. ${said.join(". ")}`,
    make("rect", here),
    ...[0, 0.5, 1].map((share) => label(LEFT - 12, y(share) + 4, percent(share), "", "end")),
    line(LEFT - 9, y(0), RIGHT + 9, y(0), "tfb-far-axis"),
    ...Object.entries(levels).flatMap(level),
    ...distances.map((distance, i) => label(x(i), TOP + HEIGHT + 17, distance, i === at ? "tfb-on" : "")),
    label((LEFT + RIGHT) / 2, TOP + HEIGHT + 34, "distance D, places", ""),
    ...names.flatMap(network),
  );
}
