// Decide: the working point of a model as sliders.
//
//   #/decide/RUN?point=JSON&rows=unseen|aside     point: {priors, cost, reject} in the order of the classes

import { fileLink, get, post } from "../lib/api.js";
import { chart } from "../lib/chart.js";
import { field, h, latest, newId, select, show, table } from "../lib/dom.js";
import { keep, link } from "../lib/route.js";
import { number, percent, say } from "../lib/say.js";

const API = "/api/decide";

export async function enter(view, { parts: [name], params, signal }) {
  if (!name) return choose(view, signal);
  const run = await get(`${API}/${encodeURIComponent(name)}`, {}, signal);
  // A copy: sliders write into it, and the run keeps its own.
  const own = () => ({ ...structuredClone(run.point), reject: null });
  const point = { ...own(), ...given(params.point, run) };
  const state = { run, point, rows: params.rows === "aside" && run.n_aside ? "aside" : "unseen" };
  const results = h("div", { class: "stack" });
  const said = h("p", { role: "status", class: "quiet" });
  const move = latest(async () => {
    keep({ point: JSON.stringify(state.point), rows: state.rows === "aside" ? "aside" : "" });
    try {
      const found = await post(`${API}/${encodeURIComponent(name)}/at`, { ...state.point, part: state.rows }, signal);
      draw(results, state, found);
    } catch (error) {
      if (!signal.aborted) show(results, h("p", { class: "notice danger", role: "alert" }, error.message));
    }
  });
  const act = async (action) => {
    try {
      const done = await post(`${API}/${encodeURIComponent(name)}/${action}`, { ...state.point, part: state.rows }, signal);
      const text = action === "save" ? "The model at this point is written beside the model of the run, which stays as it is: " : `${number(done.n_rows)} rows with their decisions are written: `;
      show(said, text, fileLink(`${API}/${encodeURIComponent(name)}/files/${done.file}`, done.file));
    } catch (error) {
      if (!signal.aborted) show(said, error.message);
    }
  };
  const controls = h("div", { class: "stack" });
  const drawControls = () => show(controls, state.run.classes.length === 2 && same(run.classes, run.actions) ? binary(state, move) : general(state, move), reject(state, move));
  drawControls();
  const reset = () => {
    state.point = own();
    drawControls();
    move();
  };
  show(view,
    h("div", { class: "line ends" }, h("h1", null, `Decide with ${run.title}`), h("a", { class: "button small", href: link("decide") }, "Another run")),
    h("p", { class: "quiet" }, `${name} predicts ${run.target}. ${number(run.n_rows)} rows were answered by models that had not seen them, ${number(run.n_aside)} of these were set aside for the judgment. Nothing is learned anew: probabilities are moved to other shares of the classes, and each row gets the decision of least expected cost.`),
    h("div", { class: "split decide" },
      h("section", { class: "card stack sticky", "aria-label": "Working point" }, h("h2", null, "Working point"), controls,
        run.n_aside ? field("Rows", select([["unseen", "all unseen rows"], ["aside", "rows set aside"]], state.rows, { onchange: (event) => { state.rows = event.target.value; move(); } })) : null,
        h("div", { class: "line" }, h("button", { type: "button", class: "primary", onclick: () => act("save") }, "Save to the model"), h("button", { type: "button", onclick: () => act("export") }, "Export decisions"), h("button", { type: "button", class: "plain", onclick: reset }, "As the run had it")),
        said),
      results));
  await move();
}

const same = (a, b) => a.length === b.length && a.every((one, i) => one === b[i]);

// A point from a link, if it fits the run.
function given(text, run) {
  try {
    const { priors, cost, reject } = JSON.parse(text ?? "{}");
    const isNumber = (one) => Number.isFinite(one);
    if (priors?.length === run.classes.length && priors.every((one) => isNumber(one) && one >= 0) && cost?.length === run.classes.length && cost.every((row) => row.length === run.actions.length && row.every(isNumber))) return { priors, cost, reject: isNumber(reject) ? reject : null };
  } catch {
    // A link that was cut; the point of the run is taken.
  }
  return {};
}

async function choose(view, signal) {
  const { runs } = await get(`${API}/list`, {}, signal);
  show(view, h("h1", null, "Decide"),
    runs.length
      ? h("section", { class: "card" }, h("h2", null, "Which model decides?"), h("ul", { class: "list" }, runs.map((one) => h("li", null, h("a", { href: link("decide", [one.name]) }, one.name, h("small", null, `predicts ${one.target}`))))))
      : h("div", { class: "card" }, h("p", null, "Here the costs of errors, the share of the classes and the threshold of a model are moved, and you see what its decisions then cost."), h("p", null, "There is no finished run with classes yet. ", h("a", { href: link("tables") }, "Start one in Tables"), ", for example with the bundled table hepatitis.")));
}

// --- Controls ------------------------------------------------------------------------------------

