// Elements of a page and of a drawing.

const DRAWN = new Set(["svg", "rect", "text", "tspan", "line", "path", "circle"]);

/** An element. An attribute that is a function listens; one that is undefined or false is left out. */
export function make(tag, attributes = {}, ...children) {
  const node = DRAWN.has(tag)
    ? document.createElementNS("http://www.w3.org/2000/svg", tag)
    : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children);
  return node;
}

export function bold(words) {
  return make("b", {}, words);
}

/** What is read first, and beside it, where there is room, the rest. */
export function columns(main, side) {
  return make("div", { class: "tfb-columns" }, make("div", { class: "tfb-main" }, ...main), side);
}

/** A drawing that is one picture for assistive technology, and as wide as its box. */
export function drawing(width, height, label, ...children) {
  return make("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label }, ...children);
}

/** The same where a unit of the drawing is a pixel. */
export function pixelDrawing(width, height, label, ...children) {
  const attributes = { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label };
  return make("svg", attributes, ...children);
}

export function text(x, y, words, name, anchor = "start") {
  return make("text", { x, y, class: name, "text-anchor": anchor }, ...[words].flat());
}

export function line(x1, y1, x2, y2, name) {
  return make("line", { x1, y1, x2, y2, class: name });
}

/** Lines through points, as the attribute d of a path; a gap where a point is null. */
export function through(points, decimals = 1) {
  const steps = points.map((point, i) => {
    if (!point) return "";
    const pen = i && points[i - 1] ? "L" : "M";
    return pen + point.map((n) => n.toFixed(decimals)).join(" ");
  });
  return steps.join("");
}
