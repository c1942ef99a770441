// Tables: what lies in the folder, one table, one run, two runs.
//
//   #/tables                          the list
//   #/tables/table/NAME?target=&kind= one table; kind is a JSON object of corrections
//   #/tables/run/NAME                 a run, live while it goes on
//   #/tables/report/NAME              its report
//   #/tables/compare/ONE/OTHER        two runs

import { fileLink, get, post, ticketed, upload } from "../lib/api.js";
import { field, h, s, select, show, table } from "../lib/dom.js";
import { go, link, route } from "../lib/route.js";
import { bytes, estimate, number, percent, say, seconds } from "../lib/say.js";

const API = "/api/tables";
const MOST_COLUMNS = 100;

export async function enter(view, { parts, params, signal }) {
  const found = await get(`${API}/list`, {}, signal);
  const [what, ...names] = parts;
  const main = h("div", { class: "stack" });
  show(view, h("div", { class: "split side" }, side(found, what, names, signal), main));
  const views = { table: oneTable, run: oneRun, report: oneReport, compare: twoRuns };
  watchRuns(found, signal);
  await (views[what] ?? start)(main, { names, params, signal, found });
}

// --- What there is -------------------------------------------------------------------------------

function side(found, what, names, signal) {
  const chosen = (kind, name) => (what === kind && names[0] === name ? "page" : null);
  const tables = found.tables.map((one) => h("li", null, h("a", { href: link("tables", ["table", one.name]), "aria-current": chosen("table", one.name) }, one.name, h("small", null, bytes(one.bytes)))));
  const bundled = found.bundled.map((name) => h("li", null, h("a", { href: link("tables", ["table", name]), "aria-current": chosen("table", name) }, name)));
  const isBundled = what === "table" && found.bundled.includes(names[0]);
  return h("aside", { class: "stack", "aria-label": "Tables and runs" },
    dropZone(signal),
    h("section", { class: "card" }, h("h2", null, "Tables"),
      tables.length ? h("ul", { class: "list" }, tables) : h("p", { class: "quiet" }, "There is no table in this folder yet."),
      found.unnamed ? h("p", { class: "quiet" }, found.unnamed === 1 ? "One name is not UTF-8 and is not shown. Rename it." : `${found.unnamed} names are not UTF-8 and are not shown. Rename them.`) : null,
      h("details", { open: isBundled || !tables.length }, h("summary", null, "Bundled tables"), h("ul", { class: "list" }, bundled))),
    runsCard(found, chosen, names));
}

// Draws what depends on the states of the runs, now and whenever they change.
function follow(found, draw) {
  found.followers = [...(found.followers ?? []), draw];
  draw();
}
const tellStates = (found) => found.followers.forEach((draw) => draw());

function runsCard(found, chosen, names) {
  const card = h("section", { class: "card" });
  follow(found, () => show(card, h("h2", null, "Runs"),
    found.runs.length
      ? h("ul", { class: "list" }, found.runs.map((one) => h("li", null, h("a", { href: link("tables", ["run", one.name]), "aria-current": chosen("run", one.name) ?? chosen("report", one.name) },
          h("span", { class: "line ends" }, one.name, badge(one.state)), purpose(one) ? h("small", null, purpose(one)) : null))))
      : h("p", { class: "quiet" }, "None yet. Open a table and start one."),
    comparison(found.runs.filter((one) => one.state === "finished").map((one) => one.name), names)));
  return card;
}

// Takes the states of the runs anew as long as one of them goes on.
async function watchRuns(found, signal) {
  while (!signal.aborted) {
    await new Promise((done) => setTimeout(done, 2500));
    if (signal.aborted || !found.runs.some((one) => one.state === "running")) continue;
    try {
      const { runs } = await get(`${API}/list`, {}, signal);
      const isNew = JSON.stringify(runs) !== JSON.stringify(found.runs);
      found.runs = runs;
      if (isNew) tellStates(found);
    } catch {
      // The studio is away, which the page says.
    }
  }
}

