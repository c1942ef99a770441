// Understand: a model from four sides.
//
//   #/understand/RUN/tree?node=              walk through a tree
//   #/understand/RUN/whatif?row=&cells=JSON  change the cells of a row
//   #/understand/RUN/columns?column=         follow one column
//   #/understand/RUN/unusual                 rows that stand out

import { get, post } from "../lib/api.js";
import { chart, contributions } from "../lib/chart.js";
import { field, h, latest, select, settled, show, table } from "../lib/dom.js";
import { go, keep, link } from "../lib/route.js";
import { number, percent, say } from "../lib/say.js";
import { wide } from "./tables.js";

const API = "/api/understand";
const VIEWS = { tree: ["Tree", tree], whatif: ["What if", whatIf], columns: ["Columns", columns], unusual: ["Unusual rows", unusual] };
const FIRST_COLUMNS = 12;
const MOST_TERMS = 14;

export async function enter(view, { parts: [name, what = "tree"], params, signal }) {
  if (!name) return choose(view, signal);
  const body = h("div", null, h("p", { class: "quiet", role: "status" }, "Reading the model and its rows …"));
  show(view, body);
  const run = await get(`${API}/${encodeURIComponent(name)}`, {}, signal);
  const [, shown] = VIEWS[what] ?? VIEWS.tree;
  const main = h("div", { class: "stack" });
  show(view, h("div", { class: "line ends" }, h("h1", null, `Understand ${run.title}`), h("a", { class: "button small", href: link("understand") }, "Another run")),
    h("p", { class: "quiet" }, `${name} predicts ${run.target} from ${number(run.columns.length)} columns; ${number(run.n_rows)} rows.`),
    h("nav", { class: "tabs", "aria-label": "Sides of the model" }, Object.entries(VIEWS).map(([key, [title]]) => h("a", { href: link("understand", [name, key]), "aria-current": VIEWS[key][1] === shown ? "page" : null }, title))),
    main);
  await shown(main, { name, run, params, signal, ask: (path, more) => get(`${API}/${encodeURIComponent(name)}/${path}`, more, signal) });
}

async function choose(view, signal) {
  const { runs } = await get(`${API}/list`, {}, signal);
  show(view, h("h1", null, "Understand"),
    runs.length
      ? h("section", { class: "card" }, h("h2", null, "Which model?"), h("ul", { class: "list" }, runs.map((one) => h("li", null, h("a", { href: link("understand", [one.name]) }, one.name, h("small", null, `predicts ${one.target}`))))))
      : h("div", { class: "card" }, h("p", null, "Here you walk through a tree, change a row and see what each cell adds to the answer, follow columns, and meet the rows that stand out."), h("p", null, "There is no finished run yet. ", h("a", { href: link("tables") }, "Start one in Tables"), ".")));
}

// --- Tree ----------------------------------------------------------------------------------------

