// Networks: open, draw or learn one; observe states and see every probability move; ask why.
//
//   #/networks                                     what there is
//   #/networks/NAME?version=&given=&node=&a=&b=    given is a JSON object of observed states

import { get, post, upload } from "../lib/api.js";
import { short } from "../lib/chart.js";
import { field, h, latest, s, select, show } from "../lib/dom.js";
import { go, keep, link } from "../lib/route.js";
import { number, percent, say } from "../lib/say.js";

const API = "/api/networks";
const LINE = 18;

export async function enter(view, { parts, params, signal }) {
  const found = await get(`${API}/list`, {}, signal);
  const main = h("div", { class: "stack" });
  show(view, h("div", { class: "split side" }, side(found, parts[0], signal), main));
  if (!parts.length) return start(main);
  let network;
  let said = "";
  try {
    if (params.version) network = await post(`${API}/show`, { version: params.version }, signal);
    else if (parts[0] === "new") network = null;
    else if (params.learn) {
      show(main, h("p", { class: "quiet", role: "status" }, "Learning the network …"));
      network = await post(`${API}/learn`, { table: params.learn }, signal);
      said = network.said;
    } else network = await post(`${API}/open`, { name: parts[0] }, signal);
  } catch (error) {
    if (signal.aborted) return;
    show(main, h("h1", null, parts[0]), h("p", { class: "notice danger", role: "alert" }, error.message));
    return;
  }
  room(main, parts[0], network, params, signal, said, found);
}

function side(found, chosen, signal) {
  const entry = (name) => h("li", null, h("a", { href: link("networks", [name]), "aria-current": name === chosen ? "page" : null }, name));
  const table = select(found.tables, found.tables[0]);
  const picker = h("input", { type: "file", class: "unseen", tabindex: "-1", "aria-hidden": "true" });
  const said = h("p", { role: "status", class: "quiet" });
  picker.addEventListener("change", async () => {
    if (!picker.files[0]) return;
    try {
      const { name } = await upload(`${API}/upload`, picker.files[0]);
      if (!signal.aborted) go("networks", [name]);
    } catch (error) {
      said.textContent = error.message;
    }
  });
  return h("aside", { class: "stack", "aria-label": "Networks" },
    h("section", { class: "card" }, h("h2", null, "Networks"),
      found.files.length ? h("ul", { class: "list" }, found.files.map(entry)) : h("p", { class: "quiet" }, "There is no network in this folder yet."),
      h("h3", null, "Examples"), h("ul", { class: "list" }, found.examples.map(entry)),
      h("div", { class: "line" }, h("button", { type: "button", class: "small", onclick: () => picker.click() }, "Choose a file"), picker, h("a", { class: "button small", href: link("networks", ["new"]) }, "Draw one")), said),
    h("section", { class: "card" }, h("h2", null, "Learn from a table"), field("Table", table),
      h("p", null, h("button", { type: "button", onclick: () => go("networks", [`${table.value} learned`], { learn: table.value }) }, "Learn"))));
}

function start(main) {
  show(main, h("h1", null, "Networks that answer to a click"),
    h("div", { class: "card" },
      h("p", null, "Open a Bayesian network, draw one, or learn one from a table. Click a state to observe it: the probabilities of all other nodes move at once, exactly. Ask for the most probable explanation, or why two nodes tell something of each other."),
      h("p", { class: "quiet" }, "Files are written in BIF, so that other programs open them too.")));
}

// --- One network ---------------------------------------------------------------------------------

