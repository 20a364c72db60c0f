// The roofline: a slope where memory is the limit, a ceiling where arithmetic is; forms of attention are points on it.

function figure({ stage, make, say, spec }) {
  const { forms, across, up } = spec.constants;
  const headline = make("p", { class: "tfb-headline" });
  const title = make("p", { class: "tfb-panel-title" }, "FLOP/s within reach, by FLOPs for each byte moved");
  const chart = make("div", { class: "tfb-roof-chart" });
  const times = make("table", { class: "tfb-roof-times" });
  const facts = make("p", { class: "tfb-reading" });
  stage.append(headline, make("div", { class: "tfb-columns" },
    make("div", { class: "tfb-main" }, title, chart), make("div", { class: "tfb-roof-side" }, times, facts)));

  const LEFT = 36, TOP = 20, SIZE = 300, TALL = 240, WIDTH = 346, HEIGHT = 298, FLOOR = TOP + TALL;
  const x = (percent) => LEFT + (percent * SIZE) / 100, y = (percent) => FLOOR - (percent * TALL) / 100;
  const text = (at, high, label, name = "", anchor = "start") => make("text", { x: at, y: high, class: name, "text-anchor": anchor }, label);
  const rule = (x1, y1, x2, y2, name) => make("line", { x1, y1, x2, y2, class: name });
  const raised = (n) => [...String(n)].map((c) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[c]).join("");

  function drawChart(value, chosen) {
    const { start, ridge: [edge, top], at, peak, bandwidth } = value.roof, [now, high] = value.points[chosen];
    const left = edge > 78; // the ridge's number stands where there is room
    const point = ([over, above], i) => { // the name of the plain form stands below the roof, the others above it
      const flat = over >= edge, name = forms[i].replace("1 query, ", ""), here = i === chosen ? " tfb-roof-chosen" : "";
      return [
        make("circle", { cx: x(over), cy: y(above), r: here ? 6.5 : 4, class: `tfb-roof-point tfb-roof-${flat ? "arithmetic" : "memory"}${here}`, "data-form": forms[i] }),
        i === 0 ? text(x(over) + (flat ? 0 : 9), y(above) + 19, name, `tfb-roof-name${here}`, flat ? "middle" : "start")
          : text(x(over) - (flat ? 0 : 9), y(above) - (flat ? 10 : 6), name, `tfb-roof-name${here}`, flat ? "middle" : "end"),
      ];
    };
    const said = `Roofline: memory ${bandwidth}, arithmetic ${peak}, ridge at ${at} FLOPs a byte; ${forms[chosen]} at ${value.intensity}, limited by ${value.limit}.`;
    chart.replaceChildren(make("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": said },
      ...up.flatMap(([above, n]) => [rule(LEFT, y(above), LEFT + SIZE, y(above), "tfb-roof-grid"), text(LEFT - 5, y(above) + 4, `10${raised(n)}`, "", "end")]),
      ...across.flatMap(([over, n]) => [rule(x(over), TOP, x(over), FLOOR, "tfb-roof-grid"), text(x(over), FLOOR + 16, n, "", "middle")]),
      text(LEFT + SIZE / 2, FLOOR + 33, "FLOPs a byte", "", "middle"),
      rule(x(now), y(high), x(now), FLOOR, `tfb-roof-drop tfb-roof-${value.limit}`),
      rule(x(edge), y(top), x(edge), FLOOR, "tfb-roof-edge"), text(x(edge) + (left ? -5 : 5), FLOOR - 8, `ridge ${at}`, "", left ? "end" : "start"),
      make("path", { d: `M${x(0)} ${y(start)}L${x(edge)} ${y(top)}`, class: "tfb-roof-slope" }),
      make("path", { d: `M${x(edge)} ${y(top)}H${x(100)}`, class: "tfb-roof-ceiling" }),
      text(x(edge) + (x(100) - x(edge) < 150 ? x(100) - x(edge) : 0), y(top) - 22, `arithmetic ${peak}`, "tfb-roof-peak", x(100) - x(edge) < 150 ? "end" : "start"),
      text(x(2), Math.min(y(start) + 32, FLOOR - 8), `memory ${bandwidth}`, "tfb-roof-bandwidth"),
      ...value.points.flatMap(point)));
  }

  return (value, { form, chip, T, d_k, precision }) => {
    const chosen = forms.indexOf(form), waits = value.limit === "memory" ? "arithmetic" : "memory";
    headline.replaceChildren(`It waits for `, make("b", { class: `tfb-roof-${value.limit}` }, value.limit), `: ${waits} is busy ${value.used} % of the time at most`);
    drawChart(value, chosen);
    times.replaceChildren(make("caption", {}, `Least time of 32 heads${chip === "laptop" ? ", on an assumed laptop" : ` on one ${chip}`}`),
      ...["arithmetic", "memory"].map((name, i) => make("tr", { class: name === value.limit ? "tfb-roof-longer" : "" }, make("th", { scope: "row" }, name),
        make("td", {}, make("span", { class: `tfb-bar tfb-roof-bar-${name}`, style: `width:${value.bars[i]}%` })), make("td", {}, value.seconds[i]))));
    facts.textContent = `${value.flops}, ${value.moved} moved${value.matrices ? `, ${value.matrices} % of it T × T matrices` : ""}: ${value.intensity} FLOPs a byte`;
    say(`${form} attention, T ${T}, heads of ${d_k}, ${precision}, ${chip}: ${value.intensity} FLOPs a byte, limited by ${value.limit}, at least ${value.seconds[value.limit === "memory" ? 1 : 0]}`);
  };
}
