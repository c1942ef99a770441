// Pictures of numbers as SVG: axes, lines, bars. Colors are classes of the style sheet, so that they
// follow light and dark.

import { h, newId, s } from "./dom.js";
import { number } from "./say.js";

// Round values between two ends.
export function ticks(low, high, wanted = 5) {
  if (!(high > low)) return [low];
  const rough = (high - low) / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough);
  const found = [];
  for (let at = Math.ceil(low / step - 1e-9); at * step <= high + 1e-9 * step; at += 1) found.push(Number((at * step).toPrecision(12)));
  return found;
}

// A chart with two axes.
//   title     what it shows; also for screen readers
//   x, y      {low, high, label, levels: texts in place of numbers}
//   layers    [{kind: "line" | "step" | "band" | "dots" | "bars", x, y, low, high, series: 1.., dashed,
//              label}], in the order of painting
//   marks     [{x, y, label, series}] points with a name
//   rules     [{x or y, label}] thin lines across
export function chart({ title, x, y, layers = [], marks = [], rules = [], width = 420, height = 260, note }) {
  const left = 52, right = 14, top = 10, bottom = 40;
  const xAt = (value) => left + ((value - x.low) / (x.high - x.low || 1)) * (width - left - right);
  const yAt = (value) => height - bottom - ((value - y.low) / (y.high - y.low || 1)) * (height - top - bottom);
  const name = newId("chart");
  const grid = s("g", { class: "axis" });
  for (const at of ticks(y.low, y.high)) {
    grid.append(s("line", { x1: left, x2: width - right, y1: yAt(at), y2: yAt(at) }));
    grid.append(s("text", { x: left - 6, y: yAt(at) + 4, "text-anchor": "end" }, number(at, 3)));
  }
  if (x.levels) {
    x.levels.forEach((text, i) => grid.append(s("text", { x: xAt(i), y: height - bottom + 16, "text-anchor": "middle" }, short(text, Math.max(4, Math.floor((width - left) / x.levels.length / 6.5))), s("title", null, text))));
  } else {
    const shown = ticks(x.low, x.high, Math.max(2, Math.round(width / 80)));
    for (const at of shown) grid.append(s("text", { x: xAt(at), y: height - bottom + 16, "text-anchor": "middle" }, number(at, 3)));
  }
  grid.append(s("text", { class: "title", x: (left + width - right) / 2, y: height - 4, "text-anchor": "middle" }, fitted(x.label ?? "", width - left - right)));
  if (y.label) grid.append(s("text", { class: "title", transform: `translate(11 ${(top + height - bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, fitted(y.label, height - top - bottom)));
  const drawn = layers.map((one) => layer(one, xAt, yAt, y.low));
  const crossed = rules.map((one) => s("g", { class: "rule" },
    "x" in one ? s("line", { x1: xAt(one.x), x2: xAt(one.x), y1: top, y2: height - bottom }) : s("line", { x1: left, x2: width - right, y1: yAt(one.y), y2: yAt(one.y) }),
    one.label ? s("text", "x" in one ? { x: xAt(one.x) + 4, y: top + 10 } : { x: width - right, y: yAt(one.y) - 4, "text-anchor": "end" }, one.label) : null));
  const points = marks.map((one) => {
    const at = xAt(one.x);
    const isRight = at > width * 0.62;
    return s("g", null, s("circle", { class: `fill-${one.series ?? 2} ring`, cx: at, cy: yAt(one.y), r: 5 }),
      one.label ? s("text", { class: "mark", x: at + (isRight ? -9 : 9), y: yAt(one.y) + 4, "text-anchor": isRight ? "end" : "start" }, one.label) : null);
  });
  const picture = s("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-labelledby": name }, s("title", { id: name }, title), grid, drawn, crossed, points);
  const named = layers.filter((one) => one.label);
  return h("figure", { class: "plot" }, h("figcaption", null, title), picture,
    named.length > 1 ? h("ul", { class: "legend" }, named.map((one) => h("li", null, h("span", { class: `key back-${one.series ?? 1}${one.dashed ? " dashed" : ""}`, "aria-hidden": "true" }), one.label))) : null,
    note ? h("p", { class: "quiet" }, note) : null);
}

function layer({ kind = "line", x, y, low, high, series = 1, dashed, values }, xAt, yAt, floor) {
  if (kind === "band") {
    const up = x.map((at, i) => `${xAt(at).toFixed(1)} ${yAt(high[i]).toFixed(1)}`);
    const down = x.map((at, i) => `${xAt(at).toFixed(1)} ${yAt(low[i]).toFixed(1)}`).reverse();
    return s("path", { class: `band fill-${series}`, d: `M${up.join("L")}L${down.join("L")}Z` });
  }
  if (kind === "bars") {
    const half = x.length > 1 ? 0.4 * Math.abs(xAt(x[1]) - xAt(x[0])) : 20;
    return s("g", { class: `bars fill-${series}` }, x.map((at, i) => {
      const base = yAt(Math.max(floor, 0));
      const tip = yAt(y[i]);
      return s("rect", { x: xAt(at) - half, width: 2 * half, y: Math.min(base, tip), height: Math.abs(base - tip) }, values ? s("title", null, values[i]) : null);
    }));
  }
  if (kind === "dots") return s("g", { class: `dots fill-${series}` }, x.map((at, i) => s("circle", { cx: xAt(at).toFixed(1), cy: yAt(y[i]).toFixed(1), r: 4 })));
  let path = "";
  x.forEach((at, i) => {
    const here = `${xAt(at).toFixed(1)} ${yAt(y[i]).toFixed(1)}`;
    if (i === 0) path = `M${here}`;
    else if (kind === "step") path += `H${xAt(at).toFixed(1)}V${yAt(y[i]).toFixed(1)}`;
    else path += `L${here}`;
  });
  return s("path", { class: `trace stroke-${series}${dashed ? " dashed" : ""}`, d: path });
}

// A title that is as long as its axis at most, and says all of itself to who points at it.
const fitted = (text, length) => [short(text, Math.floor(length / 6.2)), s("title", null, text)];

export const short = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

// Bars that go left and right from zero: [{name, value, detail}], the largest first.
export function contributions(title, terms, { unit = "", start, end } = {}) {
  const most = Math.max(...terms.map((one) => Math.abs(one.value)), 1e-12);
  return h("figure", { class: "plot" }, h("figcaption", null, title),
    h("ul", { class: "terms" }, terms.map((one) => h("li", null,
      h("span", { class: "name" }, one.name, one.detail ? h("small", null, one.detail) : null),
      h("span", { class: "track", "aria-hidden": "true" }, h("span", { class: one.value < 0 ? "minus" : "plus", style: { width: `${(50 * Math.abs(one.value)) / most}%` } })),
      h("span", { class: "number" }, `${one.value > 0 ? "+" : ""}${number(one.value, 3)}${unit}`)))),
    start === undefined ? null : h("p", { class: "quiet" }, `Together they lead from ${number(start, 3)}, the mean answer for the rows that are compared with, to ${number(end, 3)}.`));
}