function room(main, title, first, params, signal, said, found) {
  const empty = () => ({ version: null, nodes: [], bends: [], width: 0, height: 0, box: 170, parameters: 0 });
  let network = first ?? empty();
  let given = known(params.given, network);
  let marginals = {};
  let chosen = params.node ?? null;
  let marked = null;
  let zoom = 1;
  const past = [];
  const notice = h("p", { class: "notice danger", role: "alert", hidden: true });
  const facts = h("p", { class: "quiet" }, said);
  const sheet = h("div", { class: "canvas across", tabindex: "0", role: "region", "aria-label": "The network" });
  const observed = h("section", { class: "card", "aria-label": "Observed" });
  const about = h("section", { class: "card", "aria-label": "Node" });
  const why = h("section", { class: "card", "aria-label": "Why" });

  const guarded = (work) => async (...input) => {
    try {
      notice.hidden = true;
      await work(...input);
    } catch (error) {
      if (signal.aborted || error.name === "AbortError") return;
      notice.hidden = false;
      notice.textContent = error.message;
    }
  };
  const ask = latest(guarded(async () => {
    if (!network.nodes.length) return draw();
    const answer = await post(`${API}/posteriors`, { version: network.version, given }, signal);
    marginals = answer.marginals;
    const count = Object.keys(given).length;
    facts.textContent = `${network.nodes.length} nodes, ${number(network.parameters)} free parameters. ${count ? `What is observed has probability ${number(Math.exp(answer.log_evidence), 3)}.` : said || "Nothing is observed."}`;
    draw();
  }));
  const note = () => keep({ given: Object.keys(given).length ? JSON.stringify(given) : null });
  // One after the other, so that each starts from what the one before has left.
  let queue = Promise.resolve();
  const inTurn = (work) => (...input) => (queue = queue.then(() => (signal.aborted ? null : guarded(work)(...input))));
  const observe = inTurn(async (name, state) => {
    const was = given[name];
    const next = { ...given };
    if (was === state) delete next[name];
    else next[name] = state;
    // What cannot be is told, and not taken.
    await post(`${API}/posteriors`, { version: network.version, given: next }, signal);
    given = next;
    marked = null;
    note();
    say(given[name] ? `${name} is ${state}` : `${name} is not observed any more`);
    separation();
    await ask();
  });
  const change = inTurn(async (body) => {
    const next = await post(`${API}/change`, { version: network.version, ...body }, signal);
    past.push(network.version);
    take(next);
  });
  const take = (next) => {
    network = next;
    given = Object.fromEntries(Object.entries(given).filter(([name, state]) => next.nodes.find((one) => one.name === name)?.states.includes(state)));
    if (!next.nodes.some((one) => one.name === chosen)) chosen = null;
    marginals = {};
    marked = null;
    keep({ version: network.version, node: chosen, learn: null });
    note();
    ask();
    panels();
  };
  const undo = inTurn(async () => {
    if (!past.length) return say("There is nothing to undo.");
    const version = past.at(-1);
    const before = version ? await post(`${API}/show`, { version }, signal) : empty();
    past.pop();
    take(before);
  });
  const choose = (name) => {
    chosen = name;
    keep({ node: name });
    draw();
    panels();
  };

  function draw() {
    const pad = 8;
    const at = new Map(network.nodes.map((one) => [one.name, one]));
    const bends = new Map(network.bends.map((one) => [`${one.from}\n${one.to}`, one.points]));
    const edges = network.nodes.flatMap((child) => child.parents.map((name) => {
      const parent = at.get(name);
      const points = [[parent.x + network.box / 2, parent.y + parent.height], ...(bends.get(`${name}\n${child.name}`) ?? []), [child.x + network.box / 2, child.y - 3]];
      const on = marked && marked.some((pair) => pair.includes(name) && pair.includes(child.name));
      return s("path", { class: `edge${on ? " on" : ""}`, d: smooth(points), "marker-end": "url(#arrow)" });
    }));
    const boxes = network.nodes.map((one) => box(one));
    const width = network.width + 2 * pad;
    const height = network.height + 2 * pad;
    const focused = sheet.contains(document.activeElement) ? document.activeElement.dataset?.key : null;
    show(sheet, network.nodes.length
      ? s("svg", { class: "network", width: zoom * width, height: zoom * height, viewBox: `${-pad} ${-pad} ${width} ${height}`, role: "group", "aria-label": "Nodes and edges" },
          s("defs", null, s("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto-start-reverse" }, s("path", { class: "head", d: "M0 0L8 4L0 8Z" }))),
          edges, boxes)
      : h("p", { class: "empty" }, "The sheet is empty. Add a node on the side."));
    if (focused) [...sheet.querySelectorAll("[data-key]")].find((one) => one.dataset.key === focused)?.focus();
    evidence();
  }
  function box(one) {
    const shares = marginals[one.name] ?? one.states.map(() => null);
    const onTrail = marked?.some((pair) => pair.includes(one.name));
    const name = s("g", { class: "name", tabindex: "0", role: "button", "aria-label": `${one.name}: show its table`, "data-key": one.name, onclick: () => choose(one.name), onkeydown: pressed(() => choose(one.name)) },
      s("rect", { class: "hit", width: network.box, height: 24 }), s("text", { class: "node", x: 8, y: 17 }, short(one.name, 22), s("title", null, one.name)));
    const states = one.states.map((state, i) => {
      const share = shares[i];
      const isSeen = given[one.name] === state;
      const key = `${one.name}\n${state}`;
      return s("g", { class: `state${isSeen ? " seen" : ""}`, transform: `translate(0 ${26 + LINE * i})`, tabindex: "0", role: "button", "aria-pressed": String(isSeen), "aria-label": `${one.name} is ${state}${share === null ? "" : `, ${percent(share)}`}`, "data-key": key, onclick: () => observe(one.name, state), onkeydown: pressed(() => observe(one.name, state)) },
        s("rect", { class: "hit", width: network.box, height: LINE }),
        s("rect", { class: "track-of-state", x: 84, y: 4, width: 34, height: LINE - 8 }),
        s("rect", { class: "bar-of-state", x: 84, y: 4, width: 34 * (share ?? 0), height: LINE - 8 }),
        s("text", { x: 8, y: 13 }, short(state, 12), s("title", null, state)), s("text", { x: network.box - 6, y: 13, "text-anchor": "end" }, share === null ? "" : percent(share)));
    });
    return s("g", { class: `box${one.name === chosen ? " chosen" : ""}${Object.hasOwn(given, one.name) ? " given" : ""}${onTrail ? " on" : ""}`, transform: `translate(${one.x} ${one.y})` }, s("rect", { class: "frame", width: network.box, height: one.height, rx: 6 }), name, states);
  }

  // --- On the side ---

  function evidence() {
    const rows = Object.entries(given);
    show(observed, h("h2", null, "Observed"),
      rows.length ? h("ul", { class: "list plain" }, rows.map(([name, state]) => h("li", { class: "line ends" }, h("span", null, `${name} = ${state}`), h("button", { type: "button", class: "small plain", "aria-label": `Take back ${name}`, onclick: () => observe(name, state) }, "Take back")))) : h("p", { class: "quiet" }, "Click a state to observe it."),
      h("div", { class: "line" },
        h("button", { type: "button", class: "small", disabled: !network.nodes.length, onclick: explain }, "Most probable explanation"),
        rows.length ? h("button", { type: "button", class: "small", onclick: () => { given = {}; note(); separation(); ask(); } }, "Take all back") : null));
  }
  const explain = guarded(async () => {
    const best = await post(`${API}/explanation`, { version: network.version, given }, signal);
    show(why, h("h2", null, "Most probable explanation"), h("p", null, `Of all ways in which what is observed can be, this one is the most probable: ${number(best.probability, 3)}.`),
      h("dl", { class: "pairs" }, Object.entries(best.states).map(([name, state]) => [h("dt", null, name), h("dd", null, state, Object.hasOwn(given, name) ? " (observed)" : "")])), h("button", { type: "button", class: "small", onclick: separation }, "Back to trails"));
    say("The most probable explanation is on the side.");
  });
  function separation() {
    const names = network.nodes.map((one) => one.name);
    if (names.length < 2) return show(why);
    const free = names.filter((name) => !Object.hasOwn(given, name));
    const a = select(names, params.a ?? free[0]);
    const b = select(names, params.b ?? free[free.length - 1]);
    const told = h("div", { role: "status" });
    const look = guarded(async () => {
      params.a = a.value;
      params.b = b.value;
      keep({ a: a.value, b: b.value });
      const answer = await post(`${API}/trails`, { version: network.version, a: a.value, b: b.value, given }, signal);
      show(told, h("p", null, h("b", null, answer.separated ? `${a.value} and ${b.value} are independent` : `${a.value} and ${b.value} may tell something of each other`), Object.keys(given).length ? ` given what is observed (${Object.keys(given).join(", ")}).` : " as long as nothing is observed."),
        answer.trails.length ? h("ul", { class: "list" }, answer.trails.map((one) => h("li", null, h("button", { type: "button", class: "trail", onclick: () => { marked = pairs(one.nodes); draw(); } }, h("span", { class: `badge ${one.open ? "good" : "danger"}` }, one.open ? "open" : "blocked"), one.text)))) : h("p", { class: "quiet" }, "No trail joins them."));
      marked = answer.trails[0] ? pairs(answer.trails[0].nodes) : null;
      draw();
    });
    show(why, h("h2", null, "Why, or why not?"), h("p", { class: "quiet" }, "Two nodes can depend on each other only if a trail between them is open."),
      h("div", { class: "fields" }, field("One node", a), field("Another node", b)), h("p", null, h("button", { type: "button", onclick: look }, "Look at the trails")), told);
  }
  function panels() {
    const one = network.nodes.find((node) => node.name === chosen);
    show(about, one ? nodePanel(one) : addPanel());
    separation();
    evidence();
  }
  function addPanel() {
    const name = h("input", { type: "text", maxlength: 80 });
    const states = h("input", { type: "text", value: "yes, no" });
    const above = parentBoxes(network.nodes.map((node) => node.name), []);
    return [h("h2", null, "Add a node"), h("p", { class: "quiet" }, "Or click the name of a node to change its table."),
      h("form", { class: "stack", onsubmit: (event) => {
        event.preventDefault();
        change({ node: name.value.trim(), states: states.value.split(",").map((text) => text.trim()), parents: above.chosen() });
      } }, field("Name", name), field("States", states, "Divided by commas"), above.node, h("button", null, "Add"))];
  }
  function nodePanel(one) {
    const isLong = !one.table || one.table.length > 64;
    const rows = isLong ? [] : configurations(one, network);
    const cells = isLong ? [] : one.table.map((row) => row.map((value) => h("input", { type: "number", min: 0, max: 1, step: "any", required: true, value })));
    const above = parentBoxes(network.nodes.map((node) => node.name).filter((name) => name !== one.name), one.parents);
    cells.forEach((row, i) => row.forEach((cell, j) => cell.setAttribute("aria-label", `${rows[i] ? `${rows[i]}: ` : ""}${one.states[j]}`)));
    return [h("div", { class: "line ends" }, h("h2", null, one.name), h("button", { type: "button", class: "small plain", onclick: () => { chosen = null; keep({ node: null }); draw(); panels(); } }, "Close")),
      h("form", { onsubmit: (event) => {
        event.preventDefault();
        change({ node: one.name, table: cells.map((row) => row.map((cell) => Number(cell.value))) });
      } },
        isLong ? h("p", { class: "quiet" }, "The table is too long for a form; edit it in its file.")
          : h("div", { class: "scroll across", tabindex: "0", role: "region", "aria-label": "Table" }, h("table", { class: "cells" }, h("thead", null, h("tr", null, h("th", { scope: "col" }, one.parents.join(", ")), one.states.map((state) => h("th", { scope: "col" }, state)))), h("tbody", null, cells.map((row, i) => h("tr", null, h("th", { scope: "row" }, rows[i]), row.map((cell) => h("td", null, cell))))))),
        isLong ? null : h("p", null, h("button", null, "Use this table"))),
      h("details", null, h("summary", null, "Parents"), above.node, h("button", { type: "button", class: "small", onclick: () => change({ node: one.name, parents: above.chosen() }) }, "Use these parents")),
      h("p", null, h("button", { type: "button", class: "small", onclick: () => change({ node: one.name, remove: true }) }, "Remove the node"))];
  }
  const name = h("input", { type: "text", value: title === "new" ? "network.bif" : title.replace(/ learned$/, "").replace(/(\.\w+)?(\.gz)?$/, "") + ".bif", "aria-label": "Name of the file", class: "fit" });
  const zoomed = (factor) => () => {
    zoom = Math.min(2, Math.max(0.3, zoom * factor));
    draw();
  };
  const save = inTurn(async () => {
    const isThere = found.files.includes(name.value);
    if (isThere && !confirm(`There is a file ${name.value} already. Replace it?`)) return;
    const done = await post(`${API}/save`, { version: network.version, name: name.value, replace: isThere }, signal);
    if (!found.files.includes(done.name)) found.files.push(done.name);
    say(`Saved as ${done.name}`);
    facts.textContent = `Saved as ${done.name}.`;
  });
  show(main, h("div", { class: "line ends" }, h("h1", null, title === "new" ? "A new network" : title), h("div", { class: "line" }, h("button", { type: "button", "aria-label": "Smaller", onclick: zoomed(0.8) }, "−"), h("button", { type: "button", "aria-label": "Larger", onclick: zoomed(1.25) }, "+"), h("button", { type: "button", onclick: undo }, "Undo"), name, h("button", { type: "button", onclick: save }, "Save"))),
    facts, notice, h("div", { class: "split right" }, h("div", { class: "card" }, sheet), h("div", { class: "stack" }, observed, about, why)));
  draw();
  panels();
  ask();
}

