
// ---- what a reader can move ----

function control(spec, change) { // {node, show(value), free()}
  const { kind, name, label, values } = spec;
  if (kind === "switch") {
    const input = make("input", { type: "checkbox", role: "switch", name, change: () => change(input.checked) });
    return { node: make("label", { class: "tfb-switch" }, input, make("span", {}, label)), show: (v) => (input.checked = v), free() {} };
  }
  if (kind === "choice") {
    const select = make("select", { name, change: () => change(values[select.selectedIndex]) }, ...values.map((v) => make("option", {}, String(v))));
    return { node: make("label", { class: "tfb-choice" }, make("span", {}, label), select), show: (v) => (select.selectedIndex = values.indexOf(v)), free() {} };
  }
  const range = make("input", { type: "range", name, min: 0, max: values.length - 1, step: 1, input: () => change(values[range.value]) });
  const shown = make("output", {});
  const node = make("label", { class: "tfb-slider" }, make("span", {}, label), range, shown);
  let waiting; // for the end of typing: a notebook may keep the Enter key to itself
  const any = make("input", {
    type: "number", "aria-label": `${label}, any value`, min: spec.least, max: spec.most,
    input: () => { clearTimeout(waiting); waiting = setTimeout(change, 400, Number(any.value)); },
  });
  return {
    node,
    show(v) {
      range.value = values.reduce((best, stop, i) => (Math.abs(stop - v) < Math.abs(values[best] - v) ? i : best), 0);
      range.setAttribute("aria-valuetext", v);
      shown.textContent = any.value = v;
    },
    free: () => spec.between && shown.replaceWith(any), // a kernel answers: any value may be typed
  };
}