const badge = (state) => h("span", { class: `badge ${{ running: "on", finished: "good", interrupted: "warning", failed: "danger" }[state]}` }, state);

// What a run is about; groups and unusual rows are not predicted, at most compared with a column.
function purpose(run) {
  const looked = { clusters: "looks for groups", novelty: "looks for unusual rows" }[run.task];
  if (!looked) return run.target ? `predicts ${run.target}` : null;
  return run.target ? `${looked}, compares them with ${run.target}` : looked;
}

function dropZone(signal) {
  const picker = h("input", { type: "file", class: "unseen", id: "picker", tabindex: "-1", "aria-hidden": "true" });
  const said = h("p", { role: "status" });
  const bar = h("progress", { max: 1, value: 0, hidden: true, "aria-label": "Sent" });
  const zone = h("div", { class: "drop" }, h("p", null, "Drop a table here: CSV, Excel, Parquet, JSON, ARFF or a database."), h("button", { type: "button", onclick: () => picker.click() }, "Choose a file"), picker, bar, said);
  const send = async (file) => {
    if (!file) return;
    bar.hidden = false;
    said.textContent = `Sending ${file.name}`;
    try {
      const { name } = await upload(`${API}/upload`, file, (share) => (bar.value = share));
      if (!signal.aborted) go("tables", ["table", name]);
    } catch (error) {
      bar.hidden = true;
      said.textContent = error.message;
    }
  };
  picker.addEventListener("change", () => send(picker.files[0]));
  // Anywhere in the window, so that nobody has to aim.
  const over = (event) => {
    if (![...(event.dataTransfer?.types ?? [])].includes("Files")) return;
    event.preventDefault();
    zone.classList.toggle("over", event.type === "dragover");
    if (event.type === "drop") send(event.dataTransfer.files[0]);
  };
  for (const kind of ["dragover", "dragleave", "drop"]) addEventListener(kind, over, { signal });
  return zone;
}

function comparison(names, chosen) {
  if (names.length < 2) return null;
  const first = select(names, chosen[0] ?? names[0]);
  const second = select(names, chosen[1] ?? names.find((one) => one !== first.value));
  return h("details", { open: route().parts[0] === "compare" }, h("summary", null, "Compare two runs"),
    h("div", { class: "stack" }, field("One run", first), field("Another run", second),
      h("button", { type: "button", onclick: () => go("tables", ["compare", first.value, second.value]) }, "Compare")));
}

async function start(main, { found }) {
  const going = h("div", null);
  show(main, h("h1", null, "From a table to a decision"),
    h("div", { class: "card" },
      h("p", null, "Drop a table, or open one on the side. You see its columns as Novum understands them, and what calls for a warning; correct what is wrong, choose what is to be predicted, and start a run. It compares models fairly, judges the best one on rows that nothing was learned from, and writes everything to a folder beside your tables."),
      h("p", { class: "quiet" }, "Everything stays on this machine. A run is the same as with novum run, to the last digit; it goes on when this window is closed.")),
    going);
  follow(found, () => {
    const running = found.runs.filter((one) => one.state === "running");
    show(going, running.length ? h("div", { class: "card" }, h("h2", null, "Going on now"), h("ul", { class: "list" }, running.map((one) => h("li", null, h("a", { href: link("tables", ["run", one.name]) }, one.name, h("small", null, one.table)))))) : null);
  });
}

// --- One table -----------------------------------------------------------------------------------

function corrections(text) {
  try {
    const found = JSON.parse(text ?? "{}");
    return found && typeof found === "object" && !Array.isArray(found) ? found : {};
  } catch {
    return {};
  }
}

