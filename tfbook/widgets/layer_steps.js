// One layer, one operation at a time: what it takes stands left of and above what it makes, so that a
// row and a column meet at their number.

import { make } from "./elements.js";
import { clamp } from "./numbers.js";

const LABEL =
  "The matrix that is made. Arrow keys move over its cells, Page Up and Page Down over the operations.";
const HINT =
  "Choose a cell to see how it was made; press a number left of it or above it " +
  "to go back to where that one was made. " +
  "≈ marks rounding to two decimals.";
const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
const TURNS = { PageUp: -1, PageDown: 1 };

export function figure({ stage, say, shade, spec, set }) {
  const at = { row: 2, column: 0 };
  let value;
  let state;

  const headline = make("p", { class: "tfb-headline" });
  const map = make("div", { class: "tfb-steps-map", role: "group", "aria-label": "Choose an operation" });
  const reading = make("p", { class: "tfb-steps-sum" });
  const board = make("div", {
    class: "tfb-steps-board",
    tabindex: 0,
    role: "application",
    "aria-roledescription": "matrix",
    "aria-label": LABEL,
    keydown: press,
    pointerover: ({ target }) => point(target.closest("[data-part=result]")),
    click: ({ target }) => point(target.closest("[data-part]")),
    focus: () => say(value.sums[at.row][at.column]),
  });
  stage.append(map, headline, reading, board, make("p", { class: "tfb-panel-title" }, HINT));

  function groups() {
    return spec.constants.maps[state.norm ?? "post"];
  }

  function go(step) {
    set({ step: clamp(step, 1, groups().flatMap(({ parts }) => parts).length) });
  }

  function press(event) {
    const step = STEPS[event.key];
    const turn = TURNS[event.key];
    if (!step && !turn) return;
    event.preventDefault();
    if (step) move(at.row + step[0], at.column + step[1]);
    else go(state.step + turn);
  }

  function move(row, column) {
    Object.assign(at, { row, column });
    settle();
    mark();
    board.querySelector("[data-part=result].tfb-on").scrollIntoView({ block: "nearest", inline: "nearest" });
    say(reading.textContent);
  }

  /** Within the matrix that is made. */
  function settle() {
    at.row = clamp(at.row, 0, value.sums.length - 1);
    at.column = clamp(at.column, 0, value.sums[0].length - 1);
  }

  /** A cell of the result is read; one of an operand leads to where it was made. */
  function point(cell) {
    if (!cell) return;
    const [row, column] = [Number(cell.dataset.row), Number(cell.dataset.column)];
    const { name, made, given, turned } = value[cell.dataset.part];
    if (cell.dataset.part === "result") {
      move(row, column);
    } else if (made) {
      Object.assign(at, turned ? { row: column, column: row } : { row, column });
      go(made);
    } else {
      say(`${name}: ${given}`);
    }
  }

  /** The number that is read, and those that made it. */
  function mark() {
    const inRow = (cell) => Number(cell.dataset.row) === at.row;
    const inColumn = (cell) => Number(cell.dataset.column) === at.column;
    const lit = { row: inRow, column: inColumn, cell: (cell) => inRow(cell) && inColumn(cell) };
    for (const cell of board.querySelectorAll("[data-part]")) {
      const made = lit[value[cell.dataset.part].lit];
      cell.classList.toggle("tfb-on", made(cell));
    }
    reading.replaceChildren(...named(value.sums[at.row][at.column]));
  }

  function operation([step, name]) {
    const pressed = String(step === state.step);
    return make("button", { type: "button", "aria-pressed": pressed, click: () => go(step) }, ...named(name));
  }

  function drawMap() {
    const group = ({ title, parts }) => {
      const heading = make("span", { class: "tfb-panel-title" }, title);
      return make("div", { class: "tfb-steps-group" }, heading, make("div", {}, ...parts.map(operation)));
    };
    map.replaceChildren(...groups().map(group));
  }

  /** The operands beside the result; rows have no labels where another matrix's stand in line with them. */
  function drawBoard() {
    const { left, above, result } = value;
    const before = left ? left.columns.length + 1 : 0;
    const low = above ? above.rows.length + 3 : 1;
    const tracks = (labels, { columns }) => `${labels} repeat(${columns.length}, minmax(max-content, 46px))`;
    const ownLabels = left && !above ? "12px" : "max-content";
    const template = [...(left ? [tracks("max-content", left)] : []), tracks(ownLabels, result)];
    board.style.gridTemplateColumns = template.join(" ");
    board.replaceChildren(
      ...(above ? matrixCells("above", 1, before + 2, before + 1) : []),
      ...(left ? matrixCells("left", low, 2, 1) : []),
      ...matrixCells("result", low, before + 2, left ? 0 : 1),
    );
  }

  function matrixCells(part, top, first, labels) {
    const { name, shape, role, rows, columns, cells } = value[part];
    const heading = `${top}/${first}/auto/span ${columns.length}`;
    const numberRow = (numbers, row) => {
      const height = top + 2 + row;
      const label = labels ? [put("label tfb-steps-row", `${height}/${labels}`, named(rows[row]))] : [];
      const place = (number, column) =>
        numberCell(number, role, `${height}/${first + column}`, {
          "data-part": part,
          "data-row": row,
          "data-column": column,
        });
      return [...label, ...numbers.map(place)];
    };
    return [
      put(`name tfb-steps-${role}`, heading, [...named(name), make("small", {}, shape)]),
      ...columns.map((column, i) => put("label", `${top + 1}/${first + i}`, named(column))),
      ...cells.flatMap(numberRow),
    ];
  }

  function numberCell(number, role, area, data) {
    if (role !== "weight") return put(`cell tfb-steps-${role}`, area, short(number), data);
    const half = number >= 0.5 ? " tfb-steps-half" : "";
    const most = number > 0.5 ? " tfb-steps-most" : "";
    const place = `${area};background:${shade(Number(number))}`;
    return put(`cell tfb-steps-weight${half}${most}`, place, short(number), data);
  }

  return (newValue, newState) => {
    [value, state] = [newValue, newState];
    settle();
    drawMap();
    headline.replaceChildren(`${value.title}: `, make("b", {}, ...named(value.formula)));
    drawBoard();
    mark();
    say(`${value.title}, ${value.formula}. ${reading.textContent}`);
  };
}

function put(name, area, words, data = {}) {
  return make("span", { class: `tfb-steps-${name}`, style: `grid-area:${area}`, ...data }, ...words);
}

/** W_Q with its index below. */
function named(words) {
  return words.split(/_(\w+)/).map((part, i) => (i % 2 ? make("sub", {}, part) : part));
}

/** A number whose leading zero a phone hides. */
function short(number) {
  const parts = number.split(/(?<!\d)(0)(?=\.)/);
  return parts.map((part, i) => (i % 2 ? make("span", { class: "tfb-steps-zero" }, part) : part));
}
