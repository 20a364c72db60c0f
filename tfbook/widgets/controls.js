// What a reader can move: {node, show(value), free()}. A kernel answers to any value, so free() lets
// it be typed.

import { make } from "./elements.js";

export function control(spec, change) {
  if (spec.kind === "switch") return switchControl(spec, change);
  if (spec.kind === "choice") return choiceControl(spec, change);
  return sliderControl(spec, change);
}

function switchControl({ name, label }, change) {
  const input = make("input", {
    type: "checkbox",
    role: "switch",
    name,
    change: () => change(input.checked),
  });
  return {
    node: make("label", { class: "tfb-switch" }, input, make("span", {}, label)),
    show: (on) => {
      input.checked = on;
    },
    free() {},
  };
}

function choiceControl({ name, label, values }, change) {
  const options = values.map((value) => make("option", {}, String(value)));
  const select = make("select", { name, change: () => change(values[select.selectedIndex]) }, ...options);
  return {
    node: make("label", { class: "tfb-choice" }, make("span", {}, label), select),
    show: (value) => {
      select.selectedIndex = values.indexOf(value);
    },
    free() {},
  };
}

function sliderControl({ name, label, values, least, most, between }, change) {
  const range = make("input", {
    type: "range",
    name,
    min: 0,
    max: values.length - 1,
    step: 1,
    input: () => change(values[range.value]),
  });
  const shown = make("output");
  const any = numberField(`${label}, any value`, least, most, change);
  const nearest = (value) => {
    const distances = values.map((stop) => Math.abs(stop - value));
    return distances.indexOf(Math.min(...distances));
  };
  return {
    node: make("label", { class: "tfb-slider" }, make("span", {}, label), range, shown),
    show(value) {
      range.value = nearest(value);
      range.setAttribute("aria-valuetext", value);
      shown.textContent = value;
      any.value = value;
    },
    free: () => between && shown.replaceWith(any),
  };
}

// It waits for the end of typing, because a notebook may keep the Enter key to itself. What was typed
// counts, even if another setting that changes meanwhile shows the old value again.
function numberField(label, min, max, change) {
  let waiting;
  const input = make("input", {
    type: "number",
    "aria-label": label,
    min,
    max,
    input: () => {
      clearTimeout(waiting);
      waiting = setTimeout(change, 400, Number(input.value));
    },
  });
  return input;
}