async function oneTable(main, { names: [name], params, signal }) {
  const kinds = corrections(params.kind);
  const body = h("div", { class: "stack" }, h("p", { class: "quiet", role: "status" }, "Reading the table …"));
  show(main, h("h1", null, name), body);
  const choices = await get(`${API}/choices`, {}, signal);
  const settings = { kind: Object.entries(kinds).map(([column, kind]) => [column, kind]) };
  if (params.target) settings.target = params.target;
  if (params.task) settings.task = params.task;
  let profile;
  try {
    profile = await post(`${API}/profile`, { table: name, settings }, signal);
  } catch (error) {
    if (signal.aborted) return;
    show(body, h("div", { class: "notice danger", role: "alert" }, error.message),
      params.target || params.kind ? h("a", { class: "button", href: link("tables", ["table", name]) }, "Forget target and kinds") : null);
    return;
  }
  const record = profile.profile;
  const columns = [...(record.target ? [record.target] : []), ...record.columns];
  const again = (changed) => go("tables", ["table", name], { target: params.target, task: params.task, kind: params.kind, ...changed });
  const setKind = (column, kind) => {
    const next = { ...kinds };
    if (kind) next[column] = kind;
    else delete next[column];
    again({ kind: Object.keys(next).length ? JSON.stringify(next) : "" });
  };
  say(`${name}: ${number(record.n_rows)} rows, ${columns.length} columns, ${profile.findings.length} findings.`);
  show(body,
    h("dl", { class: "facts" }, [["Rows", number(record.n_rows)], ["Columns", number(columns.length)], ["Rows without a missing cell", number(record.n_complete_rows)], ["Rows that repeat another", number(record.n_duplicate_rows)]].map(([title, value]) => h("div", null, h("dt", null, title), h("dd", null, value)))),
    h("div", { class: "split right" },
      h("div", { class: "stack" },
        findings(profile),
        h("section", { class: "card" }, columnTable(columns, record, { choices, kinds, setKind, target: profile.target })),
        preview(name, signal)),
      runForm(name, columns, profile, { choices, kinds, params, again, signal })));
}

function findings(profile) {
  const rank = { danger: 0, warning: 1, note: 2 };
  const sorted = [...profile.findings].sort((a, b) => rank[a.severity] - rank[b.severity]);
  return h("section", { class: "card" }, h("h2", null, "What its owner should know"),
    sorted.length ? sorted.map((one) => h("div", { class: `notice ${one.severity}` }, h("p", null, h("b", null, `${one.severity}: `), one.text), h("p", { class: "quiet" }, one.advice)))
      : h("p", { class: "quiet" }, profile.target ? "Nothing calls for a warning." : "Choose a target: most findings are about what is to be predicted."),
    profile.notes.length ? h("details", null, h("summary", null, "How it was read"), h("ul", null, profile.notes.map((note) => h("li", null, note)))) : null);
}

function columnTable(columns, record, { choices, kinds, setKind, target }) {
  const shown = (all) => table([
    { title: "column", cell: (one) => [one.name, one.name === target ? h("span", { class: "badge on" }, "target") : null] },
    { title: "kind", cell: (one) => select([["", `${kinds[one.name] ? "guess" : one.kind}`], ...choices.kinds.filter((kind) => kind !== one.kind || kinds[one.name])], kinds[one.name] ?? "", { "aria-label": `Kind of ${one.name}`, onchange: (event) => setKind(one.name, event.target.value) }) },
    { title: "missing", number: true, cell: (one) => (one.n_missing ? [number(one.n_missing), h("small", null, percent(one.n_missing / Math.max(record.n_rows, 1)))] : "0") },
    { title: "different", number: true, cell: (one) => number(one.n_distinct) },
    { title: "values", cell: values },
    ...(record.target ? [{ title: "explains", number: true, cell: (one) => (one.name === target ? "" : percent(one.association)) }] : []),
  ], all ? columns : columns.slice(0, MOST_COLUMNS), { caption: "Columns", rowAttributes: (one) => ({ class: one.name === target ? "marked" : null }) });
  const box = h("div", null, shown(false));
  if (columns.length > MOST_COLUMNS) box.append(h("button", { type: "button", onclick: (event) => show(event.target.parentNode, shown(true)) }, `Show all ${columns.length} columns`));
  return box;
}