// A slider with a field for the exact number; `log` makes equal steps equal ratios.
function slider(label, { low, high, value, log = false, digits = 3, oninput, hint }) {
  const id = newId("slider");
  const to = log ? Math.log10 : (x) => x;
  const from = log ? (x) => 10 ** x : (x) => x;
  const clamp = (x) => Math.min(Math.max(x, low), high);
  const range = h("input", { type: "range", id, min: to(low), max: to(high), step: (to(high) - to(low)) / 400, value: to(clamp(value)) });
  const exact = h("input", { type: "number", class: "exact", "aria-label": `${label}, exactly`, min: low, step: "any", value: Number(value.toPrecision(digits)) });
  range.addEventListener("input", () => {
    const now = Number(from(Number(range.value)).toPrecision(digits));
    exact.value = now;
    range.setAttribute("aria-valuetext", String(now));
    oninput(now);
  });
  exact.addEventListener("input", () => {
    const now = Number(exact.value);
    if (exact.value === "" || !Number.isFinite(now) || now < low) return;
    range.value = to(clamp(now));
    oninput(now);
  });
  range.setAttribute("aria-valuetext", String(Number(value.toPrecision(digits))));
  const box = h("div", { class: "slider" }, h("label", { for: id, class: "label" }, label), range, exact, hint ? h("small", { class: "hint" }, hint) : null);
  box.put = (now) => {
    range.value = to(clamp(now));
    exact.value = Number(now.toPrecision(digits));
    range.setAttribute("aria-valuetext", exact.value);
  };
  return box;
}

function binary(state, move) {
  const { run, point } = state;
  const at = run.classes.indexOf(run.positive);
  const other = 1 - at;
  const cut = () => {
    const miss = state.point.cost[at][other] - state.point.cost[at][at];
    const alarm = state.point.cost[other][at] - state.point.cost[other][other];
    return alarm / (miss + alarm);
  };
  const fn = slider(`Missing a ${run.positive} costs`, { low: 0.01, high: 1000, value: Math.max(point.cost[at][other], 0.01), log: true, oninput: (x) => { state.point.cost[at][other] = x; threshold.put(cut()); move(); } });
  const fp = slider("A false alarm costs", { low: 0.01, high: 1000, value: Math.max(point.cost[other][at], 0.01), log: true, oninput: (x) => { state.point.cost[other][at] = x; threshold.put(cut()); move(); } });
  const prior = slider(`Share of ${run.positive} in use`, { low: 0.001, high: 0.999, value: point.priors[at], oninput: (x) => { if (x >= 1) return; state.point.priors[at] = x; state.point.priors[other] = 1 - x; move(); } });
  const threshold = slider(`Threshold: call it ${run.positive} above`, { low: 0.001, high: 0.999, value: cut(), hint: "The probability under this share. Moving it moves what a miss costs.", oninput: (x) => { if (x >= 1) return; const miss = (state.point.cost[other][at] * (1 - x)) / x; state.point.cost[at][other] = miss; fn.put(miss); move(); } });
  return [fn, fp, prior, threshold];
}

function general(state, move) {
  const { run, point } = state;
  const cell = (i, j) => h("input", { type: "number", step: "any", class: "exact", "aria-label": `Cost of ${run.actions[j]} where ${run.classes[i]} is true`, value: point.cost[i][j], oninput: (event) => { const x = Number(event.target.value); if (event.target.value !== "" && Number.isFinite(x)) { state.point.cost[i][j] = x; move(); } } });
  return [
    h("div", { class: "across", tabindex: "0", role: "region", "aria-label": "Costs" }, h("table", { class: "matrix" }, h("caption", null, "What each decision costs"), h("thead", null, h("tr", null, h("th", { scope: "col" }, "true"), run.actions.map((one) => h("th", { scope: "col" }, one)))),
      h("tbody", null, run.classes.map((one, i) => h("tr", null, h("th", { scope: "row" }, one), run.actions.map((_, j) => h("td", null, cell(i, j)))))))),
    ...run.classes.map((one, i) => slider(`Share of ${one}`, { low: 0.001, high: 1, value: point.priors[i], oninput: (x) => { state.point.priors[i] = x; move(); } })),
    h("small", { class: "hint" }, "Shares are made to add up to 1."),
  ];
}

function reject(state, move) {
  const most = Math.max(...state.point.cost.flat(), 1);
  const start = state.point.reject ?? most / 10;
  const cost = slider("Leaving a row undecided costs", { low: most / 10000, high: most, value: start, log: true, oninput: (x) => { state.point.reject = x; move(); } });
  cost.hidden = state.point.reject === null;
  const box = h("input", { type: "checkbox", checked: state.point.reject !== null, onchange: () => { cost.hidden = !box.checked; state.point.reject = box.checked ? Number(cost.querySelector(".exact").value) : null; move(); } });
  return [h("label", { class: "check" }, box, "Rows may be left to a person"), cost];
}