async function tree(main, { run, params, ask, signal }) {
  const { entries, labels, summary, fidelity } = run.tree;
  const byNode = new Map(entries.map((one) => [one.node, one]));
  const side = h("div", { class: "stack" });
  const items = new Map();
  let chosen = Number(params.node ?? 0);
  if (!byNode.has(chosen)) chosen = 0;
  const look = latest(async () => {
    const entry = byNode.get(chosen);
    keep({ node: chosen || "" });
    try {
      const found = await ask("node", { node: chosen });
      if (!signal.aborted) show(side, nodeView(run, byNode, entry, found));
      say(`${entry.condition}: ${number(found.n_rows)} rows, ${entry.prediction}`);
    } catch (error) {
      if (!signal.aborted) show(side, h("p", { class: "notice danger", role: "alert" }, error.message));
    }
  });
  const choose = (node, focus = true) => {
    items.get(chosen)?.setAttribute("aria-selected", "false");
    items.get(chosen)?.setAttribute("tabindex", "-1");
    chosen = node;
    const item = items.get(node);
    item.setAttribute("aria-selected", "true");
    item.setAttribute("tabindex", "0");
    if (focus) item.focus();
    look();
  };
  const visible = () => [...items.values()].filter((item) => item.offsetParent !== null);
  const press = (event, node) => {
    const entry = byNode.get(node);
    const item = items.get(node);
    const all = visible();
    const at = all.indexOf(item);
    const isOpen = item.getAttribute("aria-expanded") === "true";
    const moves = {
      ArrowDown: () => all[at + 1] && choose(Number(all[at + 1].dataset.node)),
      ArrowUp: () => all[at - 1] && choose(Number(all[at - 1].dataset.node)),
      ArrowRight: () => (entry.children.length ? (isOpen ? choose(entry.children[0]) : open(item, true)) : null),
      ArrowLeft: () => (isOpen ? open(item, false) : entry.parent === null ? null : choose(entry.parent)),
      Home: () => choose(0),
      End: () => choose(Number(all.at(-1).dataset.node)),
      Enter: () => choose(node),
      " ": () => choose(node),
    };
    if (!moves[event.key]) return;
    event.preventDefault();
    event.stopPropagation();
    moves[event.key]();
  };
  const open = (item, isOpen) => {
    item.setAttribute("aria-expanded", String(isOpen));
    item.querySelector(":scope > ul").hidden = !isOpen;
  };
  const total = entries[0].weight;
  const branch = (node, depth) => {
    const entry = byNode.get(node);
    // Parents before children, so that the items stand in the order of the page.
    items.set(node, null);
    const below = entry.children.length ? h("ul", { role: "group" }, entry.children.map((child) => branch(child, depth + 1))) : null;
    const line = h("div", { class: "node", onclick: (event) => { event.stopPropagation(); choose(node); } },
      entry.children.length ? h("span", { class: "twig", "aria-hidden": "true", onclick: (event) => { event.stopPropagation(); open(items.get(node), items.get(node).getAttribute("aria-expanded") !== "true"); } }) : h("span", { class: "leaf-mark", "aria-hidden": "true" }),
      h("span", { class: "words" }, entry.condition, entry.children.length ? null : h("b", null, ` → ${entry.prediction}`), entry.hidden ? h("small", null, ` ${entry.hidden} more nodes`) : null),
      h("span", { class: "weight number" }, number(entry.weight, 3)),
      bar(entry, labels));
    const item = h("li", { role: "treeitem", "aria-selected": String(node === chosen), "aria-expanded": below ? "true" : null, tabindex: node === chosen ? "0" : "-1", dataset: { node }, onkeydown: (event) => press(event, node), "aria-label": `${entry.condition}, ${entry.children.length ? `asks ${entry.asked}` : `predicts ${entry.prediction}`}, ${number(entry.weight, 3)} rows` }, line, below);
    items.set(node, item);
    return item;
  };
  const note = fidelity
    ? `${run.title} is no tree. This small tree imitates it: it is fitted to the answers of the model. On rows that it had not seen it ${fidelity.measure === "accuracy" ? `gives the same answer in ${percent(fidelity.value)}` : `explains ${percent(fidelity.value)} of how they differ`}.`
    : "This tree is the model itself.";
  const counted = fidelity ? "Numbers are rows, and shares and means are of what the model answers for them, not of the truth" : "Numbers are training rows";
  show(main, h("p", { class: "quiet" }, `${note} ${summary}. ${counted}.`),
    h("div", { class: "split walk" },
      h("section", { class: "card" }, labels.length ? h("ul", { class: "legend" }, labels.slice(0, 8).map((label, i) => h("li", null, h("span", { class: `key back-${i + 1}`, "aria-hidden": "true" }), label))) : null,
        h("ul", { class: "tree", role: "tree", "aria-label": "Tree" }, branch(0, 0)), h("p", { class: "quiet" }, `All ${number(total, 3)} rows start at the top. Arrow keys walk.`)),
      side));
  await look();
}

function bar(entry, labels) {
  if (!labels.length) return h("span", { class: "answer number" }, number(entry.shares[0], 3));
  return h("span", { class: "shares", "aria-hidden": "true" }, entry.shares.map((share, i) => (share > 0 ? h("span", { class: `back-${(i % 8) + 1}`, style: { width: `${100 * share}%` } }) : null)));
}

function nodeView(run, byNode, entry, found) {
  const way = [];
  for (let at = entry; at; at = at.parent === null ? null : byNode.get(at.parent)) way.unshift(at);
  const { labels } = run.tree;
  return [
    h("section", { class: "card" }, h("h2", null, entry.children.length ? `Here ${entry.asked} is asked` : `Here the answer is ${entry.prediction}`),
      h("ol", { class: "way" }, way.slice(1).map((one) => h("li", null, one.condition))),
      labels.length
        ? h("ul", { class: "terms plain" }, labels.map((label, i) => [entry.shares[i], label, i]).sort((a, b) => b[0] - a[0]).slice(0, 8).map(([share, label, i]) => h("li", null, h("span", { class: "name" }, label), h("span", { class: "share wide", "aria-hidden": "true" }, h("span", { class: `back-${(i % 8) + 1}`, style: { width: `${100 * share}%` } })), h("span", { class: "number" }, percent(share)))))
        : h("p", null, `Mean of the ${run.tree.fidelity ? "answers of the model" : "training rows"}: ${number(entry.shares[0])}`)),
    h("section", { class: "card" }, found.rows.length ? wide(["row", ...found.columns], found.rows.map(([row, ...cells]) => [number(row), ...cells]), `${number(found.n_rows)} rows of the table come here${found.n_rows > found.rows.length ? `, the first ${found.rows.length}` : ""}`) : h("p", { class: "quiet" }, "No row of the table comes here.")),
  ];
}