function values(one) {
  if (one.quantiles.length) {
    const [least, , median, , largest] = one.quantiles;
    return h("span", { class: "values" }, spark(one.histogram_counts), h("small", null, `${number(least)} … ${number(median)} … ${number(largest)}`));
  }
  const more = one.levels.length - 3 + one.n_other_levels;
  return h("small", null, one.levels.slice(0, 3).map(([level, count]) => `${level} (${number(count)})`).join(", "), more > 0 ? `, ${number(more)} more` : "");
}

function spark(counts) {
  const most = Math.max(...counts, 1);
  const width = 90 / Math.max(counts.length, 1);
  return s("svg", { viewBox: "0 0 90 18", width: 90, height: 18, "aria-hidden": "true", class: "bars fill-1" }, counts.map((count, i) => s("rect", { x: i * width, width: Math.max(width - 0.6, 0.4), y: 18 - (17 * count) / most, height: (17 * count) / most })));
}

function preview(name, signal) {
  const box = h("div", null);
  const load = async (event) => {
    if (!event.target.open || box.childNodes.length) return;
    try {
      const found = await get(`${API}/rows`, { table: name, count: 30 }, signal);
      show(box, wide(found.columns, found.rows, `First ${found.rows.length} of ${number(found.n_rows)} rows`));
    } catch (error) {
      if (!signal.aborted) show(box, h("p", { class: "notice danger" }, error.message));
    }
  };
  return h("details", { class: "card", ontoggle: load }, h("summary", null, "The rows themselves"), box);
}

// A table as it is, scrolled sideways where it is too wide.
export function wide(columns, rows, caption) {
  return h("div", { class: "across", tabindex: "0", role: "region", "aria-label": caption }, h("table", { class: "cells" }, h("caption", null, caption),
    h("thead", null, h("tr", null, columns.map((one) => h("th", { scope: "col" }, one)))),
    h("tbody", null, rows.map((row) => h("tr", null, row.map((cell) => h("td", { class: cell === null ? "missing" : null }, cell ?? "missing")))))));
}

