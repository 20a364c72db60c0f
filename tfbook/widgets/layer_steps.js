// One layer, one operation at a time: what it takes stands left of and above what it makes, so that a row and a column meet at their number.

function figure({ stage, make, say, shade, spec, set }) {
  const at = { row: 2, column: 0 };
  let value, state;

  const headline = make("p", { class: "tfb-headline" });
  const map = make("div", { class: "tfb-steps-map", role: "group", "aria-label": "Choose an operation" });
  const board = make("div", {
    class: "tfb-steps-board", tabindex: 0, role: "application", "aria-roledescription": "matrix",
    "aria-label": "The matrix that is made. Arrow keys move over its cells, Page Up and Page Down over the operations.",
    keydown: (event) => {
      const way = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
      const turn = { PageUp: -1, PageDown: 1 }[event.key];
      if (!way && !turn) return;
      event.preventDefault();
      if (way) move(at.row + way[0], at.column + way[1]);
      else go(state.step + turn);
    },
    pointerover: ({ target }) => target.closest("[data-part=result]") && point(target), click: ({ target }) => target.closest("[data-part]") && point(target),
    focus: () => say(value.sums[at.row][at.column]),
  });
  const reading = make("p", { class: "tfb-steps-sum" });
  const hint = make("p", { class: "tfb-panel-title" }, "Choose a cell to see how it was made; press a number left of it or above it to go back to where that one was made. ≈ marks rounding to two decimals.");
  stage.append(map, headline, reading, board, hint);

  const last = () => spec.constants.maps[state.norm].flatMap((group) => group.parts).length;
  const go = (step) => set({ step: Math.min(Math.max(step, 1), last()) });
  const named = (text) => text.split(/_(\w+)/).map((part, i) => (i % 2 ? make("sub", {}, part) : part)); // W_Q with its index below

  const short = (number) => number.split(/(?<!\d)(0)(?=\.)/).map((part, i) => (i % 2 ? make("span", { class: "tfb-steps-zero" }, part) : part)); // a phone hides it

  function move(row, column) {
    [at.row, at.column] = [within(row, value.sums.length), within(column, value.sums[0].length)];
    mark();
    board.querySelector("[data-part=result].tfb-on").scrollIntoView({ block: "nearest", inline: "nearest" });
    say(reading.textContent);
  }

  function point(target) { // a cell of the result is read; one of an operand leads to where it was made
    const { dataset } = target.closest("[data-part]"), [row, column] = [Number(dataset.row), Number(dataset.column)];
    const source = value[dataset.part];
    if (dataset.part === "result") return move(row, column);
    if (!source.made) return say(`${source.name}: given`);
    [at.row, at.column] = source.turned ? [column, row] : [row, column];
    go(source.made);
  }

  function within(n, size) {
    return Math.min(Math.max(n, 0), size - 1);
  }

  function mark() { // the number that is read, and those that made it
    const lit = { row: ({ row }) => Number(row) === at.row, column: ({ column }) => Number(column) === at.column };
    lit.cell = (cell) => lit.row(cell) && lit.column(cell);
    for (const cell of board.querySelectorAll("[data-part]"))
      cell.classList.toggle("tfb-on", lit[value[cell.dataset.part].lit](cell.dataset));
    reading.replaceChildren(...named(value.sums[at.row][at.column]));
  }

  function drawMap() {
    map.replaceChildren(...spec.constants.maps[state.norm].map(({ title, parts }) => make("div", { class: "tfb-steps-group" },
      make("span", { class: "tfb-panel-title" }, title),
      make("div", {}, ...parts.map(([step, name]) =>
        make("button", { type: "button", "aria-pressed": String(step === state.step), click: () => go(step) }, ...named(name)))))));
  }

  function drawBoard() {
    const cells = [], { left, above, result } = value;
    const put = (name, area, words, more = {}) => cells.push(make("span", { class: `tfb-steps-${name}`, style: `grid-area:${area}`, ...more }, ...words));
    const draw = (part, top, first, labels) => { // its name, the labels of its columns, its rows; no labels where another's stand in line
      const { name, shape, role, rows, columns, cells: numbers } = value[part];
      put(`name tfb-steps-${role}`, `${top}/${first}/auto/span ${columns.length}`, [...named(name), make("small", {}, shape)]);
      columns.forEach((label, column) => put("label", `${top + 1}/${first + column}`, named(label)));
      numbers.forEach((line, row) => {
        if (labels) put("label tfb-steps-row", `${top + 2 + row}/${labels}`, named(rows[row]));
        line.forEach((number, column) => {
          const weight = role === "weight", colour = weight ? `;background:${shade(Number(number))}` : "";
          const strength = weight ? `${number >= 0.5 ? " tfb-steps-half" : ""}${number > 0.5 ? " tfb-steps-most" : ""}` : "";
          put(`cell tfb-steps-${role}${strength}`, `${top + 2 + row}/${first + column}${colour}`, short(number),
            { "data-part": part, "data-row": row, "data-column": column });
        });
      });
    };
    const before = left ? left.columns.length + 1 : 0, low = above ? above.rows.length + 3 : 1;
    const tracks = (labels, matrix) => ` ${labels} repeat(${matrix.columns.length}, minmax(max-content, 46px))`;
    board.style.gridTemplateColumns = (left ? tracks("max-content", left) : "") + tracks(left && !above ? "12px" : "max-content", result);
    if (above) draw("above", 1, before + 2, before + 1);
    if (left) draw("left", low, 2, 1);
    draw("result", low, before + 2, left ? 0 : 1);
    board.replaceChildren(...cells);
  }

  return (newValue, newState) => {
    [value, state] = [newValue, newState];
    [at.row, at.column] = [within(at.row, value.sums.length), within(at.column, value.sums[0].length)];
    drawMap();
    headline.replaceChildren(`${value.title}: `, make("b", {}, ...named(value.formula)));
    drawBoard();
    mark();
    say(`${value.title}, ${value.formula}. ${reading.textContent}`);
  };
}