// --- What if -------------------------------------------------------------------------------------

async function whatIf(main, { name, run, params, signal, ask }) {
  const row = Math.min(Math.max(Math.round(Number(params.row) || 1), 1), run.n_rows);
  let changed = {};
  try {
    changed = JSON.parse(params.cells ?? "{}");
  } catch {
    // A link that was cut: the row as it is.
  }
  const { cells } = await ask("row", { row });
  const result = h("div", { class: "stack" });
  const move = latest(async () => {
    keep({ row, cells: Object.keys(changed).length ? JSON.stringify(changed) : "" });
    try {
      const found = await post(`${API}/${encodeURIComponent(name)}/whatif`, { row, cells: changed }, signal);
      show(result, answer(run, found));
      say(`The answer is ${found.decision ?? found.prediction}`);
    } catch (error) {
      if (!signal.aborted) show(result, h("p", { class: "notice danger", role: "alert" }, error.message));
    }
  });
  const moveSoon = settled(move, 120);
  const control = (column) => {
    const was = cells[column.name];
    const now = column.name in changed ? changed[column.name] : was;
    const put = (value) => {
      if (value === was) delete changed[column.name];
      else changed[column.name] = value;
      box.classList.toggle("changed", column.name in changed);
      moveSoon();
    };
    let input;
    if (column.levels.length) {
      const levels = now === null || column.levels.includes(now) ? column.levels : [now, ...column.levels];
      input = select([["", "missing"], ...levels], now ?? "", { onchange: (event) => put(event.target.value === "" ? null : event.target.value) });
    } else {
      input = h("input", { type: column.range ? "number" : "text", step: "any", value: now ?? "", placeholder: "missing", oninput: (event) => put(event.target.value === "" ? null : event.target.value) });
    }
    const box = field(column.name, input, column.range ? `${number(column.range[0], 3)} to ${number(column.range[1], 3)}; here ${was ?? "missing"}` : `here ${was ?? "missing"}`);
    if (column.range && !column.levels.length && column.range[1] > column.range[0]) {
      const range = h("input", { type: "range", min: column.range[0], max: column.range[1], step: (column.range[1] - column.range[0]) / 200, value: now ?? column.range[0], "aria-label": `${column.name} as a slider` });
      range.addEventListener("input", () => { input.value = Number(Number(range.value).toPrecision(4)); put(input.value); });
      input.addEventListener("input", () => (range.value = input.value));
      input.after(range);
    }
    box.classList.toggle("changed", column.name in changed);
    return box;
  };
  const number_ = h("input", { type: "number", min: 1, max: run.n_rows, value: row });
  const other = () => go("understand", [name, "whatif"], { row: Number(number_.value) });
  show(main, h("div", { class: "split decide" },
    h("section", { class: "card stack", "aria-label": "The row" },
      h("form", { class: "line", onsubmit: (event) => { event.preventDefault(); other(); } }, h("div", { class: "grow" }, field(`Row, 1 to ${number(run.n_rows)}`, number_)), h("button", { class: "end" }, "Take this row"), h("button", { type: "button", class: "plain end", onclick: other }, "As it was")),
      h("div", { class: "fields" }, run.columns.slice(0, FIRST_COLUMNS).map(control)),
      run.columns.length > FIRST_COLUMNS ? h("details", null, h("summary", null, `${run.columns.length - FIRST_COLUMNS} more columns`), h("div", { class: "fields" }, run.columns.slice(FIRST_COLUMNS).map(control))) : null),
    result));
  await move();
}

function answer(run, found) {
  const { credit } = found;
  const shown = found.probabilities?.map((share, i) => [share, found.classes[i]]).sort((a, b) => b[0] - a[0]).slice(0, 8) ?? [];
  const all = credit.terms.filter(([, , one]) => one.value !== null).map(([column, cell, one]) => ({ name: column, detail: cell, value: one.value }));
  const terms = all.slice(0, MOST_TERMS);
  const rest = all.slice(MOST_TERMS).reduce((sum, one) => sum + one.value, credit.rest);
  if (Math.abs(rest) > 1e-12) terms.push({ name: "all other columns", value: rest });
  return [
    h("dl", { class: "facts" }, [["Answer", found.prediction], found.decision && found.decision !== found.prediction ? ["Decision", found.decision] : null, credit.output ? [`Probability of ${credit.output}`, percent(credit.prediction)] : null].filter(Boolean).map(([title, value]) => h("div", null, h("dt", null, title), h("dd", null, value)))),
    shown.length ? h("section", { class: "card" }, h("h2", null, "Probabilities"), h("ul", { class: "terms plain" }, shown.map(([share, label]) => h("li", null, h("span", { class: "name" }, label), h("span", { class: "share wide", "aria-hidden": "true" }, h("span", { class: "back-1", style: { width: `${100 * share}%` } })), h("span", { class: "number" }, percent(share)))))) : null,
    h("section", { class: "card" }, contributions(`What each cell adds to ${credit.output ? `the probability of ${credit.output}` : run.target}`, terms, { start: credit.start, end: credit.prediction })),
  ];
}