function runForm(name, columns, profile, { choices, kinds, params, again, signal }) {
  const names = columns.map((one) => one.name);
  const target = select([["", "choose a column"], ...names], params.target ?? profile.target ?? "", { onchange: (event) => again({ target: event.target.value }) });
  const task = select([["auto", "as the column says"], ...choices.tasks.filter((one) => one !== "auto")], params.task ?? "auto", { onchange: (event) => again({ task: event.target.value === "auto" ? "" : event.target.value }) });
  const preset = select(["quick", "standard", "thorough"], "standard");
  const record = profile.profile.target;
  const levels = record && record.kind !== "numeric" ? record.levels.map(([level]) => level) : [];
  const isBinary = record && record.n_distinct === 2;
  const positive = isBinary && levels.length === 2 ? select([["", "the last"], ...levels], "") : null;
  const amount = (attributes) => h("input", { type: "number", step: "any", min: "0", ...attributes });
  const costFn = amount({ placeholder: "1" });
  const costFp = amount({ placeholder: "1" });
  const prior = amount({ max: "1", placeholder: "its share of the rows" });
  const budget = h("input", { type: "text", placeholder: "no limit; 90s, 5m, 1h", autocomplete: "off" });
  const holdout = amount({ value: "0.2", max: "0.9" });
  const seed = h("input", { type: "number", step: "1", min: "0", value: "0" });
  const column = () => select([["", "none"], ...names], "");
  const roles = { id: column(), group: column(), time: column(), weight: column() };
  const families = choices.families.map((one) => h("label", { class: "check" }, h("input", { type: "checkbox", name: "family", value: one.name }), one.title));
  const said = h("div", { role: "alert" });
  const button = h("button", { class: "primary" }, "Start the run");
  const needsTarget = () => !["clusters", "novelty"].includes(task.value);
  const submit = async (event) => {
    event.preventDefault();
    if (needsTarget() && !target.value) {
      show(said, h("p", { class: "notice warning" }, "Choose what is to be predicted."));
      target.focus();
      return;
    }
    button.disabled = true;
    const settings = { task: task.value, preset: preset.value, kind: Object.entries(kinds), models: families.map((one) => one.firstChild).filter((one) => one.checked).map((one) => one.value) };
    if (target.value) settings.target = target.value;
    if (positive?.value) settings.positive = positive.value;
    for (const [key, control] of [["holdout", holdout], ["seed", seed], ["cost_fn", costFn], ["cost_fp", costFp], ["prior", prior]]) if (control.value !== "") settings[key] = Number(control.value);
    for (const [key, control] of Object.entries(roles)) if (control.value) settings[key] = control.value;
    try {
      const started = await post(`${API}/runs`, { table: name, settings, budget: budget.value }, signal);
      go("tables", ["run", started.name]);
    } catch (error) {
      button.disabled = false;
      if (!signal.aborted) show(said, h("p", { class: "notice danger" }, error.message));
    }
  };
  return h("form", { class: "card stack", onsubmit: submit, "aria-label": "Start a run", novalidate: true },
    h("h2", null, "Start a run"),
    field("Predict", target), field("Task", task), field("Effort", preset, "quick tries one setting of each family, standard a few, thorough more of everything"), field("Time", budget),
    h("fieldset", null, h("legend", null, "What errors cost"),
      isBinary ? null : h("p", { class: "quiet" }, "For a target of two classes."),
      h("div", { class: "fields" }, positive ? field("Positive class", positive) : null, field("Missing one costs", costFn), field("A false alarm costs", costFp), field("Its share in use", prior))),
    h("details", null, h("summary", null, "More settings"),
      h("div", { class: "stack" },
        h("div", { class: "fields" }, field("Names the rows", roles.id), field("Rows that stay together", roles.group), field("Order in time", roles.time), field("Weight of the rows", roles.weight), field("Share set aside", holdout), field("Seed", seed)),
        h("fieldset", null, h("legend", null, "Models (none marked: all that fit)"), h("div", { class: "checks" }, families)))),
    said, h("div", { class: "line" }, button));
}

// --- One run -------------------------------------------------------------------------------------

async function oneRun(main, { names: [name], signal, found }) {
  let before = "";
  const draw = (run) => {
    // What a reader has opened or selected stays, as long as nothing has changed.
    const { elapsed, left, share, ...rest } = run;
    const now = JSON.stringify(rest);
    if (now !== before) {
      const states = before ? JSON.parse(before).state : null;
      before = now;
      show(main, runView(run, act));
      const listed = found.runs.find((one) => one.name === name);
      if (listed && listed.state !== run.state) {
        listed.state = run.state;
        tellStates(found);
      }
      if (states && states !== run.state) say(`The run ${name} is ${run.state}.`);
    }
    const bar = main.querySelector("progress");
    if (bar && share !== undefined) bar.value = share;
    const times = main.querySelector("[data-times]");
    if (times) times.textContent = `${seconds(elapsed ?? 0)} so far${left === undefined ? "" : `, about ${seconds(left)} left`}`;
  };
  const act = async (action) => {
    try {
      await post(`${API}/runs/${encodeURIComponent(name)}/${action}`, {}, signal);
      if (action === "forget") go("tables");
      else await look();
    } catch (error) {
      if (!signal.aborted) main.querySelector("[data-said]")?.replaceChildren(error.message);
    }
  };
  const look = async () => {
    const run = await get(`${API}/runs/${encodeURIComponent(name)}`, {}, signal);
    draw(run);
    return run;
  };
  let last = await look();
  const watch = async () => {
    let wait = 600;
    while (!signal.aborted) {
      await new Promise((done) => setTimeout(done, last.state === "running" ? wait : 2500));
      if (signal.aborted) return;
      try {
        last = await look();
        wait = 600;
      } catch {
        // The studio is away; look again, less often.
        wait = Math.min(2 * wait, 5000);
      }
    }
  };
  watch();
}