// --- What changes --------------------------------------------------------------------------------

function draw(results, { run }, found) {
  const saved = found.cost === null ? null : found.blind - found.cost;
  const facts = [
    ["Cost of a decision", found.cost === null ? "–" : number(found.cost), found.blind === null ? "" : `the same for every row: ${number(found.blind)}`],
    ["Saved", saved === null ? "–" : number(saved), saved !== null && found.blind > 0 ? percent(saved / found.blind) : ""],
    found.wrong === null ? null : ["Wrong", number(found.wrong), percent(found.wrong / found.n_rows)],
    found.actions.length > run.actions.length ? ["Left undecided", number(found.rejected), percent(found.rejected / found.n_rows)] : null,
    ["Rows decided otherwise", number(found.changed.n_rows), "than at the run's own point"],
  ].filter(Boolean);
  const threshold = found.threshold;
  const pictures = [];
  if (run.roc && threshold) {
    pictures.push(chart({ title: `Recall and false alarms (area ${number(run.roc.area, 3)})`, x: { low: 0, high: 1, label: "share of the others that are called" }, y: { low: 0, high: 1, label: `share of ${run.positive} found` },
      layers: [{ x: [0, 1], y: [0, 1], series: 8, dashed: true }, { kind: "line", x: run.roc.x, y: run.roc.y, series: 1 }], marks: [{ x: threshold.false_positive_rate, y: threshold.recall, label: "here", series: 2 }] }));
    const top = Math.max(...threshold.y, found.cost ?? 0) * 1.05 || 1;
    pictures.push(chart({ title: "Cost at every threshold", x: { low: 0, high: 1, label: `call it ${run.positive} from this probability on` }, y: { low: 0, high: top, label: "cost of a decision" },
      layers: [{ kind: "line", x: threshold.x, y: threshold.y, series: 1 }], rules: [{ x: threshold.value, label: "" }], marks: found.cost === null || found.actions.length > 2 ? [] : [{ x: threshold.value, y: found.cost, label: "here", series: 2 }],
      note: "The lowest point of the curve was chosen after the fact, on these very rows; the line is where the costs themselves put the threshold." }));
  }
  show(results,
    h("dl", { class: "facts" }, facts.map(([title, value, small]) => h("div", null, h("dt", null, title), h("dd", null, value, small ? h("small", null, small) : null)))),
    h("section", { class: "card" }, h("div", { class: "pictures" }, confusion(run, found), pictures)),
    h("section", { class: "card" }, affected(found)));
  announce(`Cost of a decision ${found.cost === null ? "unknown" : number(found.cost)}, ${number(found.changed.n_rows)} rows decided otherwise.`);
}

let timer = 0;
// A slider is heard when it rests, not at every step.
function announce(text) {
  clearTimeout(timer);
  timer = setTimeout(() => say(text), 700);
}

function confusion(run, found) {
  const most = Math.max(...found.confusion.flat(), 1);
  return h("div", { class: "whole" }, h("h2", null, "What is true, and what is decided"), h("div", { class: "across", tabindex: "0", role: "region", "aria-label": "Confusion" }, h("table", { class: "matrix heat" }, h("caption", { class: "unseen" }, "Rows by their true class and their decision"),
    h("thead", null, h("tr", null, h("th", { scope: "col" }, "true"), found.actions.map((one) => h("th", { scope: "col" }, one)))),
    h("tbody", null, run.classes.map((one, i) => h("tr", null, h("th", { scope: "row" }, one), found.confusion[i].map((count, j) => {
      const isRight = run.classes[i] === found.actions[j];
      return h("td", { class: isRight ? "right" : count ? "wrong" : null }, h("span", { class: "heat-bar", "aria-hidden": "true", style: { width: `${(100 * count) / most}%` } }), number(count));
    })))))));
}

function affected(found) {
  if (!found.changed.n_rows) return [h("h2", null, "Rows decided otherwise"), h("p", { class: "quiet" }, "None: every row is decided as at the run's own point.")];
  const cells = found.changed.rows[0]?.cells.map(([column]) => column) ?? [];
  return table([
    { title: "row", cell: (one) => [number(one.row), one.name ? h("small", null, one.name) : null] },
    { title: "true", cell: (one) => one.true },
    { title: "decided before", cell: (one) => one.before },
    { title: "decided now", cell: (one) => h("b", { class: one.now === one.true ? "good-text" : null }, one.now) },
    { title: "surest class", number: true, cell: (one) => percent(one.probability) },
    ...cells.map((column, k) => ({ title: column, cell: (one) => one.cells[k]?.[1] ?? "missing" })),
  ], found.changed.rows, { caption: `Rows decided otherwise: ${number(found.changed.n_rows)}${found.changed.n_rows > found.changed.rows.length ? `, the ${found.changed.rows.length} that gain most` : ""}` });
}