// --- Columns -------------------------------------------------------------------------------------

async function columns(main, { name, run, params, ask, signal }) {
  const chosen = run.columns.find((one) => one.name === params.column) ?? run.columns[0];
  const picture = h("div", null, h("p", { class: "quiet" }, "Following the column …"));
  const most = Math.max(...run.columns.map((one) => one.importance ?? 0), 1e-12);
  show(main, h("div", { class: "split side" },
    h("section", { class: "card" }, h("h2", null, "Columns"), h("p", { class: "quiet" }, "By how much worse the measure gets when a column is shuffled."),
      h("ul", { class: "list tall" }, run.columns.map((one) => h("li", null, h("a", { href: link("understand", [name, "columns"], { column: one.name }), "aria-current": one === chosen ? "true" : null }, one.name, one.importance === null ? null : h("small", null, h("span", { class: "share", "aria-hidden": "true" }, h("span", { class: "back-1", style: { width: `${(100 * Math.max(one.importance, 0)) / most}%` } })), number(one.importance, 2))))))),
    h("section", { class: "card" }, picture)));
  try {
    const found = await ask("dependence", { column: chosen.name });
    show(picture, dependence(run, found));
  } catch (error) {
    if (!signal.aborted) show(picture, h("p", { class: "notice danger", role: "alert" }, error.message));
  }
}

function dependence(run, found) {
  const isLevels = found.levels.length > 0;
  const x = isLevels ? found.levels.map((_, i) => i) : found.values;
  const all = found.outputs.flatMap((_, k) => [...found.low[k], ...found.high[k], ...found.means[k]]);
  const isShare = run.classes.length > 0;
  const low = isShare ? 0 : Math.min(...all);
  const high = isShare ? 1 : Math.max(...all);
  const pad = isShare ? 0 : 0.05 * (high - low || 1);
  const layers = found.outputs.flatMap((label, k) => [
    ...(found.outputs.length < 3 ? [{ kind: isLevels ? "none" : "band", x, low: found.low[k], high: found.high[k], series: k + 1 }] : []),
    { kind: !isLevels ? "line" : found.outputs.length === 1 ? "bars" : "dots", x, y: found.means[k], series: k + 1, label: label || run.target },
  ]).filter((one) => one.kind !== "none");
  const what = isShare ? (found.outputs.length === 1 ? `probability of ${found.outputs[0]}` : "probability") : run.target;
  return [
    chart({ title: `How the answer follows ${found.column}`, width: 640, height: 340, x: { low: isLevels ? -0.5 : x[0], high: isLevels ? x.length - 0.5 : x.at(-1), label: found.column, levels: isLevels ? found.levels : null }, y: { low: low - pad, high: high + pad, label: what }, layers,
      note: `Mean answer when ${found.column} is set to a value and the other cells stay, over ${number(found.n_rows)} rows${isLevels || found.outputs.length > 2 ? "" : "; eight rows of ten lie in the band"}. Where columns go together, some of these rows could never be.` }),
    h("details", null, h("summary", null, "As numbers"), table([{ title: found.column, cell: (i) => (isLevels ? found.levels[i] : number(found.values[i])) }, ...found.outputs.map((label, k) => ({ title: label || run.target, number: true, cell: (i) => number(found.means[k][i], 3) }))], x.map((_, i) => i))),
  ];
}

// --- Unusual rows --------------------------------------------------------------------------------

async function unusual(main, { name, ask }) {
  show(main, h("p", { class: "quiet", role: "status" }, "Looking for rows that stand out …"));
  const { rows } = await ask("unusual");
  show(main, h("p", { class: "quiet" }, "Rows that random cuts set apart after few of them, with the cells that make them so (isolation forest, exact contributions)."),
    h("section", { class: "card" }, table([
      { title: "row", cell: (one) => [number(one.row), one.name ? h("small", null, one.name) : null] },
      { title: "score", number: true, cell: (one) => one.score.toFixed(3) },
      { title: "because of", cell: (one) => (one.reasons.length ? h("ul", { class: "reasons" }, one.reasons.map(([column, cell, share]) => h("li", null, `${column} = ${cell} `, h("small", null, percent(share, 0))))) : "no single column") },
      { title: "", cell: (one) => h("a", { class: "button small", href: link("understand", [name, "whatif"], { row: one.row }), "aria-label": `What if row ${one.row} were different` }, "What if") },
    ], rows, { caption: "Most unusual rows" })));
}