function runView(run, act) {
  const button = (text, action, attributes) => h("button", { type: "button", onclick: () => act(action), ...attributes }, text);
  const isOne = run.kind && run.task_record;
  return [
    h("div", { class: "line ends" }, h("h1", null, run.name), h("div", { class: "line" }, badge(run.state),
      run.state === "running" ? button("Stop", "cancel") : null,
      run.state === "interrupted" ? button("Resume", "resume", { class: "primary" }) : null,
      run.state === "failed" ? button("Remove from the list", "forget") : null,
      run.state === "finished" && run.has_report ? h("a", { class: "button", href: link("tables", ["report", run.name]) }, "Report") : null,
      run.state === "finished" && isOne && run.task_record.classes.length ? h("a", { class: "button", href: link("decide", [run.name]) }, "Decide") : null,
      run.state === "finished" && isOne ? h("a", { class: "button", href: link("understand", [run.name]) }, "Understand") : null)),
    h("p", { class: "quiet" }, [run.table, purpose(run)].filter(Boolean).join(" · ")),
    h("p", { "data-said": "", role: "alert", class: "quiet" }),
    run.state === "running" ? h("section", { class: "card", "aria-label": "Progress" }, h("div", { class: "line ends" }, h("b", null, [run.stage, run.step].filter(Boolean).join(": ")), h("span", { class: "quiet", "data-times": "" })), h("progress", { max: 1, value: 0, "aria-label": "Progress of the run" })) : null,
    run.state === "interrupted" ? h("p", { class: "notice warning" }, run.end === "failed" ? `${run.said} ` : "", "The run was interrupted. Resume goes on after the folds that are finished, and ends as if nothing had happened.") : null,
    run.state === "failed" ? h("p", { class: "notice danger", role: "alert" }, run.said || "The run has ended before anything was written.") : null,
    run.verdict?.length ? h("section", { class: "card verdict" }, run.verdict.map((sentence) => h("p", null, sentence))) : null,
    run.understood && run.state !== "finished" ? h("section", { class: "card" }, h("h2", null, "How the task was understood"), h("ul", null, run.understood.task.sentences.map((one) => h("li", null, one)))) : null,
    run.state === "finished" ? (run.leaderboards ? run.leaderboards.map((one, i) => final(one, run.targets[i])) : run.leaderboard ? final(run.leaderboard, run.task_record.metric) : null) : growing(run),
    run.measures?.length ? h("section", { class: "card" }, table([{ title: "measure", cell: ([one]) => one.replaceAll("_", " ") }, { title: "value, 95 %", number: true, cell: ([, one]) => estimate(one) }], run.measures, { caption: `On ${number(run.n_holdout)} rows that nothing was learned from` })) : null,
    run.not_done?.length ? h("details", { class: "card" }, h("summary", null, "What was not done"), h("ul", null, run.not_done.map((one) => h("li", null, one)))) : null,
    run.notes?.length ? h("details", { class: "card" }, h("summary", null, `${run.notes.length} notes`), h("ul", null, run.notes.map((one) => h("li", null, one)))) : null,
    run.state === "finished" ? files(run) : null,
  ];
}

const COUNTS = { clusters: ["assignments.csv"], novelty: ["scores.csv"] };
function files(run) {
  const names = ["report.html", ...(COUNTS[run.kind] ?? ["predictions.csv", "leaderboard.csv", "model.py"]), "model.novum", "run.json"];
  return h("section", { class: "card" }, h("h2", null, "Files"), h("div", { class: "line" }, names.map((file) => fileLink(`${API}/runs/${encodeURIComponent(run.name)}/files/${file}`, file, { class: "button small" }))));
}

