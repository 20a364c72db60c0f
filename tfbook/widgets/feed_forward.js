// The feed-forward network: one unit, the sum of a few, and below what part of the layer they are.

function figure({ stage, make, say, spec }) {
  const headline = make("p", { class: "tfb-headline" });
  const panels = make("div", { class: "tfb-unit-panels" }), bars = make("div", { class: "tfb-unit-shares" });
  stage.append(headline, panels, bars);

  const HEIGHT = 220, SIDE = 6, { target } = spec.constants;

  return ({ curve, bends, partial, sum, error, params, flops }, { unit, units, ratio }) => {
    const WIDTH = Math.min(stage.clientWidth || 680, 680), narrow = WIDTH < 520;
    const text = (x, y, words, name, anchor = "start") => make("text", { x, y, class: `tfb-unit-${name}`, "text-anchor": anchor }, words);
    const svg = (width, height, name, ...parts) =>
      make("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": name }, ...parts);
    const y = (height) => HEIGHT - 40 * height - 10; // a panel is 5 units high

    function panel(width, tall, name, ...lines) { // inputs from −4 to 4
      const x = (i) => SIDE + i / (target.length - 1) * (width - 2 * SIDE);
      const path = (heights, kind) => {
        let d = "", down = false;
        heights.forEach((height, i) => { // the pen is up where there is nothing
          if (height !== null) d += `${down ? "L" : "M"}${x(i).toFixed(1)} ${y(height).toFixed(1)}`;
          down = height !== null;
        });
        return make("path", { d, class: `tfb-unit-${kind}` });
      };
      return svg(width, tall, name,
        make("line", { class: "tfb-unit-axis", x1: SIDE, x2: width - SIDE, y1: y(2.5), y2: y(2.5) }),
        make("line", { class: "tfb-unit-axis", x1: width / 2, x2: width / 2, y1: y(5), y2: Math.min(y(0), tall - 4) }),
        ...lines.map(([heights, kind]) => path(heights, kind)));
    }

    const left = narrow ? WIDTH : Math.round(WIDTH * 0.36), right = narrow ? WIDTH : WIDTH - left - 24;
    const one = panel(left, narrow ? 150 : HEIGHT + 22, `The curve of one ${unit} unit`, [curve, "sum"]);
    one.append(text(SIDE, y(2.5) + 30, unit === "gated" ? "one gated unit: silu(x) · x" : `one unit: ${unit}(x)`, "name"),
      text(left - SIDE, y(2.5) + 15, "x", "note", "end"));
    const all = panel(right, HEIGHT + 22, `The sum of ${units} ${unit} units, which misses a wave by ${error.toFixed(2)}`,
      [target, "target"], ...partial.map((heights) => [heights, "partial"]), [sum, "sum"]);
    all.append(text(SIDE, 14, units === 1 ? "one, weighted" : `the sum of ${units}`, "name"),
      text(right - SIDE, HEIGHT + 18, "⋯ the wave to follow", "note", "end"),
      ...bends.map((bend) => make("path", { d: "M0 0l5 8h-10z", class: "tfb-unit-bend", "data-bend": bend,
        transform: `translate(${SIDE + (bend + 4) / 8 * (right - 2 * SIDE)} ${HEIGHT - 6})` })),
      text(SIDE, HEIGHT + 18, units === 1 ? "▴ the unit begins" : narrow ? "▴ a unit begins" : "▴ a unit begins, bends the sum", "note"));
    panels.replaceChildren(one, all);

    const below = WIDTH < 320; // two names side by side would touch
    const share = (name, part) => svg(WIDTH, below ? 56 : 42, `${name}: feed-forward ${Math.round(100 * part)} percent`,
      text(0, 13, `${name}: feed-forward ${Math.round(100 * part)} %`, "name"),
      text(WIDTH - 1, below ? 48 : 13, `attention ${Math.round(100 - 100 * part)} %`, "note", "end"),
      make("rect", { class: "tfb-unit-whole", x: 0.5, y: 20.5, width: WIDTH - 1, height: 13, rx: 2 }),
      make("rect", { class: "tfb-unit-part", x: 0.5, y: 20.5, width: (part * (WIDTH - 1)).toFixed(2), height: 13, rx: 2, "data-share": part }));
    const kind = unit === "gated" ? ", gated: three matrices instead of two" : "";
    bars.replaceChildren(
      make("p", { class: "tfb-unit-title" }, `A layer with d_ff = ${ratio === 1 ? "" : `${ratio} `}d${kind} (d = T = 512)`),
      share("parameters", params), share("FLOPs", flops));

    headline.replaceChildren(`${units} ${unit} unit${units === 1 ? " misses" : "s miss"} the wave by `,
      make("b", {}, error.toFixed(2)), ", root mean square");
    say(`${headline.textContent}. Feed-forward: ${Math.round(100 * params)} percent of the parameters, ${Math.round(100 * flops)} of the FLOPs`);
  };
}