// --- Small things --------------------------------------------------------------------------------

function known(text, network) {
  try {
    const found = JSON.parse(text ?? "{}");
    return Object.fromEntries(Object.entries(found).filter(([name, state]) => network.nodes.find((one) => one.name === name)?.states.includes(state)));
  } catch {
    return {};
  }
}

const pairs = (nodes) => nodes.slice(1).map((node, i) => [nodes[i], node]);

function pressed(work) {
  return (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    work();
  };
}

function smooth(points) {
  let path = `M${points[0][0]} ${points[0][1]}`;
  for (let i = 1; i < points.length; i += 1) {
    const [[x0, y0], [x1, y1]] = [points[i - 1], points[i]];
    const half = (y0 + y1) / 2;
    path += `C${x0} ${half} ${x1} ${half} ${x1} ${y1}`;
  }
  return path;
}

// The states of the parents of each row of a table, the last parent running fastest.
function configurations(one, network) {
  let rows = [""];
  for (const name of one.parents) {
    const { states } = network.nodes.find((node) => node.name === name);
    rows = rows.flatMap((row) => states.map((state) => (row ? `${row}, ${state}` : state)));
  }
  return rows;
}

function parentBoxes(names, chosen) {
  const boxes = names.map((name) => [name, h("input", { type: "checkbox", checked: chosen.includes(name) })]);
  return {
    node: h("fieldset", { class: "parents" }, h("legend", null, "Parents"), boxes.length ? boxes.map(([name, control]) => h("label", { class: "check" }, control, name)) : h("p", { class: "quiet" }, "There is no other node yet.")),
    // Parents that were there stay in their order.
    chosen: () => {
      const wanted = boxes.filter(([, control]) => control.checked).map(([name]) => name);
      return [...chosen.filter((name) => wanted.includes(name)), ...wanted.filter((name) => !chosen.includes(name))];
    },
  };
}