function final(rows, measure) {
  return h("section", { class: "card" }, table([
    { title: "model", cell: (one) => [one.title, one.is_chosen ? h("span", { class: "badge on" }, "chosen") : null] },
    { title: `${(measure ?? "score").replaceAll("_", " ")}, 95 %`, number: true, cell: (one) => estimate(one.score) },
    { title: "to the chosen", number: true, cell: (one) => number(one.difference?.value, 2) },
    { title: "p", number: true, cell: (one) => (one.p_value === null ? "–" : one.p_value < 0.001 ? "< 0.001" : one.p_value.toFixed(3)) },
    { title: "fit", number: true, cell: (one) => (one.fit_seconds < 1 ? `${number(1000 * one.fit_seconds, 2)} ms` : `${number(one.fit_seconds, 2)} s`) },
  ], rows, { caption: "Leaderboard", rowAttributes: (one) => ({ class: one.is_chosen ? "marked" : null }) }));
}

function growing(run) {
  if (!run.leaderboard?.length) return null;
  const sizes = run.leaderboard.map((one) => Math.abs(one.score));
  const most = Math.max(...sizes, 1e-12);
  return h("section", { class: "card" }, table([
    { title: "model", cell: (one) => one.title },
    { title: run.understood?.task.metric.replaceAll("_", " ") ?? "score", number: true, cell: (one) => number(one.score, 3) },
    { title: "", cell: (one) => h("span", { class: "share", "aria-hidden": "true" }, h("span", { class: "back-1", style: { width: `${(100 * Math.abs(one.score)) / most}%` } })) },
    { title: "folds", number: true, cell: (one) => `${one.folds} of ${one.total}` },
  ], run.leaderboard, { caption: "Leaderboard so far" }));
}

async function oneReport(main, { names: [name], signal }) {
  const path = `${API}/runs/${encodeURIComponent(name)}/report`;
  const address = await ticketed(path, signal);
  const alone = async (event) => {
    event.preventDefault();
    open(await ticketed(path), "_blank", "noopener");
  };
  show(main, h("div", { class: "line ends" }, h("h1", null, `Report of ${name}`), h("div", { class: "line" }, h("a", { class: "button", href: link("tables", ["run", name]) }, "Back to the run"), h("a", { class: "button", href: address, onclick: alone }, "In a tab of its own"))),
    h("iframe", { class: "report", src: address, sandbox: "", title: `Report of ${name}` }));
}

// --- Two runs ------------------------------------------------------------------------------------

async function twoRuns(main, { names: [first, second], signal }) {
  const found = await get(`${API}/compare`, { first, second }, signal);
  const runs = [found.runs[first], found.runs[second]];
  const measures = [...new Set(runs.flatMap((run) => (run.measures ?? []).map(([name]) => name)))];
  const of = (run, name) => estimate((run.measures ?? []).find(([one]) => one === name)?.[1]);
  const test = found.test;
  show(main, h("h1", null, "Two runs side by side"),
    h("section", { class: "card" }, h("p", null, h("b", null, found.sentence)),
      test ? h("p", { class: "quiet" }, `Mean difference of ${test.metric.replaceAll("_", " ")} between the chosen models: ${number(test.difference, 3)} [${number(test.low, 3)}, ${number(test.high, 3)}], p = ${test.p_value === null ? "–" : number(test.p_value, 3)} (corrected resampled t test on shared folds).`) : null),
    h("div", { class: "pictures" }, [first, second].map((name, i) => h("section", { class: "card" }, h("h2", null, h("a", { href: link("tables", ["run", name]) }, name)), runs[i].verdict.map((sentence) => h("p", null, sentence))))),
    found.differing.length ? h("section", { class: "card" }, table([{ title: "setting", cell: (one) => one.setting.replaceAll("_", " ") }, { title: first, cell: (one) => one.first }, { title: second, cell: (one) => one.second }], found.differing, { caption: "Settings that differ" })) : null,
    measures.length ? h("section", { class: "card" }, table([{ title: "measure", cell: (one) => one.replaceAll("_", " ") }, { title: first, number: true, cell: (one) => of(runs[0], one) }, { title: second, number: true, cell: (one) => of(runs[1], one) }], measures, { caption: "On rows that nothing was learned from" })) : null,
    runs.map((run, i) => (run.leaderboard ? h("div", null, h("h2", null, [first, second][i]), final(run.leaderboard, run.task_record.metric)) : null)));
}
